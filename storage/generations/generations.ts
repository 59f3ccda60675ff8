// The reader's side of a generations directory: finds, opens and follows generations.
import { type FSWatcher, watch } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isUnwritable, messageOf, StorageError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import { adviceFor } from '../files/advice.js';
import { createDirectory } from '../files/make-directory.js';
import { cloneDatabase, makeCloneDirectory } from './clone-database.js';
import { currentGeneration, POINTER_FILE } from './directory.js';
import { COMPRESSED_FILE } from './export/format.js';
import { newCloneName, removeStaleClones } from './reader-clones.js';
import { openSnapshot, type SummarySnapshot } from './snapshot.js';

export interface GenerationsOptions {
  /** Milliseconds between two checks by {@link Generations.follow}, for file systems that report no changes. Default 2000. */
  readonly pollIntervalMs?: number;
}

const DEFAULT_POLL_MS = 2000;
/** Maximum attempts to clone a generation that is replaced and removed meanwhile. */
const OPEN_ATTEMPTS = 20;

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

  /** Path of a generation's objects as one gzip member (GATHERD-10.2). Link or copy the file; do not write to it. */
  compressedFile(generation: number): string {
    return join(this.#directory, String(generation), COMPRESSED_FILE);
  }

  /**
   * Opens the newest generation in a private clone, which the last {@link SummarySnapshot.release} removes. The published directory
   * itself is never opened, because LevelDB locks and writes what it opens. If its disk is full or read-only, the clone is in the
   * system's directory for temporary files.
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
    for (let attempt = 1; ; attempt++) {
      const number = await this.current();
      if (number === undefined)
        throw new StorageError(`no generation was published in ${this.#directory} yet`);
      const clone = join(readers, await newCloneName());
      const published = join(this.#directory, String(number));
      try {
        return await openClone(number, published, clone);
      } catch (error) {
        const replaced = (await this.current()) !== number;
        // Its files went away while they were read.
        if (replaced && attempt < OPEN_ATTEMPTS) continue;
        throw cannotOpen(this.#directory, number, messageOf(error).replaceAll(clone, published), error);
      }
    }
  }

  /**
   * Calls `onChange` with the current number, if there is one, and again whenever another one is published. May skip a number that was
   * replaced quickly. Does not keep the process alive.
   */
  follow(onChange: (generation: number) => void): Disposable {
    let last: number | undefined;
    let stopped = false;
    let watcher: FSWatcher | undefined;
    const mutex = new Mutex();

    // One check at a time, so that the newest number is announced last.
    const check = (): void => {
      void mutex.runExclusive(async () => {
        const number = await this.current().catch(() => undefined);
        if (stopped || number === undefined || number === last) return;
        last = number;
        onChange(number);
      });
    };
    const watchDirectory = (): void => {
      if (watcher !== undefined) return;
      try {
        watcher = watch(this.#directory, { persistent: false }, (_event, name) => {
          if (name === null || name === POINTER_FILE) check();
        });
        watcher.on('error', () => {
          watcher?.close();
          watcher = undefined;
        });
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
        watcher?.close();
      },
    };
  }
}

/** Makes the clone and opens it. The published tables are linked, or on another disk named by symbolic links. */
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
