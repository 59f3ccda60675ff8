import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import type { Candidate, CrawlFrontier } from '../frontier/contract.js';
import type { Scope } from '../scope.js';
import type { ProcessorDescriptor } from './parts.js';

/** The annotation of a document of which not all links could be read. */
const UNREAD_LINKS = 'linksUnread';

export interface LinksScoperOptions {
  readonly frontier: Pick<CrawlFrontier<unknown>, 'isKnownWithoutLookup'>;
  readonly scope: Scope;
}

/**
 * CRAWL-11.2 chain 5, LinksScoper: links in scope become candidates, and the frontier queues the new ones in
 * the batch that finishes the URI. Known links, nearly all of a site's, are removed first.
 */
export class LinksScoper implements Processor {
  readonly #options: LinksScoperOptions;
  readonly name = 'LinksScoper';

  constructor(options: LinksScoperOptions) {
    this.#options = options;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { frontier, scope } = this.#options;
    // CRAWL-11.7: an error page, or a processor of the operator's, may have links too.
    if (uri.status < 200 || uri.status > 399 || uri.disposition === 'retry') return 'proceed';
    if (uri.plantedLogins > 0) scope.withoutLogin?.(uri, uri.plantedLogins);
    if (uri.hasUnreadLinks) {
      uri.annotations.push(UNREAD_LINKS);
      scope.unread?.(uri);
    }
    const { hiddenEntries = 0 } = uri.fetched ?? {};
    if (hiddenEntries > 0) scope.leftOut?.(uri, hiddenEntries);
    // G-172: the links of a listed document are not followed, but what it shows is a part of it.
    const { embeds } = uri.settings;
    const { isLeaf, root } = uri.entry.uri;
    if (isLeaf && embeds === 'frames') return 'proceed';
    const followed = isLeaf ? uri.outLinks.filter(({ hop }) => hop === 'E') : uri.outLinks;
    // What a directory or a site map lists is limited where it is read, and by the scope.
    const maxOutlinks = uri.disposition === 'listed' ? followed.length : uri.settings.maxOutlinks;
    const dropped = uri.droppedLinks + Math.max(0, followed.length - maxOutlinks);
    if (dropped > 0) {
      // CRAWL-6.1, 16.2.
      uri.annotations.push(`dol:${dropped}`);
      scope.dropped?.(uri, dropped);
    }
    const links = followed
      .slice(0, maxOutlinks)
      .filter(({ url, again }) => again === true || !frontier.isKnownWithoutLookup(url, root));
    if (links.length === 0) return 'proceed';
    await scope.prepare(uri, links);
    const candidates = new Map<string, Candidate>();
    for (const link of links) {
      if (candidates.has(link.url)) continue;
      const candidate = scope.candidate(uri, link);
      if (candidate !== undefined) candidates.set(link.url, candidate);
    }
    uri.candidates = [...candidates.values()];
    return 'proceed';
  }
}

export const LINKS_SCOPER: ProcessorDescriptor = {
  name: 'LinksScoper',
  chain: 'post-process',
  text: 'queues the links that are in scope',
  rule: 'CRAWL-11.2',
  after: ['ReferencesWriter'],
  settings: ['maxOutlinks'],
  classes: ['LinksScoper'],
  formerNames: ['FrontierScheduler', 'CandidatesProcessor'],
  create: ({ parts: { frontier, scope } }) => new LinksScoper({ frontier, scope }),
};
