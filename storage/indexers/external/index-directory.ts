// The directory of an engine that is a program: numbered indexes, of which one is published.
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, StorageError } from '../../../protocols/errors.js';
import { syncPath } from '../../files/sync-path.js';

const POINTER = 'CURRENT';
const STATE = 'state.json';
const NUMBER = /^[1-9]\d{0,14}$/;

/** A published index; its files stay on the disk until it is released. */
export interface IndexLease {
  readonly path: string;
  release(): Promise<void>;
}

/**
 * Indexes that are built next to the one in use and replace it atomically:
 *
 *     CURRENT            the number of the index in use
 *     7/                 an index; its `state.json` has the watermark and other state
 *     8/                 an unfinished index, also that of a killed process
 *
 * The pointer is replaced by a rename when the next index is complete and on the disk, so index and watermark change
 * together, and a crash leaves either the old or the new one. An index that queries still read is removed when the last
 * of them ends.
 */
export class IndexDirectory {
  readonly #leases = new Map<number, number>();

  private constructor(
    readonly path: string,
    /** Number of the index in use; 0 before the first. */
    private number: number,
    private latest: number,
  ) {}

  /**
   * Opens the directory, creates it if necessary, and removes indexes that are not in use.
   *
   * @throws StorageError if the directory cannot be used
   */
  static async open(path: string): Promise<IndexDirectory> {
    try {
      await mkdir(path, { recursive: true });
      const pointer = await readIfExists(join(path, POINTER));
      const number = pointer !== undefined && NUMBER.test(pointer.trim()) ? Number(pointer) : 0;
      let latest = number;
      for (const name of await readdir(path)) {
        if (!NUMBER.test(name)) continue;
        latest = Math.max(latest, Number(name));
        if (Number(name) !== number) await rm(join(path, name), { recursive: true, force: true });
      }
      return new IndexDirectory(path, number, latest);
    } catch (cause) {
      throw new StorageError(`${path} cannot be used: ${errorCode(cause) ?? String(cause)}`, { cause });
    }
  }

  /** Directory of the index in use; undefined before the first. */
  get current(): string | undefined {
    return this.number === 0 ? undefined : this.#pathOf(this.number);
  }

  /** The state last written by {@link publish} or {@link writeState}; undefined if absent or damaged. */
  async state(): Promise<unknown> {
    if (this.current === undefined) return undefined;
    const text = await readIfExists(join(this.current, STATE));
    try {
      return text === undefined ? undefined : JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  /** Protects the index in use from removal. Returns undefined before the first index. */
  lease(): IndexLease | undefined {
    const { number } = this;
    if (number === 0) return undefined;
    this.#leases.set(number, (this.#leases.get(number) ?? 0) + 1);
    let released = false;
    return {
      path: this.#pathOf(number),
      release: async () => {
        if (released) return;
        released = true;
        const remaining = (this.#leases.get(number) ?? 1) - 1;
        if (remaining > 0) this.#leases.set(number, remaining);
        else {
          this.#leases.delete(number);
          if (number !== this.number) await this.#remove(number);
        }
      },
    };
  }

  /** Creates an empty directory for the next index and returns its path. */
  async prepare(): Promise<string> {
    const path = this.#pathOf(++this.latest);
    await rm(path, { recursive: true, force: true });
    await mkdir(path);
    return path;
  }

  /** Replaces the index in use by a prepared one, atomically. */
  async publish(path: string, state: unknown): Promise<void> {
    await this.#writeState(path, state);
    for (const name of await readdir(path)) await syncPath(join(path, name));
    await syncPath(path);
    const former = this.number;
    const number = Number(path.slice(path.lastIndexOf('/') + 1));
    await this.#replace(join(this.path, POINTER), `${number}\n`);
    this.number = number;
    if (former !== 0 && !this.#leases.has(former)) await this.#remove(former);
  }

  /** Replaces the state of the index in use. */
  async writeState(state: unknown): Promise<void> {
    if (this.current !== undefined) await this.#writeState(this.current, state);
  }

  /** Removes a prepared index that will not be published. */
  async discard(path: string): Promise<void> {
    await rm(path, { recursive: true, force: true });
  }

  async #writeState(path: string, state: unknown): Promise<void> {
    await this.#replace(join(path, STATE), `${JSON.stringify(state)}\n`);
  }

  async #replace(path: string, text: string): Promise<void> {
    const file = await open(`${path}.new`, 'w');
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
  }

  async #remove(number: number): Promise<void> {
    await rm(this.#pathOf(number), { recursive: true, force: true });
  }

  #pathOf(number: number): string {
    return join(this.path, String(number));
  }
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw cause;
  }
}
