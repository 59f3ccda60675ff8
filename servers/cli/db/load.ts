import { Command } from 'commander';
import { StorageError } from '../../../protocols/errors.js';
import {
  changeDatabase,
  loadObjects,
  locateSource,
  openSource,
  readStream,
} from '../../../storage/databases/index.js';
import { EXIT_HELP, report, runTool, type Tool } from './run-tool.js';

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
    .action(async (path: string, files: string[], options: { json: boolean }) => {
      await runTool('template2db', async (tool) => {
        // Sources are checked before the database is created, so that a wrong name leaves no file.
        for (const file of files) if (file !== '-') await locateSource(file);
        const counts = await changeDatabase(path, async (database) => ({
          ...(await loadObjects(database, objectsOf(files, tool), tool)),
          objects: database.count,
        }));
        await report(tool, options.json, 'template2db', counts);
      });
    });
}

/** Yields the objects of all files in sequence, so that they become one transaction. */
async function* objectsOf(files: readonly string[], tool: Tool): ReturnType<typeof openSource> {
  for (const file of files.length === 0 ? ['-'] : files) {
    if (file !== '-') yield* openSource(file, tool);
    else if (process.stdin.isTTY)
      throw new StorageError('standard input is a terminal; give a file, or pipe SOIF into the command');
    else yield* readStream(process.stdin, 'standard input', tool);
  }
}
