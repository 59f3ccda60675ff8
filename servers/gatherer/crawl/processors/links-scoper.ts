import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import { DIRECTIVE, type Frontier } from '../frontier.js';
import type { Scope } from '../scope.js';

export interface LinksScoperOptions {
  readonly frontier: Frontier;
  readonly scope: Scope;
}

/**
 * CRAWL-11.2 chain 5, LinksScoper and FrontierScheduler: links that are new and in scope go to the frontier. The
 * question "new?" comes first, since nearly all links of a site are known, and duplicates count against no limit (G-68).
 */
export class LinksScoper implements Processor {
  readonly name = 'LinksScoper';

  constructor(readonly options: LinksScoperOptions) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { frontier, scope } = this.options;
    // CRAWL-11.7: links are followed from successes.
    if (!uri.succeeded || uri.disposition === 'retry' || uri.entry.uri.isLeaf) return 'proceed';
    uri.outLinks = uri.outLinks.filter((link) => !frontier.knows(link.url));
    if (uri.outLinks.length === 0) return 'proceed';
    await scope.prepare(uri);
    for (const link of uri.outLinks) {
      if (frontier.knows(link.url)) continue;
      const candidate = scope.admit(uri, link);
      if (candidate === undefined) continue;
      const directive = link.hop === 'R' ? DIRECTIVE.medium : DIRECTIVE.normal;
      const entry = frontier.schedule(
        { ...candidate, via: uri.url, attempts: 0, forceFetch: false, isLeaf: false },
        uri.batch,
        directive,
      );
      if (entry !== undefined) uri.scheduled.push(entry);
    }
    return 'proceed';
  }
}
