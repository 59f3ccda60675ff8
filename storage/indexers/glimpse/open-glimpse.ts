// Opens the Glimpse engine: looks for its programs, checks the index that it left, and writes lost files of
// objects again.
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { StorageError, UsageError } from '../../../protocols/errors.js';
import { type ObjectReader, openObjectReader } from '../../broker/object-reader.js';
import { OidSet } from '../../broker/oid-set.js';
import type { Indexer } from '../contract.js';
import { requireProgram } from '../external/program.js';
import { IndexDirectory } from '../index-directory.js';
import { GlimpseIndexer } from './glimpse-indexer.js';
import { GlimpseServer } from './glimpse-server.js';
import { ObjectFiles } from './object-files.js';
import { type GlimpseIndexerOptions, type State, stateSchema } from './options.js';
import { type Part, readPart } from './parts.js';

/** Objects that are read from the store at once. */
const OID_BATCH = 256;

/**
 * Opens the Glimpse engine: `glimpseindex` makes the index, `glimpse` names candidates, which are matched
 * against the stored objects.
 *
 * @throws StorageError if Glimpse is not installed or a directory cannot be used. UsageError if the index
 *   option is not valid.
 */
export async function openGlimpseIndexer(options: GlimpseIndexerOptions): Promise<Indexer> {
  const option = (options.indexOption ?? '-b').trim();
  if (option !== '' && !option.split(/\s+/).every((word) => /^-[A-Za-z]+$|^\d+$/.test(word)))
    throw new UsageError(`GlimpseIndex-Option: ${option} is not a list of options`);
  const objects = resolve(options.objectsDirectory);
  if (/[\n\r]/.test(objects)) throw new UsageError('glimpse cannot index a path with line ends');
  const programs = {
    glimpse: await requireProgram(options.programs?.glimpse ?? 'glimpse', 'glimpse'),
    glimpseindex: await requireProgram(options.programs?.glimpseindex ?? 'glimpseindex', 'glimpse'),
  };
  let server: GlimpseServer | undefined;
  if (options.server !== undefined) {
    server = new GlimpseServer({
      program: await requireProgram(options.programs?.glimpseserver ?? 'glimpseserver', 'glimpse'),
      glimpse: programs.glimpse,
      host: options.server.host ?? '127.0.0.1',
      port: options.server.port,
      patienceMs: options.server.patienceMs ?? 5000,
      onWarning: options.onWarning ?? (() => undefined),
    });
  }
  const directory = await IndexDirectory.open(resolve(options.directory));
  const scratch = join(directory.path, 'scratch');
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch);
  const files = new ObjectFiles(objects, scratch);
  const read = stateSchema.safeParse(await directory.state());
  let state: State | undefined;
  let parts: readonly Part[] = [];
  const { current } = directory;
  if (current !== undefined && read.success && read.data.objects === objects && read.data.option === option) {
    const found = await Promise.all(read.data.parts.map((name) => readPart(current, name)));
    const intact = found.filter((part) => part !== undefined);
    if (intact.length === found.length) {
      state = read.data;
      parts = intact;
    } else
      options.onWarning?.('an index that glimpseindex made is damaged, so all objects are indexed again');
  }
  if (state === undefined) await files.moveIntoPlace();
  const reader = await openObjectReader(options.storeDirectory);
  let live: OidSet;
  try {
    live = await liveObjects(parts, files, reader, options.onWarning);
  } catch (error) {
    await reader.close();
    throw error;
  }
  const indexer = new GlimpseIndexer({
    directory,
    files,
    reader,
    programs,
    server,
    option,
    options,
    state: state ?? { watermark: 0, objects, option, layout: 'REG-34', parts: [], next: 1 },
    isUsable: state !== undefined,
    parts,
    live,
  });
  if (current !== undefined && parts[0] !== undefined) await server?.start(join(current, parts[0].name));
  return indexer;
}

/**
 * Returns the objects of the parts that were not removed. A file that is lost although its object is stored is
 * written again, because glimpse reads it.
 */
async function liveObjects(
  parts: readonly Part[],
  files: ObjectFiles,
  reader: ObjectReader,
  onWarning: GlimpseIndexerOptions['onWarning'],
): Promise<OidSet> {
  const live = new OidSet();
  for (const { oids } of parts) live.unite(oids);
  const lost = live
    .clone()
    .subtract(await files.all())
    .toArray();
  for (let start = 0; start < lost.length; start += OID_BATCH) {
    const batch = [...lost.subarray(start, start + OID_BATCH)];
    let objects: readonly (Uint8Array | undefined)[];
    try {
      objects = await reader.objects(batch);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // A damaged object is no reason not to open: a query that reads it says so.
      onWarning?.(`files of objects are lost and cannot be written again: ${error.message}`);
      continue;
    }
    for (const [i, oid] of batch.entries()) {
      const object = objects[i];
      if (object === undefined) live.delete(oid);
      else await files.write(oid, object);
    }
  }
  return live;
}
