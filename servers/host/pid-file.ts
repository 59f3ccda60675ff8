import { createHash, randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { StorageError } from '../../protocols/errors.js';
import { processIdentity } from './process-identity.js';

/** The process that a pid file names. */
export interface PidRecord {
  readonly pid: number;
  /** From {@link processIdentity}. */
  readonly identity: string;
  /** Where it listens, `HOST:PORT`; '' while it does not yet. */
  readonly address: string;
}

/** How often a file that others change meanwhile is looked at again. */
const ATTEMPTS = 40;
/** Milliseconds between looks at a process that is asked to stop, or that is replacing a file. */
const POLL_MS = 50;

/**
 * The file by which a daemon says that it runs: three lines, its process id, its start time, its address. It is there
 * whole or not at all, and of several daemons that want it one gets it. A file whose process is gone is replaced.
 */
export class PidFile implements AsyncDisposable {
  readonly #path: string;
  #text: string;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  /**
   * Creates the file for this process.
   *
   * @param program what the message calls the daemon
   * @throws StorageError when the process that the file names is still running, or the file cannot be written
   */
  static async create(path: string, program: string): Promise<PidFile> {
    const text = await ownText('');
    const holder = await acquire(path, text);
    if (holder === undefined) return new PidFile(path, text);
    const at = holder.address === '' ? '' : `, at ${holder.address}`;
    throw new StorageError(`${program} is already running here (process ${holder.pid}${at})`);
  }

  /** Adds where the daemon listens, once it does. */
  async setAddress(address: string): Promise<void> {
    const text = await ownText(address);
    await rename(await writeDraft(this.#path, text), this.#path);
    this.#text = text;
  }

  /** Removes the file, if it is still ours. */
  async close(): Promise<void> {
    if ((await readText(this.#path)) === this.#text) await rm(this.#path, { force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The running process that the file names; `undefined` when there is no file, or the process is gone. */
export async function runningProcess(path: string): Promise<PidRecord | undefined> {
  const text = await readText(path);
  const record = text === undefined ? undefined : parse(text);
  return record !== undefined && (await isRunning(record)) ? record : undefined;
}

/**
 * Asks a process to stop (SIGTERM) and waits until it is gone. A process that only has the same number is not touched:
 * its identity is compared right before.
 *
 * @returns false when the process is still there after `timeoutMs`
 * @throws StorageError when the system does not allow the signal
 */
export async function stopProcess(
  record: PidRecord,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<boolean> {
  const deadline = performance.now() + options.timeoutMs;
  if (!(await isRunning(record))) return true;
  try {
    process.kill(record.pid, 'SIGTERM');
  } catch (cause) {
    if (codeOf(cause) === 'ESRCH') return true;
    throw new StorageError(`process ${record.pid} cannot be stopped: ${codeOf(cause)}`, { cause });
  }
  while (await isRunning(record)) {
    if (performance.now() >= deadline) return false;
    await delay(POLL_MS, undefined, { signal: options.signal });
  }
  return true;
}

/**
 * Puts `text` at `path` where nothing is, or what a process left that is gone. Only the holder of a claim on just that text
 * may replace it, and a claim is such a file itself: so of several processes one gets through, and none that dies on its
 * way leaves anything that holds up the next.
 *
 * @returns undefined when it is ours, else the running process that has it
 */
async function acquire(path: string, text: string): Promise<PidRecord | undefined> {
  const draft = await writeDraft(path, text);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await linked(draft, path)) return undefined;
      const stale = await readText(path);
      if (stale === undefined) continue;
      const record = parse(stale);
      if (record !== undefined && (await isRunning(record))) return record;
      const claim = `${path}.${createHash('sha256').update(stale).digest('hex').slice(0, 16)}`;
      if ((await acquire(claim, text)) !== undefined) {
        await delay(POLL_MS);
        continue;
      }
      try {
        if ((await readText(path)) === stale) {
          await rename(draft, path);
          return undefined;
        }
      } finally {
        await rm(claim, { force: true });
      }
    }
    throw new StorageError(`${path}: other programs keep changing it`);
  } finally {
    await rm(draft, { force: true });
  }
}

async function isRunning({ pid, identity }: PidRecord): Promise<boolean> {
  return (await processIdentity(pid)) === identity;
}

async function ownText(address: string): Promise<string> {
  const identity = await processIdentity(process.pid);
  if (identity === undefined) throw new StorageError('the system does not tell when this process began');
  return `${process.pid}\n${identity}\n${address}\n`;
}

function parse(text: string): PidRecord | undefined {
  const [, pid, identity, address] = /^([1-9]\d{0,9})\n(\S+)\n(\S*)\n$/.exec(text) ?? [];
  if (pid === undefined || identity === undefined || address === undefined) return undefined;
  return { pid: Number(pid), identity, address };
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw new StorageError(`${path} cannot be read: ${codeOf(cause)}`, { cause });
  }
}

/** The text under a name of its own, so that it can be moved to its place whole. */
async function writeDraft(path: string, text: string): Promise<string> {
  const draft = `${path}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
  } catch (cause) {
    throw new StorageError(`${path} cannot be written: ${codeOf(cause)}`, { cause });
  }
  return draft;
}

/** A link is made only where nothing is: of several processes one succeeds. */
async function linked(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false;
    throw new StorageError(`${path} cannot be written: ${codeOf(cause)}`, { cause });
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
