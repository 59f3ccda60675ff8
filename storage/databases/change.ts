// Changes a database file so that a failure leaves it as it was, or absent.
import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../protocols/errors.js';
import { replaceFile } from '../files/replace-file.js';
import { currentGeneration } from '../generations/directory.js';
import { DatabaseFile } from './database-file.js';
import { GENERATIONS_DIRECTORY, PRODUCTION_FILE } from './file-kind.js';
import { loadObjects, type ToolOptions } from './load.js';
import { openLocated } from './sources.js';

/**
 * Runs work on a database file, which is created if it is absent or empty. A new database is built beside its
 * path and renamed when it is complete and on the disk, so a failure, e.g. a full disk, leaves no file. In a
 * file that exists the work must be one transaction.
 *
 * @throws StorageError if the file cannot be opened or written
 */
export async function changeDatabase<T>(
  path: string,
  work: (database: DatabaseFile) => T | Promise<T>,
): Promise<T> {
  if (!isNew(path)) {
    using database = DatabaseFile.open(path, { create: true });
    return await work(database);
  }
  const build = async (temporary: string): Promise<T> => {
    using database = DatabaseFile.open(temporary, { create: true, finalPath: path });
    return await work(database);
  };
  return await replaceFile(path, build, { force: true });
}

/**
 * Makes `PRODUCTION.gdbm` of a Gatherer's data directory, whose objects are a generation, from them if there is
 * no such file: commands that change it were written for the original programs (G-140). Does nothing for other
 * names.
 *
 * @returns the number of objects; undefined if no file was made
 * @throws StorageError if the generation cannot be read, or the file not be written
 */
export async function createProduction(path: string, options: ToolOptions = {}): Promise<number | undefined> {
  if (basename(path) !== PRODUCTION_FILE || sizeOf(path) !== undefined) return undefined;
  const generations = join(dirname(path), GENERATIONS_DIRECTORY);
  if ((await currentGeneration(generations)) === undefined) return undefined;
  return await changeDatabase(path, async (database) => {
    await loadObjects(database, openLocated({ path: generations, kind: 'generations' }, options), options);
    return database.count;
  });
}

/**
 * Whether there is no file, or an empty one that no journal completes. A link is opened, so that it stays a
 * link.
 */
function isNew(path: string): boolean {
  const size = sizeOf(path);
  return size === undefined || (size === 0 && sizeOf(`${path}-journal`) === undefined);
}

/** The size of a file; undefined if it does not exist. Anything else than a file counts as one with content. */
function sizeOf(path: string): number | undefined {
  try {
    const stats = lstatSync(path);
    return stats.isFile() ? stats.size : 1;
  } catch (error) {
    // Any other error is that of the opening.
    return errorCode(error) === 'ENOENT' ? undefined : 1;
  }
}
