// The sums of an index that was closed in good order. SQLite has no checksums: a flipped bit in a list of
// postings only loses hits.
import { rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { SUMS_FILE, verifySums, writeSums } from '../files/checksums.js';
import { exists } from '../files/exists.js';
import { removeIndexFile } from './index-file.js';

/**
 * Compares an index that is not open with the sums of its last closing, and removes the sums, since the index
 * changes from now on.
 *
 * @param rebuildOnError a damaged index is deleted, so that an empty one takes its place; its watermark is 0,
 *   so that the owner adds every object again
 * @returns whether the index must be checked page by page, because it has no sums: the process that had it open
 *   was killed
 * @throws StorageError if it is damaged and `rebuildOnError` is not set
 */
export async function checkClosedIndex(file: string, rebuildOnError: boolean): Promise<boolean> {
  const directory = dirname(file);
  const sums = join(directory, SUMS_FILE);
  if (!(await exists(sums))) return exists(file);
  // Always: a page may have changed on the disk since this process wrote it.
  const [problem] = await verifySums(directory, { always: true });
  if (problem !== undefined) {
    if (!rebuildOnError) throw new StorageError(`cannot use the index ${file}: ${problem}`);
    removeIndexFile(file);
  }
  await rm(sums, { recursive: true, force: true });
  return false;
}

/**
 * Writes the sums of an index that no thread has open any more. Without them the next opening checks its pages.
 */
export async function sealIndex(file: string): Promise<void> {
  try {
    // A file that SQLite has not merged yet holds changes that the sums would not cover.
    if ((await sizeOf(`${file}-wal`)) > 0) return;
    await writeSums(dirname(file), [basename(file)]);
  } catch {
    // The disk is full, or the index was removed.
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await exists(path)) ? (await stat(path)).size : 0;
}
