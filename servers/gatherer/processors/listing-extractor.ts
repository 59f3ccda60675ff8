import type { RootNode } from '../../../protocols/config/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri, OutLink } from '../../crawler/crawl-uri.js';
import { isListed, listedUrls } from '../enumerate/index.js';

export interface ListingExtractorOptions {
  readonly roots: readonly RootNode[];
}

/**
 * G-172: for RootNodes that are enumerated by sitemaps and feeds. A URI that such a RootNode begins with, or that a listing calls a
 * listing, is read as one: it gives URLs and no object. What it lists are documents, whose own links are not followed.
 */
export class ListingExtractor implements Processor {
  readonly name = 'ListingExtractor';

  constructor(readonly options: ListingExtractorOptions) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { root, pathFromSeed } = uri.entry.uri;
    const node = this.options.roots[root];
    // The letters of a listing's path are all `M`: the last hop to a document is `L` (CRAWL-2.2).
    if (node === undefined || !isListed(node) || !/^[MR]*$/.test(pathFromSeed)) return 'proceed';
    if (uri.disposition === 'unchanged' || uri.disposition === 'kept') return 'proceed';
    const { body, charset } = uri.fetched!;
    const { urls, warnings } = await listedUrls(body, {
      url: uri.url,
      depth: pathFromSeed.replaceAll('R', '').length,
      signal: uri.signal,
      ...(charset === undefined ? {} : { charset }),
      ...(node.hostMax > 1 ? { allows: () => true } : {}),
    });
    uri.disposition = 'listed';
    uri.reason = warnings[0] ?? '';
    uri.outLinks = urls.map(({ url, kind }): OutLink => ({ url, hop: kind === 'listing' ? 'M' : 'L' }));
    return 'post';
  }
}
