import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { EXIT_HELP } from './exit-help.js';

const HELP = `
Reads and edits database files. DB is a database file; list, get, dump, count and import read every kind of source: an
original GDBM file (if Debian's gdbmtool is installed) or its dump, a SOIF stream, a Gatherer's data directory.

Examples:
  harvest gdbmutil list PRODUCTION.gdbm
  harvest gdbmutil get PRODUCTION.gdbm http://www.example.org/
  harvest gdbmutil put annotations.gdbm < object.soif
  harvest gdbmutil dump PRODUCTION.gdbm | gzip > backup.soif.gz
  harvest gdbmutil load restored.gdbm backup.soif.gz
  harvest gdbmutil import old-harvest/data/PRODUCTION.gdbm PRODUCTION.new
${EXIT_HELP}`;

/** `gdbmutil list | get | put | delete | dump | load | count | reorganize | import` (G-135). */
export function gdbmutilCommand(): Command {
  return new Command('gdbmutil')
    .description('Reads and edits databases.')
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(putCommand())
    .addCommand(deleteCommand())
    .addCommand(dumpCommand())
    .addCommand(loadCommand())
    .addCommand(countCommand())
    .addCommand(reorganizeCommand())
    .addCommand(importCommand())
    .addHelpText('after', HELP);
}

/** Creates a subcommand with the argument DB. */
function subcommand(name: string, description: string): Command {
  return new Command(name).description(description).argument('<db>', 'the database');
}

function listCommand(): Command {
  return subcommand('list', 'print the URLs')
    .option('--json', 'one JSON object per line, with times and size', false)
    .action(lazyAction(async () => (await import('./actions/gdbmutil.js')).list));
}

function getCommand(): Command {
  return subcommand('get', "print a URL's object")
    .argument('<url>', 'its URL')
    .action(lazyAction(async () => (await import('./actions/gdbmutil.js')).get));
}

function putCommand(): Command {
  return subcommand('put', 'store the single object on standard input')
    .argument('[url]', 'URL that the object must have')
    .option('--json', 'print the counts as JSON', false)
    .action(lazyAction(async () => (await import('./actions/gdbmutil.js')).put));
}

function deleteCommand(): Command {
  return subcommand('delete', 'delete the objects of these URLs')
    .argument('<urls...>', 'their URLs')
    .option('--json', 'print the counts as JSON', false)
    .action(lazyAction(async () => (await import('./actions/gdbmutil.js')).remove));
}

function dumpCommand(): Command {
  return subcommand('dump', 'print all objects as SOIF').action(
    lazyAction(async () => (await import('./actions/gdbmutil.js')).dump),
  );
}

function loadCommand(): Command {
  return subcommand('load', 'store the objects of a SOIF stream')
    .argument('[file]', 'SOIF stream; - or none is standard input')
    .option('--replace', 'first delete all objects of the database', false)
    .option('--json', 'print the counts as JSON', false)
    .action(lazyAction(async () => (await import('./actions/gdbmutil.js')).load));
}

function countCommand(): Command {
  return subcommand('count', 'print the number of objects').action(
    lazyAction(async () => (await import('./actions/gdbmutil.js')).count),
  );
}

function reorganizeCommand(): Command {
  return subcommand('reorganize', 'rewrite the file without the space of deleted objects')
    .option('--json', 'print the counts as JSON', false)
    .action(lazyAction(async () => (await import('./actions/gdbmutil.js')).reorganize));
}

function importCommand(): Command {
  return new Command('import')
    .description('store the objects of an original GDBM file, or of another source, in a database')
    .argument('<source>', 'the GDBM file')
    .argument('<db>', 'the database file; created if missing')
    .option('--json', 'print the counts as JSON', false)
    .action(lazyAction(async () => (await import('./actions/gdbmutil.js')).importDatabase));
}
