import { rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { cacheSettings, DiskCache } from '../../clients/fetch/index.js';
import type { GathererConfig } from '../../protocols/config/index.js';

/** G-95, G-97: the directory of the disk cache. */
function cacheDirectory({ workingDirectory }: Pick<GathererConfig, 'workingDirectory'>): string {
  return join(resolve(workingDirectory), 'cache');
}

/** Opens the disk cache of a configuration, with the limits of the environment (G-93, G-94). @throws StorageError */
export function openDiskCache(config: Pick<GathererConfig, 'workingDirectory'>): Promise<DiskCache> {
  return DiskCache.open(cacheDirectory(config), cacheSettings(process.env));
}

/**
 * Empties the disk cache of a configuration (G-92), without files of others: Working-Directory may be any directory.
 * @param dataDirectory where earlier versions had it
 */
export async function removeDiskCache(
  config: Pick<GathererConfig, 'workingDirectory'>,
  dataDirectory: string,
): Promise<void> {
  await rm(join(dataDirectory, 'cache'), { recursive: true, force: true });
  const found = await stat(join(cacheDirectory(config), 'tmp')).catch(() => undefined);
  if (found?.isDirectory() === true) await (await openDiskCache(config)).purge();
}
