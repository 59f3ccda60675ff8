// The pid file of a daemon: which process runs in a directory, and how to stop exactly that process.
import { createHash, randomBytes } from 'node:crypto';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isUnwritable, messageOf, StorageError } from '../../protocols/errors.js';
import { createDirectory } from '../../storage/files/make-directory.js';
import { readRegular } from '../../storage/files/regular-file.js';
import { processIdentity } from './process-identity.js';

/** The process that a pid file names. */
export interface PidRecord {
  readonly pid: number;
  /** From {@link processIdentity}. */
  readonly identity: string;
  /** The address it listens on, `HOST:PORT`; '' before it listens. */
  readonly address: string;
}

/** Attempts to create a file that other processes keep changing. */
const ATTEMPTS = 40;
/** Milliseconds between two checks of a process that is stopping, or that is replacing a file. */
const POLL_MS = 50;

/**
 * Returns the path of the lock beside a pid file: three lines, the process id, its start time, its address. A
 * pid file itself is one number, as scripts expect it: `kill $(cat FILE)`.
 */
export function lockOf(path: string): string {
  return `${path}.lock`;
}

/** The file that names a running daemon by its process id. It appears complete, by a rename or a link. */
export class PidFile implements AsyncDisposable {
  readonly #path: string;
  readonly #unwritable: ((sentence: string) => void) | undefined;
  /** The contents of the lock; undefined without a lock. */
  #lock: string | undefined;

  private constructor(path: string, lock?: string, unwritable?: (sentence: string) => void) {
    this.#path = path;
    this.#lock = lock;
    this.#unwritable = unwritable;
  }

  /**
   * Creates the file and its lock for this process. Of several daemons that create it one succeeds; the files
   * of a process that is gone are replaced.
   *
   * @param program name of the daemon in the message
   * @param unwritable a daemon that only reads gives it to run without the file on a disk that is full or
   *   read-only; gets a sentence
   * @throws StorageError when the process that the file names is still running, or the file cannot be written
   */
  static async create(
    path: string,
    program: string,
    unwritable?: (sentence: string) => void,
  ): Promise<PidFile> {
    const text = await formatRecord('');
    let holder = await runningProcess(path);
    try {
      holder ??= await acquire(lockOf(path), text);
      if (holder === undefined) return await PidFile.#withNumber(path, text, unwritable);
    } catch (error) {
      if (unwritable === undefined || !isUnwritable(error)) throw error;
      holder = await runningProcess(path);
      if (holder === undefined) {
        unwritable(`${messageOf(error)}; ${program} runs without it`);
        return new PidFile(path, undefined, unwritable);
      }
    }
    const location = holder.address === '' ? '' : `, at ${holder.address}`;
    throw new StorageError(`${program} is already running here (process ${holder.pid}${location})`);
  }

  /** Writes the number beside the lock, which is ours. Without the number the lock is given up. */
  static async #withNumber(
    path: string,
    lock: string,
    unwritable: ((sentence: string) => void) | undefined,
  ): Promise<PidFile> {
    try {
      await writeNumber(path);
    } catch (error) {
      await removeLock(path, lock);
      throw error;
    }
    return new PidFile(path, lock, unwritable);
  }

  /**
   * Writes only the number of this process, without a lock. Replaces a file of any process and makes the
   * directories above it.
   *
   * @throws StorageError when it cannot be written
   */
  static async replace(path: string): Promise<PidFile> {
    try {
      await createDirectory(dirname(path));
      await writeNumber(path);
    } catch (cause) {
      if (cause instanceof StorageError) throw cause;
      throw new StorageError(`the pid file ${path} cannot be written: ${codeOf(cause)}`, { cause });
    }
    return new PidFile(path);
  }

  /** Adds the address that the daemon listens on to the lock. */
  async setAddress(address: string): Promise<void> {
    if (this.#lock === undefined) return;
    const text = await formatRecord(address);
    try {
      await rename(await writeDraft(lockOf(this.#path), text), lockOf(this.#path));
      this.#lock = text;
    } catch (error) {
      if (this.#unwritable === undefined || !isUnwritable(error)) throw error;
      this.#unwritable(`${messageOf(error)}; it does not name the address`);
    }
  }

  /**
   * Creates the file and its lock again if someone deleted them, so that the daemon is found. Does nothing
   * while the directory is missing or another process has the lock.
   *
   * @returns whether they were created
   */
  async restore(): Promise<boolean> {
    if (this.#lock === undefined || (await readText(lockOf(this.#path)).catch(() => '')) !== undefined)
      return false;
    try {
      if ((await acquire(lockOf(this.#path), this.#lock)) !== undefined) return false;
      await writeNumber(this.#path);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Removes the file and its lock, if they still name this process. A file whose removal is not permitted
   * stays.
   */
  async close(): Promise<void> {
    await removePidFile(this.#path, process.pid);
    if (this.#lock !== undefined) await removeLock(this.#path, this.#lock);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Removes a file that names only the process `pid`, after its end. Without the permission it stays: a process
 * that has changed its user leaves it to its parent.
 */
export async function removePidFile(path: string, pid: number): Promise<void> {
  try {
    if ((await readRegular(path)).toString('latin1').trim() === String(pid)) await rm(path, { force: true });
  } catch {
    // Absent, or this process may not remove it.
  }
}

/**
 * The running process that a pid file and its lock name; undefined if there is no lock or the process is gone.
 */
export async function runningProcess(path: string): Promise<PidRecord | undefined> {
  // Earlier versions of this program wrote the record into the file itself.
  return (await runningHolder(lockOf(path))) ?? (await runningHolder(path));
}

async function runningHolder(file: string): Promise<PidRecord | undefined> {
  const text = await readText(file);
  const record = text === undefined ? undefined : parseRecord(text);
  return record !== undefined && (await isRunning(record)) ? record : undefined;
}

/** Removes a lock that is still ours. */
async function removeLock(path: string, text: string): Promise<void> {
  const lock = lockOf(path);
  if ((await readText(lock)) === text) await rm(lock, { force: true });
}

/** Replaces a pid file by one with the number of this process. */
async function writeNumber(path: string): Promise<void> {
  const draft = await writeDraft(path, `${process.pid}\n`);
  try {
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/**
 * Stops a process by SIGTERM and waits until it is gone. Its identity is compared right before, so that another
 * process with the same number is not stopped.
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
 * Creates the lock `path` with `text`, or replaces the lock of a process that is gone. Only the holder of a
 * claim on exactly the stale text may replace it, and a claim is a lock itself: of several processes one
 * succeeds, and a process that dies in between leaves nothing that blocks the next one.
 *
 * @returns undefined when the file is ours, else the running process that has it
 */
async function acquire(path: string, text: string): Promise<PidRecord | undefined> {
  const draft = await writeDraft(path, text);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await tryLink(draft, path)) return undefined;
      const stale = await readText(path);
      if (stale === undefined) continue;
      const record = parseRecord(stale);
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

async function formatRecord(address: string): Promise<string> {
  const identity = await processIdentity(process.pid);
  if (identity === undefined)
    throw new StorageError('the system does not report the start time of this process');
  return `${process.pid}\n${identity}\n${address}\n`;
}

function parseRecord(text: string): PidRecord | undefined {
  const [, pid, identity, address] = /^([1-9]\d{0,9})\n(\S+)\n(\S*)\n$/.exec(text) ?? [];
  if (pid === undefined || identity === undefined || address === undefined) return undefined;
  return { pid: Number(pid), identity, address };
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readRegular(path)).toString('utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw new StorageError(`${path} cannot be read: ${codeOf(cause)}`, { cause });
  }
}

/** Writes the text to a file with a unique name, to be renamed or linked. */
async function writeDraft(path: string, text: string): Promise<string> {
  const draft = `${path}.${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o644 });
  } catch (cause) {
    // On a full disk the file exists without its text.
    await rm(draft, { force: true }).catch(() => undefined);
    throw new StorageError(`${path} cannot be written: ${codeOf(cause)}`, { cause });
  }
  return draft;
}

/** Links the draft unless `path` exists: of several processes one succeeds. */
async function tryLink(draft: string, path: string): Promise<boolean> {
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
