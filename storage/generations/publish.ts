// The writer's side of a generations directory: makes a generation of a working store.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { requireSums, writeSums } from '../files/checksums.js';
import { syncPath } from '../files/sync-path.js';
import { Level } from '../level/level.js';
import { SummaryStore } from '../summaries/summary-store.js';
import { GATHERER_COUNTERS } from '../summaries/tables.js';
import { IMMUTABLE } from './clone-database.js';
import { beginGeneration, generationNumbers, placeGeneration, unpublishedPath } from './directory.js';
import { COMPRESSED_FILE } from './export/format.js';
import { ReadyExport } from './export/ready-export.js';
import type { GathererNames } from './export/survey.js';
import { type WriteExportOptions, writeExport } from './export/write-export.js';

export interface PublishOptions {
  /** Generations kept, the new one included. Default 2. */
  readonly keepGenerations?: number;
  /** GATHERD-13.9: the Gatherer of objects that do not name one. */
  readonly gatherer?: GathererNames;
  /**
   * Runs the part of the publication that fixes its content, while no writer has a change that is older than
   * those that it contains. Default: at once, for a store whose writers are finished.
   */
  readonly atRest?: (work: () => Promise<void>) => Promise<void>;
}

/**
 * Publishes a working store (DESIGN 4): copies its database, adds the export, flushes the files to the disk and makes
 * them visible by two renames. A crash at any point leaves the former generation current.
 *
 * @param copy makes a copy of the working store's database in a directory that does not exist
 * @returns the new generation's number.
 */
export async function publishGeneration(
  copy: (directory: string) => Promise<void>,
  generationsDirectory: string,
  options: PublishOptions = {},
): Promise<number> {
  try {
    const number = await beginGeneration(generationsDirectory);
    const numbers = await generationNumbers(generationsDirectory);
    await using previous = await openExport(generationsDirectory, numbers.at(-1));
    const temporary = unpublishedPath(generationsDirectory, number);
    try {
      await makeGeneration(copy, temporary, { previous, gatherer: options.gatherer });
      await placeGeneration(generationsDirectory, number, options.keepGenerations);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      throw error;
    }
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
  copy: (directory: string) => Promise<void>,
  temporary: string,
  options: WriteExportOptions,
): Promise<void> {
  await copy(temporary);
  await using level = await Level.open(temporary, { kind: 'gatherer', create: false });
  const { summaries } = await GATHERER_COUNTERS.read(level);
  await writeExport(new SummaryStore(level, () => summaries), temporary, options);
  await level.close();
  // LOCK belongs to the process that has it open, and is in no backup.
  const names = (await readdir(temporary)).filter((name) => name !== 'LOCK');
  for (const name of names) if (!IMMUTABLE.test(name)) await syncPath(join(temporary, name));
  await writeSums(temporary, names, [COMPRESSED_FILE]);
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
