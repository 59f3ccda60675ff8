import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  filePaths,
  type GathererConfig,
  parseFilter,
  type RootNode,
  type UrlFilter,
} from '../../protocols/config/index.js';
import { ConfigError } from '../../protocols/errors.js';
import type { RootRules } from './crawl/root-limits.js';

/** Reads the filter files of a RootNode. */
export async function loadRootRules(root: RootNode, config: GathererConfig): Promise<RootRules> {
  return {
    root,
    urlFilter: await loadUrlFilter(root, config),
    hostFilter: root.hostFilter === undefined ? undefined : await loadFilter(root.hostFilter, config, root),
  };
}

/** G-31: without a URL filter the default one applies; `/dev/null` switches filtering off. */
async function loadUrlFilter(root: RootNode, config: GathererConfig): Promise<UrlFilter | undefined> {
  if (root.urlFilter !== undefined) return loadFilter(root.urlFilter, config, root);
  const file = fileURLToPath(import.meta.resolve('#essence-lib/URL-filter-default'));
  return parseFilter(await readFile(file, 'utf8'), file);
}

/** G-20: a relative name is looked up in Lib-Directory, Top-Directory, and the current directory. */
async function loadFilter(
  name: string,
  config: GathererConfig,
  root: RootNode,
): Promise<UrlFilter | undefined> {
  if (name === '/dev/null') return undefined;
  const inLib = config.libDirectory === undefined ? [] : filePaths(config, `${config.libDirectory}/${name}`);
  const candidates = isAbsolute(name) ? [name] : [...inLib, ...filePaths(config, name)];
  for (const file of candidates) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return parseFilter(text, file);
  }
  throw new ConfigError(
    name,
    0,
    '',
    `the filter file of RootNode ${root.url} (line ${root.line}) cannot be read`,
  );
}
