import { Command } from 'commander';
import { StorageError } from '../../../protocols/errors.js';
import { bytesOfUrl, textOfUrl, timesOf, urlFields } from '../../../protocols/soif/index.js';
import {
  changeDatabase,
  DatabaseFile,
  loadObjects,
  locateSource,
  openLocated,
  openSource,
  readStream,
  recordOf,
  type SourceObject,
  storedUrl,
} from '../../../storage/databases/index.js';
import { EXIT_HELP, openTarget, prepareTarget, report, runTool, type Tool } from './run-tool.js';

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

interface JsonOption {
  readonly json: boolean;
}

/** Creates a subcommand with the argument DB. */
function subcommand(name: string, description: string): Command {
  return new Command(name).description(description).argument('<db>', 'the database');
}

function listCommand(): Command {
  return subcommand('list', 'print the URLs')
    .option('--json', 'one JSON object per line, with times and size', false)
    .action((path: string, { json }: JsonOption) =>
      runTool('gdbmutil', async (run) => {
        for await (const { object, bytes } of openSource(path, run)) {
          const { url } = object;
          const { updateTime, timeToLive } = timesOf(object);
          const line = json
            ? Buffer.from(JSON.stringify({ ...urlFields(url), updateTime, timeToLive, bytes: bytes.length }))
            : bytesOfUrl(url);
          if (!(await run.output.write(Buffer.concat([line, Buffer.from('\n')])))) return;
        }
      }),
    );
}

function getCommand(): Command {
  return subcommand('get', "print a URL's object")
    .argument('<url>', 'its URL')
    .action((path: string, url: string) =>
      runTool('gdbmutil', async (run) => {
        const bytes = await find(path, url, run);
        if (bytes === undefined) throw new StorageError(`${path} has no object with the URL ${url}`);
        await run.output.write(bytes);
      }),
    );
}

/** Looks a URL up in a database file; reads any other source from its beginning. */
async function find(path: string, url: string, run: Tool): Promise<Uint8Array | undefined> {
  const located = await locateSource(path);
  if (located.kind === 'database') {
    using database = DatabaseFile.open(located.path, { readOnly: true });
    return database.get(storedUrl(url))?.soif;
  }
  for await (const { object, bytes } of openLocated(located, run)) {
    if (object.url === storedUrl(url)) return bytes;
  }
  return undefined;
}

function putCommand(): Command {
  return subcommand('put', 'store the single object on standard input')
    .argument('[url]', 'URL that the object must have')
    .option('--json', 'print the counts as JSON', false)
    .action((path: string, url: string | undefined, { json }: JsonOption) =>
      runTool('gdbmutil', async (run) => {
        const objects: SourceObject[] = [];
        for await (const item of readStream(process.stdin, 'standard input', run)) {
          if (objects.push(item) > 1)
            throw new StorageError('standard input has more than one object; use load');
        }
        const [item] = objects;
        if (item === undefined) throw new StorageError('standard input has no object');
        const record = recordOf(item.object, item.bytes);
        if (url !== undefined && record.url !== storedUrl(url)) {
          throw new StorageError(`the object on standard input is about ${textOfUrl(record.url)}`);
        }
        await prepareTarget(path, run);
        const counts = await changeDatabase(path, (database) => {
          const added = database.has(record.url) ? 0 : 1;
          database.put(record);
          return { added, replaced: 1 - added, objects: database.count };
        });
        await report(run, json, 'gdbmutil', counts);
      }),
    );
}

function deleteCommand(): Command {
  return subcommand('delete', 'delete the objects of these URLs')
    .argument('<urls...>', 'their URLs')
    .option('--json', 'print the counts as JSON', false)
    .action((path: string, urls: string[], { json }: JsonOption) =>
      runTool('gdbmutil', async (run) => {
        using database = await openTarget(path, run);
        const deleted = await database.transaction(
          () => urls.filter((url) => database.delete(storedUrl(url))).length,
        );
        if (deleted < urls.length) run.onWarning?.(`${urls.length - deleted} of the URLs were not found`);
        await report(run, json, 'gdbmutil', { deleted, objects: database.count });
      }),
    );
}

function dumpCommand(): Command {
  return subcommand('dump', 'print all objects as SOIF').action((path: string) =>
    runTool('gdbmutil', async (run) => {
      for await (const { bytes } of openSource(path, run)) {
        if (!(await run.output.write(bytes))) return;
      }
    }),
  );
}

function loadCommand(): Command {
  return subcommand('load', 'store the objects of a SOIF stream')
    .argument('[file]', 'SOIF stream; - or none is standard input')
    .option('--replace', 'first delete all objects of the database', false)
    .option('--json', 'print the counts as JSON', false)
    .action((path: string, file: string | undefined, { json, replace }: JsonOption & { replace: boolean }) =>
      runTool('gdbmutil', async (run) => {
        const objects =
          file === undefined || file === '-'
            ? readStream(process.stdin, 'standard input', run)
            : openSource(file, run);
        await prepareTarget(path, run);
        const counts = await changeDatabase(path, async (database) => ({
          ...(await loadObjects(database, objects, { ...run, replace })),
          objects: database.count,
        }));
        await report(run, json, 'gdbmutil', counts);
      }),
    );
}

function countCommand(): Command {
  return subcommand('count', 'print the number of objects').action((path: string) =>
    runTool('gdbmutil', async (run) => {
      await run.output.write(`${await countObjects(path, run)}\n`);
    }),
  );
}

async function countObjects(path: string, run: Tool): Promise<number> {
  const located = await locateSource(path);
  if (located.kind === 'database') {
    using database = DatabaseFile.open(located.path, { readOnly: true });
    return database.count;
  }
  let count = 0;
  for await (const _ of openLocated(located, run)) count++;
  return count;
}

function reorganizeCommand(): Command {
  return subcommand('reorganize', 'rewrite the file without the space of deleted objects')
    .option('--json', 'print the counts as JSON', false)
    .action((path: string, { json }: JsonOption) =>
      runTool('gdbmutil', async (run) => {
        using database = await openTarget(path, run);
        database.reorganize();
        await report(run, json, 'gdbmutil', { objects: database.count });
      }),
    );
}

function importCommand(): Command {
  return new Command('import')
    .description('store the objects of an original GDBM file, or of another source, in a database')
    .argument('<source>', 'the GDBM file')
    .argument('<db>', 'the database file; created if missing')
    .option('--json', 'print the counts as JSON', false)
    .action((source: string, path: string, { json }: JsonOption) =>
      runTool('gdbmutil', async (run) => {
        await locateSource(source);
        await prepareTarget(path, run);
        const counts = await changeDatabase(path, async (database) => ({
          ...(await loadObjects(database, openSource(source, run), run)),
          objects: database.count,
        }));
        await report(run, json, 'gdbmutil', counts);
      }),
    );
}
