// Opens a file of a store only if it is a regular one. The kernel waits at a FIFO until another process writes
// into it, and a call that waits in the kernel cannot be cancelled: it occupies a thread of the pool, or the
// event loop, for ever.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { StorageError } from '../../protocols/errors.js';

/**
 * Opens an existing file.
 *
 * @throws StorageError if it is a directory, a FIFO, a socket or a device; system errors if it is missing or
 *   cannot be opened
 */
export async function openRegular(path: string, mode: 'r' | 'r+' = 'r'): Promise<FileHandle> {
  const access = mode === 'r' ? constants.O_RDONLY : constants.O_RDWR;
  const file = await open(path, access | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw notRegular(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads a whole file. @throws as {@link openRegular} */
export async function readRegular(path: string): Promise<Buffer> {
  await using file = await openRegular(path);
  return await file.readFile();
}

/**
 * Reads the first bytes of a file, at most `maxBytes`, without the thread pool. @throws as {@link openRegular}
 */
export function readHeadSync(path: string, maxBytes: number): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw notRegular(path);
    const head = Buffer.alloc(maxBytes);
    return head.subarray(0, readSync(file, head));
  } finally {
    closeSync(file);
  }
}

function notRegular(path: string): StorageError {
  return new StorageError(`${path} is not a regular file`);
}
