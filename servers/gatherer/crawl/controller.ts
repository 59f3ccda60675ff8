import { setMaxListeners } from 'node:events';
import type { RootNode } from '../../../protocols/config/index.js';
import type { GathererStore } from '../../../storage/index.js';
import type { DocumentEvent } from '../events.js';
import { type ProcessorChains, runChains } from './chains.js';
import { CrawlUri, FETCH_STATUS } from './crawl-uri.js';
import type { Finish, Frontier } from './frontier.js';
import { type PolitenessOptions, politenessDelay } from './politeness.js';
import type { RootLimits } from './root-limits.js';
import type { ServerCache } from './server-cache.js';
import { runWorkers } from './worker-pool.js';

export interface CrawlOrder {
  readonly store: GathererStore;
  readonly frontier: Frontier;
  readonly chains: ProcessorChains;
  readonly servers: ServerCache;
  readonly roots: readonly RootLimits[];
  readonly politeness: PolitenessOptions;
  /** Workers at one time, over all hosts (CRAWL-20.3). */
  readonly workers: number;
  /** Attempts before a URI fails for good; every hand-back counts (CRAWL-8.3). */
  readonly maxRetries: number;
  /** Milliseconds before a failed contact is tried again. */
  readonly retryDelayMs: number;
  /** Told of every URI that is handed back. */
  readonly onDocument: (event: DocumentEvent) => void;
}

/** Where a RootNode's counters rest in the store. */
export const rootProgressKey = (root: number): string => `root.${root}`;

/**
 * The engine's controller (CRAWL-1.1): it owns the frontier, the chains, the server cache and the workers, takes URIs
 * from the frontier, leads them through the chains and hands them back with what shall become of them.
 */
export class CrawlController {
  readonly #stop = new AbortController();
  readonly #rootNodes: readonly RootNode[];

  constructor(readonly order: CrawlOrder) {
    // Every worker waits on the one signal, in the frontier and in its fetch: that is no leak.
    setMaxListeners(0, this.#stop.signal);
    this.#rootNodes = order.roots.map(({ rules }) => rules.root);
  }

  /** Crawls until the frontier is empty; throws the signal's reason when stopped before. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#stop.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await runWorkers(
        this.order.workers,
        () => this.#step(),
        (reason) => this.#stop.abort(reason),
      );
      signal.throwIfAborted();
    } finally {
      signal.removeEventListener('abort', stop);
      await this.order.frontier.settled();
      this.order.frontier.close();
    }
  }

  /** One URI from `next` to `finished` (CRAWL-11.5). False: nothing is left. */
  async #step(): Promise<boolean> {
    const { frontier, store, chains } = this.order;
    const signal = this.#stop.signal;
    const entry = await frontier.next(signal);
    if (entry === undefined) return false;
    const uri = new CrawlUri(entry, store.batch(), signal);
    const begin = Date.now();
    try {
      await runChains(chains, uri);
    } catch (error) {
      frontier.abandoned(uri);
      if (signal.aborted) return false;
      throw error;
    }
    const finish = this.#dispose(uri);
    this.#recordRoot(uri);
    await frontier.finished(uri, finish);
    this.#announce(uri, begin);
    return true;
  }

  /** CRAWL-8.2 to 8.4: retry, or done. */
  #dispose(uri: CrawlUri): Finish {
    const { maxRetries, retryDelayMs, servers, politeness } = this.order;
    const polite = politenessDelay(uri, this.#rootNodes, servers, politeness);
    if (uri.disposition !== 'retry') return { retry: false, delayMs: polite };
    if (uri.status === FETCH_STATUS.deferred) {
      // The next turn goes to the document itself, or to another try for robots.txt.
      const delayMs = servers.robotsKnown(uri.url) ? polite : Math.max(polite, retryDelayMs);
      return { retry: true, delayMs };
    }
    if (uri.entry.uri.attempts + 1 < maxRetries) {
      return { retry: true, delayMs: Math.max(polite, retryDelayMs, uri.retryAfterMs) };
    }
    uri.disposition = 'failed';
    return { retry: false, delayMs: Math.max(polite, uri.retryAfterMs) };
  }

  #recordRoot(uri: CrawlUri): void {
    const root = uri.entry.uri.root;
    const progress = this.order.roots[root]?.takeProgress();
    if (progress !== undefined) uri.batch.putMeta(rootProgressKey(root), JSON.stringify(progress));
  }

  #announce(uri: CrawlUri, begin: number): void {
    this.order.onDocument({
      url: uri.url,
      status: uri.status,
      disposition: uri.disposition,
      reason: uri.reason,
      type: uri.essence?.type ?? uri.document?.type ?? '',
      bytes: uri.size,
      local: uri.fetched?.local ?? false,
      milliseconds: Date.now() - begin,
      warnings: uri.essence?.warnings ?? [],
      frontier: this.order.frontier.counts,
      classKey: uri.entry.classKey,
      via: uri.entry.uri.via,
      pathFromSeed: uri.entry.uri.pathFromSeed,
      sourceTag: '',
      attempts: uri.entry.uri.attempts + 1,
      worker: 1,
      fetchBegin: uri.contactEnd === 0 ? 0 : begin,
      fetchDuration: uri.contactEnd === 0 ? -1 : uri.contactEnd - begin,
      contentType: uri.fetched?.contentType ?? '',
      digest: '',
      annotations: [],
    });
  }
}
