// A file of an archive while it is written.
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../../protocols/errors.js';

/** Suffix of a file until it is finished. */
export const OPEN_SUFFIX = '.open';

/**
 * A file with the suffix {@link OPEN_SUFFIX} that gets records one after the other. Its methods must not run at
 * the same time.
 */
export class OpenArchive {
  readonly #directory: string;
  readonly #handle: FileHandle;
  /** Bytes of its records. */
  size = 0;
  /** Whether a failed write could not be undone: no record may follow. */
  lost = false;

  private constructor(
    directory: string,
    /** Without {@link OPEN_SUFFIX}. */
    readonly name: string,
    /** WARC-Record-ID of its first record. */
    readonly infoId: string,
    handle: FileHandle,
  ) {
    this.#directory = directory;
    this.#handle = handle;
  }

  /** @throws the errors of the file system, also if a file of this name exists */
  static async create(directory: string, name: string, infoId: string): Promise<OpenArchive> {
    return new OpenArchive(directory, name, infoId, await open(join(directory, name + OPEN_SUFFIX), 'wx'));
  }

  /**
   * Appends an encoded record. After a failure the caller must {@link undo}. @throws StorageError, the errors
   * of the file system
   */
  async append(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, written, bytes.length - written, this.size);
      // It would repeat forever.
      if (bytesWritten === 0) throw new StorageError(`${this.name}: nothing was written`);
      written += bytesWritten;
      this.size += bytesWritten;
    }
  }

  /**
   * Undoes a failed write. If that fails too, the file is closed, stays `.open` and is truncated at the next
   * start. Without a record it is removed.
   */
  async undo(size: number): Promise<void> {
    const cut = size > 0 && (await this.#handle.truncate(size).then(succeeded, failed));
    if (cut) {
      this.size = size;
      return;
    }
    this.lost = true;
    await this.#handle.close().catch(failed);
    if (size === 0) await unlink(join(this.#directory, this.name + OPEN_SUFFIX)).catch(failed);
  }

  /** Writes it through to the disk and gives it its final name. @throws the errors of the file system */
  async finish(): Promise<void> {
    const path = join(this.#directory, this.name);
    try {
      await this.#handle.sync();
    } finally {
      await this.#handle.close();
    }
    await rename(path + OPEN_SUFFIX, path);
  }
}

/** Outcomes of the cleanup after an error: the first error is reported, those of the cleanup are ignored. */
function succeeded(): boolean {
  return true;
}

function failed(): boolean {
  return false;
}
