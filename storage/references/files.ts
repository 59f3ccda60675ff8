// The flat files of a references generation: buffered appending, and reading from memory or in blocks.
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { StorageError } from '../../protocols/errors.js';
import { changedFile } from '../files/checksums.js';
import { openRegular } from '../files/regular-file.js';

const BUFFER_BYTES = 1 << 18;
/** The size of one read while a file is loaded into memory. */
const PIECE_BYTES = 1 << 24;

/**
 * Appends to a new file through a buffer of 256 KiB. Writes synchronously, because the caller must wait for the
 * disk in any case.
 */
export class FileAppender implements Disposable {
  readonly #bytes: Uint8Array;
  readonly #words: Uint32Array;
  readonly #fd: number;
  #used = 0;
  #written = 0;
  #open = true;

  constructor(readonly path: string) {
    const memory = new ArrayBuffer(BUFFER_BYTES);
    this.#bytes = new Uint8Array(memory);
    this.#words = new Uint32Array(memory);
    this.#fd = openSync(path, 'wx');
  }

  /** The number of bytes appended so far. */
  get length(): number {
    return this.#written + this.#used;
  }

  /** Appends a word. Do not mix words and bytes in one file. */
  word(value: number): void {
    if (this.#used === BUFFER_BYTES) this.flush();
    this.#words[this.#used >>> 2] = value;
    this.#used += 4;
  }

  words(values: Uint32Array): void {
    this.bytes(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  bytes(values: Uint8Array): void {
    if (values.length > BUFFER_BYTES - this.#used) this.flush();
    if (values.length > BUFFER_BYTES) {
      this.#write(values);
      return;
    }
    this.#bytes.set(values, this.#used);
    this.#used += values.length;
  }

  /** Appends text of one-byte characters. */
  latin1(text: string): void {
    if (text.length > BUFFER_BYTES - this.#used) this.flush();
    if (text.length > BUFFER_BYTES) {
      this.#write(Buffer.from(text, 'latin1'));
      return;
    }
    for (let i = 0; i < text.length; i++) this.#bytes[this.#used++] = text.charCodeAt(i);
  }

  flush(): void {
    this.#write(this.#bytes.subarray(0, this.#used));
    this.#used = 0;
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
    this.#written += bytes.length;
  }

  /** Flushes the buffer and closes the file. Later calls do nothing. */
  close(): void {
    if (!this.#open) return;
    try {
      this.flush();
    } finally {
      this[Symbol.dispose]();
    }
  }

  /** Closes the file without flushing: buffered data may be lost. */
  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#fd);
  }
}

/** Fills an array with what follows in a file. Returns the number of bytes, fewer only at its end. */
export function readNext(fd: number, target: Uint8Array): number {
  let filled = 0;
  for (let bytesRead = 1; bytesRead > 0 && filled < target.length; filled += bytesRead) {
    bytesRead = readSync(fd, target, filled, target.length - filled, null);
  }
  return filled;
}

/** The words of a block: 4 KiB. */
const BLOCK_WORDS = 1 << 10;
/** The number of blocks cached for a file on the disk: 4 MiB. */
const CACHED_BLOCKS = 1 << 10;

/** A direct-mapped cache of file blocks: a repeated read costs no system call. */
class BlockCache {
  readonly #blocks: (Uint32Array | undefined)[] = new Array(CACHED_BLOCKS);
  readonly #numbers = new Float64Array(CACHED_BLOCKS).fill(-1);

  /** @param read reads a whole block into a new array; the cache never overwrites a block that it returned */
  get(number: number, read: (number: number) => Uint32Array): Uint32Array {
    const slot = number % CACHED_BLOCKS;
    const cached = this.#blocks[slot];
    if (cached !== undefined && this.#numbers[slot] === number) return cached;
    const block = read(number);
    this.#blocks[slot] = block;
    this.#numbers[slot] = number;
    return block;
  }
}

/** The memory that is still available for loading files. */
export interface MemoryBudget {
  remainingBytes: number;
}

/** An immutable file, loaded into memory or read in blocks from the page cache. */
export class FlatFile implements AsyncDisposable {
  readonly #path: string;
  readonly #changed: bigint;
  readonly #memory: ArrayBuffer | undefined;
  readonly #words: Uint32Array;
  readonly #handle: FileHandle | undefined;
  readonly #cache: BlockCache | undefined;

  /** @param changed when it was written last, in nanoseconds since 1970 */
  private constructor(
    path: string,
    readonly length: number,
    from: ArrayBuffer | FileHandle,
    changed: bigint,
  ) {
    this.#path = path;
    this.#changed = changed;

    const inMemory = from instanceof ArrayBuffer;
    this.#memory = inMemory ? from : undefined;
    this.#handle = inMemory ? undefined : from;
    this.#cache = inMemory ? undefined : new BlockCache();
    this.#words = inMemory ? new Uint32Array(from, 0, from.byteLength >>> 2) : new Uint32Array(0);
  }

  /**
   * @param length the expected size of the file in bytes
   * @param budget the file is loaded into memory if it fits in the budget, which is then reduced
   * @throws StorageError if the file has another size
   */
  static async open(path: string, length: number, budget: MemoryBudget): Promise<FlatFile> {
    const handle = await openRegular(path);
    let keepOpen = false;
    try {
      const { size: bytes, mtimeNs } = await handle.stat({ bigint: true });
      const size = Number(bytes);
      if (size !== length) throw new StorageError(`${path} is damaged: ${size} bytes instead of ${length}`);
      if (length <= budget.remainingBytes) {
        budget.remainingBytes -= length;
        return new FlatFile(path, length, await readAll(handle, length, path), mtimeNs);
      }
      keepOpen = true;
      return new FlatFile(path, length, handle, mtimeNs);
    } finally {
      if (!keepOpen) await handle.close();
    }
  }

  /**
   * Returns `count` words, starting at word `from`; all must exist. The array may be a view of shared memory:
   * do not write to it.
   */
  words(from: number, count: number): Uint32Array {
    if (this.#cache === undefined) return this.#words.subarray(from, from + count);
    const offset = from % BLOCK_WORDS;
    if (count > 0 && offset + count <= BLOCK_WORDS)
      return this.#cache.get((from - offset) / BLOCK_WORDS, this.#readBlock).subarray(offset, offset + count);
    return this.#readWords(from, count);
  }

  readonly #readBlock = (number: number): Uint32Array => {
    const from = number * BLOCK_WORDS;
    return this.#readWords(from, Math.min(BLOCK_WORDS, (this.length >>> 2) - from));
  };

  #readWords(from: number, count: number): Uint32Array {
    const words = new Uint32Array(count);
    this.#read(new Uint8Array(words.buffer), from * 4);
    return words;
  }

  /** Returns `length` bytes at offset `from` as text of one-byte characters. */
  latin1(from: number, length: number): string {
    if (this.#memory !== undefined) return Buffer.from(this.#memory, from, length).toString('latin1');
    const bytes = Buffer.allocUnsafe(length);
    this.#read(bytes, from);
    return bytes.toString('latin1');
  }

  #read(target: Uint8Array, position: number): void {
    const fd = this.#handle?.fd ?? -1;
    for (let done = 0; done < target.length; ) {
      const bytesRead = readSync(fd, target, done, target.length - done, position + done);
      if (bytesRead === 0) throw new StorageError(`${this.#path} is damaged: it ends too early`);
      done += bytesRead;
    }
    // Its sums were compared when it was opened, and nothing writes a published file.
    if (fstatSync(fd, { bigint: true }).mtimeNs !== this.#changed) throw changedFile(this.#path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}

async function readAll(handle: FileHandle, length: number, path: string): Promise<ArrayBuffer> {
  const memory = new ArrayBuffer(length);
  for (let done = 0; done < length; ) {
    const piece = new Uint8Array(memory, done, Math.min(PIECE_BYTES, length - done));
    const { bytesRead } = await handle.read(piece, 0, piece.length, done);
    if (bytesRead === 0) throw new StorageError(`${path} is damaged: it ends too early`);
    done += bytesRead;
  }
  return memory;
}

/** Reads a whole file of words into memory. @throws StorageError if the file has another size. */
export async function readWords(path: string, length: number): Promise<Uint32Array> {
  const file = await FlatFile.open(path, length, { remainingBytes: length });
  return file.words(0, length >>> 2);
}
