// The requests of a page that a browser loads: decides about each and sends it as a URI of the crawl.
import { closeBodies, type Fetcher, type FetchResult, isWhole } from '../../../clients/fetch/index.js';
import { Budget } from '../../../protocols/budget.js';
import { resolveUrl, withoutUserInfo } from '../../../protocols/urls/index.js';
import { NETWORK, type QueuedUri } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import { recordedEvent } from '../completions.js';
import { CrawlUri, FETCH_STATUS, type FetchedPart, type OutLink } from '../crawl-uri.js';
import type { Candidate, Prepared } from '../frontier/contract.js';
import type { CrawlSettings } from '../order/settings.js';
import { annotateBody, FetchProcessor } from '../processors/fetch.js';
import type { FetchLimits } from '../processors/parts.js';
import type { Scope } from '../scope.js';
import type { ServerCache } from '../servers/server-cache.js';
import type { PartCache } from './part-cache.js';
import type { PartRequest, PartResponse } from './types.js';

export interface PagePartsOptions {
  readonly fetcher: Fetcher;
  readonly limits: FetchLimits;
  readonly servers: ServerCache;
  readonly scope: Scope;
  readonly prepare: (candidate: Candidate) => Prepared;
  readonly settingsFor: (uri: QueuedUri) => CrawlSettings;
  readonly cache: PartCache;
  /** The processors of the crawl that decide about a URI before it is fetched, robots.txt included. */
  readonly before: readonly Processor[];
  /** Those that digest and archive the response. */
  readonly after: readonly Processor[];
}

/** Types of requests whose response is not read, or never ends. */
const NEVER_FETCHED = new Set([
  'eventsource',
  'websocket',
  'ping',
  'media',
  'manifest',
  'texttrack',
  'cspviolationreport',
]);
/** Types that add no text to a page; they are sent only if the crawl includes what pages embed. */
const SHOWN_ONLY = new Set(['image', 'font']);
/** Attempts to get the robots.txt of a server (CRAWL-13.3.12). */
const ROBOTS_TRIES = 3;
/**
 * Parts of a page that are received at the same time, whatever the number of their hosts: each is in memory up to the
 * size that a page may get.
 */
const PARALLEL = 8;
const MIB = 1 << 20;

/**
 * Fetches the parts of one page. Each is a URI of the crawl with hop `E`: scope, robots.txt, private addresses,
 * quotas, cookies, proxy, limits and archives are the same; only the pause between requests to a host differs
 * (`browserDelayMs`).
 */
export class PageParts {
  readonly #uri: CrawlUri;
  readonly #options: PagePartsOptions;
  /** The parts that were fetched or forbidden, in order. */
  readonly fetched: FetchedPart[] = [];
  /** The page, for decisions about its parts. */
  readonly #page: CrawlUri;
  readonly #slots = new Budget(PARALLEL);
  readonly #running = new Set<Promise<unknown>>();
  #requests = 0;
  /** Bytes that the page got. */
  #bytes = 0;
  /** Number of requests beyond the limits of the page. */
  refused = 0;

  constructor(uri: CrawlUri, options: PagePartsOptions) {
    this.#uri = uri;
    this.#options = options;

    const { embeds } = uri.settings;
    // A page has no text without its scripts, whatever is embedded: they are parts of it within the limits of
    // its RootNode.
    const settings = embeds === 'frames' ? { ...uri.settings, embeds: 'root' as const } : uri.settings;
    this.#page = new CrawlUri(uri.entry, uri.batch, uri.signal, settings, uri.worker);
    this.#page.fetched = uri.fetched;
  }

  /**
   * Answers a request of the page; undefined if it must not be sent, or has no response. @throws the signal's
   * reason
   */
  async fetch(request: PartRequest, signal: AbortSignal): Promise<PartResponse | undefined> {
    const { urlForm, maxRedirects, embeds } = this.#uri.settings;
    const named = resolveUrl(request.url, undefined, urlForm);
    if (named === undefined || !/^https?:/.test(named)) return undefined;
    // G-81: a login in content is not sent.
    const url = withoutUserInfo(named);
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    if (NEVER_FETCHED.has(request.type) || (embeds === 'frames' && SHOWN_ONLY.has(request.type)))
      return undefined;
    let page = this.#page;
    let link: OutLink = { url, hop: 'E' };
    for (let redirects = 0; ; redirects++) {
      const step = await this.#follow(page, link, request, signal);
      if (step === undefined) return undefined;
      if (step.response !== undefined)
        return request.method === 'HEAD' ? { ...step.response, body: new Uint8Array() } : step.response;
      if (redirects >= (maxRedirects || Number.POSITIVE_INFINITY)) return undefined;
      page = step.part;
      link = { url: withoutUserInfo(step.location), hop: 'R' };
    }
  }

  /** Waits for the requests of a page that is closed: their records belong to it. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #follow(
    page: CrawlUri,
    link: OutLink,
    request: PartRequest,
    signal: AbortSignal,
  ): Promise<Step | undefined> {
    const step = this.#slots.run(1, () => this.#send(page, link, request, signal), { signal });
    this.#running.add(step);
    try {
      return await step;
    } finally {
      this.#running.delete(step);
    }
  }

  /** Makes one request, if it is allowed. */
  async #send(
    page: CrawlUri,
    link: OutLink,
    request: PartRequest,
    signal: AbortSignal,
  ): Promise<Step | undefined> {
    const { scope, cache } = this.#options;
    const { browserMaxRequests } = this.#uri.settings;
    // A request that is not allowed counts, because resolving its host name costs time.
    if (this.#requests >= browserMaxRequests || this.#bytes >= this.#maxBytes) {
      this.refused++;
      return undefined;
    }
    this.#requests++;
    await scope.prepare(page, [link]);
    signal.throwIfAborted();
    const candidate = scope.candidate(page, link);
    if (candidate === undefined) return undefined;
    const part = this.#partOf(candidate, request, signal);
    const begin = Date.now();
    if (!(await this.#isAllowed(part))) {
      if (part.status !== FETCH_STATUS.deferred) this.#record(part, begin, undefined);
      return undefined;
    }
    const known = cache.get(part.url);
    if (known !== undefined) return { response: known };
    await this.#load(part);
    const { fetched } = part;
    // What ended too soon is fetched again if a document links to it.
    const isSeen = fetched !== undefined && fetched.lenient?.problem === undefined;
    this.#record(part, begin, isSeen ? { ...candidate, fetched: true } : undefined);
    if (fetched?.location !== undefined) return { part, location: fetched.location };
    if (fetched === undefined) return undefined;
    const isLonger = fetched.truncated || this.#bytes + fetched.body.length > this.#maxBytes;
    this.#bytes += fetched.body.length;
    // Other parts arrived meanwhile, or it is longer than a page may get; an archive has it.
    if (isLonger) this.refused++;
    if (isLonger || !isWhole(fetched) || fetched.undecoded !== undefined) return undefined;
    const response = responseOf(fetched);
    cache.add(part.url, response);
    return { response };
  }

  #partOf(candidate: Candidate, { origin }: PartRequest, signal: AbortSignal): CrawlUri {
    const { prepare, settingsFor } = this.#options;
    const { classKey, cost, directive, precedence } = prepare(candidate);
    const { url, via, pathFromSeed, root, depth, forceFetch, isLeaf, sourceTag } = candidate;
    const network = candidate.network ?? NETWORK.unknown;
    const queued = {
      url,
      via,
      pathFromSeed,
      root,
      depth,
      forceFetch,
      isLeaf,
      sourceTag,
      network,
      cost,
      attempts: 0,
    };
    const entry = { classKey, directive, precedence, ordinal: 0, uri: queued };
    const part = new CrawlUri(entry, this.#uri.batch, signal, settingsFor(queued), this.#uri.worker);
    if (origin !== '') part.requestHeaders = { origin };
    return part;
  }

  /** CRAWL-12.4: robots.txt is fetched first, if it is not known. */
  async #isAllowed(part: CrawlUri): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      if ((await run(this.#options.before, part)) !== 'post') return true;
      if (part.status !== FETCH_STATUS.deferred || attempt >= ROBOTS_TRIES) return false;
      part.status = FETCH_STATUS.untried;
      part.reason = '';
      part.fetchBegin = 0;
      part.contactEnd = 0;
    }
  }

  async #load(part: CrawlUri): Promise<void> {
    const { fetcher, limits, servers, after } = this.#options;
    const maxBytes = Math.min(limits.maxBytes, Math.max(1, this.#maxBytes - this.#bytes));
    const fetch = new FetchProcessor(fetcher, { ...limits, maxBytes }, servers, (host, signal, work) =>
      servers.locks.exclusive(host, this.#delayMs(part), signal, work),
    );
    await fetch.process(part);
    if (part.fetched === undefined) return;
    annotateBody(part, part.fetched);
    try {
      await run(after, part);
    } finally {
      await closeBodies(part.fetched);
    }
    if (!part.succeeded) return;
    // A part is not summarized by itself.
    part.disposition = 'listed';
  }

  /** CRAWL-7.1: a server that states its delay gets it. */
  #delayMs({ url, settings }: CrawlUri): number {
    const stated = Math.min(this.#options.servers.crawlDelay(url) ?? 0, settings.respectCrawlDelayUpToSecs);
    return Math.max(settings.browserDelayMs, stated * 1000);
  }

  get #maxBytes(): number {
    return Math.ceil(this.#uri.settings.browserMaxMegabytes * MIB);
  }

  #record(part: CrawlUri, begin: number, candidate: Candidate | undefined): void {
    part.annotations.push('browser');
    // A part is not retried for this page.
    if (part.disposition === 'retry') part.disposition = 'failed';
    this.fetched.push({ event: recordedEvent(part, begin), candidate });
  }
}

/** A response for the page, or where the next request goes. */
type Step =
  | { readonly response: PartResponse }
  | { readonly response?: undefined; readonly part: CrawlUri; readonly location: string };

async function run(processors: readonly Processor[], part: CrawlUri): Promise<ProcessResult> {
  for (const processor of processors) {
    part.step = processor.name;
    const result = await processor.process(part);
    if (result !== 'proceed') return result;
  }
  return 'proceed';
}

function responseOf({ url, status, headers, body }: FetchResult): PartResponse {
  return { url, status, headers, body };
}
