import { canonicalUrl } from '../../protocols/urls/index.js';
import { tell } from './debug-channel.js';
import { fileResult } from './file-fetcher.js';
import { readMapped } from './local-files.js';
import { note } from './notes.js';
import { DEFAULT_MAX_BYTES, type FetchRequest, type FetchResult } from './types.js';

/** One `Local-Mapping:` line (G-71). */
export interface LocalMapping {
  readonly prefix: string;
  readonly path: string;
}

/** Reads documents of a server from this machine's files where the configuration says they are (G-71 to G-79). */
export class LocalMapper {
  readonly #mappings: readonly {
    readonly prefixes: readonly string[];
    readonly path: string;
    readonly root: string;
  }[];

  constructor(mappings: readonly LocalMapping[]) {
    this.#mappings = mappings.map(({ prefix, path }) => ({
      // G-73: as configured and in canonical form.
      prefixes: [...new Set([prefix, canonicalUrl(prefix) ?? prefix])],
      path,
      root: path.slice(0, path.lastIndexOf('/') + 1) || '.',
    }));
  }

  /**
   * @returns `undefined` when no mapping applies or the one that does fails (G-75): then the server is asked. Why it fails is told
   *   as a {@link FetchNote}; section 20 shows the file names (G-78)
   */
  async fetch(request: FetchRequest): Promise<FetchResult | undefined> {
    for (const { prefixes, path, root } of this.#mappings) {
      const prefix = prefixes.find((candidate) => request.url.startsWith(candidate));
      if (prefix === undefined) continue;
      // G-76: the rest is not unescaped; it may not climb out of the prefix.
      const rest = request.url.slice(prefix.length);
      const name = path + rest;
      tell(20, 1, () => `Local-Mapping: ${request.url}: ${prefix} is ${path}, the file is ${name}`);
      if (rest.includes('\0') || rest.split('/').includes('..')) {
        return fallBack(request.url, name, 'leads out of the prefix (G-76)');
      }
      const beginTime = Date.now();
      const file = await readMapped(name, root, {
        maxBytes: request.maxBytes ?? DEFAULT_MAX_BYTES,
        unlessNewerThan: request.headers?.lastModified,
        signal: request.signal,
      });
      if (file.kind !== 'not-mapped') return fileResult(request.url, file, beginTime);
      const escaped = /%[0-9a-f]{2}/i.test(rest) ? '; escapes in the URL are not undone (G-76)' : '';
      return fallBack(request.url, name, file.why + escaped);
    }
    return undefined;
  }
}

function fallBack(url: string, path: string, why: string): undefined {
  tell(20, 1, () => `Local-Mapping: ${url}: ${path} ${why}: the server is asked`);
  note({ kind: 'not-mapped', url, path, why });
}
