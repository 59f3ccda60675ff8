// The names in a generations directory, the pointer to the newest generation, and the removal of old ones:
//
//     CURRENT                 the number of the newest whole generation
//     7/  8/                  generations: a LevelDB each, never opened in place, and its export (export/format.ts)
//     9.tmp/                  a generation that is being made, or the leftovers of a killed publisher
//     6.old/                  a generation that is being removed
//     9.withdrawn/            the number of a generation whose publication failed, until the next one
//     readers/PID-.../        private clones of readers (generations.ts)
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { openFileList } from '../files/file-list.js';
import { makeDirectory } from '../files/make-directory.js';
import { readHeadSync, readRegular } from '../files/regular-file.js';
import { replaceContent } from '../files/replace-file.js';
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

/** What is wrong with a CURRENT that {@link numberIn} cannot read. */
export const NO_NUMBER = "does not contain a generation's number";

/** The number in a CURRENT; undefined if it is damaged. */
export function numberIn(pointer: string): number | undefined {
  return /^[1-9]\d{0,14}\n$/.test(pointer) ? Number(pointer) : undefined;
}

function readPointer(directory: string): Pointer {
  try {
    // Synchronous: the file is a few bytes in the page cache, and every transfer reads it (GATHERD-10.5). Three
    // calls of the thread pool would take longer than a small update.
    const text = readHeadSync(join(directory, POINTER_FILE), POINTER_BYTES).toString('latin1');
    const named = numberIn(text);
    return named === undefined ? { problem: NO_NUMBER } : { named, problem: `names generation ${named}` };
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
async function movePointer(directory: string, number: number): Promise<void> {
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

/**
 * Begins a publication: makes the directory if it is missing, and removes what a killed publisher left. There is
 * no other publisher: one process owns what is published.
 *
 * @returns the number of the next generation, higher than any before; it is built in {@link unpublishedPath}
 */
export async function beginGeneration(directory: string): Promise<number> {
  await makeDirectory(directory);
  await openFileList(dirname(directory));
  const number = await nextGeneration(directory);
  for (const name of await readdir(directory)) {
    if (/^\d+\.(?:tmp|old|withdrawn)$/.test(name))
      await rm(join(directory, name), { recursive: true, force: true });
  }
  return number;
}

/** The directory in which a generation is built. */
export function unpublishedPath(directory: string, number: number): string {
  return join(directory, `${number}.tmp`);
}

/**
 * Publishes a generation whose files are on the disk: two renames make it visible to readers (DESIGN 4). A crash
 * at any point leaves the former one current, or this one.
 *
 * @param keep the number of generations that remain, including this one
 */
export async function placeGeneration(
  directory: string,
  number: number,
  keep = DEFAULT_KEEP_GENERATIONS,
): Promise<void> {
  const unpublished = unpublishedPath(directory, number);
  await syncPath(unpublished);
  await rename(unpublished, join(directory, String(number)));
  await syncPath(directory);
  await movePointer(directory, number);
  // It is published: the next publication removes what cannot be removed now.
  await removeOldGenerations(directory, number, keep).catch(() => {});
}

async function nextGeneration(directory: string): Promise<number> {
  const used = (await readdir(directory)).map((name) =>
    Number(/^(\d{1,15})(?:\.withdrawn)?$/.exec(name)?.[1] ?? 0),
  );
  return Math.max(0, ...used, readPointer(directory).named ?? 0) + 1;
}

async function writePointer(directory: string, number: number): Promise<void> {
  await replaceContent(join(directory, POINTER_FILE), `${number}\n`);
  await syncPath(directory);
}

/**
 * Generations kept by default, the new one included: a reader that has just read CURRENT still finds its
 * generation.
 */
const DEFAULT_KEEP_GENERATIONS = 2;

/** Removes the oldest generations. @param keep the number of generations that remain, including the newest */
async function removeOldGenerations(directory: string, newest: number, keep: number): Promise<void> {
  const old = (await generationNumbers(directory)).filter((number) => number < newest);
  const surplus = old.slice(0, Math.max(0, old.length - Math.max(1, keep) + 1));
  for (const number of surplus) {
    // A reader that is cloning the directory must not find a part of it under its name.
    const retired = join(directory, `${number}.old`);
    await rename(join(directory, String(number)), retired);
    await rm(retired, { recursive: true, force: true });
  }
}

/** Maximum attempts to open a generation that is replaced and removed meanwhile. */
const OPEN_ATTEMPTS = 20;

/** Opens the newest generation; undefined if nothing was published yet. @throws the errors of `open` */
export async function openNewest<T>(
  directory: string,
  open: (number: number, path: string) => Promise<T>,
): Promise<T | undefined> {
  for (let attempt = 1; ; attempt++) {
    const number = await currentGeneration(directory);
    if (number === undefined) return undefined;
    try {
      return await open(number, join(directory, String(number)));
    } catch (error) {
      // Its files went away while they were read.
      const isReplaced = (await currentGeneration(directory)) !== number;
      if (!isReplaced || attempt === OPEN_ATTEMPTS) throw error;
    }
  }
}
