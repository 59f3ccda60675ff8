import { Command } from 'commander';
import { StorageError } from '../../../protocols/errors.js';
import {
  DatabaseFile,
  loadObjects,
  locateSource,
  openSource,
  readStream,
} from '../../../storage/databases/index.js';
import { EXIT_HELP, report, runTool, type Tool } from './run-tool.js';

const HELP = `
Reads SOIF from standard input, or from the files, and stores it in the database DB, which is made when there is none. An object
replaces the one with its URL; of several the last one wins. All of it is one step: after a failure DB is as it was.
Input may be compressed and may have the @DELETE, @REFRESH and @UPDATE groups that gather prints: deletions and refreshes
are then applied too. A file may also be another database, of this kit or an original GDBM one.

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
    .argument('[files...]', 'what to read (default: standard input; - is standard input)')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', HELP)
    .action(async (path: string, files: string[], options: { json: boolean }) => {
      await runTool('template2db', async (tool) => {
        // Before a database is made: a name that is wrong shall leave nothing behind.
        for (const file of files) if (file !== '-') await locateSource(file);
        using database = DatabaseFile.open(path, { create: true });
        const counts = await loadObjects(database, objectsOf(files, tool), tool);
        await report(tool, options.json, 'template2db', { ...counts, objects: database.count });
      });
    });
}

/** The objects of all files, one behind the other, so that they become one transaction. */
async function* objectsOf(files: readonly string[], tool: Tool): ReturnType<typeof openSource> {
  for (const file of files.length === 0 ? ['-'] : files) {
    if (file !== '-') yield* openSource(file, tool);
    else if (process.stdin.isTTY)
      throw new StorageError('standard input is a terminal; SOIF is wanted there');
    else yield* readStream(process.stdin, 'standard input', tool);
  }
}
