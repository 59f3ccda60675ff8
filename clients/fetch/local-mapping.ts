// Local-Mapping: reads the documents of a server from files of this machine (G-71 to G-79).
import { canonicalUrl } from '../../protocols/urls/index.js';
import { publishDebug, publishNote } from './debug-channel.js';
import { fileResult } from './file-fetcher.js';
import { readMapped } from './local-files.js';
import type { FetchRequest, FetchResult } from './types.js';

/** One `Local-Mapping:` line (G-71). */
export interface LocalMapping {
  readonly prefix: string;
  readonly path: string;
}

/** Applies the first mapping whose prefix matches a URL. */
export class LocalMapper {
  readonly #mappings: readonly {
    readonly prefixes: readonly string[];
    readonly path: string;
    readonly root: string;
  }[];

  constructor(mappings: readonly LocalMapping[]) {
    this.#mappings = mappings.map(({ prefix, path }) => ({
      // G-73: the prefix as configured and in canonical form.
      prefixes: [...new Set([prefix, canonicalUrl(prefix) ?? prefix])],
      path,
      root: path.slice(0, path.lastIndexOf('/') + 1) || '.',
    }));
  }

  /**
   * @returns undefined if no mapping applies, or it fails (G-75): then the document is requested from the
   *   server. A {@link FetchNote} has the reason; debugging section 20 shows the file names (G-78)
   */
  async fetch(request: FetchRequest): Promise<FetchResult | undefined> {
    for (const { prefixes, path, root } of this.#mappings) {
      const prefix = prefixes.find((candidate) => request.url.startsWith(candidate));
      if (prefix === undefined) continue;
      // G-76: the rest is not unescaped and must not leave the prefix.
      const rest = request.url.slice(prefix.length);
      const name = path + rest;
      publishDebug(20, 1, () => `Local-Mapping: ${request.url}: ${prefix} is ${path}, the file is ${name}`);
      if (rest.includes('\0') || rest.split('/').includes('..')) {
        return fallBack(request.url, name, 'leaves the prefix (G-76)');
      }
      const beginTime = Date.now();
      let file = await readMapped(name, root, request);
      // The one escape that only our form of URLs has: the URL was written with the character.
      const written = path + rest.replaceAll('%5E', '^');
      if (file.kind === 'not-mapped' && written !== name) file = await readMapped(written, root, request);
      if (file.kind !== 'not-mapped') return fileResult(request.url, file, beginTime);
      const escaped = /%[0-9a-f]{2}/i.test(rest) ? '; escapes in the URL are not undone (G-76)' : '';
      return fallBack(request.url, name, file.reason + escaped);
    }
    return undefined;
  }
}

function fallBack(url: string, path: string, reason: string): undefined {
  publishDebug(
    20,
    1,
    () => `Local-Mapping: ${url}: ${path} ${reason}: the document is requested from the server`,
  );
  publishNote({ kind: 'not-mapped', url, path, reason });
}
