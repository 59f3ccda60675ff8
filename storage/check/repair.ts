// `harvest store repair`: saves what can be read of a damaged store into a new one beside it.
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../protocols/errors.js';
import { ifPresent } from '../files/exists.js';
import { openFileList } from '../files/file-list.js';
import { LoginSeal } from '../generations/login-seal.js';
import { Level } from '../level/level.js';
import { requireClosed } from '../level/open-database.js';
import { inspectDatabase } from '../level/verify/inspect.js';
import type { StoreKind } from '../rows/contract.js';
import { mendBrokerRows } from './broker-rows.js';
import { hasDamagedRows } from './check.js';
import { findStores } from './find-stores.js';
import { mendGathererRows } from './gatherer-rows.js';
import { dropDamagedRows } from './row-checksums.js';
import { salvageDatabase } from './salvage.js';

export interface RepairOptions {
  /** Put the repaired store in the place of the damaged one, which keeps another name. Default false. */
  readonly replace?: boolean;
  /**
   * Repair stores without damage to their files, too, e.g. because their rows contradict each other. Default
   * false.
   */
  readonly force?: boolean;
  readonly signal?: AbortSignal;
  /** Called with the bytes read of one store. */
  readonly onProgress?: (directory: string, bytes: number) => void;
  /** Ends the names of copies, which get a number if they exist already. Default: the present time. */
  readonly suffix?: string;
}

/** What was done about one store. */
export interface RepairedStore {
  readonly directory: string;
  readonly outcome: 'sound' | 'repaired' | 'replaced' | 'published';
  readonly kind?: StoreKind | 'database';
  /** Rows that were read. */
  readonly rows?: number;
  /** Objects or summaries that were saved. */
  readonly objects?: number;
  /** Objects or documents whose other half is lost: they are collected or fetched again. */
  readonly dropped?: number;
  /** Directory of the repaired store, unless it took the place. */
  readonly repaired?: string;
  /** Directory of the damaged store, after it was replaced. */
  readonly damaged?: string;
}

/**
 * Repairs each damaged database below a directory, one after the other. The damaged files are only read, and
 * renamed with `replace`.
 *
 * Published generations and indexes are not repaired: they are made again from the store.
 *
 * @throws StorageError if a process has one open
 */
export async function* repairStores(
  directory: string,
  options: RepairOptions = {},
): AsyncGenerator<RepairedStore, void, undefined> {
  const { suffix = new Date().toISOString().replace(/\D/g, '').slice(0, 14) } = options;
  for await (const store of findStores(directory)) {
    options.signal?.throwIfAborted();
    if (store.generations) continue;
    if (store.published || !store.database) {
      if (store.published) yield { directory: store.directory, outcome: 'published' };
      continue;
    }
    await requireClosed(store.directory);
    const { problems } = await inspectDatabase(store.directory, { always: true });
    if (problems.length === 0 && options.force !== true && !(await hasDamagedRows(store.directory)))
      yield { directory: store.directory, outcome: 'sound' };
    else yield await repairOne(store.directory, suffix, options);
  }
}

async function repairOne(directory: string, suffix: string, options: RepairOptions): Promise<RepairedStore> {
  const { target, damaged } = await reserveNames(directory, suffix);
  let rows: number;
  let saved: Awaited<ReturnType<typeof mend>>;
  try {
    rows = await salvageDatabase(directory, target, {
      onProgress: (bytes) => options.onProgress?.(directory, bytes),
      signal: options.signal,
    });
    // Without the key the URLs lose their logins, and everything else is saved.
    if ((await LoginSeal.problemOf(directory)) === undefined) await LoginSeal.copy(directory, target);
    saved = await mend(target);
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    throw error;
  }
  const common = { directory, rows, ...saved };
  if (options.replace !== true) return { ...common, outcome: 'repaired', repaired: target };
  await openFileList(dirname(directory));
  await rename(directory, damaged);
  await rename(target, directory);
  return { ...common, outcome: 'replaced', damaged };
}

/**
 * Creates an empty directory for the repaired store. Neither it nor the name for the damaged one belongs to a
 * former repair, even of the same second, whose copy would be lost.
 */
async function reserveNames(directory: string, suffix: string): Promise<{ target: string; damaged: string }> {
  for (let i = 0; ; i++) {
    const ending = i === 0 ? suffix : `${suffix}.${i}`;
    const [target, damaged] = [`${directory}.repaired-${ending}`, `${directory}.damaged-${ending}`];
    try {
      if ((await ifPresent(lstat(damaged))) !== undefined) continue;
      await mkdir(target);
      return { target, damaged };
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** Makes the rows agree with each other again, by the kind of store. */
async function mend(
  directory: string,
): Promise<{ kind: StoreKind | 'database'; objects?: number; dropped?: number }> {
  const kind = await Level.restoreKind(directory);
  if (kind === undefined) return { kind: 'database' };
  await using level = await Level.open(directory, { kind, create: false });
  const damaged = await dropDamagedRows(level, kind);
  const mended = kind === 'broker' ? await mendBrokerRows(level) : await mendGathererRows(level);
  return { kind, ...mended, dropped: mended.dropped + damaged };
}
