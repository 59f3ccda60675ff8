import { StorageError } from '../../../../protocols/errors.js';
import { bytesOfUrl, textOfUrl, timesOf, urlFields } from '../../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../../protocols/time.js';
import { changeDatabase, createProduction } from '../../../../storage/databases/change.js';
import { DatabaseFile } from '../../../../storage/databases/database-file.js';
import { locateSource } from '../../../../storage/databases/file-kind.js';
import { loadObjects } from '../../../../storage/databases/load.js';
import { cleanDatabase, removeBinary } from '../../../../storage/databases/maintain.js';
import { consolidate, mergeDatabases } from '../../../../storage/databases/merge.js';
import { recordOf, storedUrl } from '../../../../storage/databases/record.js';
import {
  openLocated,
  openSource,
  readStream,
  type SourceObject,
} from '../../../../storage/databases/sources.js';
import { type Counts, runTool, type Tool } from '../../output/run-tool.js';

/** The action of `harvest template2db`. */
export async function template2db(
  path: string,
  files: string[],
  options: { json: boolean },
): Promise<number> {
  return await runTool('template2db', options, async (tool) => {
    // Sources are checked before the database is created, so that a wrong name leaves no file.
    for (const file of files) if (file !== '-') await locateSource(file);
    return await loadInto(path, objectsOf(files, tool), tool);
  });
}

/** Stores objects in a database as one transaction; returns the counts. */
function loadInto(
  path: string,
  objects: AsyncIterable<SourceObject>,
  options: Parameters<typeof loadObjects>[2],
): Promise<Counts> {
  return changeDatabase(path, async (database) => ({
    ...(await loadObjects(database, objects, options)),
    objects: database.count,
  }));
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

/** The action of `harvest mergedb`. */
export async function mergedb(
  production: string,
  automatic: string,
  manual: string[],
  { force, json }: { force: boolean; json: boolean },
): Promise<number> {
  return await runTool('mergedb', { json }, async (tool) => {
    return { ...(await mergeDatabases(production, automatic, manual, { ...tool, force })) };
  });
}

/** The action of `harvest consoldb`. */
export async function consoldb(
  target: string,
  sources: string[],
  options: { json: boolean },
): Promise<number> {
  return await runTool('consoldb', options, async (tool) => {
    // Sources are checked before the database is created, so that a wrong name leaves no file.
    for (const source of sources) await locateSource(source);
    await prepareTarget(target, tool);
    return await changeDatabase(target, async (database) => ({
      ...(await consolidate(database, sources, tool)),
      objects: database.count,
    }));
  });
}

/** The action of `harvest expiredb`. */
export async function expiredb(path: string, options: { now?: number; json: boolean }): Promise<number> {
  return await runTool('expiredb', options, async (tool) => {
    using database = await openTarget(path, tool);
    const deleted = database.deleteExpired(nowOf(options));
    return { deleted, objects: database.count };
  });
}

/** The action of `harvest cleandb`. */
export async function cleandb(
  path: string,
  options: { truncate: boolean; complete: boolean; json: boolean },
): Promise<number> {
  return await runTool('cleandb', options, async (tool) => {
    using database = await openTarget(path, tool);
    const { truncate, complete } = options;
    const counts = await cleanDatabase(database, {
      ...tool,
      truncate,
      complete,
      onDeleted: (url, reason) => tool.onWarning?.(`${url}: deleted: ${reason}`),
    });
    return { ...counts, objects: database.count };
  });
}

/** The action of `harvest rmbinary`. */
export async function rmbinary(path: string, options: { json: boolean }): Promise<number> {
  return await runTool('rmbinary', options, async (tool) => {
    using database = await openTarget(path, tool);
    return { ...(await removeBinary(database, tool)) };
  });
}

interface JsonOption {
  readonly json: boolean;
}

/** The action of `harvest gdbmutil list`. */
export async function list(path: string, { json }: JsonOption): Promise<number> {
  return await runTool('gdbmutil', { json }, async (run) => {
    for await (const { object, bytes } of openSource(path, run)) {
      const { url } = object;
      const { updateTime, timeToLive } = timesOf(object);
      const line = json
        ? Buffer.from(JSON.stringify({ ...urlFields(url), updateTime, timeToLive, bytes: bytes.length }))
        : bytesOfUrl(url);
      if (!(await run.output.write(Buffer.concat([line, Buffer.from('\n')])))) return;
    }
  });
}

/** The action of `harvest gdbmutil get`. */
export async function get(path: string, url: string): Promise<number> {
  return await runTool('gdbmutil', {}, async (run) => {
    const bytes = await find(path, url, run);
    if (bytes === undefined) throw new StorageError(`${path} has no object with the URL ${url}`);
    await run.output.write(bytes);
  });
}

/** The action of `harvest gdbmutil put`. */
export async function put(path: string, url: string | undefined, { json }: JsonOption): Promise<number> {
  return await runTool('gdbmutil', { json }, async (run) => {
    const objects: SourceObject[] = [];
    for await (const item of readStream(process.stdin, 'standard input', run)) {
      if (objects.push(item) > 1) throw new StorageError('standard input has more than one object; use load');
    }
    const [item] = objects;
    if (item === undefined) throw new StorageError('standard input has no object');
    const record = recordOf(item.object, item.bytes);
    if (url !== undefined && record.url !== storedUrl(url)) {
      throw new StorageError(`the object on standard input is about ${textOfUrl(record.url)}`);
    }
    await prepareTarget(path, run);
    return await changeDatabase(path, (database) => {
      const added = database.has(record.url) ? 0 : 1;
      database.put(record);
      return { added, replaced: 1 - added, objects: database.count };
    });
  });
}

/** The action of `harvest gdbmutil delete`. */
export async function remove(path: string, urls: string[], { json }: JsonOption): Promise<number> {
  return await runTool('gdbmutil', { json }, async (run) => {
    using database = await openTarget(path, run);
    const deleted = await database.transaction(
      () => urls.filter((url) => database.delete(storedUrl(url))).length,
    );
    if (deleted < urls.length) run.onWarning?.(`${urls.length - deleted} of the URLs were not found`);
    return { deleted, objects: database.count };
  });
}

/** The action of `harvest gdbmutil dump`. */
export async function dump(path: string): Promise<number> {
  return await runTool('gdbmutil', {}, async (run) => {
    for await (const { bytes } of openSource(path, run)) {
      if (!(await run.output.write(bytes))) return;
    }
  });
}

/** The action of `harvest gdbmutil load`. */
export async function load(
  path: string,
  file: string | undefined,
  { json, replace }: JsonOption & { replace: boolean },
): Promise<number> {
  return await runTool('gdbmutil', { json }, async (run) => {
    const objects =
      file === undefined || file === '-'
        ? readStream(process.stdin, 'standard input', run)
        : openSource(file, run);
    await prepareTarget(path, run);
    return await loadInto(path, objects, { ...run, replace });
  });
}

/** The action of `harvest gdbmutil count`. */
export async function count(path: string): Promise<number> {
  return await runTool('gdbmutil', {}, async (run) => {
    await run.output.write(`${await countObjects(path, run)}\n`);
  });
}

/** The action of `harvest gdbmutil reorganize`. */
export async function reorganize(path: string, { json }: JsonOption): Promise<number> {
  return await runTool('gdbmutil', { json }, async (run) => {
    using database = await openTarget(path, run);
    database.reorganize();
    return { objects: database.count };
  });
}

/** The action of `harvest gdbmutil import`. */
export async function importDatabase(source: string, path: string, { json }: JsonOption): Promise<number> {
  return await runTool('gdbmutil', { json }, async (run) => {
    await locateSource(source);
    await prepareTarget(path, run);
    return await loadInto(path, openSource(source, run), run);
  });
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

/** Opens the database file that a tool changes, see {@link prepareTarget}. */
export async function openTarget(path: string, tool: Tool): Promise<DatabaseFile> {
  await prepareTarget(path, tool);
  return DatabaseFile.open(path);
}

/** Makes `PRODUCTION.gdbm` of a Gatherer's data directory if it is not there, and says so. */
export async function prepareTarget(path: string, tool: Tool): Promise<void> {
  const objects = await createProduction(path, { signal: tool.signal });
  if (objects === undefined) return;
  tool.onWarning?.(`${path} is made from the ${objects} published objects; "harvest mkindex" publishes it`);
}

/** Returns the time of `--now`; by default the current time. */
export function nowOf(options: { readonly now?: number | undefined }): UnixSeconds {
  return options.now ?? Math.floor(Date.now() / 1000);
}
