import { open } from 'node:fs/promises';
import { rethrowAs, StorageError } from '../../protocols/errors.js';

/**
 * Flushes a file's content or a directory's names to the disk.
 *
 * @throws StorageError that names the path if the disk fails: the system's own error does not; the system's
 *   error if it cannot be opened
 */
export async function syncPath(path: string): Promise<void> {
  await using file = await open(path, 'r');
  await file.sync().catch(rethrowAs(StorageError, `${path} cannot be flushed`));
}
