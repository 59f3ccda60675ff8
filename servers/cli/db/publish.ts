import { Command } from 'commander';
import { UsageError } from '../../../protocols/errors.js';
import { type PublishedDirectory, publishDirectory } from '../../../storage/databases/index.js';
import type { GathererNames } from '../../../storage/index.js';
import { integerOption } from '../option-values.js';
import { encodeStatistics, openGeneration, writeStatistics, writeTemplates } from './export-files.js';
import { type Counts, EXIT_HELP, nowOf, report, runTool } from './run-tool.js';

const INDEX_HELP = `
DIR is a Gatherer's data directory (default: the current one). Its PRODUCTION.gdbm (of any kind), else the Gatherer's working
store, else All-Templates.gz becomes a new generation with time index, compressed copy and statistics. A gatherd that serves
DIR switches to it immediately. Objects that are missing since the last generation are recorded as deleted, and unchanged
ones with newer times as refreshed, for collectors that request changes.

Brokers reject objects without a Gatherer's name, such as objects that were only written by hand: --gatherer-name, -host and
-version are added where they are missing.

Examples:
  harvest mkindex
  harvest mkindex --gatherer-name 'Our reports' --gatherer-host reports.example.org --gatherer-version 1.8 data
${EXIT_HELP}`;

/** Names for objects without a Gatherer's name, on the command line. */
export interface GathererOptions {
  readonly gathererName?: string;
  readonly gathererHost?: string;
  readonly gathererVersion?: string;
}

/** Adds the options of {@link GathererOptions}. */
export function withGathererOptions(command: Command): Command {
  return command
    .option('--gatherer-name <name>', 'Gatherer-Name of objects that have none')
    .option('--gatherer-host <host>', 'Gatherer-Host of objects that have none')
    .option('--gatherer-version <version>', 'Gatherer-Version of objects that have none');
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

interface IndexOptions extends GathererOptions {
  readonly now?: number;
  readonly json: boolean;
}

/** `mkindex [DIR]` (GATHERD-10.5, G-140). */
export function mkindexCommand(): Command {
  return withGathererOptions(new Command('mkindex'))
    .description('Publishes the database of a data directory, with its time index.')
    .argument('[dir]', "the Gatherer's data directory", '.')
    .option('--now <seconds>', 'time of deletions, seconds since 1970-01-01 UTC', integerOption)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', INDEX_HELP)
    .action(async (directory: string, options: IndexOptions) => {
      await runTool('mkindex', async (tool) => {
        const published = await publishDirectory(directory, {
          ...tool,
          ...gathererOf(options),
          now: nowOf(options),
        });
        await report(tool, options.json, 'mkindex', publicationCounts(published));
      });
    });
}

const COMPRESSED_HELP = `
Writes All-Templates.gz into the data directory DIR (default: the current one): all published objects in one gzip member, in
@DELETE, @REFRESH and @UPDATE groups as gatherd sends them. gatherd does not need the file.

Example:
  harvest mkcompressed data && gzip -dc data/All-Templates.gz | grep -a -c '^@FILE'
${EXIT_HELP}`;

/** `mkcompressed [DIR]` (GATHERD-10.1, 10.2). */
export function mkcompressedCommand(): Command {
  return new Command('mkcompressed')
    .description('Writes all published objects into All-Templates.gz.')
    .argument('[dir]', "the Gatherer's data directory", '.')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', COMPRESSED_HELP)
    .action(async (directory: string, options: { json: boolean }) => {
      await runTool('mkcompressed', async (tool) => {
        await using snapshot = await openGeneration(directory);
        const counts = await writeTemplates(directory, snapshot);
        await report(tool, options.json, 'mkcompressed', { ...counts });
      });
    });
}

const STATISTICS_HELP = `
Prints a description of the published objects of the data directory DIR (default: the current one) as one SOIF object: their
attributes, the Gatherer's name, the range of the Update-Times, the number of objects. gather -info requests the same.

Examples:
  harvest mkgathererstats data
  harvest mkgathererstats --write data      into data/INFO.soif
${EXIT_HELP}`;

/** `mkgathererstats [DIR]` (GATHERD-10.1, G-121). */
export function mkgathererstatsCommand(): Command {
  return new Command('mkgathererstats')
    .description('Describes the published database.')
    .argument('[dir]', "the Gatherer's data directory", '.')
    .option('--write', 'write INFO.soif into DIR instead of printing', false)
    .option('--json', 'with --write: print the counts as JSON', false)
    .option('--now <seconds>', "the description's Update-Time, seconds since 1970-01-01 UTC", integerOption)
    .addHelpText('after', STATISTICS_HELP)
    .action(async (directory: string, options: { write: boolean; json: boolean; now?: number }) => {
      if (options.json && !options.write) throw new UsageError('mkgathererstats: --json requires --write');
      await runTool('mkgathererstats', async (tool) => {
        await using snapshot = await openGeneration(directory);
        const info = await encodeStatistics(snapshot, nowOf(options));
        if (!options.write) await tool.output.write(info);
        else {
          await writeStatistics(directory, info);
          await report(tool, options.json, 'mkgathererstats', { objects: snapshot.count });
        }
      });
    });
}
