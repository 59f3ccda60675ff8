// Reserved disk space, released so that startup works on a full disk: opening a database writes.
import { open, stat, statfs } from 'node:fs/promises';
import { isDiskFull } from '../../protocols/errors.js';
import { noteChange, removeNoted } from './note-change.js';

/**
 * Enough for LevelDB, which turns its logs (4 MiB each) into tables when it opens them, and for the first pages
 * of an index.
 */
const DEFAULT_BYTES = 12 << 20;
const PIECE_BYTES = 1 << 20;
/** A file takes the space only if the disk has this many times as much. */
const MIN_FREE = 3;

/**
 * A file of zeros beside the stores of a program. On a full disk it is deleted, so that the program can open
 * and serve its stores; the space that is left becomes the new reserve.
 */
export class DiskReserve {
  readonly #file: string;
  readonly #bytes: number;
  #released = false;

  /** @param bytes its size, default 12 MiB; 0 for none */
  constructor(file: string, bytes = DEFAULT_BYTES) {
    this.#file = file;
    this.#bytes = bytes;
  }

  /** Whether the space was given back since the last {@link hold}. */
  get released(): boolean {
    return this.#released;
  }

  /** Runs `work`; if it fails because the disk is full, gives the space back and runs it once more. */
  async open<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.#released || !isDiskFull(error) || !(await this.#release())) throw error;
      return work();
    }
  }

  /**
   * Takes the space, unless the disk has little: what stores receive goes first. Space that {@link open} gave
   * back is taken again as far as it is left, so that the next start succeeds, too.
   */
  async hold(): Promise<void> {
    try {
      if (this.#bytes === 0) return;
      const size = await sizeOf(this.#file);
      if (size >= this.#bytes) return;
      if (!this.#released && !(await this.#hasRoom())) return;
      await noteChange(this.#file);
      await this.#fill(size);
      this.#released = false;
    } catch {
      // What was written counts. Without the file a start on a full disk fails with a sentence.
    }
  }

  async #release(): Promise<boolean> {
    if ((await sizeOf(this.#file)) === 0) return false;
    try {
      await removeNoted(this.#file);
    } catch {
      return false;
    }
    this.#released = true;
    return true;
  }

  async #hasRoom(): Promise<boolean> {
    const { bavail, bsize } = await statfs(this.#file.replace(/[^/]*$/, '') || '.');
    return bavail * bsize >= MIN_FREE * this.#bytes;
  }

  async #fill(size: number): Promise<void> {
    await using file = await open(this.#file, 'a', 0o600);
    const zeros = new Uint8Array(PIECE_BYTES);
    for (let done = size; done < this.#bytes; done += zeros.length) await file.writeFile(zeros);
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}
