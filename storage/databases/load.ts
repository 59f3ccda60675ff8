// `template2db`, and any source as a database with lookup by URL.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CloseStack } from '../../protocols/close-stack.js';
import { decodeSoif, mergeSoif } from '../../protocols/soif/index.js';
import { DatabaseFile } from './database-file.js';
import { type LocatedSource, locateSource } from './file-kind.js';
import { recordOf } from './record.js';
import { openLocated, type SourceObject, type SourceOptions } from './sources.js';

/** How to read a source with progress. */
export interface ToolOptions extends SourceOptions {
  /** Called after each processed object. */
  readonly onObject?: (() => void) | undefined;
}

/** The result of {@link loadObjects}. */
export interface LoadCounts {
  readonly read: number;
  readonly added: number;
  readonly replaced: number;
  /** Deleted by the stream (SOIF-8.4) or by the option `replace`. */
  readonly deleted: number;
}

/** The number of objects between two yields to the event loop. */
const YIELD_OBJECTS = 256;

/**
 * Returns a function to call after each object of synchronous work: at every 256th call it yields to the event
 * loop, so that timers and signals are handled, and throws if the signal is aborted.
 */
export function yieldRegularly(signal?: AbortSignal): () => Promise<void> {
  let count = 0;
  return async () => {
    if (++count % YIELD_OBJECTS !== 0) return;
    await setImmediate();
    signal?.throwIfAborted();
  };
}

/**
 * Stores objects in a database in one transaction (G-138). The last object of a URL wins. In a wrapped stream a
 * refresh renews the times of a stored object and a deletion deletes it (SOIF-8.4), so the output of `gather`
 * can be loaded on top of an earlier copy.
 *
 * @param options `replace` deletes all existing records first
 */
export function loadObjects(
  database: DatabaseFile,
  objects: AsyncIterable<SourceObject>,
  options: ToolOptions & { readonly replace?: boolean } = {},
): Promise<LoadCounts> {
  const maybeYield = yieldRegularly(options.signal);
  return database.transaction(async () => {
    const counts = { read: 0, added: 0, replaced: 0, deleted: 0 };
    if (options.replace === true) counts.deleted = database.clear();
    for await (const item of objects) {
      counts.read++;
      const outcome = applyObject(database, item);
      if (outcome !== undefined) counts[outcome]++;
      options.onObject?.();
      await maybeYield();
    }
    return counts;
  });
}

/**
 * Applies one object of a source. @returns the effect; undefined if there was no object to refresh or delete
 */
export function applyObject(
  database: DatabaseFile,
  { section, object, bytes }: SourceObject,
): 'added' | 'replaced' | 'deleted' | undefined {
  if (section === 'delete') return database.delete(recordOf(object, bytes).url) ? 'deleted' : undefined;
  const record = recordOf(object, bytes);
  if (section === 'refresh') {
    const known = database.get(record.url);
    if (known === undefined) return undefined;
    database.put(recordOf(mergeSoif(decodeSoif(known.soif), object)));
    return 'replaced';
  }
  const replaced = database.has(record.url);
  database.put(record);
  return replaced ? 'replaced' : 'added';
}

/** A source as a database with lookup by URL and iteration in URL order. */
export interface LookupDatabase extends AsyncDisposable {
  readonly database: DatabaseFile;
}

/**
 * Opens a database file for reading. Copies any other source to a temporary database, which the disposal
 * deletes.
 */
export async function openLookup(path: string, options: ToolOptions = {}): Promise<LookupDatabase> {
  return lookupOf(await locateSource(path), options);
}

/** Same as {@link openLookup} for a result of `locateSource`. */
export async function lookupOf(located: LocatedSource, options: ToolOptions = {}): Promise<LookupDatabase> {
  if (located.kind === 'database') {
    const database = DatabaseFile.open(located.path, { readOnly: true });
    return { database, [Symbol.asyncDispose]: async () => database.close() };
  }
  return temporaryCopy(located, options);
}

/** Copies a source to a temporary, writable database, which the disposal deletes. */
export async function temporaryCopy(
  located: LocatedSource,
  options: ToolOptions = {},
): Promise<LookupDatabase> {
  await using resources = new CloseStack();
  const directory = await mkdtemp(join(tmpdir(), 'harvest-database-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const database = resources.use(DatabaseFile.open(join(directory, 'copy'), { create: true }));
  await loadObjects(database, openLocated(located, options), options);
  const owned = resources.move();
  return { database, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}
