import { join } from 'node:path';
import { StorageError, UsageError } from '../../../../protocols/errors.js';
import { DatabaseFile } from '../../../../storage/databases/database-file.js';
import {
  type LocatedSource,
  locateSource,
  TEMPLATES_FILE,
  WORKING_FILE,
} from '../../../../storage/databases/file-kind.js';
import { temporaryCopy } from '../../../../storage/databases/load.js';
import { cleanDatabase, removeBinary } from '../../../../storage/databases/maintain.js';
import { consolidate } from '../../../../storage/databases/merge.js';
import {
  locateExported,
  type PublishedDirectory,
  publishDirectory,
} from '../../../../storage/databases/publish-directory.js';
import type { GathererNames } from '../../../../storage/generations/export/survey.js';
import { type Counts, runTool, sentenceOf, type Tool } from '../../output/run-tool.js';
import { encodeStatistics, openGeneration, writeStatistics, writeTemplates } from '../export-files.js';
import { nowOf } from './edit.js';

/** Names for objects without a Gatherer's name, on the command line. */
export interface GathererOptions {
  readonly gathererName?: string;
  readonly gathererHost?: string;
  readonly gathererVersion?: string;
}

interface IndexOptions extends GathererOptions {
  readonly now?: number;
  readonly json: boolean;
}

/** The action of `harvest mkindex`. */
export async function mkindex(directory: string, options: IndexOptions): Promise<number> {
  return await runTool('mkindex', options, async (tool) => {
    const published = await publishDirectory(directory, {
      ...tool,
      ...gathererOf(options),
      now: nowOf(options),
    });
    return publicationCounts(published);
  });
}

/** The action of `harvest mkcompressed`. */
export async function mkcompressed(directory: string, options: { json: boolean }): Promise<number> {
  return await runTool('mkcompressed', options, async () => {
    await using snapshot = await openGeneration(directory);
    return await writeTemplates(directory, snapshot);
  });
}

/** The action of `harvest mkgathererstats`. */
export async function mkgathererstats(
  directory: string,
  options: { write: boolean; json: boolean; now?: number },
): Promise<number> {
  if (options.json && !options.write) throw new UsageError('mkgathererstats: --json requires --write');
  return await runTool('mkgathererstats', options, async (tool) => {
    await using snapshot = await openGeneration(directory);
    const info = await encodeStatistics(snapshot, nowOf(options));
    if (!options.write) {
      await tool.output.write(info);
      return;
    }
    await writeStatistics(directory, info);
    return { objects: snapshot.count };
  });
}

/** Returns the names to add (GATHERD-13.9), if any is given. */
export function gathererOf(options: GathererOptions): { readonly gatherer?: GathererNames } {
  const { gathererName = '', gathererHost = '', gathererVersion = '' } = options;
  if (gathererName === '' && gathererHost === '' && gathererVersion === '') return {};
  return { gatherer: { gathererName, gathererHost, gathererVersion } };
}

/** Returns the counts of a publication. */
export function publicationCounts({ generation, objects, changes, source }: PublishedDirectory): Counts {
  const { added, changed, refreshed, deleted } = changes ?? {};
  const counts = { objects, added, changed, refreshed, deleted, generation, source };
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== undefined)) as Counts;
}

interface FoldOptions extends GathererOptions {
  readonly now?: number;
  readonly keepExpired: boolean;
  readonly truncate: boolean;
  readonly json: boolean;
}

/** Reports the counts of one step. */
type Step = (name: string, counts: Counts) => Promise<void>;

/** The action of `harvest folddb`. */
export async function folddb(directory: string, options: FoldOptions): Promise<number> {
  return await runTool('folddb', options, async (tool) => {
    const steps: Record<string, Counts> = {};
    await fold(directory, options, tool, async (name, counts) => {
      steps[name] = counts;
      if (!options.json) await tool.output.write(`${name}: ${sentenceOf(counts)}\n`);
    });
    if (options.json) await tool.output.write(`${JSON.stringify(steps)}\n`);
  });
}

async function fold(directory: string, options: FoldOptions, tool: Tool, step: Step): Promise<void> {
  const exported = await locateExported(directory);
  const publication = { ...tool, ...gathererOf(options), now: nowOf(options) };
  if (exported.kind === 'working') {
    await step('mkindex', publicationCounts(await publishDirectory(directory, publication)));
  } else {
    await using copy = exported.kind === 'database' ? undefined : await temporaryCopy(exported, tool);
    using opened = copy === undefined ? DatabaseFile.open(exported.path) : undefined;
    const database = copy?.database ?? opened;
    if (database === undefined) throw new StorageError(`${exported.path} no longer exists`);
    await maintain(directory, database, options, tool, step);
    await step('mkindex', publicationCounts(await publishDirectory(directory, publication, database)));
  }
  await writeExports(directory, exported, options, step);
}

async function maintain(
  directory: string,
  database: DatabaseFile,
  options: FoldOptions,
  tool: Tool,
  step: Step,
): Promise<void> {
  const working = await workingSource(directory);
  if (working !== undefined) await step('consoldb', { ...(await consolidate(database, [working], tool)) });
  if (!options.keepExpired) await step('expiredb', { deleted: database.deleteExpired(nowOf(options)) });
  const cleaned = await cleanDatabase(database, {
    ...tool,
    truncate: options.truncate,
    onDeleted: (url, reason) => tool.onWarning?.(`${url}: deleted: ${reason}`),
  });
  await step('cleandb', { ...cleaned });
  await step('rmbinary', { ...(await removeBinary(database, tool)) });
}

async function workingSource(directory: string): Promise<string | undefined> {
  const path = join(directory, WORKING_FILE);
  try {
    await locateSource(path);
    return path;
  } catch (error) {
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}

async function writeExports(
  directory: string,
  exported: LocatedSource,
  options: FoldOptions,
  step: Step,
): Promise<void> {
  await using snapshot = await openGeneration(directory);
  // The published objects came from this file, so it is not replaced.
  if (exported.path !== join(directory, TEMPLATES_FILE)) {
    await step('mkcompressed', await writeTemplates(directory, snapshot));
  }
  await writeStatistics(directory, await encodeStatistics(snapshot, nowOf(options)));
  await step('mkgathererstats', { objects: snapshot.count });
}
