// A file for bytes that are too many for the memory, which ends with the process.
import type { FileHandle } from 'node:fs/promises';
import { isDiskFull, messageOf, StorageError } from '../../protocols/errors.js';
import { countBuffer } from './collect-garbage.js';
import { openNameless } from './nameless-file.js';
import { writeFully } from './write-fully.js';

/** Bytes that are read at a time. */
const READ_BYTES = 256 * 1024;

/** A file without a name: no crash leaves it behind. */
export class SpoolFile {
  readonly #directory: string;
  readonly #file: FileHandle;
  #length = 0;

  private constructor(directory: string, file: FileHandle) {
    this.#directory = directory;
    this.#file = file;
  }

  /** @throws StorageError if there is no room in the directory */
  static async open(directory: string): Promise<SpoolFile> {
    return new SpoolFile(directory, await guard(directory, () => openNameless(directory)));
  }

  /** @throws StorageError if the disk is full; nothing is appended then */
  async append(bytes: Uint8Array): Promise<void> {
    await guard(this.#directory, () => writeFully(this.#file, bytes, this.#length));
    this.#length += bytes.length;
    countBuffer(bytes.length);
  }

  /** Yields bytes in pieces; each is valid until the next one is requested. */
  async *pieces(start = 0, end = this.#length): AsyncGenerator<Uint8Array, void, undefined> {
    const buffer = Buffer.allocUnsafeSlow(Math.max(0, Math.min(READ_BYTES, end - start)));
    for (let at = start; at < end; ) {
      const wanted = Math.min(buffer.length, end - at);
      const { bytesRead } = await guard(this.#directory, () => this.#file.read(buffer, 0, wanted, at));
      if (bytesRead === 0) throw new StorageError(`a temporary file in ${this.#directory} has lost its end`);
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  /** Forgets all bytes. */
  async clear(): Promise<void> {
    await guard(this.#directory, () => this.#file.truncate(0));
    this.#length = 0;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

async function guard<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const problem = isDiskFull(cause) ? 'no space left' : messageOf(cause);
    throw new StorageError(`a temporary file in ${directory} cannot be used: ${problem}`, { cause });
  }
}
