// What LevelDB leaves undone for power failures when it creates, opens and flushes a database.
import { open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { makeDirectory } from '../files/make-directory.js';
import { syncPath } from '../files/sync-path.js';

/**
 * The first MANIFEST, which LevelDB replaces before a database is open for the first time. It does not flush
 * it.
 */
const FIRST_MANIFEST = 'MANIFEST-000001';

/**
 * Prepares a directory for the creation of a database. If a power failure ended an earlier creation, LevelDB
 * could neither open nor create a database: its first MANIFEST may be empty. Such a database has no rows yet,
 * and is removed.
 *
 * @throws StorageError if the directory cannot be created or read
 */
export async function prepareCreation(directory: string): Promise<void> {
  try {
    await makeDirectory(directory);
    await removeUnfinished(directory);
  } catch (cause) {
    throw new StorageError(`the store in ${directory} cannot be created: ${messageOf(cause)}`, { cause });
  }
}

async function removeUnfinished(directory: string): Promise<void> {
  const names = await readdir(directory);
  if (!(await isUnfinished(directory, names))) return;
  // CURRENT first: without it LevelDB creates a database, whatever remains of the other files.
  for (const name of ['CURRENT', ...names]) {
    if (name === 'CURRENT' || /^(?:MANIFEST-\d+|\d+\.(?:log|dbtmp))$/.test(name))
      await rm(join(directory, name), { force: true });
  }
  await syncPath(directory);
}

async function isUnfinished(directory: string, names: readonly string[]): Promise<boolean> {
  if (!names.includes('CURRENT') || names.some((name) => /\.(?:ldb|sst)$/.test(name))) return false;
  if ((await readFile(join(directory, 'CURRENT'), 'latin1')) !== `${FIRST_MANIFEST}\n`) return false;
  // The first row is written only after the second MANIFEST is in use and its name is flushed.
  for (const name of names) {
    if (name.endsWith('.log') && (await stat(join(directory, name))).size > 0) return false;
  }
  return true;
}

/**
 * Flushes the names in a directory after its database was opened. LevelDB replaces CURRENT at each opening and
 * flushes the name only when it writes the next MANIFEST: until then, a flushed batch would be in a log that no
 * MANIFEST names.
 */
export function flushOpening(directory: string): Promise<void> {
  return syncPath(directory);
}

/**
 * Flushes the logs of a database to the disk, the oldest first. LevelDB's own flush includes only the newest
 * log: batches in the one before it, whose table is being written, would be lost although later ones are kept.
 */
export async function flushLogs(directory: string): Promise<void> {
  const logs = (await readdir(directory)).filter((name) => /^\d+\.log$/.test(name));
  for (const name of logs.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))) {
    try {
      await using file = await open(join(directory, name), 'r');
      await file.datasync();
    } catch (error) {
      // The table that replaces the log is complete and flushed.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}
