import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { EXIT_HELP } from './exit-help.js';

const MERGE_HELP = `
Creates the database PRODUCTION from AUTOMATIC, the Gatherer's objects, and the attributes of the hand-written MANUAL databases. For
an attribute that both have, the manual value wins; of several manual databases, the first. Sources may be database files,
original GDBM files, SOIF streams, or a Gatherer's data directory. If the file PRODUCTION.gdbm does not exist, its name stands
for the published generation of its directory, and WORKING.gdbm for the working store.

Example, in a Gatherer's data directory:
  harvest mktemplate annotations | harvest template2db annotations.gdbm
  harvest mergedb PRODUCTION.new PRODUCTION.gdbm annotations.gdbm
  mv PRODUCTION.new PRODUCTION.gdbm
  harvest mkindex

Run these lines again after each run of the Gatherer, which publishes its own objects.
${EXIT_HELP}`;

/** `mergedb production automatic manual [manual ...]` (G-139 to G-142). */
export function mergedbCommand(): Command {
  return new Command('mergedb')
    .description('Merges hand-written data into automatic data.')
    .argument('<production>', 'the database to create')
    .argument('<automatic>', "the Gatherer's objects")
    .argument('<manual...>', 'databases of hand-written attributes')
    .option('--force', 'replace an existing PRODUCTION', false)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', MERGE_HELP)
    .action(lazyAction(async () => (await import('./actions/merge.js')).mergedb));
}

const CONSOLIDATE_HELP = `
Merges the databases into the first one, which is created if missing. Of objects with the same URL, the one with the later
Update-Time stays; if the times are equal, the one merged first. Sources may be of every kind that mergedb reads.

Example:
  harvest consoldb all.gdbm site1.gdbm site2.gdbm old-gatherer/PRODUCTION.gdbm
${EXIT_HELP}`;

/** `consoldb DB DB...` (G-136). */
export function consoldbCommand(): Command {
  return new Command('consoldb')
    .description('Merges several databases into one.')
    .argument('<db>', 'the database to merge into')
    .argument('<sources...>', 'the databases to merge')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', CONSOLIDATE_HELP)
    .action(lazyAction(async () => (await import('./actions/merge.js')).consoldb));
}
