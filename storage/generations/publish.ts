// The writer's side of a generations directory: makes a generation of a working store.
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { requireSums, writeSums } from '../files/checksums.js';
import { makeDirectory } from '../files/make-directory.js';
import { syncPath } from '../files/sync-path.js';
import { Level } from '../level/level.js';
import { SummaryStore } from '../summaries/summary-store.js';
import { GATHERER_COUNTERS } from '../summaries/tables.js';
import { cloneDatabase, IMMUTABLE, makeCloneDirectory } from './clone-database.js';
import {
  DEFAULT_KEEP_GENERATIONS,
  generationNumbers,
  movePointer,
  nextGeneration,
  removeLeftovers,
  removeOldGenerations,
} from './directory.js';
import { COMPRESSED_FILE, INDEX_FILE } from './export/format.js';
import { ReadyExport } from './export/ready-export.js';
import type { GathererNames } from './export/survey.js';
import { type WriteExportOptions, writeExport } from './export/write-export.js';

export interface PublishOptions {
  /** Generations kept, the new one included. Default {@link DEFAULT_KEEP_GENERATIONS}. */
  readonly keepGenerations?: number;
  /** GATHERD-13.9: the Gatherer of objects that do not name one. */
  readonly gatherer?: GathererNames;
}

/**
 * Publishes a working store (DESIGN 4): links and copies its files while `suspend` keeps it closed, flushes
 * them to the disk after it is open again, and makes them visible by two renames. A crash at any point leaves
 * the former generation current.
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
    await makeDirectory(generationsDirectory);
    const number = await nextGeneration(generationsDirectory);
    await removeLeftovers(generationsDirectory);
    const numbers = await generationNumbers(generationsDirectory);
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
    // The generation is published; the next publication removes what cannot be removed now.
    await removeOldGenerations(
      generationsDirectory,
      number,
      options.keepGenerations ?? DEFAULT_KEEP_GENERATIONS,
    ).catch(() => {});
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
    await makeCloneDirectory(workingDirectory, temporary);
    await suspend(async () => {
      await cloneDatabase(workingDirectory, temporary);
    });
    // The store is open again: the rest takes time in proportion to the database.
    await using level = await Level.open(temporary, { kind: 'gatherer', create: false });
    const { summaries } = await GATHERER_COUNTERS.read(level);
    await writeExport(new SummaryStore(level, () => summaries), temporary, options);
    await level.close();
    await writeSums(temporary, [INDEX_FILE, COMPRESSED_FILE]);
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

/**
 * The export of an earlier generation, whose blocks need not be compressed again; undefined if it cannot be
 * read.
 */
async function openExport(
  directory: string,
  generation: number | undefined,
): Promise<ReadyExport | undefined> {
  if (generation === undefined) return undefined;
  const published = join(directory, String(generation));
  try {
    await requireSums(published);
    return await ReadyExport.open(published);
  } catch {
    // Its blocks are compressed again.
    return undefined;
  }
}
