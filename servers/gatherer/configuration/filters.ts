import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  filePaths,
  type GathererConfig,
  parseFilter,
  parseHostFilter,
  type RootNode,
  type UrlFilter,
} from '../../../protocols/config/index.js';
import { ConfigError, errorCode, messageOf } from '../../../protocols/errors.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { RootRules } from '../scope/root-limits.js';

/** No file could be read; why, if not because it is missing. */
interface Unread {
  readonly why: string;
}

/** Cache of the RootNodes' filter files for one run: a file may change between runs. */
export class FilterFiles {
  readonly #config: GathererConfig;
  readonly #defaultFilter: string;
  /** By name as in the configuration. */
  readonly #urlFilters = new Map<string, Promise<UrlFilter | Unread>>();
  readonly #hostFilters = new Map<string, Promise<UrlFilter | Unread>>();

  /** @param defaultFilter of RootNodes that name no URL filter. Default: that of G-31 */
  constructor(config: GathererConfig, defaultFilter = DEFAULT_FILTER) {
    this.#config = config;
    this.#defaultFilter = defaultFilter;
  }

  /** Reads the filters of a RootNode. @throws ConfigError if a file cannot be read or has an error */
  async rulesOf(root: RootNode): Promise<RootRules> {
    const { urlFilter, hostFilter } = root;
    return {
      root,
      // G-31: without a URL filter the default one applies.
      urlFilter: await this.#filter(urlFilter ?? this.#defaultFilter, root, this.#urlFilters, parseFilter),
      hostFilter:
        hostFilter === undefined
          ? undefined
          : await this.#filter(hostFilter, root, this.#hostFilters, parseHostFilter),
    };
  }

  async #filter(
    name: string,
    root: RootNode,
    files: Map<string, Promise<UrlFilter | Unread>>,
    parse: typeof parseFilter,
  ): Promise<UrlFilter | undefined> {
    if (name === NO_FILTER) return undefined;
    let file = files.get(name);
    if (file === undefined) {
      file = readFilter(name, this.#config, parse);
      files.set(name, file);
    }
    const filter = await file;
    if (!('why' in filter)) return filter;
    throw new ConfigError(
      name,
      0,
      '',
      `the filter file of RootNode ${withoutUserInfo(root.url)} (line ${root.line}) cannot be read${filter.why}`,
    );
  }
}

/** G-31: turns filtering off. */
export const NO_FILTER = '/dev/null';

/** G-31: the name of the default filter. That of Lib-Directory takes the place of the shipped one. */
const DEFAULT_FILTER = 'URL-filter-default';

/** G-20: searches for a relative name in Lib-Directory, Top-Directory, and the current directory. */
async function readFilter(
  name: string,
  config: GathererConfig,
  parse: typeof parseFilter,
): Promise<UrlFilter | Unread> {
  const inLib = config.libDirectory === undefined ? [] : filePaths(config, `${config.libDirectory}/${name}`);
  const others =
    name === DEFAULT_FILTER
      ? [fileURLToPath(import.meta.resolve('#essence-lib/URL-filter-default'))]
      : filePaths(config, name);
  const candidates = isAbsolute(name) ? [name] : [...inLib, ...others];
  let why = '';
  for (const file of candidates) {
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') why = `: ${messageOf(error)}`;
      return undefined;
    });
    if (text !== undefined) return parse(text, file);
  }
  return { why };
}
