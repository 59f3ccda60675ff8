// The names in a generations directory, the pointer to the newest generation, and the removal of old ones:
//
//     CURRENT                 the number of the newest whole generation
//     7/  8/                  generations: a LevelDB each, never opened in place, and its export (export/format.ts)
//     9.tmp/                  a generation that is being made, or the leftovers of a killed publisher
//     6.old/                  a generation that is being removed
//     readers/PID-.../        private clones of readers (generations.ts)
import { readFileSync } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, StorageError } from '../../protocols/errors.js';
import { syncPath } from '../files/sync-path.js';

export const POINTER_FILE = 'CURRENT';

/** The number of the newest generation, read from CURRENT; undefined if nothing was published yet. */
export async function currentGeneration(generationsDirectory: string): Promise<number | undefined> {
  const pointer = join(generationsDirectory, POINTER_FILE);
  let text: string;
  try {
    // Synchronous: the file is a few bytes in the page cache, and every transfer reads it (GATHERD-10.5). Three calls of the
    // thread pool would take longer than a small update.
    text = readFileSync(pointer, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new StorageError(`${pointer} cannot be read`, { cause: error });
  }
  if (!/^\d{1,15}\n$/.test(text)) throw new StorageError(`${pointer} does not contain a generation's number`);
  return Number(text);
}

/** The numbers of the published generations, ascending. */
export async function generationNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => /^\d{1,15}$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Makes a generation the current one. */
export async function movePointer(directory: string, number: number): Promise<void> {
  const temporary = join(directory, `${POINTER_FILE}.tmp`);
  const file = await open(temporary, 'w');
  try {
    await file.writeFile(`${number}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, join(directory, POINTER_FILE));
  await syncPath(directory);
}

/** Generations kept by default, the new one included: a reader that has just read CURRENT still finds its generation. */
export const DEFAULT_KEEP_GENERATIONS = 2;

/** Removes the oldest generations. @param keep the number of generations that remain, including the newest */
export async function removeOldGenerations(directory: string, newest: number, keep: number): Promise<void> {
  const old = (await generationNumbers(directory)).filter((number) => number < newest);
  const surplus = old.slice(0, Math.max(0, old.length - Math.max(1, keep) + 1));
  for (const number of surplus) {
    // A reader that is cloning the directory must not find a part of it under its name.
    const retired = join(directory, `${number}.old`);
    await rename(join(directory, String(number)), retired);
    await rm(retired, { recursive: true, force: true });
  }
}

/** Removes the unfinished directories of a killed publisher. There is no other publisher: one process owns the working store. */
export async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (/^\d+\.(?:tmp|old)$/.test(name)) await rm(join(directory, name), { recursive: true, force: true });
  }
}
