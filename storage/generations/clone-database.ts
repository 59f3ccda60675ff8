// Copies a LevelDB directory by hard links to its tables, which never change.
import { access, copyFile, mkdir, readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { linkOrCopy } from '../files/link-or-copy.js';
import { readRegular } from '../files/regular-file.js';
import { readManifest } from '../level/verify/manifest.js';

/** Files of a LevelDB directory that are written once and then only read or removed. */
export const IMMUTABLE = /\.(?:ldb|sst)$/;
/**
 * The files of a database that are copied. LOCK and LOG belong to the process that has it open and are left
 * out.
 */
const COPIED = /^(?:CURRENT|MANIFEST-\d+|\d+\.log|SEAL)$/;

/**
 * Makes `target`, an existing directory, an independent database with the content of `source`, whose files must
 * not change meanwhile. Tables are hard links, since LevelDB never writes a table twice; the small files are
 * copied. A table that it was still writing when the database was closed is left out: LevelDB gives its number
 * again, and would overwrite the file that both had.
 *
 * @param links `symbolic` for a target on another disk, which lasts only as long as the source; then the source
 *   is an absolute path
 */
export async function cloneDatabase(
  source: string,
  target: string,
  links: 'hard' | 'symbolic' = 'hard',
): Promise<void> {
  const isWhole = await wholeTables(source);
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const { name } = entry;
    if (IMMUTABLE.test(name) && !isWhole(name)) continue;
    const from = join(source, name);
    const to = join(target, name);
    const isDatabaseFile = COPIED.test(name) || IMMUTABLE.test(name);
    if (isDatabaseFile && !entry.isFile() && !entry.isSymbolicLink())
      throw new StorageError(`${from} is not a regular file`);
    if (COPIED.test(name)) await copyFile(from, to);
    else if (!IMMUTABLE.test(name)) continue;
    else if (links === 'symbolic') await symlink(from, to);
    else await linkOrCopy(from, to);
  }
  // If `source` was renamed while its names were read, some are missing without an error.
  await access(source);
}

/**
 * Returns what tells the tables that the MANIFEST names; with a damaged one, which no clone can be opened with,
 * all tables are.
 */
async function wholeTables(directory: string): Promise<(name: string) => boolean> {
  const read = (name: string) => readRegular(join(directory, name)).catch(() => Buffer.alloc(0));
  const manifest = (await read('CURRENT')).toString('latin1').trimEnd();
  if (!/^MANIFEST-\d+$/.test(manifest)) return () => true;
  const { tables, problems } = readManifest(await read(manifest));
  return (name) => problems.length > 0 || tables.has(Number.parseInt(name, 10));
}

/**
 * Creates the directory for a clone of `source`, as private as `source`: the tables of a Gatherer's working
 * store contain logins (G-81), and so do all links to them.
 */
export async function makeCloneDirectory(source: string, target: string): Promise<void> {
  const { mode } = await stat(source);
  await mkdir(target, { mode: mode & 0o777 });
}
