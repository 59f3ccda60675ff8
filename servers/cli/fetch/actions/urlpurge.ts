import { DiskCache } from '../../../../clients/fetch/cache/disk-cache.js';
import { cacheSettings, defaultCacheDirectory } from '../../../../clients/fetch/cache/settings.js';
import { StandardOutput } from '../../output/standard-output.js';

interface UrlpurgeOptions {
  readonly cache?: string;
  readonly expired: boolean;
  readonly json: boolean;
}

/** The action of `harvest urlpurge`. */
export async function urlpurge(options: UrlpurgeOptions): Promise<void> {
  const cache = await DiskCache.open(options.cache ?? defaultCacheDirectory(), cacheSettings(process.env));
  const removed = await (options.expired ? cache.expire() : cache.purge());
  const left = await cache.size();
  const line = options.json
    ? JSON.stringify({ directory: cache.directory, removed, ...left })
    : `${cache.directory}: ${removed} removed, ${left.entries} left (${left.bytes} bytes)`;
  await new StandardOutput().write(`${line}\n`);
}
