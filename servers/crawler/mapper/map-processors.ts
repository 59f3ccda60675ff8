// The processors that pass URIs of other crawlers on (CRAWL-9.8).

import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import type { Candidate } from '../frontier/contract.js';
import type { JournalUri } from '../journal/journal-line.js';
import type { ProcessorDescriptor } from '../processors/parts.js';
import type { MapperOptions } from './diversions.js';

/**
 * CRAWL-9.8: a URI of another crawler that is not fetched yet gets -5002, an annotation, and a line in a
 * diversion file.
 */
class CrawlMapper implements Processor {
  readonly #options: MapperOptions;
  readonly name = 'CrawlMapper';

  constructor(options: MapperOptions) {
    this.#options = options;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { map, diversions } = this.#options;
    const { classKey, uri: queued } = uri.entry;
    const crawler = map.foreignCrawler(uri.url, classKey);
    if (crawler === undefined) return 'proceed';
    await diversions.divert(crawler, [lineOf(queued)]);
    uri.status = FETCH_STATUS.stoppedByMapper;
    uri.disposition = 'rejected';
    uri.reason = `crawler ${crawler} is responsible`;
    uri.annotations.push(`to:${crawler}`);
    return 'post';
  }
}

/** CRAWL-9.8: takes the links to URIs of other crawlers off a page, after the scope has decided about them. */
class LinksMapper implements Processor {
  readonly #options: MapperOptions;
  readonly name = 'LinksMapper';

  constructor(options: MapperOptions) {
    this.#options = options;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { map, diversions, prepare } = this.#options;
    const own: Candidate[] = [];
    const foreign = new Map<number, JournalUri[]>();
    for (const candidate of uri.candidates) {
      const crawler = map.foreignCrawler(candidate.url, prepare(candidate).classKey);
      if (crawler === undefined) own.push(candidate);
      else foreign.set(crawler, [...(foreign.get(crawler) ?? []), lineOf(candidate)]);
    }
    if (foreign.size === 0) return 'proceed';
    for (const [crawler, uris] of foreign) await diversions.divert(crawler, uris);
    uri.candidates = own;
    return 'proceed';
  }
}

/** G-81: without the login; the other crawler has its own. */
function lineOf({ url, pathFromSeed, via }: JournalUri): JournalUri {
  return { url: withoutUserInfo(url), pathFromSeed, via: withoutUserInfo(via) };
}

export const CRAWL_MAPPER: ProcessorDescriptor = {
  name: 'CrawlMapper',
  chain: 'pre-fetch',
  text: 'passes URIs of other crawlers on',
  rule: 'CRAWL-9.8',
  with: 'mapper.crawlers',
  create: ({ parts: { mapper } }) => mapper && new CrawlMapper(mapper),
};

export const LINKS_MAPPER: ProcessorDescriptor = {
  name: 'LinksMapper',
  chain: 'post-process',
  text: 'takes links to URIs of other crawlers off the page',
  rule: 'CRAWL-9.8',
  with: 'mapper.crawlers',
  after: ['LinksScoper'],
  create: ({ parts: { mapper } }) => mapper && new LinksMapper(mapper),
};
