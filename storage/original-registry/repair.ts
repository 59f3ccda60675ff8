// Writes the readable records of a damaged Registry, and those of objects without one, into a new file.
import { copyFile, link, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorCode, StorageError } from '../../protocols/errors.js';
import {
  type GathererIds,
  isRegistryVersion,
  type RegistryVersion,
  registryFormat,
} from '../../protocols/registry/index.js';
import type { OidSet } from '../broker/oid-set.js';
import { createDirectory } from '../files/make-directory.js';
import { replaceFile } from '../files/replace-file.js';
import { syncPath } from '../files/sync-path.js';
import { gathererIdsPath } from './broker-directory.js';
import {
  type CheckOptions,
  checkRegistry,
  examineRegistry,
  gathererIdsOf,
  type RegistrySummary,
  scanRegistry,
} from './check.js';
import { writeGathererIds } from './export-registry.js';
import { judge, SeenOids } from './judge.js';
import { ObjectLocations } from './object-locations.js';
import { openRandomFile, type RandomFile } from './random-access-file.js';
import { RecordRepair } from './record-repair.js';
import { writeRegistry } from './write-registry.js';

export interface RepairOptions extends CheckOptions {
  /** Report the problems, write nothing. Default false. */
  readonly dryRun?: boolean;
  /**
   * Receives a sentence about each change that is more than a correction of sizes, magic numbers and counts.
   */
  readonly onWarning?: ((sentence: string) => void) | undefined;
}

/** Result of a repair. */
export interface RepairSummary extends RegistrySummary {
  /** Records that were made from the files of their objects. */
  readonly rebuilt: number;
  /** Records that were removed or marked as deleted. */
  readonly removed: number;
  /** Files that belong to no record and were moved to `unreferenced/`. */
  readonly setAside: number;
  /** The problems that a check finds afterwards. */
  readonly remaining: number;
  /** Path of the damaged file; undefined if nothing was written. */
  readonly kept: string | undefined;
}

/**
 * Writes every readable record into a new Registry, which replaces the old one by a rename; the old one is kept
 * as `Registry.damaged` (REG-15, REG-28). Flags, order, and bytes of the records stay (REG-14, REG-21); sizes,
 * magic numbers and counts are corrected. An undamaged file is not changed. The process that owns the Registry
 * must not run.
 *
 * With a directory, the files of the objects decide (REG-40): records that are missing or wrong are made from
 * them, also all records of an empty file; a record without a file is marked as deleted, and a file that
 * belongs to a deleted record, or has no object, is moved to `unreferenced/` (REG-38). If the directory has no
 * object file at all, it is taken for not mounted, and its records stay.
 *
 * @throws StorageError if a file cannot be opened or written
 */
export async function repairRegistry(
  path: string,
  options: RepairOptions = {},
  directory?: string,
): Promise<RepairSummary> {
  const { seen, ...first } = await examineRegistry(path, options, directory);
  const unchanged = { rebuilt: 0, removed: 0, setAside: 0, remaining: first.problems, kept: undefined };
  if (first.problems === 0 || options.dryRun === true) return { ...first, ...unchanged };
  const located = directory === undefined ? undefined : await ObjectLocations.find(directory, options.signal);
  const files = located?.oids.isEmpty === true ? undefined : located;
  // Nothing of an unknown version can be corrected, only made again from the objects.
  if (!isRegistryVersion(first.version) && files === undefined) return { ...first, ...unchanged };
  const file = await (options.open ?? openRandomFile)(path, 'r');
  try {
    const written = await writeRepaired(path, file, { options, files, seen, first, directory });
    const { onProblem: _problem, onRecord: _record, ...quiet } = options;
    const after = await checkRegistry(path, quiet, directory);
    return { ...after, problems: first.problems, lost: first.lost, remaining: after.problems, ...written };
  } finally {
    await file.close();
  }
}

interface Examined {
  readonly options: RepairOptions;
  readonly files: ObjectLocations | undefined;
  readonly seen: SeenOids;
  readonly first: RegistrySummary;
  readonly directory: string | undefined;
}

async function writeRepaired(
  path: string,
  file: RandomFile,
  { options, files, seen, first, directory }: Examined,
): Promise<Pick<RepairSummary, 'rebuilt' | 'removed' | 'setAside' | 'kept'>> {
  const format = { ...registryFormat(options), reading: first.reading };
  const scanned = await scanRegistry(file, { ...options, reading: first.reading });
  const version: RegistryVersion = isRegistryVersion(scanned.version) ? scanned.version : 1;
  const { ids, problem: malformed } = await gathererIdsOf(directory, version);
  const idsBefore = ids?.size;
  const winners = seen.doubled.isEmpty
    ? new Map<number, number>()
    : await winnersOf(file, first, options, files, seen.doubled);
  const repair = new RecordRepair({ version, format, files, ids, seen, onWarning: options.onWarning });
  const items = judge(scanned.items(), { version: scanned.version, files, ids, winners }, new SeenOids());
  let kept = '';
  await replaceFile(
    path,
    async (temporary) => {
      const open = options.open ?? openRandomFile;
      await writeRegistry(await open(temporary, 'wx'), repair.records(items), version, format);
      if (directory !== undefined && ids !== undefined && (malformed !== undefined || ids.size !== idsBefore))
        await replaceGathererIds(directory, ids, malformed !== undefined);
      // The last step, so that a failed repair leaves no extra file.
      kept = await keepDamaged(path);
    },
    { force: true },
  );
  // REG-37: the Registry, then the file.
  if (directory !== undefined)
    for (const unreferenced of repair.unreferenced) await setAside(directory, unreferenced);
  const { rebuilt, removed, unreferenced } = repair;
  return { rebuilt, removed, setAside: unreferenced.length, kept };
}

/**
 * The offset of the record to keep of each OID with several: the one that its file is about, of those the
 * latest and last (REG-45).
 */
async function winnersOf(
  file: RandomFile,
  first: RegistrySummary,
  options: RepairOptions,
  files: ObjectLocations | undefined,
  doubled: OidSet,
): Promise<Map<number, number>> {
  const scanned = await scanRegistry(file, { ...options, reading: first.reading });
  const best = new Map<number, { offset: number; rank: readonly [number, number] }>();
  const seen = new SeenOids();
  for await (const item of judge(
    scanned.items(),
    { version: scanned.version, files, ids: undefined },
    seen,
  )) {
    if (item.kind === 'problem' || item.raw.state !== 'valid' || item.record === undefined) continue;
    const { oid, updateTime } = item.record;
    if (!doubled.has(oid)) continue;
    const rank = [item.matches ? 1 : 0, updateTime] as const;
    const known = best.get(oid)?.rank;
    if (known === undefined || rank[0] > known[0] || (rank[0] === known[0] && rank[1] >= known[1]))
      best.set(oid, { offset: item.raw.offset, rank });
  }
  return new Map([...best].map(([oid, { offset }]) => [oid, offset]));
}

async function replaceGathererIds(directory: string, ids: GathererIds, damaged: boolean): Promise<void> {
  if (damaged) await keepDamaged(gathererIdsPath(directory));
  await writeGathererIds(directory, ids);
}

/** Moves a file out of `objects/`, so that nothing is lost. */
async function setAside(directory: string, path: string): Promise<void> {
  const target = join(directory, 'unreferenced');
  await createDirectory(target);
  const name = basename(path);
  // A rename needs no room on a full disk.
  const move = (from: string, to: string) => rename(from, to).catch(() => copyTo(from, to));
  await addName(path, join(target, name), `${target} has too many files ${name}; remove some`, move);
  await rm(path, { force: true });
}

/** Gives the damaged file a second name: `Registry.damaged`, or `Registry.damaged.1` if that exists. */
function keepDamaged(path: string): Promise<string> {
  return addName(path, `${path}.damaged`, `${path}.damaged: too many of them; remove some`);
}

/** The maximum number of names that are tried. */
const MAX_NAMES = 1000;

/**
 * Gives a file a second name that no file has: `name`, `name.1` ...
 *
 * @param tooMany the error if all names are in use
 * @param otherwise on a file system without hard links, or for a name on another one
 */
async function addName(path: string, name: string, tooMany: string, otherwise = copyTo): Promise<string> {
  for (let i = 0; i < MAX_NAMES; i++) {
    const free = i === 0 ? name : `${name}.${i}`;
    try {
      await link(path, free);
    } catch (cause) {
      if (errorCode(cause) === 'EEXIST') continue;
      await otherwise(path, free);
    }
    return free;
  }
  throw new StorageError(tooMany);
}

/** Copies a file, and flushes the copy: the original is replaced or removed next. */
async function copyTo(path: string, copy: string): Promise<void> {
  try {
    await copyFile(path, copy);
    await syncPath(copy);
  } catch (error) {
    await rm(copy, { force: true });
    throw error;
  }
}
