// Access to a file at offsets: an interface that tests replace, and a window for small reads.
import { type FileHandle, open } from 'node:fs/promises';
import { errorCode, rethrowAs, StorageError } from '../../protocols/errors.js';
import { readFully } from '../files/read-fully.js';
import { openRegular } from '../files/regular-file.js';
import { writeFully } from '../files/write-fully.js';

/** A file that is read and written at offsets. */
export interface RandomFile {
  /**
   * Fills `bytes` from `position`; returns the number of bytes read, which is less than requested at the end of
   * the file.
   */
  read(bytes: Uint8Array, position: number): Promise<number>;
  write(bytes: Uint8Array, position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** Flushes the file to the disk. */
  sync(): Promise<void>;
  /** Size in bytes. */
  size(): Promise<number>;
  close(): Promise<void>;
}

/** `r` reads, `r+` reads and writes, `wx` creates a new file for writing. */
export type OpenMode = 'r' | 'r+' | 'wx';

/** Opens a file; tests pass one that fails between two writes. */
export type OpenRandomFile = (path: string, mode: OpenMode) => Promise<RandomFile>;

/**
 * Opens a file of the system. @throws StorageError if it cannot be opened; its writes throw one, too, e.g. if
 * the disk is full
 */
export const openRandomFile: OpenRandomFile = async (path, mode) => {
  let handle: FileHandle;
  try {
    handle = await (mode === 'wx' ? open(path, mode) : openRegular(path, mode));
  } catch (cause) {
    const reason =
      errorCode(cause) === 'ENOENT' ? 'there is no such file' : (errorCode(cause) ?? String(cause));
    throw new StorageError(`${path} cannot be opened: ${reason}`, { cause });
  }
  const written = async (work: () => Promise<void>): Promise<void> => {
    await work().catch(rethrowAs(StorageError, `${path} cannot be written`));
  };
  return {
    read: (bytes, position) => readFully(handle, bytes, position),
    write: (bytes, position) => written(() => writeFully(handle, bytes, position)),
    truncate: (length) => written(() => handle.truncate(length)),
    sync: () => written(() => handle.sync()),
    size: async () => (await handle.stat()).size,
    close: () => handle.close(),
  };
};

const WINDOW_BYTES = 64 * 1024;

/** Serves small reads at ascending offsets, most of them from one block in memory. */
export class FileWindow {
  readonly #file: RandomFile;
  #block: Uint8Array = new Uint8Array(0);
  #start = 0;

  constructor(
    file: RandomFile,
    /** Size of the file in bytes. */
    readonly size: number,
  ) {
    this.#file = file;
  }

  /**
   * `length` bytes from `offset`; undefined if the file ends before. A read far ahead does not move the block.
   */
  async bytesAt(offset: number, length: number): Promise<Uint8Array | undefined> {
    if (offset + length > this.size) return undefined;
    const from = offset - this.#start;
    if (from >= 0 && from + length <= this.#block.length) return this.#block.subarray(from, from + length);
    const isNear = from >= 0 && from < 2 * WINDOW_BYTES;
    if (!isNear || length > WINDOW_BYTES) return this.read(offset, length);
    await this.moveTo(offset);
    return this.#block.subarray(0, length);
  }

  /** Loads the block from `offset`, up to 64 KiB; {@link bytesAt} then reads from it. */
  async moveTo(offset: number): Promise<Uint8Array> {
    this.#block = await this.read(offset, Math.max(0, Math.min(WINDOW_BYTES, this.size - offset)));
    this.#start = offset;
    return this.#block;
  }

  /** @throws StorageError if the file has become shorter */
  async read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    if ((await this.#file.read(bytes, offset)) < length) {
      throw new StorageError(`the Registry became shorter than ${offset + length} bytes while it was read`);
    }
    return bytes;
  }
}
