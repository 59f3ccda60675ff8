import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { EXIT_HELP } from './exit-help.js';

const HELP = `
Reads SOIF from standard input or files and stores the objects in the database DB, which is created if missing. An object
replaces the stored one with the same URL; the last of several wins. All changes are one transaction: after a failure DB is
unchanged, or absent if it was. Input may be gzip and may have the @DELETE, @REFRESH and @UPDATE groups of gather: deletions and refreshes are then
applied too. A file may also be another database, of this kit or original GDBM.

Examples:
  harvest mktemplate annotations | harvest template2db annotations.gdbm
  harvest gather somehost 8500 | harvest template2db copy.gdbm
  harvest template2db everything.gdbm one.soif All-Templates.gz
${EXIT_HELP}`;

/** `template2db DB < SOIF` (G-138). */
export function template2dbCommand(): Command {
  return new Command('template2db')
    .description('Stores SOIF objects in a database file.')
    .argument('<db>', 'the database file')
    .argument('[files...]', 'sources; - or none is standard input')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/load.js')).template2db));
}
