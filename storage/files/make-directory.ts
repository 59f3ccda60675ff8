import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../../protocols/errors.js';
import { syncPath } from './sync-path.js';

/**
 * Creates a directory and those above it, as far as they are missing, and flushes their names to the disk: what
 * is flushed in a directory whose own name is not on the disk is lost with it.
 */
export async function makeDirectory(path: string): Promise<void> {
  const directory = resolve(path);
  const parent = dirname(directory);
  try {
    await mkdir(directory);
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && (await stat(directory)).isDirectory()) return;
    if (errorCode(error) !== 'ENOENT') throw error;
    await makeDirectory(parent);
    // Another caller may have created it.
    await mkdir(directory).catch(async (failure: unknown) => {
      if (errorCode(failure) !== 'EEXIST' || !(await stat(directory)).isDirectory()) throw failure;
    });
  }
  await syncPath(parent);
}

/**
 * Creates a directory and those above it, as far as they are missing, without a flush. Node's own recursive
 * creation reports a full disk as ENOENT.
 *
 * @param mode of the directories that are created
 * @returns the first one that was missing; undefined if the directory exists
 */
export async function createDirectory(path: string, mode?: number): Promise<string | undefined> {
  const directory = resolve(path);
  try {
    await mkdir(directory, { mode });
    return directory;
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && (await stat(directory)).isDirectory()) return undefined;
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const first = await createDirectory(dirname(directory), mode);
  try {
    await mkdir(directory, { mode });
    return first ?? directory;
  } catch (error) {
    // Another process may have created it. In some file systems, such as /proc, it is missing still.
    if (errorCode(error) === 'EEXIST' && (await stat(directory)).isDirectory()) return first;
    throw error;
  }
}

/**
 * Like {@link createDirectory}, for the start of a program. Node's own recursive creation reports a disk that
 * fails as ENOENT.
 */
export function createDirectorySync(path: string): string | undefined {
  const directory = resolve(path);
  try {
    mkdirSync(directory);
    return directory;
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && statSync(directory).isDirectory()) return undefined;
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const first = createDirectorySync(dirname(directory));
  try {
    mkdirSync(directory);
    return first ?? directory;
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && statSync(directory).isDirectory()) return first;
    throw error;
  }
}
