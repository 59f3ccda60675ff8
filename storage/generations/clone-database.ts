// Copies a LevelDB directory by hard links to its tables, which never change.
import { access, copyFile, constants as fsConstants, link, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../protocols/errors.js';

/** Files of a LevelDB directory that are written once and then only read or removed. */
export const IMMUTABLE = /\.(?:ldb|sst)$/;
/** The files of a database that are copied. LOCK and LOG belong to the process that has it open and are left out. */
const COPIED = /^(?:CURRENT|MANIFEST-\d+|\d+\.log)$/;

/** Error codes of a file system that cannot link a file: another file system, or one without hard links. */
const LINK_UNSUPPORTED = new Set(['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Makes `target`, an existing directory, an independent database with the content of `source`, whose files must not change meanwhile.
 * Tables are hard links, since LevelDB never writes a table twice; the small files are copied.
 */
export async function cloneDatabase(source: string, target: string): Promise<void> {
  const names = await readdir(source);
  for (const name of names) {
    const from = join(source, name);
    const to = join(target, name);
    if (COPIED.test(name)) await copyFile(from, to);
    else if (!IMMUTABLE.test(name) || (await linkFile(from, to))) continue;
    else await copyFile(from, to, fsConstants.COPYFILE_FICLONE);
  }
  // If `source` was renamed while its names were read, some are missing without an error.
  await access(source);
}

/** Returns false if the file system cannot link this pair of names. */
async function linkFile(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (LINK_UNSUPPORTED.has(errorCode(error) ?? '')) return false;
    throw error;
  }
}
