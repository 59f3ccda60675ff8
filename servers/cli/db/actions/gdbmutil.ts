import { StorageError } from '../../../../protocols/errors.js';
import { bytesOfUrl, textOfUrl, timesOf, urlFields } from '../../../../protocols/soif/index.js';
import { changeDatabase } from '../../../../storage/databases/change.js';
import { DatabaseFile } from '../../../../storage/databases/database-file.js';
import { locateSource } from '../../../../storage/databases/file-kind.js';
import { loadObjects } from '../../../../storage/databases/load.js';
import { recordOf, storedUrl } from '../../../../storage/databases/record.js';
import {
  openLocated,
  openSource,
  readStream,
  type SourceObject,
} from '../../../../storage/databases/sources.js';
import { openTarget, prepareTarget, runTool, type Tool } from '../run-tool.js';

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
    return await changeDatabase(path, async (database) => ({
      ...(await loadObjects(database, objects, { ...run, replace })),
      objects: database.count,
    }));
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
    return await changeDatabase(path, async (database) => ({
      ...(await loadObjects(database, openSource(source, run), run)),
      objects: database.count,
    }));
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
