import { readFileSync } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, StorageError } from '../../protocols/errors.js';
import { syncPath } from '../files/sync-path.js';

/*
 * A generations directory:
 *
 *     CURRENT                 the number of the newest whole generation
 *     7/  8/                  generations: a LevelDB each, never opened in place, and its export (export/format.ts)
 *     9.tmp/                  one in the making, or what a killed publisher left
 *     6.old/                  one being removed
 *     readers/PID-.../        private clones of readers (generations.ts)
 */

export const POINTER_FILE = 'CURRENT';

/** The number that CURRENT holds; undefined when nothing was published yet. */
export async function currentGeneration(generationsDirectory: string): Promise<number | undefined> {
  const pointer = join(generationsDirectory, POINTER_FILE);
  let text: string;
  try {
    // On the spot: it is a few bytes that are always in memory, and every transfer asks (GATHERD-10.5). Three trips to the
    // thread pool would take longer than a small update.
    text = readFileSync(pointer, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new StorageError(`${pointer} cannot be read`, { cause: error });
  }
  if (!/^\d{1,15}\n$/.test(text)) throw new StorageError(`${pointer} does not hold a generation's number`);
  return Number(text);
}

export async function generationNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => /^\d{1,15}$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

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

export async function removeOldGenerations(directory: string, newest: number, keep: number): Promise<void> {
  const old = (await generationNumbers(directory)).filter((number) => number < newest);
  const surplus = old.slice(0, Math.max(0, old.length - Math.max(1, keep) + 1));
  for (const number of surplus) {
    // Renamed first: a reader that is just cloning it then finds nothing under its name instead of half of it.
    const grave = join(directory, `${number}.old`);
    await rename(join(directory, String(number)), grave);
    await rm(grave, { recursive: true, force: true });
  }
}

/** A publisher that was killed leaves these. There is no other publisher: one process owns the working store. */
export async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (/^\d+\.(?:tmp|old)$/.test(name)) await rm(join(directory, name), { recursive: true, force: true });
  }
}
