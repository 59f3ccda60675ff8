// The limit of open files: how many connections it allows, and what a program says when it is reached.
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** Descriptors that are not for connections: logs, databases, listening sockets. */
const RESERVED_DESCRIPTORS = 32;

/** Descriptors that are left for files, and for clients that are refused, when no more may wait. */
const SPARE_DESCRIPTORS = 16;

/** Descriptors that are left when a refused client cannot linger. */
const LAST_DESCRIPTORS = 6;

/** Milliseconds between two reports of {@link reportDescriptors}. */
const REPORT_MS = 60_000;

/** The soft limit of open files, where the system shows it, from the first {@link connectionsWithinLimit} on. */
let limit: number | undefined;

/**
 * Lowers a number of connections to what the limit of open files allows, where the system has one. An
 * eighth of it, at most 128, is left for clients that wait or are being refused.
 */
export async function connectionsWithinLimit(requested: number): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'latin1').catch(() => '');
  const soft = /^Max open files +(\d+) /m.exec(limits)?.[1];
  if (soft === undefined) return requested;
  limit = Number(soft);
  const forNewcomers = Math.min(128, Math.floor(limit / 8));
  return Math.max(1, Math.min(requested, limit - RESERVED_DESCRIPTORS - forNewcomers));
}

/**
 * Returns how few descriptors are left beside that of a connection: `scarce` if it must not wait, `last` if it
 * must be closed at once. The system gives out the lowest free number, so a high one says how many are in use.
 * Without any, libuv would accept and close further clients, and no error would tell.
 */
export function descriptorsLeft(socket: Socket): 'enough' | 'scarce' | 'last' {
  const handle: unknown = Reflect.get(socket, '_handle');
  const descriptor: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : -1;
  if (limit === undefined || typeof descriptor !== 'number' || descriptor < limit - SPARE_DESCRIPTORS)
    return 'enough';
  return descriptor < limit - LAST_DESCRIPTORS ? 'scarce' : 'last';
}

let reportedAt = Number.NEGATIVE_INFINITY;

/**
 * Reports that descriptors run out, with what to raise; at most once a minute, because everything that opens a
 * file fails then.
 */
export function reportDescriptors(report: (sentence: string) => void, now = performance.now()): void {
  if (now - reportedAt < REPORT_MS) return;
  reportedAt = now;
  report(
    `too many open files: this process may have ${limit ?? 'a limited number of'} (ulimit -n). Until some are closed, clients are refused and files cannot be opened. Raise the limit: "ulimit -n NUMBER" before the start, or LimitNOFILE= of the service; or lower the number of connections`,
  );
}

/** Whether a text of the log is about descriptors that have run out, in this process or in the whole system. */
export function isAboutDescriptors(text: string): boolean {
  return /\bE[MN]FILE\b/.test(text);
}
