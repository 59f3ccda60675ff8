import { dirname, join, resolve } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { objectName } from '../../protocols/registry/index.js';
import { statIfExists } from '../files/exists.js';

/*
 * An original Broker's directory (REG-1, REG-34, REG-50):
 *
 *     admin/Registry  admin/Gatherer-Ids  admin/LAST-COLLECTION  admin/broker.conf  admin/Collection.conf
 *     objects/17/OBJ1217
 */

/**
 * Files of `admin/` that are copied unchanged between the two kinds of directory, unless the target has them.
 */
export const COPIED_FILES = ['broker.conf', 'Collection.conf', 'LAST-COLLECTION'] as const;

/** The path of the Registry (REG-1). */
export function registryPath(directory: string): string {
  return join(directory, 'admin', 'Registry');
}

/** The path of the list of Gatherer ids (REG-50). */
export function gathererIdsPath(directory: string): string {
  return join(directory, 'admin', 'Gatherer-Ids');
}

/** The directory of all object files (REG-34). */
export const OBJECTS_DIRECTORY = 'objects';

/** The path at which this kit writes an object's file (REG-34). */
export function objectFilePath(directory: string, oid: number): string {
  return join(directory, OBJECTS_DIRECTORY, objectName(oid));
}

/** The kind of a path: a Registry file, an original Broker's directory, or a directory of this kit. */
export type BrokerLocation =
  | { readonly kind: 'registry'; readonly registry: string; readonly directory: string | undefined }
  | { readonly kind: 'store'; readonly directory: string };

/**
 * Determines the kind of a path. A file is a Registry. A directory with a `store` is a directory of this kit,
 * even if a Registry was exported into it, because the Broker uses the store. A directory with `admin/Registry`
 * is an original one. In the data directory of `harvest run`, the Broker's directory is `broker`.
 *
 * @throws StorageError if the path is of no known kind
 */
export async function locateBroker(path: string): Promise<BrokerLocation> {
  const found = await statOf(path);
  if (found === 'file') return { kind: 'registry', registry: path, directory: await directoryOf(path) };
  for (const directory of [path, join(path, 'broker')]) {
    if ((await statOf(join(directory, 'store'))) === 'directory') return { kind: 'store', directory };
    const registry = registryPath(directory);
    if ((await statOf(registry)) === 'file') return { kind: 'registry', registry, directory };
  }
  const what = found === undefined ? 'there is no such directory' : 'it has neither store nor admin/Registry';
  throw new StorageError(`${path} is not a broker's directory: ${what}`);
}

/**
 * The original Broker's directory of a Registry in its place beside `objects/`. A directory of this kit is not
 * one.
 */
async function directoryOf(registry: string): Promise<string | undefined> {
  const directory = dirname(dirname(resolve(registry)));
  if (resolve(registry) !== registryPath(directory)) return undefined;
  if ((await statOf(join(directory, 'store'))) !== undefined) return undefined;
  return (await statOf(join(directory, OBJECTS_DIRECTORY))) === 'directory' ? directory : undefined;
}

async function statOf(path: string): Promise<'file' | 'directory' | undefined> {
  const found = await statIfExists(path);
  return found && (found.isDirectory() ? 'directory' : 'file');
}
