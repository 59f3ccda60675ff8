import { ProtocolError } from '../../protocols/errors.js';
import {
  DEFAULT_MAX_RECORD_BYTES,
  emptyFields,
  isRegistryVersion,
  type RegistryCounts,
  type RegistryReading,
  registryFormat,
} from '../../protocols/registry/index.js';
import { OidSet } from '../broker/oid-set.js';
import { hasObjectFile, objectFiles } from './broker-directory.js';
import { openRandomFile, type RandomFile } from './random-file.js';
import type { RegistryFileOptions } from './registry-file.js';
import { type RegistryProblem, readingOfDamaged, type ScanItem, scanFile, wrongCounts } from './scan.js';
import { countRecord, detectReading, readRecord, type Survey, surveyFile } from './walk.js';

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
  const version = survey.header?.version ?? ASSUMED_VERSION;
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
    }
    yield* scanFile(file, { ...scan, reading, header });
  }
  return { survey, version, reading, items };
}

/**
 * Checks a Registry file: every damage with its offset and rule, empty mandatory fields (REG-39), valid records with the same OID
 * (REG-35), wrong counts (REG-6, REG-10). Needs about one bit of memory for each OID.
 *
 * @param directory directory of the original Broker, whose object files are compared with the records (REG-38)
 * @throws StorageError if the file cannot be opened
 */
export async function checkRegistry(
  path: string,
  options: CheckOptions = {},
  directory?: string,
): Promise<RegistrySummary> {
  const file = await (options.open ?? openRandomFile)(path, 'r');
  try {
    const scanned = await scanRegistry(file, options);
    const { version, reading, survey } = scanned;
    const counts = { records: 0, deleted: 0, valid: 0 };
    const valid = new OidSet();
    let problems = 0;
    let lost = 0;
    const report = async (problem: RegistryProblem): Promise<void> => {
      problems++;
      lost += problem.lost ?? 0;
      await options.onProblem?.(problem);
    };
    for await (const item of scanned.items()) {
      if (item.kind === 'problem') {
        const { kind: _, ...problem } = item;
        await report(problem);
        continue;
      }
      countRecord(counts, item.state);
      options.onRecord?.();
      const record = item.state === 'valid' ? readRecord(item, version) : undefined;
      if (record === undefined || record instanceof ProtocolError) continue;
      const { offset } = item;
      for (const name of emptyFields(record)) {
        await report({ rule: 'REG-39', offset, message: `object ${record.oid} has no ${name}` });
      }
      if (record.oid === 0) await report({ rule: 'REG-35', offset, message: 'a valid record has the OID 0' });
      if (valid.has(record.oid)) {
        await report({ rule: 'REG-35', offset, message: `a second valid record has the OID ${record.oid}` });
      }
      valid.add(record.oid);
      if (directory !== undefined && !(await hasObjectFile(directory, record.oid))) {
        await report({ rule: 'REG-38', offset, message: `object ${record.oid} has no file` });
      }
    }
    for (const problem of wrongCounts(survey, counts)) await report(problem);
    if (directory !== undefined) {
      for await (const oid of objectFiles(directory, options.signal)) {
        if (!valid.has(oid))
          await report({ rule: 'REG-38', message: `the file of object ${oid} has no valid record` });
      }
    }
    return { version, reading, counts, problems, lost };
  } finally {
    await file.close();
  }
}
