import { RefusedError } from '../../../protocols/errors.js';
import type { QueuedUri } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import type { RobotsContact } from '../servers/robots-files.js';
import type { ServerCache } from '../servers/server-cache.js';
import type { ProcessorDescriptor } from './parts.js';

/**
 * CRAWL-12.4, 12.5: fetches robots.txt before any other document of a server, in place of the first URI. That
 * URI returns to the head of its queue, and is given out again after the politeness delay that follows the
 * fetch of robots.txt.
 */
export class PreconditionEnforcer implements Processor {
  readonly #servers: ServerCache;
  /**
   * G-174: whether the request for a queued URI must not reach private addresses. Default: every address is
   * allowed.
   */
  readonly #mustBePublic: (uri: QueuedUri) => boolean;
  readonly name = 'PreconditionEnforcer';

  constructor(servers: ServerCache, mustBePublic: (uri: QueuedUri) => boolean = () => false) {
    this.#servers = servers;
    this.#mustBePublic = mustBePublic;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    // A kept document (G-108) and a document that was read locally (G-71) require no contact with the server.
    if (uri.disposition === 'kept' || uri.fetched !== undefined) return 'proceed';
    if (!this.#servers.robotsKnown(uri.url)) {
      let contact: RobotsContact;
      const begin = Date.now();
      try {
        const publicOnly = this.#mustBePublic(uri.entry.uri);
        contact = await this.#servers.fetchRobots(uri.url, uri.signal, publicOnly, uri.settings);
      } catch (error) {
        if (uri.signal.aborted) uri.contacted(begin);
        if (!(error instanceof RefusedError)) throw error;
        uri.reason = error.message;
        uri.status = FETCH_STATUS.unfetchable;
        uri.disposition = 'failed';
        return 'post';
      }
      uri.fetchBegin = contact.begin;
      uri.contactEnd = contact.end;
      uri.retryAfterMs = contact.retryAfterMs ?? 0;
      uri.reason = contact.reason;
      uri.firstPrerequisite = contact.first === true;
      uri.unresolved = contact.unresolved === true;
      uri.status = FETCH_STATUS.deferred;
      uri.disposition = 'retry';
      return 'post';
    }
    const verdict = this.#servers.verdict(uri.url);
    if (verdict.annotation !== undefined) uri.annotations.push(verdict.annotation);
    if (verdict.allowed) {
      uri.fetchAs = verdict.fetchAs;
      return 'proceed';
    }
    const unavailable =
      verdict.unresolved === true ? FETCH_STATUS.unresolvedHost : FETCH_STATUS.robotsUnavailable;
    uri.status = verdict.unavailable ? unavailable : FETCH_STATUS.robotsForbidden;
    uri.disposition = verdict.unavailable ? 'failed' : 'rejected';
    uri.reason = verdict.reason;
    return 'post';
  }
}

export const PRECONDITION_ENFORCER: ProcessorDescriptor = {
  name: 'PreconditionEnforcer',
  chain: 'pre-fetch',
  text: 'gets robots.txt before any other document of a server, and obeys it',
  rule: 'CRAWL-12.4',
  required: true,
  after: ['History', 'LocalMapping'],
  settings: ['robotsValiditySeconds', 'calculateRobotsOnly'],
  classes: ['PreconditionEnforcer'],
  formerNames: ['FetchDNS'],
  create: ({ parts: { servers, limits } }) => new PreconditionEnforcer(servers, limits.mustBePublic),
};
