// The limit of open files: how many connections it allows, and what a program says when it is reached.
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { messageOf } from '../../protocols/errors.js';

/** Descriptors that are not for connections: logs, databases, listening sockets. */
const RESERVED_DESCRIPTORS = 32;

/** The share of the limit, and its bounds, that is left for clients that are refused, when no more may wait. */
const SPARE_SHARE = 8;
const MIN_SPARE = 16;
const MAX_SPARE = 128;

/**
 * The share of these, and the least number, that is left when a refused client cannot linger: files that are opened
 * meanwhile take some of them.
 */
const LAST_SHARE = 4;
const MIN_LAST = 6;

/** Milliseconds between two reports of {@link DescriptorReports}. */
const REPORT_MS = 60_000;

/** Milliseconds after which the limit is read again while descriptors are scarce: it may have been raised. */
const REREAD_MS = 1000;

/** The soft limit of open files, where the system shows it, from the first {@link connectionsWithinLimit} on. */
let limit: number | undefined;
let readAt = Number.NEGATIVE_INFINITY;

function readLimit(now = performance.now()): void {
  readAt = now;
  try {
    const soft = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    limit = soft === undefined ? undefined : Number(soft);
  } catch {
    // No descriptor is left for this file, either; or the system has no such file.
  }
}

/**
 * Lowers a number of connections to what the limit of open files allows, where the system has one. An
 * quarter of it, at most 384, is left for clients that wait or are being refused.
 */
export function connectionsWithinLimit(requested: number): number {
  readLimit();
  if (limit === undefined) return requested;
  const forNewcomers = Math.min(384, Math.floor(limit / 4));
  return Math.max(1, Math.min(requested, limit - RESERVED_DESCRIPTORS - forNewcomers));
}

/**
 * Returns how few descriptors are left beside that of a connection: `scarce` if it must not wait, `last` if it
 * must be closed at once. The system gives out the lowest free number, so a high one says how many are in use.
 * Without any, libuv would accept and close further clients, and no error would tell.
 */
export function descriptorsLeft(socket: Socket): 'enough' | 'scarce' | 'last' {
  const descriptor = descriptorOf(socket);
  if (descriptor === undefined || !isScarce(descriptor, spare())) return 'enough';
  descriptorLimit();
  if (!isScarce(descriptor, spare())) return 'enough';
  return isScarce(descriptor, lastDescriptors()) ? 'last' : 'scarce';
}

/** Returns how few descriptors are left when a connection that is refused must be closed at once. */
export function lastDescriptors(): number {
  return Math.max(MIN_LAST, Math.floor(spare() / LAST_SHARE));
}

/** Returns the limit of open files, where the system shows it; read at most once a second. */
export function descriptorLimit(): number | undefined {
  const now = performance.now();
  if (now - readAt >= REREAD_MS) readLimit(now);
  return limit;
}

function spare(): number {
  return Math.min(MAX_SPARE, Math.max(MIN_SPARE, Math.floor((limit ?? 0) / SPARE_SHARE)));
}

/** Returns the descriptor of a connection, if the system has such numbers. */
export function descriptorOf(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, '_handle');
  const descriptor: unknown =
    typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  return typeof descriptor === 'number' && descriptor >= 0 ? descriptor : undefined;
}

function isScarce(descriptor: number, left: number): boolean {
  return limit !== undefined && descriptor >= limit - left;
}

/** Returns the sentence with what to raise, for the limit of this process. */
export function processLimitText(): string {
  return `too many open files: this process may have ${limit ?? 'a limited number of'} (ulimit -n). Until some are closed, clients are refused and files cannot be opened. Raise the limit: "ulimit -n NUMBER" before the start, or LimitNOFILE= of the service; or lower the number of connections`;
}

const SYSTEM_LIMIT_TEXT =
  'too many open files in the whole system: until some are closed, this program refuses clients and cannot open files. Raise the limit of the system: "sysctl fs.file-max=NUMBER"; or end what holds so many files';

/**
 * Returns what to raise, if a text is about descriptors that have run out: in this process, in the whole
 * system, in one of its threads, in a library that has words of its own.
 */
export function descriptorRemedy(text: string): string | undefined {
  if (/\bENFILE\b|too many open files in (?:the )?(?:whole )?system/i.test(text)) return SYSTEM_LIMIT_TEXT;
  return /\bEMFILE\b|too many open files/i.test(text) ? processLimitText() : undefined;
}

/** Whether an error is about descriptors that have run out: it is over soon, and says nothing of the file. */
export function isAboutDescriptors(error: unknown): boolean {
  return descriptorRemedy(messageOf(error)) !== undefined;
}

/**
 * The reports of one log that descriptors run out, with what to raise; at most one a minute for each limit,
 * because everything that opens a file fails then.
 */
export class DescriptorReports {
  readonly #now: () => number;
  readonly #reportedAt = new Map<string, number>();
  /** The sentence that the caller writes next. */
  #owed: string | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Looks at a line of the log. Returns whether it is to be written, and the sentence to write after it. */
  look(text: string): { readonly write: boolean; readonly remedy?: string } {
    const remedy = descriptorRemedy(text);
    if (remedy === undefined) return { write: true };
    const isRemedy = text.includes(remedy);
    if (isRemedy && this.#owed === remedy) {
      this.#owed = undefined;
      return { write: true };
    }
    const now = this.#now();
    const limited = remedy === SYSTEM_LIMIT_TEXT ? 'system' : 'process';
    const isDue = now - (this.#reportedAt.get(limited) ?? Number.NEGATIVE_INFINITY) >= REPORT_MS;
    if (isDue) this.#reportedAt.set(limited, now);
    if (isRemedy) return { write: isDue };
    if (!isDue) return { write: true };
    this.#owed = remedy;
    return { write: true, remedy };
  }
}
