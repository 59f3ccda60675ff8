import { DiskCache } from '../../../../clients/fetch/cache/disk-cache.js';
import { cacheSettings, defaultCacheDirectory } from '../../../../clients/fetch/cache/settings.js';
import { readFirstLine } from '../../options/hidden-answer.js';
import { retrieve } from '../retrieve.js';

interface UrlgetOptions {
  readonly raw: boolean;
  readonly output?: string;
  readonly json: boolean;
  readonly reload: boolean;
  readonly cache: string | boolean;
  readonly maxBytes: number;
  readonly timeout: number;
  readonly proxy?: string;
}

/** The action of `harvest urlget`. */
export async function urlget(given: string, options: UrlgetOptions): Promise<number> {
  const url = given === '-' ? (await readFirstLine('-')).trim() : given;
  const directory = typeof options.cache === 'string' ? options.cache : defaultCacheDirectory();
  const cache =
    options.cache === false ? undefined : await DiskCache.open(directory, cacheSettings(process.env));
  return await retrieve({
    command: 'urlget',
    url,
    fetcher: { cache, httpProxy: options.proxy, ftpProxy: options.proxy },
    request: {
      maxBytes: options.maxBytes,
      timeoutMs: Math.ceil(options.timeout * 1000),
      reload: options.reload,
    },
    file: options.output,
    json: options.json,
    raw: options.raw,
  });
}
