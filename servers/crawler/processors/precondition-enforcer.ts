import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import type { ServerCache } from '../servers/index.js';

/**
 * CRAWL-12.4, 12.5: fetches robots.txt before any other document of a server, in place of the first URI. That URI returns to the head of its
 * queue, and is given out again after the politeness delay that follows the fetch of robots.txt.
 */
export class PreconditionEnforcer implements Processor {
  readonly name = 'PreconditionEnforcer';

  constructor(readonly servers: ServerCache) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    // A kept document (G-108) and a document that was read locally (G-71) require no contact with the server.
    if (uri.disposition === 'kept' || uri.fetched !== undefined) return 'proceed';
    if (!this.servers.robotsKnown(uri.url)) {
      const contact = await this.servers.fetchRobots(uri.url, uri.signal);
      uri.fetchBegin = contact.begin;
      uri.contactEnd = contact.end;
      uri.reason = contact.reason;
      uri.status = FETCH_STATUS.deferred;
      uri.disposition = 'retry';
      return 'post';
    }
    const verdict = this.servers.verdict(uri.url);
    if (verdict.annotation !== undefined) uri.annotations.push(verdict.annotation);
    if (verdict.allowed) {
      uri.fetchAs = verdict.fetchAs;
      return 'proceed';
    }
    uri.status = verdict.unavailable ? FETCH_STATUS.robotsUnavailable : FETCH_STATUS.robotsForbidden;
    uri.disposition = verdict.unavailable ? 'failed' : 'rejected';
    uri.reason = verdict.reason;
    return 'post';
  }
}
