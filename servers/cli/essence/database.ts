import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { rethrowAs, StorageError } from '../../../protocols/errors.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { DatabaseFile } from '../../../storage/databases/database-file.js';
import { WORKING_FILE } from '../../../storage/databases/file-kind.js';
import { loadObjects } from '../../../storage/databases/load.js';
import type { SourceObject } from '../../../storage/databases/sources.js';
import { ifPresent } from '../../../storage/files/exists.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { replaceFile } from '../../../storage/files/replace-file.js';

/** Result of {@link storeObjects}. */
export type StoreCounts = Readonly<Record<'added' | 'replaced' | 'objects', number>>;

/**
 * Stores objects in WORKING.gdbm (E-5 `--dbdir`, G-112), from which `consoldb` and `folddb` publish. One
 * transaction: after a failure the database is unchanged. One object is in memory at a time.
 *
 * @param directory created if missing
 * @param maxDeletions number of replaced objects from which the file is rewritten to reclaim their space
 *   (E-119)
 * @throws StorageError if the database cannot be opened or written
 */
export async function storeObjects(
  directory: string,
  objects: AsyncIterable<Uint8Array>,
  maxDeletions: number,
): Promise<StoreCounts> {
  await createDirectory(directory).catch(rethrowAs(StorageError, `${directory} cannot be created`));
  const finalPath = join(directory, WORKING_FILE);
  const load = async (path: string): Promise<StoreCounts> => {
    using database = DatabaseFile.open(path, { create: true, finalPath });
    const { added, replaced } = await loadObjects(database, sourceObjects(objects));
    if (replaced >= maxDeletions) database.reorganize();
    return { added, replaced, objects: database.count };
  };
  // A new file gets its name when it is complete.
  return (await ifPresent(lstat(finalPath))) !== undefined ? load(finalPath) : replaceFile(finalPath, load);
}

async function* sourceObjects(objects: AsyncIterable<Uint8Array>): AsyncGenerator<SourceObject> {
  for await (const bytes of objects) yield { section: 'update', object: decodeSoif(bytes), bytes };
}
