// Copies an SQLite database that another process may have open.

import { resolve } from 'node:path';
import Database from 'libsql';
import { messageOf, StorageError } from '../../protocols/errors.js';

/**
 * Writes the database as it is at one moment into a new file, which has no journal and no free pages.
 *
 * @throws StorageError if it cannot be read, or the file be written
 */
export function copySqlite(source: string, target: string): void {
  try {
    const db = new Database(resolve(source));
    try {
      db.exec('PRAGMA busy_timeout = 10000');
      db.exec(`VACUUM INTO '${resolve(target).replaceAll("'", "''")}'`);
    } finally {
      db.close();
    }
  } catch (cause) {
    throw new StorageError(`${source} cannot be copied: ${messageOf(cause)}`, { cause });
  }
}
