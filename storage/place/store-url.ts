// A store's directory that has the URL of a database in place of files: whatever opens the directory finds the store.
import { join } from 'node:path';
import { StorageError, UsageError } from '../../protocols/errors.js';
import { exists, ifPresent } from '../files/exists.js';
import { createDirectory } from '../files/make-directory.js';
import { readRegular } from '../files/regular-file.js';
import { replaceContent } from '../files/replace-file.js';
import { isDatabaseUrl } from '../rows/database-url.js';

const URL_FILE = 'STORE-URL';

/**
 * The place of the store of a directory: the URL that it has, or the directory itself.
 *
 * @throws StorageError if the file of the URL has something else
 */
export async function placeOf(directory: string): Promise<string> {
  const file = await ifPresent(readRegular(join(directory, URL_FILE)));
  if (file === undefined) return directory;
  const url = file.toString('utf8').trim();
  if (!isDatabaseUrl(url))
    throw new StorageError(`${join(directory, URL_FILE)} does not have the URL of a database`);
  return url;
}

/** Whether a directory has a store, in its files or in a database. */
export async function hasStore(directory: string): Promise<boolean> {
  return (await exists(join(directory, 'CURRENT'))) || (await exists(join(directory, URL_FILE)));
}

/**
 * Puts the store of a directory into a database.
 *
 * @param url without a password
 * @throws UsageError if the directory has the files of a store
 */
export async function setStoreUrl(directory: string, url: string): Promise<void> {
  if (await exists(join(directory, 'CURRENT')))
    throw new UsageError(
      `${directory} has the files of a store: move it away first, and restore a checkpoint of it into the database if it is to continue there`,
    );
  await createDirectory(directory, 0o700);
  await replaceContent(join(directory, URL_FILE), Buffer.from(`${url}\n`));
}
