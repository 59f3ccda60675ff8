// The fetchers of a Gatherer's owner: modules that its configuration names, and objects.
import { resolve } from 'node:path';
import { type Fetcher, fetcherOf, type OwnFetcher } from '../../clients/fetch/index.js';
import type { GathererConfig } from '../../protocols/config/index.js';
import { ConfigError, messageOf } from '../../protocols/errors.js';
import { addScheme } from '../../protocols/urls/index.js';
import { importFunction } from '../../storage/files/own-module.js';
import { findConfigFile } from './config-files.js';

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

/** All schemes of one's own with their default ports, for Essence, which follows the links to their URLs. */
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
 * @throws ConfigError naming the module if it cannot be loaded, or exports no function `createFetcher` that returns a fetcher
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
