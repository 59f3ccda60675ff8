import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFetcher, type Fetcher, LocalMapper } from '../../clients/fetch/index.js';
import type { GathererConfig } from '../../protocols/config/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { classKey, uriKey } from '../../protocols/urls/index.js';
import { GathererStore, type QueueEntry } from '../../storage/index.js';
import type { PublishedReferences } from '../../storage/references/index.js';
import type { ProcessorChains } from './crawl/chains.js';
import { CrawlController, rootProgressKey } from './crawl/controller.js';
import type { Disposition } from './crawl/crawl-uri.js';
import { DIRECTIVE, Frontier } from './crawl/frontier.js';
import { HostAddresses } from './crawl/host-addresses.js';
import { ExtractProcessor } from './crawl/processors/extract.js';
import { FetchProcessor } from './crawl/processors/fetch.js';
import { History } from './crawl/processors/history.js';
import { LinksScoper } from './crawl/processors/links-scoper.js';
import { LocalMappingProcessor } from './crawl/processors/local-mapping.js';
import { PreconditionEnforcer } from './crawl/processors/precondition-enforcer.js';
import { Preselector } from './crawl/processors/preselector.js';
import { ReferencesWriter } from './crawl/processors/references-writer.js';
import { WriterProcessor } from './crawl/processors/writer.js';
import { RootLimits, type RootProgress } from './crawl/root-limits.js';
import { RootNodeScope } from './crawl/scope.js';
import { ServerCache } from './crawl/server-cache.js';
import { ShortestLife } from './crawl/shortest-life.js';
import { EssencePool, isRejected, mayHoldLinks, readEssenceSources, typeByUrl } from './essence/index.js';
import { essenceOptionsOf } from './essence-options.js';
import { type DocumentEvent, documentChannel } from './events.js';
import { loadRootRules } from './filters.js';

/** How a Gatherer runs; what it gathers stands in `config`. */
export interface GathererOptions {
  /** Holds `working/` (the store) and `generations/` (what gatherd serves). */
  readonly directory: string;
  readonly config: GathererConfig;
  /** URIs in work at one time, over all hosts. Default 16. */
  readonly workers?: number;
  /**
   * Queues that the URIs of one host are spread over (CRAWL-9.7). Default 1: one connection a host. More than one breaks
   * that promise, so it is for hosts of one's own.
   */
  readonly queuesPerHost?: number;
  /** Threads that summarize; 0 summarizes in the calling thread. Default: by the number of processors. */
  readonly essenceWorkers?: number;
  /** Look at documents again whose Refresh-Rate is not over (G-108). Default false. */
  readonly force?: boolean;
  /** Attempts before a URI fails, deferrals included (CRAWL-8.3). Default 4. */
  readonly maxRetries?: number;
  /** Milliseconds before a failed contact is tried again. Default 10 000. */
  readonly retryDelayMs?: number;
  /** Milliseconds without a byte after which a read is given up (G-85). Default 120 000. */
  readonly readTimeoutMs?: number;
  /** For tests: the clock, in seconds since 1970. */
  readonly now?: () => UnixSeconds;
}

/** Product token of User-Agent and robots.txt (G-63, G-65). */
const ROBOTS_AGENT = 'Harvest';
const USER_AGENT = 'Harvest/1.8 (harvest-kit)';

/** Queues that file URLs are spread over. */
const FILE_QUEUES = 8;

/** What a run did, by what became of each URI. */
export interface GatherReport {
  readonly counts: Readonly<Record<Disposition, number>>;
  /** Bytes fetched. */
  readonly bytes: number;
  readonly seconds: number;
  /** True when the run went on from an interrupted one. */
  readonly resumed: boolean;
  readonly roots: readonly RootReport[];
}

/** G-148: how many URLs and hosts a RootNode gave, and what stopped it. */
export interface RootReport {
  readonly url: string;
  readonly urls: number;
  readonly hosts: number;
  /** Links refused, by limit. */
  readonly refused: Readonly<Record<string, number>>;
}

/**
 * The Gatherer (G-5): expands RootNodes, fetches, summarizes, keeps the database, publishes it. It never updates by
 * itself (G-6): each {@link run} processes the configured URLs once. A run that was killed goes on where it was.
 */
export class Gatherer implements AsyncDisposable {
  private constructor(
    readonly options: GathererOptions,
    readonly store: GathererStore,
    readonly fetcher: Fetcher,
    readonly essence: EssencePool,
    readonly rulesDigest: string,
  ) {}

  static async open(options: GathererOptions): Promise<Gatherer> {
    const { config, directory } = options;
    await mkdir(directory, { recursive: true });
    const store = await GathererStore.open(join(directory, 'working'));
    try {
      const essenceOptions = essenceOptionsOf(config);
      const essence = await EssencePool.create({
        ...essenceOptions,
        ...(options.essenceWorkers === undefined ? {} : { workers: options.essenceWorkers }),
      });
      const fetcher = createFetcher({
        userAgent: config.httpUserAgent ?? USER_AGENT,
        from: config.httpFrom,
        httpBasicAuth: config.httpBasicAuth,
        httpProxy: config.httpProxy,
        ftpAuth: config.ftpAuth,
        fileRoots: fileRoots(config),
        maxConnectionsPerHost: options.queuesPerHost ?? 1,
      });
      // G-110: what a summary depends on besides the document.
      const sources = Object.entries(await readEssenceSources(essenceOptions)).sort();
      const rulesDigest = digest([JSON.stringify(essenceOptions), JSON.stringify(sources)]);
      return new Gatherer(options, store, fetcher, essence, rulesDigest);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  get generationsDirectory(): string {
    return join(this.options.directory, 'generations');
  }

  /** Gathers until nothing is left to do; throws the signal's reason when stopped, and then goes on at the next call. */
  async run(signal: AbortSignal): Promise<GatherReport> {
    const begin = Date.now();
    const roots = await this.#rootLimits();
    const resumed = await this.#prepareRun(roots);
    const addresses = roots[0]?.addresses ?? new HostAddresses();
    const frontier = await Frontier.open(this.store, { assignQueue: (url) => this.#assignQueue(url) });
    const lives = await ShortestLife.read(this.store.meta);
    if (!resumed) await this.#seed(frontier, roots, addresses, lives);

    const tally = new Tally();
    const servers = new ServerCache({
      fetcher: this.fetcher,
      robotsAgent: ROBOTS_AGENT,
      robotsTries: 3,
      timeoutMs: this.options.readTimeoutMs ?? 120_000,
    });
    const controller = new CrawlController({
      store: this.store,
      frontier,
      chains: this.#chains(frontier, new RootNodeScope(roots, addresses), servers, lives),
      servers,
      roots,
      politeness: { accessDelay: this.options.config.accessDelay, maxCrawlDelay: 300 },
      workers: this.options.workers ?? 16,
      maxRetries: this.options.maxRetries ?? 4,
      retryDelayMs: this.options.retryDelayMs ?? 10_000,
      onDocument: (event) => {
        tally.add(event);
        documentChannel.publish(event);
      },
    });
    await controller.run(signal);
    await this.store.batch().putMeta('run.state', 'done').commit({ sync: true });
    return {
      counts: tally.counts,
      bytes: tally.bytes,
      seconds: (Date.now() - begin) / 1000,
      resumed,
      roots: roots.map(({ rules, urls, hosts, refused }) => ({
        url: rules.root.url,
        urls,
        hosts,
        refused: Object.fromEntries(refused),
      })),
    };
  }

  /** Drops expired objects (G-103) and makes what is left a generation for gatherd. Returns its number. */
  async publish(): Promise<number> {
    await this.#expire();
    const { gathererName, gathererHost, gathererVersion } = this.options.config;
    return this.store.publish(this.generationsDirectory, {
      gatherer: { gathererName, gathererHost, gathererVersion },
    });
  }

  /**
   * Makes the links that were found a generation of references for refererd, in `references/` of the directory, unless nothing
   * changed since the last one, or the configuration says `References: off`. To be called after {@link publish}, which drops what
   * has expired; `signal` stops it, and the former ones stay.
   */
  async publishReferences(signal?: AbortSignal): Promise<PublishedReferences | undefined> {
    if (!this.options.config.references) return undefined;
    return this.store.publishReferences(this.options.directory, { signal });
  }

  async close(): Promise<void> {
    await this.essence.close();
    await this.fetcher.close();
    await this.store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #now(): UnixSeconds {
    return this.options.now?.() ?? Math.floor(Date.now() / 1000);
  }

  async #rootLimits(): Promise<RootLimits[]> {
    const { config } = this.options;
    const addresses = new HostAddresses();
    const progress = await Promise.all(
      config.rootNodes.map((_, root) => this.store.meta.get(rootProgressKey(root))),
    );
    const known = await this.#sameJob();
    return Promise.all(
      config.rootNodes.map(async (root, index) => {
        const stored = known ? progress[index] : undefined;
        const rules = await loadRootRules(root, config);
        return new RootLimits(
          rules,
          addresses,
          typeof stored === 'string' ? parseProgress(stored) : undefined,
        );
      }),
    );
  }

  /** Is there an interrupted run of just these RootNodes and LeafNodes? */
  async #sameJob(): Promise<boolean> {
    const { meta } = this.store;
    return (await meta.get('run.state')) === 'running' && (await meta.get('run.job')) === this.#jobDigest();
  }

  #jobDigest(): string {
    const { rootNodes, leafNodes } = this.options.config;
    return digest([JSON.stringify(rootNodes), JSON.stringify(leafNodes)]);
  }

  /** Either leaves an interrupted run as it is (true), or clears what an ended one left. */
  async #prepareRun(roots: readonly RootLimits[]): Promise<boolean> {
    if (await this.#sameJob()) {
      const hosts = roots.map(({ rules }) => new URL(rules.root.url).hostname).filter((host) => host !== '');
      await roots[0]?.addresses.resolve(hosts);
      return true;
    }
    await this.store.clearFrontier();
    return false;
  }

  /** G-69: RootNodes in the order of the file, then the LeafNodes. One batch: the run has begun, or it has not. */
  async #seed(
    frontier: Frontier,
    roots: readonly RootLimits[],
    addresses: HostAddresses,
    lives: ShortestLife,
  ): Promise<void> {
    const batch = this.store.batch();
    const entries: QueueEntry[] = [];
    await addresses.resolve(
      roots.map(({ rules }) => new URL(rules.root.url).hostname).filter((hostname) => hostname !== ''),
    );
    roots.forEach((limits, root) => {
      const { url } = limits.rules.root;
      const uri = {
        url,
        via: '',
        pathFromSeed: '',
        root,
        depth: 0,
        attempts: 0,
        forceFetch: false,
        isLeaf: false,
      };
      const entry = frontier.schedule(uri, batch, DIRECTIVE.medium);
      if (entry === undefined) return;
      entries.push(entry);
      limits.take(new URL(url));
      batch.putMeta(rootProgressKey(root), JSON.stringify(limits.takeProgress()));
    });
    for (const { url } of this.options.config.leafNodes) {
      const uri = {
        url,
        via: '',
        pathFromSeed: '',
        root: roots.length,
        depth: 0,
        attempts: 0,
        forceFetch: false,
        isLeaf: true,
      };
      const entry = frontier.schedule(uri, batch, DIRECTIVE.medium);
      if (entry !== undefined) entries.push(entry);
    }
    lives.note(this.options.config.timeToLive, batch);
    batch.putMeta('run.state', 'running').putMeta('run.job', this.#jobDigest());
    await frontier.commit(batch, entries);
  }

  #chains(
    frontier: Frontier,
    scope: RootNodeScope,
    servers: ServerCache,
    lives: ShortestLife,
  ): ProcessorChains {
    const { options, rulesDigest, essence, fetcher } = this;
    const { config } = options;
    const now = (): UnixSeconds => this.#now();
    const documents = this.store.documents;
    const known = this.store.summaries.count > 0;
    const limits = {
      maxBytes: config.maxRetrievalSize,
      timeoutMs: options.readTimeoutMs ?? 120_000,
      conditional: config.httpIfModifiedSince,
      rulesDigest,
    };
    return {
      'pre-fetch': [
        new Preselector((url) => this.#stoppedByUrl(url)),
        new History({
          documents,
          known,
          force: options.force ?? false,
          timeToLive: config.timeToLive,
          rulesDigest,
          now,
        }),
        new LocalMappingProcessor(new LocalMapper(config.localMappings), limits),
        new PreconditionEnforcer(servers),
      ],
      fetch: [new FetchProcessor(fetcher, limits)],
      extract: [new ExtractProcessor({ essence, rulesDigest, now })],
      write: [
        new WriterProcessor({
          summaries: this.store.summaries,
          refreshRate: config.refreshRate,
          timeToLive: config.timeToLive,
          lives,
          rulesDigest,
          now,
        }),
      ],
      'post-process': [new ReferencesWriter({ now }), new LinksScoper({ frontier, scope })],
    };
  }

  /** E-28: the type, when the URL alone tells that a transfer would be for nothing; links are still wanted (E-25). */
  #stoppedByUrl(url: string): string | undefined {
    const { rules } = this.essence;
    const type = typeByUrl(url, rules);
    if (type === undefined || mayHoldLinks(type)) return undefined;
    return isRejected(type, rules) ? type : undefined;
  }

  /** CRAWL-9.2, 9.7: the host's queue, or one of several. */
  #assignQueue(url: string): string {
    const key = classKey(url);
    // Nobody's server stands behind a file: there is no politeness to keep.
    const queues = url.startsWith('file:') ? FILE_QUEUES : (this.options.queuesPerHost ?? 1);
    return queues <= 1 ? key : `${key}+${uriKey(url)[7]! % queues}`;
  }

  async #expire(): Promise<void> {
    const now = this.#now();
    await this.store.purgeTombstones(now);
    const { seconds: shortest } = await ShortestLife.read(this.store.meta);
    for await (const page of this.store.summaries.iterate()) {
      // Rows come by Update-Time: what was updated within the shortest life that any object has cannot have expired.
      if (page[0]!.updateTime >= now - shortest) return;
      const batch = this.store.batch();
      for (const { url, updateTime, timeToLive } of page) {
        if (timeToLive > 0 && updateTime + timeToLive < now)
          batch.deleteSummary(url, updateTime).deleteDocument(url).dropReferences(url);
      }
      if (batch.size > 0) await batch.commit();
    }
  }
}

/** Counts what becomes of the URIs of one run. */
class Tally {
  readonly counts: Record<Disposition, number> = {
    summarized: 0,
    unchanged: 0,
    kept: 0,
    listed: 0,
    redirected: 0,
    rejected: 0,
    failed: 0,
    retry: 0,
  };
  bytes = 0;

  add({ disposition, bytes }: DocumentEvent): void {
    this.counts[disposition]++;
    this.bytes += bytes;
  }
}

/** Folders that `file:` URLs may reach: those that the configuration itself names (G-174). */
function fileRoots({ rootNodes, leafNodes }: GathererConfig): string[] {
  const urls = [...rootNodes, ...leafNodes].map(({ url }) => url).filter((url) => url.startsWith('file:'));
  // The host is the fetcher's business (G-87): it refuses another machine's files one by one.
  return urls.map((url) => fileURLToPath(new URL('.', url.replace(/^file:\/\/[^/]*/, 'file://'))));
}

function parseProgress(json: string): RootProgress {
  const { urls, hosts, names } = JSON.parse(json) as RootProgress;
  return { urls, hosts, names };
}

function digest(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest('hex').slice(0, 32);
}
