import { Command } from 'commander';
import type { JsonOption } from './actions/gdbmutil.js';
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
    .action(async (path: string, options: JsonOption) => {
      const { list } = await import('./actions/gdbmutil.js');
      await list(path, options);
    });
}

function getCommand(): Command {
  return subcommand('get', "print a URL's object")
    .argument('<url>', 'its URL')
    .action(async (path: string, url: string) => {
      const { get } = await import('./actions/gdbmutil.js');
      await get(path, url);
    });
}

function putCommand(): Command {
  return subcommand('put', 'store the single object on standard input')
    .argument('[url]', 'URL that the object must have')
    .option('--json', 'print the counts as JSON', false)
    .action(async (path: string, url: string | undefined, options: JsonOption) => {
      const { put } = await import('./actions/gdbmutil.js');
      await put(path, url, options);
    });
}

function deleteCommand(): Command {
  return subcommand('delete', 'delete the objects of these URLs')
    .argument('<urls...>', 'their URLs')
    .option('--json', 'print the counts as JSON', false)
    .action(async (path: string, urls: string[], options: JsonOption) => {
      const { remove } = await import('./actions/gdbmutil.js');
      await remove(path, urls, options);
    });
}

function dumpCommand(): Command {
  return subcommand('dump', 'print all objects as SOIF').action(async (path: string) => {
    const { dump } = await import('./actions/gdbmutil.js');
    await dump(path);
  });
}

function loadCommand(): Command {
  return subcommand('load', 'store the objects of a SOIF stream')
    .argument('[file]', 'SOIF stream; - or none is standard input')
    .option('--replace', 'first delete all objects of the database', false)
    .option('--json', 'print the counts as JSON', false)
    .action(async (path: string, file: string | undefined, options: JsonOption & { replace: boolean }) => {
      const { load } = await import('./actions/gdbmutil.js');
      await load(path, file, options);
    });
}

function countCommand(): Command {
  return subcommand('count', 'print the number of objects').action(async (path: string) => {
    const { count } = await import('./actions/gdbmutil.js');
    await count(path);
  });
}

function reorganizeCommand(): Command {
  return subcommand('reorganize', 'rewrite the file without the space of deleted objects')
    .option('--json', 'print the counts as JSON', false)
    .action(async (path: string, options: JsonOption) => {
      const { reorganize } = await import('./actions/gdbmutil.js');
      await reorganize(path, options);
    });
}

function importCommand(): Command {
  return new Command('import')
    .description('store the objects of an original GDBM file, or of another source, in a database')
    .argument('<source>', 'the GDBM file')
    .argument('<db>', 'the database file; created if missing')
    .option('--json', 'print the counts as JSON', false)
    .action(async (source: string, path: string, options: JsonOption) => {
      const { importDatabase } = await import('./actions/gdbmutil.js');
      await importDatabase(source, path, options);
    });
}
