import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Creates a file for reading and writing on the disk of a directory. It has no name, so that it ends with the
 * process. @throws system errors
 */
export async function openNameless(directory: string): Promise<FileHandle> {
  const path = join(directory, `.spool-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}
