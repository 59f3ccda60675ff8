import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, StorageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { GathererStore, type GathererStoreOptions } from '../gatherer/store.js';
import type { GathererNames } from '../generations/export/survey.js';
import type { DatabaseFile } from './database-file.js';
import {
  GENERATIONS_DIRECTORY,
  type LocatedSource,
  locateSource,
  PRODUCTION_FILE,
  TEMPLATES_FILE,
  WORKING_DIRECTORY,
} from './file-kind.js';
import { lookupOf, type ToolOptions } from './load.js';
import { type SynchronizeCounts, synchronize } from './synchronize.js';

/** The store behind a PRODUCTION.gdbm: what was published of it last, by time. */
const PRODUCTION_DIRECTORY = 'production';

/** How to publish. */
export interface PublishDirectoryOptions extends ToolOptions {
  readonly now: UnixSeconds;
  readonly store?: GathererStoreOptions;
  /** Who gathered the objects that do not say (GATHERD-13.9), e.g. those that were only written by hand. */
  readonly gatherer?: GathererNames;
}

/** What {@link publishDirectory} did. */
export interface PublishedDirectory {
  readonly generation: number;
  readonly objects: number;
  /** What was exported, as a path. */
  readonly source: string;
  /** Absent when the Gatherer's working store was published as it is. */
  readonly changes?: SynchronizeCounts;
}

/**
 * Finds what a data directory exports: its PRODUCTION.gdbm, of whatever kind; without one the Gatherer's working store; without
 * that an All-Templates.gz.
 * @throws StorageError if none of these exists.
 */
export async function locateExported(directory: string): Promise<LocatedSource> {
  const production = join(directory, PRODUCTION_FILE);
  if (await exists(production)) return locateSource(production);
  const working = join(directory, WORKING_DIRECTORY);
  if (await exists(working)) return { path: working, kind: 'working' };
  const templates = join(directory, TEMPLATES_FILE);
  if (await exists(templates)) return locateSource(templates);
  throw new StorageError(
    `${directory} holds neither ${PRODUCTION_FILE} nor ${WORKING_DIRECTORY}/ nor ${TEMPLATES_FILE}: nothing to export`,
  );
}

/**
 * `mkindex` (GATHERD-10.5): makes what a data directory exports a new generation, which gatherd serves as soon as it is there.
 * Does nothing if a Gatherer works in the directory, which publishes by itself.
 *
 * @param prepared the database to publish in place of what the directory holds, e.g. a cleaned copy.
 * @throws StorageError nothing to export, a source that cannot be read, a Gatherer at work.
 */
export async function publishDirectory(
  directory: string,
  options: PublishDirectoryOptions,
  prepared?: DatabaseFile,
): Promise<PublishedDirectory> {
  const exported = await locateExported(directory);
  const generations = join(directory, GENERATIONS_DIRECTORY);
  const publication = options.gatherer === undefined ? {} : { gatherer: options.gatherer };
  // Held while publishing, also when it is not what is published: two publishers would remove each other's halves.
  await using working = await openWorking(directory, options.store);
  if (exported.kind === 'working' && working !== undefined) {
    const generation = await working.publish(generations, publication);
    return { generation, objects: working.summaries.count, source: exported.path };
  }
  await using lookup = prepared === undefined ? await lookupOf(exported, options) : undefined;
  const database = prepared ?? lookup?.database;
  if (database === undefined) throw new StorageError(`${exported.path} vanished`);
  await using store = await GathererStore.open(join(directory, PRODUCTION_DIRECTORY), options.store);
  const changes = await synchronize(database, store, options);
  await store.purgeTombstones(options.now);
  const generation = await store.publish(generations, publication);
  return { generation, objects: changes.objects, source: exported.path, changes };
}

async function openWorking(
  directory: string,
  options: GathererStoreOptions | undefined,
): Promise<GathererStore | undefined> {
  const working = join(directory, WORKING_DIRECTORY);
  return (await exists(working)) ? GathererStore.open(working, { ...options, create: false }) : undefined;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false;
    throw new StorageError(`${path} cannot be read: ${errorCode(error) ?? String(error)}`, { cause: error });
  }
}
