import { join } from 'node:path';
import { Command } from 'commander';
import { StorageError } from '../../../protocols/errors.js';
import {
  cleanDatabase,
  consolidate,
  DatabaseFile,
  type LocatedSource,
  locateExported,
  locateSource,
  publishDirectory,
  removeBinary,
  TEMPLATES_FILE,
  temporaryCopy,
  WORKING_FILE,
} from '../../../storage/databases/index.js';
import { integerOption } from '../option-values.js';
import { encodeStatistics, openGeneration, writeStatistics, writeTemplates } from './export-files.js';
import { type GathererOptions, gathererOf, publicationCounts, withGathererOptions } from './publish.js';
import { type Counts, EXIT_HELP, nowOf, runTool, sentenceOf, type Tool } from './run-tool.js';

const HELP = `
Runs all steps that prepare a data directory (DIR; default: the current one) for export, in this order:

  consoldb          merges WORKING.gdbm, if it exists, into PRODUCTION.gdbm: the newer object of a URL stays
  expiredb          deletes expired objects (not with --keep-expired)
  cleandb           deletes records that are not valid SOIF
  rmbinary          removes binary data
  mkindex           publishes a generation, which gatherd serves immediately
  mkcompressed      writes All-Templates.gz
  mkgathererstats   writes INFO.soif

An original GDBM file, or an All-Templates.gz without a database, is only read: the steps work on a copy. The Gatherer's working
store is published unchanged, because the Gatherer has done the first four steps.

Examples:
  harvest folddb data
  harvest folddb --keep-expired old-harvest/gatherers/reports/data      data of an original Gatherer, expired long ago
${EXIT_HELP}`;

interface FoldOptions extends GathererOptions {
  readonly now?: number;
  readonly keepExpired: boolean;
  readonly truncate: boolean;
  readonly json: boolean;
}

/** Reports the counts of one step. */
type Step = (name: string, counts: Counts) => Promise<void>;

/** `folddb [DIR]` (G-115, GATHERD-10.3). */
export function folddbCommand(): Command {
  return withGathererOptions(new Command('folddb'))
    .description('Prepares a data directory for export: runs all steps in order.')
    .argument('[dir]', "the Gatherer's data directory", '.')
    .option('--keep-expired', 'skip expiredb', false)
    .option('--truncate', 'shorten Keywords to 8 kilobytes (cleandb -truncate)', false)
    .option('--now <seconds>', 'time to compare with, seconds since 1970-01-01 UTC', integerOption)
    .option('--json', 'print the counts of all steps as one JSON object', false)
    .addHelpText('after', HELP)
    .action(async (directory: string, options: FoldOptions) => {
      await runTool('folddb', async (tool) => {
        const steps: Record<string, Counts> = {};
        await fold(directory, options, tool, async (name, counts) => {
          steps[name] = counts;
          if (!options.json) await tool.output.write(`${name}: ${sentenceOf(counts)}\n`);
        });
        if (options.json) await tool.output.write(`${JSON.stringify(steps)}\n`);
      });
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
