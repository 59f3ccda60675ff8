// The names in a generations directory, the pointer to the newest generation, and the removal of old ones:
//
//     CURRENT                 the number of the newest whole generation
//     7/  8/                  generations: a LevelDB each, never opened in place, and its export (export/format.ts)
//     9.tmp/                  a generation that is being made, or the leftovers of a killed publisher
//     6.old/                  a generation that is being removed
//     9.withdrawn/            the number of a generation whose publication failed, until the next one
//     readers/PID-.../        private clones of readers (generations.ts)
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { readHeadSync, readRegular } from '../files/regular-file.js';
import { syncPath } from '../files/sync-path.js';

export const POINTER_FILE = 'CURRENT';
/** More than the longest number has: a longer file is damaged, and is not read whole on the event loop. */
const POINTER_BYTES = 64;

const GENERATION = /^[1-9]\d{0,14}$/;

/**
 * The number of the newest generation; undefined if nothing was published yet.
 *
 * CURRENT names it. A generation gets its name when it is whole and on the disk, so that the newest one is also
 * known if CURRENT is missing or damaged, or names an older one, as after a crash right before CURRENT is
 * written. If CURRENT names a later one than there are, that one is lost: its number is returned, and opening
 * it fails.
 *
 * @throws StorageError if there is a CURRENT, but no generation: what was published is lost
 */
export async function currentGeneration(generationsDirectory: string): Promise<number | undefined> {
  const { named, problem } = readPointer(generationsDirectory);
  const exists = (number: number): boolean => existsSync(join(generationsDirectory, String(number)));
  if (named !== undefined && exists(named) && !exists(named + 1)) return named;
  const newest = await newestGeneration(generationsDirectory);
  if (newest !== undefined) return Math.max(newest, named ?? 0);
  if (problem === undefined) return undefined;
  const pointer = join(generationsDirectory, POINTER_FILE);
  throw new StorageError(
    `${pointer} ${problem}, and there is no generation; ${pointerAdvice(generationsDirectory)}`,
  );
}

/** What helps if CURRENT is damaged. */
export function pointerAdvice(directory: string): string {
  return `after \`rm -rf ${join(directory, POINTER_FILE)}\` the next publication writes it again: run the Gatherer`;
}

/** What CURRENT contains. */
interface Pointer {
  /** Undefined if it is missing or damaged. */
  readonly named?: number;
  /** A clause; undefined if it is missing. A pointer without its generation is a problem, too. */
  readonly problem?: string;
}

function readPointer(directory: string): Pointer {
  try {
    // Synchronous: the file is a few bytes in the page cache, and every transfer reads it (GATHERD-10.5). Three
    // calls of the thread pool would take longer than a small update.
    const text = readHeadSync(join(directory, POINTER_FILE), POINTER_BYTES).toString('latin1');
    if (!/^[1-9]\d{0,14}\n$/.test(text)) return { problem: "does not contain a generation's number" };
    return { named: Number(text), problem: `names generation ${text.trim()}` };
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? {} : { problem: `cannot be read (${messageOf(error)})` };
  }
}

async function newestGeneration(directory: string): Promise<number | undefined> {
  try {
    return (await generationNumbers(directory)).at(-1);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new StorageError(`${directory} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** The numbers of the published generations, ascending. */
export async function generationNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => GENERATION.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Makes a generation the current one; withdraws it if that fails. */
export async function movePointer(directory: string, number: number): Promise<void> {
  try {
    await writePointer(directory, number);
  } catch (error) {
    await withdraw(directory, number);
    throw error;
  }
}

/** Takes the name from a generation that was not published, unless CURRENT names it. */
async function withdraw(directory: string, number: number): Promise<void> {
  const named = await readRegular(join(directory, POINTER_FILE)).then(String, () => '');
  if (named === `${number}\n`) return;
  const temporary = join(directory, `${number}.tmp`);
  await rename(join(directory, String(number)), temporary);
  await rm(temporary, { recursive: true, force: true });
  // The name stays until the next publication, which must take another number: a reader may have opened this
  // one.
  await mkdir(join(directory, `${number}.withdrawn`));
}

/** The number for the next generation, higher than any before. Call it before {@link removeLeftovers}. */
export async function nextGeneration(directory: string): Promise<number> {
  const used = (await readdir(directory)).map((name) =>
    Number(/^(\d{1,15})(?:\.withdrawn)?$/.exec(name)?.[1] ?? 0),
  );
  return Math.max(0, ...used, readPointer(directory).named ?? 0) + 1;
}

async function writePointer(directory: string, number: number): Promise<void> {
  const pointer = join(directory, POINTER_FILE);
  const temporary = `${pointer}.tmp`;
  const file = await open(temporary, 'w');
  try {
    await file.writeFile(`${number}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, pointer);
  await syncPath(directory);
}

/**
 * Generations kept by default, the new one included: a reader that has just read CURRENT still finds its
 * generation.
 */
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

/**
 * Removes the unfinished directories of a killed publisher. There is no other publisher: one process owns the
 * working store.
 */
export async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (/^\d+\.(?:tmp|old|withdrawn)$/.test(name))
      await rm(join(directory, name), { recursive: true, force: true });
  }
}
