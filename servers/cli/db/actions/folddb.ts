import { join } from 'node:path';
import { StorageError } from '../../../../protocols/errors.js';
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
import { locateExported, publishDirectory } from '../../../../storage/databases/publish-directory.js';
import { encodeStatistics, openGeneration, writeStatistics, writeTemplates } from '../export-files.js';
import { type Counts, nowOf, runTool, sentenceOf, type Tool } from '../run-tool.js';
import { type GathererOptions, gathererOf, publicationCounts } from './publish.js';

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
