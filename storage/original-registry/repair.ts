// Writes the readable records of a damaged Registry into a new file.
import { copyFile, link, rm } from 'node:fs/promises';
import { errorCode, StorageError } from '../../protocols/errors.js';
import { type RawRecord, type RegistryCounts, registryFormat } from '../../protocols/registry/index.js';
import { replaceFile } from '../files/replace-file.js';
import { type CheckOptions, type RegistrySummary, scanRegistry } from './check.js';
import { openRandomFile } from './random-file.js';
import { type RegistryProblem, type ScanItem, wrongCounts } from './scan.js';
import { countRecord } from './walk.js';
import { writeRegistry } from './write-registry.js';

export interface RepairOptions extends CheckOptions {
  /** Report the problems, write nothing. Default false. */
  readonly dryRun?: boolean;
}

/** Result of a repair. */
export interface RepairSummary extends RegistrySummary {
  /** Path of the damaged file; undefined if nothing was written. */
  readonly kept: string | undefined;
}

/**
 * Writes every readable record into a new Registry, which replaces the old one by a rename; the old one is kept as
 * `Registry.damaged` (REG-15, REG-28). Flags, order, and bytes of the records stay (REG-14, REG-21); sizes, magic numbers and
 * counts are corrected. An undamaged file is not changed. The process that owns the Registry must not run.
 *
 * @throws StorageError if a file cannot be opened or written
 */
export async function repairRegistry(path: string, options: RepairOptions = {}): Promise<RepairSummary> {
  const first = await survey(path, options);
  if (first.problems === 0 || options.dryRun === true) return { ...first, kept: undefined };
  const open = options.open ?? openRandomFile;
  const file = await open(path, 'r');
  try {
    const scanned = await scanRegistry(file, { ...options, reading: first.reading });
    const format = { ...registryFormat(options), reading: first.reading };
    let kept = '';
    await replaceFile(
      path,
      async (temporary) => {
        const records = readableRecords(scanned.items());
        await writeRegistry(await open(temporary, 'wx'), records, scanned.version, format);
        // The last step, so that a failed repair leaves no extra file.
        kept = await keepDamaged(path);
      },
      { force: true },
    );
    return { ...first, kept };
  } finally {
    await file.close();
  }
}

/** The first pass: reports each problem once. */
async function survey(path: string, options: RepairOptions): Promise<RegistrySummary> {
  const file = await (options.open ?? openRandomFile)(path, 'r');
  try {
    const scanned = await scanRegistry(file, options);
    const counts = { records: 0, deleted: 0, valid: 0 };
    let problems = 0;
    let lost = 0;
    const report = async (problem: RegistryProblem): Promise<void> => {
      problems++;
      lost += problem.lost ?? 0;
      await options.onProblem?.(problem);
    };
    for await (const item of scanned.items()) {
      if (item.kind === 'record') {
        countRecord(counts, item.state);
        options.onRecord?.();
      } else {
        const { kind: _, ...problem } = item;
        await report(problem);
      }
    }
    const total: RegistryCounts = counts;
    for (const problem of wrongCounts(scanned.survey, total)) await report(problem);
    return { version: scanned.version, reading: scanned.reading, counts: total, problems, lost };
  } finally {
    await file.close();
  }
}

async function* readableRecords(items: AsyncIterable<ScanItem>): AsyncGenerator<RawRecord, void, undefined> {
  for await (const item of items) if (item.kind === 'record') yield item;
}

/** The maximum number of names that are tried for the damaged file. */
const MAX_DAMAGED = 1000;

/** Gives the damaged file a second name: `Registry.damaged`, or `Registry.damaged.1` if that exists. */
async function keepDamaged(path: string): Promise<string> {
  for (let i = 0; i < MAX_DAMAGED; i++) {
    const name = `${path}.damaged${i === 0 ? '' : `.${i}`}`;
    try {
      await link(path, name);
      return name;
    } catch (cause) {
      if (errorCode(cause) === 'EEXIST') continue;
      return copyFileTo(path, name);
    }
  }
  throw new StorageError(`${path}.damaged: too many of them; remove some`);
}

/** Copies the file, for a file system without hard links. */
async function copyFileTo(path: string, name: string): Promise<string> {
  try {
    await copyFile(path, name);
  } catch (error) {
    await rm(name, { force: true });
    throw error;
  }
  return name;
}
