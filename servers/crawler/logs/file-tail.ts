// Completes the end of a log after a crash.
import { type FileHandle, open, stat } from 'node:fs/promises';
import { errorCode, messageOf, StorageError } from '../../../protocols/errors.js';

/**
 * Appends texts to a file of which it may have a part already: what follows its first `size` bytes is expected
 * to be the beginning of the texts, also when it ends within a line. A file that another program shortened or
 * changed gets all texts.
 */
export class FileTail implements AsyncDisposable {
  readonly #path: string;
  #handle: FileHandle | undefined;
  #end = 0;
  #size: number;

  constructor(
    path: string,
    /** Bytes of the file before the first text. */
    size: number,
  ) {
    this.#path = path;
    this.#size = size;
  }

  /** @throws StorageError */
  async add(text: Uint8Array): Promise<void> {
    if (text.length === 0) return;
    try {
      if (this.#handle === undefined) {
        this.#handle = await open(this.#path, 'a+');
        this.#end = (await this.#handle.stat()).size;
      }
      const known = await this.#known(this.#handle, text);
      this.#size += text.length;
      await this.#handle.appendFile(text.subarray(known));
      this.#end += text.length - known;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** The file's size, bytes; 0 if it does not exist. @throws StorageError */
  async end(): Promise<number> {
    try {
      return (await stat(this.#path)).size;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return 0;
      throw this.#failure(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }

  /** Returns how many bytes of the text the file has. */
  async #known(handle: FileHandle, text: Uint8Array): Promise<number> {
    const length = Math.min(text.length, this.#end - this.#size);
    if (length <= 0) return 0;
    const found = Buffer.alloc(length);
    await handle.read(found, 0, length, this.#size);
    if (found.equals(text.subarray(0, length))) return length;
    this.#size = this.#end;
    return 0;
  }

  #failure(cause: unknown): StorageError {
    return new StorageError(`${this.#path}: ${messageOf(cause)}`, { cause });
  }
}
