import { readFileSync } from 'node:fs';
import {
  access,
  copyFile,
  constants as fsConstants,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rm,
} from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { readCounters, SummaryStore } from '../gatherer/summaries.js';
import { Level } from '../level/level.js';
import { ReadyExport } from './export/ready-export.js';
import type { GathererNames } from './export/survey.js';
import { type WriteExportOptions, writeExport } from './export/write-export.js';

/*
 * A generations directory:
 *
 *     CURRENT                 the number of the newest whole generation
 *     7/  8/                  generations: a LevelDB each, never opened in place, and its export (export/format.ts)
 *     9.tmp/                  one in the making, or what a killed publisher left
 *     6.old/                  one being removed
 *     readers/PID-.../        private clones of readers (generations.ts)
 */

export interface PublishOptions {
  /** Generations kept, the new one included. Default 2: readers that just read CURRENT still find theirs. */
  readonly keepGenerations?: number;
  /** GATHERD-13.9: who gathered the objects that do not say. */
  readonly gatherer?: GathererNames;
}

export const POINTER_FILE = 'CURRENT';
const DEFAULT_KEEP = 2;

/** Files of a LevelDB directory that are written once and then only read or removed. */
const IMMUTABLE = /\.(?:ldb|sst)$/;
/** The rest of what makes a database. LOCK and LOG belong to the process that has it open. */
const SMALL = /^(?:CURRENT|MANIFEST-\d+|\d+\.log)$/;

/** Why a hard link cannot be made although the file is there: another file system, or one without links. */
const NO_LINK = new Set(['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Publishes a working store (DESIGN 4): the files are linked and copied while `suspend` has it closed, made durable
 * after it works again, and become visible by two renames. A crash at any point leaves the former generation current.
 *
 * @param suspend closes the store, runs the work, opens the store again.
 * @returns the new generation's number.
 */
export async function publishGeneration(
  workingDirectory: string,
  generationsDirectory: string,
  suspend: (work: () => Promise<void>) => Promise<void>,
  options: PublishOptions = {},
): Promise<number> {
  try {
    await mkdir(generationsDirectory, { recursive: true });
    await removeLeftovers(generationsDirectory);
    const numbers = await generationNumbers(generationsDirectory);
    const number = Math.max(0, ...numbers, (await currentGeneration(generationsDirectory)) ?? 0) + 1;
    const previous = await openExport(generationsDirectory, numbers.at(-1));
    try {
      await makeGeneration(workingDirectory, generationsDirectory, number, suspend, {
        previous,
        gatherer: options.gatherer,
      });
    } finally {
      await previous?.close();
    }
    await movePointer(generationsDirectory, number);
    // Published already: what cannot be removed now is left to the next publication.
    await removeOldGenerations(generationsDirectory, number, options.keepGenerations ?? DEFAULT_KEEP).catch(
      () => {},
    );
    return number;
  } catch (cause) {
    throw new StorageError(
      `no generation could be published in ${generationsDirectory}: ${messageOf(cause)}`,
      {
        cause,
      },
    );
  }
}

async function makeGeneration(
  workingDirectory: string,
  generationsDirectory: string,
  number: number,
  suspend: (work: () => Promise<void>) => Promise<void>,
  options: WriteExportOptions,
): Promise<void> {
  const temporary = join(generationsDirectory, `${number}.tmp`);
  try {
    await mkdir(temporary);
    await suspend(async () => {
      await cloneDatabase(workingDirectory, temporary);
    });
    // The store works again: what follows takes as long as the database is large.
    await using level = await Level.open(temporary, { kind: 'gatherer', create: false });
    const { summaries } = await readCounters(level);
    await writeExport(new SummaryStore(level, () => summaries), temporary, options);
    await level.close();
    for (const name of await readdir(temporary)) {
      if (!IMMUTABLE.test(name)) await syncPath(join(temporary, name));
    }
    await syncPath(temporary);
    await rename(temporary, join(generationsDirectory, String(number)));
    await syncPath(generationsDirectory);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

/** An earlier generation's export, if it has one that can be read: it only saves work. */
async function openExport(
  directory: string,
  generation: number | undefined,
): Promise<ReadyExport | undefined> {
  if (generation === undefined) return undefined;
  return ReadyExport.open(join(directory, String(generation))).catch(() => undefined);
}

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

/** Waits until the disk has a file's content or a directory's names. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
