import { access, copyFile, constants as fsConstants, link, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../protocols/errors.js';

/** Files of a LevelDB directory that are written once and then only read or removed. */
export const IMMUTABLE = /\.(?:ldb|sst)$/;
/** The rest of what makes a database. LOCK and LOG belong to the process that has it open. */
const SMALL = /^(?:CURRENT|MANIFEST-\d+|\d+\.log)$/;

/** Why a hard link cannot be made although the file is there: another file system, or one without links. */
const NO_LINK = new Set(['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Makes `target` a database of its own with the content of `source`, whose files must not change meanwhile: tables are
 * hard links (LevelDB never writes a table twice), the small files copies.
 */
export async function cloneDatabase(source: string, target: string): Promise<void> {
  const names = await readdir(source);
  for (const name of names) {
    const from = join(source, name);
    const to = join(target, name);
    if (SMALL.test(name)) await copyFile(from, to);
    else if (!IMMUTABLE.test(name) || (await linkFile(from, to))) continue;
    else await copyFile(from, to, fsConstants.COPYFILE_FICLONE);
  }
  // Had `source` been renamed away while its names were read, some would be missing without any error.
  await access(source);
}

/** False when the file system has no hard links for this pair of names. */
async function linkFile(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (NO_LINK.has(errorCode(error) ?? '')) return false;
    throw error;
  }
}
