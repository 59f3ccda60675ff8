import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, StorageError } from '../../protocols/errors.js';
import { PRODUCTION_FILE } from '../../storage/databases/file-kind.js';

/**
 * Renames the `PRODUCTION.gdbm` that a script of the database tools left in a data directory to `PRODUCTION.gdbm.old`. As a run of the
 * original Gatherer replaces the database (G-112), the name then stands for the new generation, and a script that merges annotations
 * (G-140) does not start from the objects of an earlier run. Before the publication: a process that is killed in between leaves the
 * generation that was made from the database.
 * @throws StorageError if the file cannot be renamed
 */
export async function retireProduction(directory: string): Promise<void> {
  const path = join(directory, PRODUCTION_FILE);
  try {
    await rename(path, `${path}.old`);
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return;
    throw new StorageError(`${path} cannot be renamed: ${errorCode(cause) ?? String(cause)}`, { cause });
  }
}
