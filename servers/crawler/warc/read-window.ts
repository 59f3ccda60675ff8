import type { FileHandle } from 'node:fs/promises';
import { readAt } from '../inflate-member.js';

/** Bytes per read. */
const READ_BYTES = 1024 * 1024;
/** Bytes that {@link ReadWindow.from} returns at least: a shorter record is examined in one step. */
export const SHORT_BYTES = 256 * 1024;

/** The part of a file around the reading position, in memory. */
export class ReadWindow {
  readonly #file: FileHandle;
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #atEnd = false;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** The offset of the next occurrence of a text, from an offset on. */
  async indexOf(text: Buffer, from: number): Promise<number | undefined> {
    for (let at = from; ; ) {
      const bytes = await this.from(at);
      const found = bytes.indexOf(text);
      if (found >= 0) return at + found;
      if (bytes.length < SHORT_BYTES) return undefined;
      at += bytes.length - text.length;
    }
  }

  /** The bytes between two offsets, in pieces. Fewer at the end of the file. */
  async *range(start: number, end: number): AsyncGenerator<Buffer, void, undefined> {
    for (let at = start; at < end; ) {
      const piece = (await this.from(at)).subarray(0, end - at);
      if (piece.length === 0) return;
      yield piece;
      at += piece.length;
    }
  }

  /**
   * Returns the bytes from an offset: at least {@link SHORT_BYTES}, fewer only at the end of the file. They are
   * not overwritten later.
   */
  async from(at: number): Promise<Buffer> {
    const left = this.#start + this.#bytes.length - at;
    if (at < this.#start || (left < SHORT_BYTES && !this.#atEnd)) {
      this.#bytes = await readAt(this.#file, at, READ_BYTES);
      this.#start = at;
      this.#atEnd = this.#bytes.length < READ_BYTES;
    }
    return this.#bytes.subarray(at - this.#start);
  }
}
