// The parts of a Gatherer's fetcher: its owner's fetchers, the disk cache, the proxy for FTP and the
// directories of files.
import { rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  cacheSettings,
  DiskCache,
  type Fetcher,
  fetcherOf,
  type OwnFetcher,
} from '../../../clients/fetch/index.js';
import type { GathererConfig } from '../../../protocols/config/index.js';
import { ConfigError, messageOf } from '../../../protocols/errors.js';
import { addScheme } from '../../../protocols/urls/index.js';
import { importFunction } from '../../../storage/files/import-function.js';
import { findConfigFile } from './essence-options.js';

/** A fetcher that is handed in, with the default port of its scheme. */
export interface SchemeFetcher {
  readonly fetcher: OwnFetcher;
  /** Default 0: none, or that of a built-in scheme. */
  readonly port?: number;
}

/** What `createFetcher` of a module gets. */
export interface OwnFetcherOptions {
  readonly scheme: string;
  /** Top-Directory: relative names of files are below it. */
  readonly directory: string;
}

/** The schemes of own fetchers with their default ports, for Essence, which follows the links to their URLs. */
export function ownSchemes(
  config: GathererConfig,
  given: Readonly<Record<string, SchemeFetcher>> = {},
): Record<string, number> {
  return Object.fromEntries([
    ...config.fetchers.map(({ scheme, port }) => [scheme, port] as const),
    ...Object.entries(given).map(([scheme, { port = 0 }]) => [scheme, port] as const),
  ]);
}

/**
 * Loads the modules of `Fetcher` lines and makes fetchers of them and of the given objects, which precede
 * them. Their schemes become known to the process.
 *
 * @throws ConfigError naming the module if it cannot be loaded, or exports no function `createFetcher` that
 *   returns a fetcher
 */
export async function ownFetchers(
  config: GathererConfig,
  given: Readonly<Record<string, SchemeFetcher>> = {},
): Promise<Record<string, Fetcher>> {
  for (const [scheme, port] of Object.entries(ownSchemes(config, given))) addScheme(scheme, port);
  const fetchers: Record<string, Fetcher> = {};
  try {
    for (const { scheme, module } of config.fetchers) {
      if (given[scheme] !== undefined) continue;
      const file = resolve(findConfigFile(config, module));
      fetchers[scheme] = fetcherOf(await created(file, { scheme, directory: resolve(config.topDirectory) }));
    }
  } catch (error) {
    await Promise.allSettled(Object.values(fetchers).map((fetcher) => fetcher.close()));
    throw error;
  }
  for (const [scheme, { fetcher }] of Object.entries(given)) fetchers[scheme] = fetcherOf(fetcher);
  return fetchers;
}

async function created(file: string, options: OwnFetcherOptions): Promise<OwnFetcher> {
  const create = await importFunction(file, 'createFetcher', { directive: 'Fetcher' });
  let made: unknown;
  try {
    made = await create(options);
  } catch (error) {
    throw new ConfigError(file, 0, 'Fetcher', `createFetcher failed: ${messageOf(error)}`);
  }
  if (!isFetcher(made))
    throw new ConfigError(file, 0, 'Fetcher', 'createFetcher returned no object with a function fetch');
  return made;
}

function isFetcher(value: unknown): value is OwnFetcher {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'fetch') === 'function';
}

/**
 * Returns `host:port` of the proxy for FTP that the environment names: `ftp_proxy`, else `FTP_PROXY`; undefined
 * without one.
 * @param environment e.g. `process.env`
 * @param onProblem receives the error if the variable is not a proxy's address; it is ignored then
 */
export function ftpProxyOf(
  environment: Readonly<Record<string, string | undefined>>,
  onProblem: (problem: Error) => void,
): string | undefined {
  const name = environment.ftp_proxy ? 'ftp_proxy' : 'FTP_PROXY';
  const value = environment[name] ?? '';
  if (value === '') return undefined;
  const [, host, port = '80'] =
    /^(?:http:\/\/)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i.exec(value) ?? [];
  if (host !== undefined && Number(port) >= 1 && Number(port) <= 65_535) return `${host}:${port}`;
  // The value may have a login.
  onProblem(new Error(`$${name} is ignored: it must be host:port or http://host:port/ (G-84)`));
  return undefined;
}

/** G-95, G-97: the directory of the disk cache. */
function cacheDirectory({ workingDirectory }: Pick<GathererConfig, 'workingDirectory'>): string {
  return join(resolve(workingDirectory), 'cache');
}

/**
 * Opens the disk cache of a configuration, with the limits of the environment (G-93, G-94). @throws
 * StorageError
 */
export function openDiskCache(config: Pick<GathererConfig, 'workingDirectory'>): Promise<DiskCache> {
  return DiskCache.open(cacheDirectory(config), cacheSettings(process.env));
}

/**
 * Empties the disk cache of a configuration (G-92), without files of others: Working-Directory may be any
 * directory.
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

/** Directories that `file:` URLs may reach: those that the configuration names (G-174). */
export function fileRoots({ rootNodes, leafNodes }: GathererConfig): string[] {
  const urls = [...rootNodes, ...leafNodes].map(({ url }) => url).filter((url) => url.startsWith('file:'));
  // The host is not checked here: the fetcher refuses files of other machines (G-87).
  const local = urls.map((url) => url.replace(/^file:\/\/[^/]*/, 'file://'));
  // A file that the configuration names may be hidden. No file has an escaped slash in its name.
  const files = local.filter((url) => !/%2f/i.test(url));
  return [...local.map((url) => new URL('.', url)), ...files].map((url) => fileURLToPath(url));
}
