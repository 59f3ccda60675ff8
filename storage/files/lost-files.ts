// Which files of an open data directory its programs remove themselves, so that others that are gone were lost.
import { isKeptByLevel, isRotated, kindOf, unitOf } from './file-kinds.js';
import type { FoundFiles, ListedFiles } from './file-list.js';

/** Whether a listed file that was not found was lost. @param found all files of the directory */
export function isLoss(name: string, files: ListedFiles, found: FoundFiles): boolean {
  const kind = kindOf(name);
  if (kind === 'passing' || isRotated(name)) return false;
  if (kind === 'level') return isKeptByLevel(name) && !isSealed(name, found);
  const unit = unitOf(name);
  if (unit !== undefined && !hasUnit(unit, found)) return false;
  return movedTo(name, files, found) === undefined;
}

/** A store that was closed has a seal instead of the lengths of its logs, and no lock in a copy. */
function isSealed(name: string, found: FoundFiles): boolean {
  return !name.endsWith('LOGIN-KEY') && found.has(name.replace(/[^/]*$/, 'SEAL'));
}

function hasUnit(unit: string, found: FoundFiles): boolean {
  for (const name of found.keys()) if (name.startsWith(`${unit}/`)) return true;
  return false;
}

/** The new name of a file: logs are rotated, and files of an archive lose their `.open`. */
export function movedTo(name: string, files: ListedFiles, found: FoundFiles): string | undefined {
  const inode = files.get(name)?.inode;
  for (const [other, file] of found) if (file.inode === inode && !files.has(other)) return other;
  return undefined;
}
