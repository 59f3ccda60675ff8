import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import {
  DatabaseFile,
  loadObjects,
  type SourceObject,
  WORKING_FILE,
} from '../../../storage/databases/index.js';

/** Objects that are replaced before the file is written anew (E-119). */
export const MAX_DELETIONS = 1000;

/** What {@link storeObjects} did. */
export type StoreCounts = Readonly<Record<'added' | 'replaced' | 'objects', number>>;

/**
 * `--dbdir` (E-5): stores objects in the database that a run writes, WORKING.gdbm (G-112), which is made when there is none; `consoldb`
 * and `folddb` publish what is in it. One transaction: after a failure the database is as it was. One object is in memory at a time.
 *
 * @param directory made when there is none
 * @param maxDeletions when so many objects or more were replaced, the room they leave is given back (E-119)
 * @throws StorageError the database cannot be opened or written
 */
export async function storeObjects(
  directory: string,
  objects: AsyncIterable<Uint8Array>,
  maxDeletions: number,
): Promise<StoreCounts> {
  try {
    await mkdir(directory, { recursive: true });
  } catch (cause) {
    throw new StorageError(`${directory} cannot be made: ${messageOf(cause)}`, { cause });
  }
  using database = DatabaseFile.open(join(directory, WORKING_FILE), { create: true });
  const { added, replaced } = await loadObjects(database, sourceObjects(objects));
  if (replaced >= maxDeletions) database.reorganize();
  return { added, replaced, objects: database.count };
}

async function* sourceObjects(objects: AsyncIterable<Uint8Array>): AsyncGenerator<SourceObject> {
  for await (const bytes of objects) yield { section: 'update', object: decodeSoif(bytes), bytes };
}
