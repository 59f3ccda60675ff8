import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { syncPath } from '../files/sync-path.js';
import { Level } from '../level/level.js';
import { readCounters, SummaryStore } from '../summaries/summary-store.js';
import { cloneDatabase, IMMUTABLE } from './clone-database.js';
import {
  currentGeneration,
  generationNumbers,
  movePointer,
  removeLeftovers,
  removeOldGenerations,
} from './directory.js';
import { ReadyExport } from './export/ready-export.js';
import type { GathererNames } from './export/survey.js';
import { type WriteExportOptions, writeExport } from './export/write-export.js';

export interface PublishOptions {
  /** Generations kept, the new one included. Default 2: readers that just read CURRENT still find theirs. */
  readonly keepGenerations?: number;
  /** GATHERD-13.9: who gathered the objects that do not say. */
  readonly gatherer?: GathererNames;
}

const DEFAULT_KEEP = 2;

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
