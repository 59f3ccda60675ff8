// The reader's side of a generations directory: finds, opens and follows generations.

import { randomBytes } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isUnwritable, messageOf, StorageError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import { adviceFor } from '../files/advice.js';
import { createDirectory } from '../files/make-directory.js';
import { isAlive } from '../files/replace-file.js';
import { cloneDatabase, makeCloneDirectory } from './clone-database.js';
import { currentGeneration, openNewest, POINTER_FILE } from './directory.js';
import { COMPRESSED_FILE } from './export/format.js';
import { openSnapshot, type SummarySnapshot } from './snapshot.js';

export interface GenerationsOptions {
  /**
   * Milliseconds between two checks by {@link Generations.follow}, for file systems that report no changes.
   * Default 2000.
   */
  readonly pollIntervalMs?: number | undefined;
}

const DEFAULT_POLL_MS = 2000;

/** A generation that readers can open. */
export interface PublishedGeneration {
  readonly generation: number;
  /**
   * Differs from that of another generation of the same number, in a directory that was deleted and made anew.
   */
  readonly identity: string;
}

/** The reader's side of a generations directory (DESIGN 4). Holds no resources. */
export class Generations {
  readonly #directory: string;
  readonly #pollIntervalMs: number;

  constructor(directory: string, options: GenerationsOptions = {}) {
    this.#directory = directory;
    this.#pollIntervalMs = options.pollIntervalMs ?? DEFAULT_POLL_MS;
  }

  /** The newest generation's number; undefined if nothing was published yet. */
  current(): Promise<number | undefined> {
    return currentGeneration(this.#directory);
  }

  /** The newest generation; undefined if nothing was published yet, or everything was deleted. */
  async published(): Promise<PublishedGeneration | undefined> {
    const generation = await this.current();
    if (generation === undefined) return undefined;
    try {
      const { dev, ino, birthtimeMs } = await stat(join(this.#directory, String(generation)));
      return { generation, identity: `${generation} ${dev} ${ino} ${birthtimeMs}` };
    } catch {
      // It is lost or was just removed: opening it reports why.
      return { generation, identity: `${generation}` };
    }
  }

  /**
   * Path of a generation's objects as one gzip member (GATHERD-10.2). Link or copy the file; do not write to
   * it.
   */
  compressedFile(generation: number): string {
    return join(this.#directory, String(generation), COMPRESSED_FILE);
  }

  /**
   * Opens the newest generation in a private clone, which the last {@link SummarySnapshot.release} removes. The
   * published directory itself is never opened, because LevelDB locks and writes what it opens. If its disk is
   * full or read-only, the clone is in the system's directory for temporary files.
   *
   * @throws StorageError if nothing was published yet, or the generation is damaged.
   */
  async open(): Promise<SummarySnapshot> {
    const readers = join(this.#directory, 'readers');
    try {
      await createDirectory(readers);
      await removeStaleClones(readers);
    } catch (error) {
      if (!isUnwritable(error)) throw error;
    }
    const snapshot = await openNewest(this.#directory, async (number, published) => {
      const clone = join(readers, await newCloneName());
      try {
        return await openClone(number, published, clone);
      } catch (error) {
        throw cannotOpen(this.#directory, number, messageOf(error).replaceAll(clone, published), error);
      }
    });
    if (snapshot !== undefined) return snapshot;
    throw new StorageError(`no generation was published in ${this.#directory} yet`);
  }

  /**
   * Calls `onChange` with the newest generation, if there is one, and again whenever another one is published;
   * with undefined when all were deleted. May skip a generation that was replaced quickly. Does not keep the
   * process alive.
   */
  follow(onChange: (published: PublishedGeneration | undefined) => void): Disposable {
    let last: PublishedGeneration | undefined;
    let stopped = false;
    let watcher: FSWatcher | undefined;
    const mutex = new Mutex();
    const stopWatching = (): void => {
      watcher?.close();
      watcher = undefined;
    };

    // One check at a time, so that the newest one is announced last.
    const check = (): void => {
      void mutex.runExclusive(async () => {
        const published = await this.published().catch(() => null);
        if (stopped || published === null || published?.identity === last?.identity) return;
        // The directory was deleted, and its watcher never reports anything again.
        if ((published?.generation ?? 0) <= (last?.generation ?? 0)) stopWatching();
        last = published;
        onChange(published);
      });
    };
    const watchDirectory = (): void => {
      if (watcher !== undefined) return;
      try {
        watcher = watch(this.#directory, { persistent: false }, (_event, name) => {
          if (name === null || name === POINTER_FILE) check();
        });
        watcher.on('error', stopWatching);
      } catch {
        // The directory does not exist yet, or the system has no watches left: the timer tries again.
      }
    };
    const timer = setInterval(() => {
      watchDirectory();
      check();
    }, this.#pollIntervalMs);
    timer.unref();
    watchDirectory();
    check();

    return {
      [Symbol.dispose]() {
        stopped = true;
        clearInterval(timer);
        stopWatching();
      },
    };
  }
}

/**
 * Makes the clone and opens it. The published tables are linked, or on another disk named by symbolic links.
 */
async function openClone(number: number, published: string, clone: string): Promise<SummarySnapshot> {
  try {
    await makeCloneDirectory(published, clone);
    await cloneDatabase(published, clone);
    return await openSnapshot(number, published, clone);
  } catch (error) {
    await rm(clone, { recursive: true, force: true }).catch(() => undefined);
    if (!isUnwritable(error)) throw error;
  }
  const elsewhere = await mkdtemp(join(tmpdir(), 'harvest-reader-'));
  try {
    await cloneDatabase(resolve(published), elsewhere, 'symbolic');
    return await openSnapshot(number, published, elsewhere);
  } catch (error) {
    await rm(elsewhere, { recursive: true, force: true });
    throw error;
  }
}

function cannotOpen(directory: string, number: number, why: string, cause: unknown): StorageError {
  const advice = why.includes('harvest store') || isUnwritable(cause) ? '' : `; ${adviceFor(directory)}`;
  return new StorageError(`generation ${number} in ${directory} cannot be opened: ${why}${advice}`, {
    cause,
  });
}

/**
 * Names of readers' clones: `PID-START-RANDOM`. START is the process's start time if the system reports it
 * (Linux: clock ticks since boot), else 0. It distinguishes a process from a later one with the same number, as
 * in a container where every run is process 1.
 */
const CLONE_NAME = /^(\d+)-(\d+)-[0-9a-f]+$/;

async function newCloneName(): Promise<string> {
  return `${process.pid}-${await startTime(process.pid)}-${randomBytes(6).toString('hex')}`;
}

/** Removes the clones of processes that have ended. */
async function removeStaleClones(readersDirectory: string): Promise<void> {
  for (const name of await readdir(readersDirectory)) {
    const [, pid, started] = CLONE_NAME.exec(name) ?? [];
    if (pid === undefined || started === undefined) continue;
    if (await isRunning(Number(pid), started)) continue;
    await rm(join(readersDirectory, name), { recursive: true, force: true });
  }
}

async function isRunning(pid: number, started: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const now = await startTime(pid);
  return started === '0' || now === '0' || now === started;
}

async function startTime(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses, which may contain anything; the other fields are
    // counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const field = fields[19] ?? '0';
    return /^\d+$/.test(field) ? field : '0';
  } catch {
    return '0';
  }
}
