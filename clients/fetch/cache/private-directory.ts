// Creates directories that only their owner can read. The clients cannot import the functions of storage/files.
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../../../protocols/errors.js';

/**
 * Creates a directory and those above it, as far as they are missing, with mode 0700. Other processes may
 * create and remove them meanwhile. Node's own recursive creation reports a full disk as ENOENT.
 *
 * @throws the error of the system with its own code: ENOSPC, EROFS, EACCES
 */
export async function makePrivateDirectory(path: string): Promise<void> {
  const directory = resolve(path);
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (await isDirectory(directory, error)) return;
    if (errorCode(error) !== 'ENOENT') throw error;
    await makePrivateDirectory(dirname(directory));
    await mkdir(directory, { mode: 0o700 }).catch(async (again: unknown) => {
      if (!(await isDirectory(directory, again))) throw again;
    });
  }
}

async function isDirectory(path: string, error: unknown): Promise<boolean> {
  return errorCode(error) === 'EEXIST' && (await stat(path)).isDirectory();
}
