// Notes in the list of a data directory that a file of it is replaced or removed, before and after it happens, so that
// a check after kill -9 knows what the file must be. Any thread and process may do so.
import { rename, rm, stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { isUnlisted } from './file-kinds.js';
import { appendNotes, formatNote, formatRemoval, stateInFile } from './file-list.js';
import { crcOfFile } from './file-sum.js';

/** Directories between a file and the list. */
const MAX_DEPTH = 5;
/** Larger files are compared by their size. */
const MAX_SUMMED_BYTES = 16 << 20;

interface Place {
  readonly directory: string;
  /** Within the directory. */
  readonly name: string;
}

/** The open list that a file belongs to; undefined if no list has it. */
async function placeOf(path: string): Promise<Place | undefined> {
  const absolute = resolve(path);
  let directory = absolute;
  for (let depth = 0; depth < MAX_DEPTH && dirname(directory) !== directory; depth++) {
    directory = dirname(directory);
    const name = relative(directory, absolute).split(sep).join('/');
    if (isUnlisted(name)) return undefined;
    const state = await stateInFile(directory).catch(() => 'absent' as const);
    if (state !== 'absent') return state === 'active' ? { directory, name } : undefined;
  }
  return undefined;
}

/** Renames a draft to its path, which may be in a data directory. @throws system errors */
export async function renameNoted(draft: string, path: string): Promise<void> {
  const place = await placeOf(path);
  if (place === undefined) return await rename(draft, path);
  const { directory, name } = place;
  const { size, mtimeNs, ino } = await stat(draft, { bigint: true });
  const crc = size > MAX_SUMMED_BYTES ? undefined : await crcOfFile(draft);
  const file = { size: Number(size), crc32: crc, mtimeNs: String(mtimeNs), inode: String(ino) };
  await appendNotes(directory, formatNote('?', name, file));
  await rename(draft, path);
  await appendNotes(directory, formatNote('+', name, file));
}

/** Removes a file, or what is in its place, which may be in a data directory. @throws system errors */
export async function removeNoted(path: string): Promise<void> {
  await noteChange(path);
  await rm(path, { recursive: true, force: true });
}

/** Notes that a file is written from now on, which else never changes: what it is then is found later. */
export async function noteChange(path: string): Promise<void> {
  const place = await placeOf(path);
  if (place !== undefined) await appendNotes(place.directory, formatRemoval(place.name));
}
