import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { integerOption } from '../options/option-values.js';
import { EXIT_HELP } from './exit-help.js';
import { withGathererOptions } from './publish.js';

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
    .action(lazyAction(async () => (await import('./actions/folddb.js')).folddb));
}
