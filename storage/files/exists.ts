// What a missing file means: undefined or false, where any other failure is an error.
import type { Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { errorCode, StorageError } from '../../protocols/errors.js';

/** Whether there is a file or a directory; false, too, if its directory cannot be searched. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * The result of an operation on a file; undefined if the file is missing. @throws all other errors of the
 * operation
 */
export async function ifPresent<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** @returns undefined if the path leads to nothing @throws StorageError if that cannot be told */
export async function statIfExists(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT' || errorCode(cause) === 'ENOTDIR') return undefined;
    throw new StorageError(`${path} cannot be read: ${errorCode(cause) ?? String(cause)}`, { cause });
  }
}
