// Checks a Registry and the object files that belong to it.
import { ProtocolError } from '../../protocols/errors.js';
import {
  DEFAULT_MAX_RECORD_BYTES,
  GathererIds,
  isRegistryVersion,
  READINGS,
  type RegistryCounts,
  type RegistryReading,
  registryFormat,
} from '../../protocols/registry/index.js';
import { readGathererIds } from './export-registry.js';
import { judge, SeenOids } from './judge.js';
import { ObjectLocations } from './object-locations.js';
import { FileWindow, openRandomFile, type RandomFile } from './random-access-file.js';
import type { RegistryFileOptions } from './registry-file.js';
import { hasExactRecord } from './salvage.js';
import { type RegistryProblem, readingOfDamaged, type ScanItem, scanFile, wrongCounts } from './scan.js';
import { countRecord, detectReading, type Survey, surveyFile, type WalkOptions } from './walk.js';

/** Totals of a check. */
export interface RegistrySummary {
  readonly version: number;
  readonly reading: RegistryReading;
  /** Counts of the readable records. */
  readonly counts: RegistryCounts;
  readonly problems: number;
  /** Bytes that belong to no readable record. */
  readonly lost: number;
}

export interface CheckOptions extends Omit<RegistryFileOptions, 'writable' | 'sync'> {
  /** Receives each problem when it is found. */
  readonly onProblem?: (problem: RegistryProblem) => void | Promise<void>;
  /** Receives each record. */
  readonly onRecord?: () => void;
}

/** The readable part of a Registry that may be damaged. */
export interface ScannedRegistry {
  readonly survey: Survey;
  readonly version: number;
  readonly reading: RegistryReading;
  /** Problems of the header, and the readable records with the damage between them. */
  items(): AsyncGenerator<ScanItem, void, undefined>;
}

/** The version of a file without a readable header: the default for writing (REG-50). */
const ASSUMED_VERSION = 1;

/** Determines the version and the reading of the sizes, before the records are read. */
export async function scanRegistry(file: RandomFile, options: CheckOptions): Promise<ScannedRegistry> {
  const { maxRecordBytes = DEFAULT_MAX_RECORD_BYTES, signal } = options;
  const format = registryFormat(options);
  const walk = { ...format, maxRecordBytes, signal };
  const survey = await (options.reading === undefined ? detectReading(file, walk) : surveyFile(file, walk));
  const version = await versionOf(file, survey, { ...walk, reading: options.reading });
  const scan = { ...format, maxRecordBytes, signal, version };
  const reading = options.reading ?? (await readingOfDamaged(file, survey, scan));
  const header = survey.header !== undefined;
  async function* items(): AsyncGenerator<ScanItem, void, undefined> {
    if (survey.header === undefined && survey.damage !== undefined) {
      const { rule, offset, message } = survey.damage;
      yield { kind: 'problem', rule, offset, message };
    } else if (!isRegistryVersion(version)) {
      const message = `records of version ${version} are not known`;
      yield { kind: 'problem', rule: 'REG-9', offset: 4, message };
    } else if (version !== survey.header?.version) {
      const message = `the header says version ${survey.header?.version}, but the records are of version ${version}`;
      yield { kind: 'problem', rule: 'REG-9', offset: 4, message };
    }
    yield* scanFile(file, { ...scan, reading, header });
  }
  return { survey, version, reading, items };
}

/**
 * The version of the records: that of the header, unless no record has its layout and one has that of another
 * version, as after damage to the header.
 */
async function versionOf(
  file: RandomFile,
  survey: Survey,
  options: Omit<WalkOptions, 'reading'> & {
    readonly maxRecordBytes: number;
    readonly reading: RegistryReading | undefined;
  },
): Promise<number> {
  const stated = survey.header?.version;
  const window = new FileWindow(file, await file.size());
  const versions = [...(stated !== undefined && isRegistryVersion(stated) ? [stated] : []), 1, 2];
  for (const version of versions) {
    for (const reading of options.reading === undefined ? READINGS : [options.reading]) {
      const format = registryFormat({ ...options, reading });
      if (await hasExactRecord({ ...options, window, format, version })) return version;
    }
  }
  return stated ?? ASSUMED_VERSION;
}

/** The Gatherer ids of a directory for a Registry of version 2; a problem if the file is malformed (REG-50). */
export async function gathererIdsOf(
  directory: string | undefined,
  version: number,
): Promise<{ readonly ids: GathererIds | undefined; readonly problem?: RegistryProblem }> {
  if (directory === undefined || version !== 2) return { ids: undefined };
  try {
    return { ids: await readGathererIds(directory) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { ids: new GathererIds(), problem: { rule: 'REG-50', message: error.message } };
  }
}

/** Result of {@link examineRegistry}. */
export interface RegistryExamination extends RegistrySummary {
  readonly seen: SeenOids;
}

/**
 * Checks a Registry file: every damage with its offset and rule, empty mandatory fields (REG-39), valid records
 * with the same OID (REG-35), wrong counts (REG-6, REG-10). Needs about one bit of memory for each OID.
 *
 * @param directory directory of the original Broker, whose object files are compared with the records (REG-36,
 *   REG-38)
 * @throws StorageError if the file cannot be opened
 */
export async function checkRegistry(
  path: string,
  options: CheckOptions = {},
  directory?: string,
): Promise<RegistrySummary> {
  const { seen: _, ...summary } = await examineRegistry(path, options, directory);
  return summary;
}

/** Same as {@link checkRegistry}, with the OIDs that were seen. */
export async function examineRegistry(
  path: string,
  options: CheckOptions,
  directory: string | undefined,
): Promise<RegistryExamination> {
  const file = await (options.open ?? openRandomFile)(path, 'r');
  try {
    const scanned = await scanRegistry(file, options);
    const { version, reading, survey } = scanned;
    const counts = { records: 0, deleted: 0, valid: 0 };
    const files = directory === undefined ? undefined : await ObjectLocations.find(directory, options.signal);
    const seen = new SeenOids();
    let problems = 0;
    let lost = 0;
    const report = async (problem: RegistryProblem): Promise<void> => {
      problems++;
      lost += problem.lost ?? 0;
      await options.onProblem?.(problem);
    };
    const { ids, problem: malformed } = await gathererIdsOf(directory, version);
    if (malformed !== undefined) await report(malformed);
    for await (const item of judge(scanned.items(), { version, files, ids }, seen)) {
      if (item.kind === 'problem') {
        const { kind: _, ...problem } = item;
        await report(problem);
        continue;
      }
      countRecord(counts, item.raw.state);
      options.onRecord?.();
      for (const problem of item.problems) await report(problem);
    }
    for (const problem of wrongCounts(survey, counts)) await report(problem);
    for (const oid of files?.oids.toArray() ?? []) {
      // A record with an unknown flag is kept as it is, with its file (REG-14).
      if (seen.valid.has(oid) || seen.unknown.has(oid)) continue;
      await report({ rule: 'REG-38', message: `the file of object ${oid} has no valid record` });
    }
    return { version, reading, counts, problems, lost, seen };
  } finally {
    await file.close();
  }
}
