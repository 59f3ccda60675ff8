import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { integerOption } from '../options/option-values.js';
import { EXIT_HELP } from './exit-help.js';

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

/** Adds the options of {@link GathererOptions}. */
export function withGathererOptions(command: Command): Command {
  return command
    .option('--gatherer-name <name>', 'Gatherer-Name of objects that have none')
    .option('--gatherer-host <host>', 'Gatherer-Host of objects that have none')
    .option('--gatherer-version <version>', 'Gatherer-Version of objects that have none');
}

/** `mkindex [DIR]` (GATHERD-10.5, G-140). */
export function mkindexCommand(): Command {
  return withGathererOptions(new Command('mkindex'))
    .description('Publishes the database of a data directory, with its time index.')
    .argument('[dir]', "the Gatherer's data directory", '.')
    .option('--now <seconds>', 'time of deletions, seconds since 1970-01-01 UTC', integerOption)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', INDEX_HELP)
    .action(lazyAction(async () => (await import('./actions/publish.js')).mkindex));
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
    .action(lazyAction(async () => (await import('./actions/publish.js')).mkcompressed));
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
    .action(lazyAction(async () => (await import('./actions/publish.js')).mkgathererstats));
}
