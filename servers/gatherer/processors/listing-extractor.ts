import type { RootNode } from '../../../protocols/config/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri, OutLink } from '../../crawler/crawl-uri.js';
import { isListed } from '../enumerate/listed.js';
import { listedUrls } from '../enumerate/listing.js';

/**
 * G-172: enumerates RootNodes by sitemaps and feeds. The first URIs of such a RootNode, and listings named by
 * listings, yield URLs and no object. The listed URIs are documents whose links are not followed.
 */
export class ListingExtractor implements Processor {
  readonly #roots: readonly RootNode[];
  readonly name = 'ListingExtractor';

  constructor(roots: readonly RootNode[]) {
    this.#roots = roots;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { root, pathFromSeed } = uri.entry.uri;
    const node = this.#roots[root];
    // The path of a listing has only the letters `M` and `R`; the last hop to a document is `L` (CRAWL-2.2).
    if (node === undefined || !isListed(node) || !/^[MR]*$/.test(pathFromSeed)) return 'proceed';
    if (uri.disposition === 'unchanged' || uri.disposition === 'kept') return 'proceed';
    const { body, charset } = uri.fetched!;
    const { urls, warnings } = await listedUrls(body, {
      url: uri.url,
      depth: pathFromSeed.replaceAll('R', '').length,
      signal: uri.signal,
      charset,
      ...(node.hostMax > 1 ? { allows: () => true } : {}),
    });
    uri.disposition = 'listed';
    uri.reason = warnings[0] ?? '';
    uri.outLinks = urls.map(({ url, kind }): OutLink => ({ url, hop: kind === 'listing' ? 'M' : 'L' }));
    return 'post';
  }
}
