// Which files of an open data directory its programs remove themselves, so that others that are gone were lost.
import { join } from 'node:path';
import { exists } from './exists.js';
import { isKeptByLevel, isRotated, kindOf, unitOf } from './file-kinds.js';
import type { FoundFiles, ListedFiles } from './file-list.js';
import { readRegular } from './regular-file.js';

/** Whether a listed file that was not found was lost. @param found all files of the directory */
export async function isLoss(
  directory: string,
  name: string,
  files: ListedFiles,
  found: FoundFiles,
): Promise<boolean> {
  const kind = kindOf(name);
  if (kind === 'passing' || isRotated(name)) return false;
  if (kind === 'level') return isKeptByLevel(name) && !isSealed(name, found);
  const unit = unitOf(name);
  if (unit !== undefined && !(await isInUse(directory, unit))) return false;
  return !isMoved(name, files, found);
}

/** A store that was closed has a seal instead of the lengths of its logs, and no lock in a copy. */
function isSealed(name: string, found: FoundFiles): boolean {
  return !name.endsWith('LOGIN-KEY') && found.has(name.replace(/[^/]*$/, 'SEAL'));
}

/** Whether a unit was not removed as a whole. An index that CURRENT does not name may be removed at any time. */
async function isInUse(directory: string, unit: string): Promise<boolean> {
  if (!(await exists(join(directory, unit)))) return false;
  const [, number] = /^index\/(\d+)$/.exec(unit) ?? [];
  if (number === undefined) return true;
  const pointer = await readRegular(join(directory, 'index', 'CURRENT')).then(String, () => undefined);
  return pointer === undefined || !/^\d+\n$/.test(pointer) || pointer.trimEnd() === number;
}

/** Whether a file has a longer name now: logs are rotated. Or a shorter one: files of an archive lose their `.open`. */
function isMoved(name: string, files: ListedFiles, found: FoundFiles): boolean {
  const inode = files.get(name)?.inode;
  for (const [other, file] of found) {
    const isLike = other.startsWith(name) || name === `${other}.open`;
    if (isLike && file.inode === inode && !files.has(other)) return true;
  }
  return false;
}
