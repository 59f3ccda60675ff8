// The directory of an engine that is a program: numbered indexes, of which one is published.
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { ifPresent } from '../files/exists.js';
import {
  formatState,
  INDEX_NUMBER as NUMBER,
  INDEX_POINTER as POINTER,
  parseState,
  STATE_FILE,
} from '../files/index-state.js';
import { createDirectory } from '../files/make-directory.js';
import { readRegular } from '../files/regular-file.js';
import { replaceContent } from '../files/replace-file.js';
import { syncPath } from '../files/sync-path.js';

/** A published index; its files stay on the disk until it is disposed of. */
export interface IndexLease extends AsyncDisposable {
  readonly path: string;
}

/**
 * Indexes that are built next to the one in use and replace it atomically:
 *
 *     CURRENT            the number of the index in use
 *     7/                 an index; its `state.json` has the watermark and other state
 *     8/                 an unfinished index, also that of a killed process
 *
 * The pointer is replaced by a rename when the next index is complete and on the disk, so index and watermark
 * change together, and a crash leaves either the old or the new one. An index that queries still read is
 * removed when the last of them ends.
 */
export class IndexDirectory {
  readonly #leases = new Map<number, number>();
  #number: number;
  #latest: number;

  private constructor(
    readonly path: string,
    /** Number of the index in use; 0 before the first. */
    number: number,
    latest: number,
  ) {
    this.#number = number;
    this.#latest = latest;
  }

  /**
   * Opens the directory, creates it if necessary, and removes indexes that are not in use.
   *
   * @throws StorageError if the directory cannot be used
   */
  static async open(path: string): Promise<IndexDirectory> {
    try {
      await createDirectory(path);
      await removeIrregular(join(path, POINTER));
      const pointer = (await ifPresent(readRegular(join(path, POINTER))))?.toString('utf8');
      const names = await readdir(path);
      // A pointer that is damaged, or to an index that is gone: the owner makes a new index from the store.
      const number =
        pointer !== undefined && names.includes(pointer.trim()) && NUMBER.test(pointer.trim())
          ? Number(pointer)
          : 0;
      let latest = number;
      for (const name of names) {
        if (!NUMBER.test(name)) continue;
        latest = Math.max(latest, Number(name));
        if (Number(name) !== number) await rm(join(path, name), { recursive: true, force: true });
      }
      return new IndexDirectory(path, number, latest);
    } catch (cause) {
      throw new StorageError(`${path} cannot be used: ${messageOf(cause)}`, { cause });
    }
  }

  /** Directory of the index in use; undefined before the first. */
  get current(): string | undefined {
    return this.#number === 0 ? undefined : this.#pathOf(this.#number);
  }

  /** The state last written by {@link publish} or {@link writeState}; undefined if absent or damaged. */
  async state(): Promise<unknown> {
    if (this.current === undefined) return undefined;
    const path = join(this.current, STATE_FILE);
    await removeIrregular(path);
    const text = (await ifPresent(readRegular(path)))?.toString('utf8');
    return text === undefined ? undefined : parseState(text);
  }

  /** Protects the index in use from removal. Returns undefined before the first index. */
  lease(): IndexLease | undefined {
    const number = this.#number;
    if (number === 0) return undefined;
    this.#leases.set(number, (this.#leases.get(number) ?? 0) + 1);
    let released = false;
    return {
      path: this.#pathOf(number),
      [Symbol.asyncDispose]: async () => {
        if (released) return;
        released = true;
        const remaining = (this.#leases.get(number) ?? 1) - 1;
        if (remaining > 0) this.#leases.set(number, remaining);
        else {
          this.#leases.delete(number);
          if (number !== this.#number) await this.#remove(number);
        }
      },
    };
  }

  /** Creates an empty directory for the next index and returns its path. @throws StorageError if it cannot */
  prepare(): Promise<string> {
    const path = this.#pathOf(++this.#latest);
    return guardWrites(path, async () => {
      await rm(path, { recursive: true, force: true });
      await mkdir(path);
      return path;
    });
  }

  /**
   * Replaces the index in use by a prepared one, atomically. @throws StorageError if it cannot: the former one
   * then stays in use
   */
  async publish(path: string, state: unknown): Promise<void> {
    const former = this.#number;
    const number = Number(path.slice(path.lastIndexOf('/') + 1));
    await guardWrites(path, async () => {
      await writeState(path, state);
      for (const name of await readdir(path, { recursive: true })) await syncPath(join(path, name));
      await syncPath(path);
      await replaceContent(join(this.path, POINTER), `${number}\n`);
    });
    this.#number = number;
    if (former !== 0 && !this.#leases.has(former)) await this.#remove(former);
  }

  /** Replaces the state of the index in use. @throws StorageError if it cannot */
  async writeState(state: unknown): Promise<void> {
    const { current } = this;
    if (current !== undefined) await guardWrites(current, () => writeState(current, state));
  }

  #remove(number: number): Promise<void> {
    return removeIndex(this.#pathOf(number));
  }

  #pathOf(number: number): string {
    return join(this.path, String(number));
  }
}

function writeState(path: string, state: unknown): Promise<void> {
  return replaceContent(join(path, STATE_FILE), formatState(state));
}

/** Turns errors of the system, which do not always name a file, into StorageErrors. */
async function guardWrites<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    throw new StorageError(`${path} cannot be written: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Removes an index that is not in use, e.g. a prepared one that will not be published. What a disk that fails
 * leaves of it is removed by the next opening.
 */
export async function removeIndex(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

/** Removes anything in the place of a file that is not a file: the owner makes a new index from the store. */
async function removeIrregular(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) await rm(path, { recursive: true, force: true });
}
