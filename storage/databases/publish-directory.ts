import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { statIfExists } from '../files/exists.js';
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

/** The store of the objects of PRODUCTION.gdbm as last published. */
const PRODUCTION_DIRECTORY = 'production';

/** How to publish a data directory. */
export interface PublishDirectoryOptions extends ToolOptions {
  readonly now: UnixSeconds;
  readonly store?: GathererStoreOptions;
  /** The Gatherer of objects that name none (GATHERD-13.9), e.g. manual objects. */
  readonly gatherer?: GathererNames;
}

/** The result of {@link publishDirectory}. */
export interface PublishedDirectory {
  readonly generation: number;
  readonly objects: number;
  /** The path of the exported source. */
  readonly source: string;
  /** Absent if the Gatherer's working store was published as it is. */
  readonly changes?: SynchronizeCounts;
}

/**
 * Returns the exported source of a data directory: its PRODUCTION.gdbm of any kind, else the Gatherer's working
 * store, else its All-Templates.gz.
 * @throws StorageError if none of these exists
 */
export async function locateExported(directory: string): Promise<LocatedSource> {
  const production = join(directory, PRODUCTION_FILE);
  if ((await statIfExists(production)) !== undefined) return locateSource(production);
  const working = join(directory, WORKING_DIRECTORY);
  if ((await statIfExists(working)) !== undefined) return { path: working, kind: 'working' };
  const templates = join(directory, TEMPLATES_FILE);
  if ((await statIfExists(templates)) !== undefined) return locateSource(templates);
  throw new StorageError(
    `${directory} holds neither ${PRODUCTION_FILE} nor ${WORKING_DIRECTORY}/ nor ${TEMPLATES_FILE}: nothing to export`,
  );
}

/**
 * `mkindex` (GATHERD-10.5): publishes the exported source of a data directory as a new generation, which
 * gatherd then serves. Throws if a Gatherer is running in the directory, which publishes its own generations.
 *
 * @param prepared the database to publish instead of the exported source, e.g. a cleaned copy
 * @throws StorageError if there is nothing to export, a source cannot be read, or a Gatherer is running
 */
export async function publishDirectory(
  directory: string,
  options: PublishDirectoryOptions,
  prepared?: DatabaseFile,
): Promise<PublishedDirectory> {
  const exported = await locateExported(directory);
  const generations = join(directory, GENERATIONS_DIRECTORY);
  const publication = options.gatherer === undefined ? {} : { gatherer: options.gatherer };
  // The working store is locked even if it is not the source: two publishers would remove each other's
  // temporary files.
  await using working = await openWorking(directory, options.store);
  if (exported.kind === 'working' && working !== undefined) {
    const generation = await working.publish(generations, publication);
    return { generation, objects: working.summaries.count, source: exported.path };
  }
  await using lookup = prepared === undefined ? await lookupOf(exported, options) : undefined;
  const database = prepared ?? lookup?.database;
  if (database === undefined) throw new StorageError(`${exported.path} no longer exists`);
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
  return (await statIfExists(working)) !== undefined
    ? GathererStore.open(working, { ...options, create: false })
    : undefined;
}
