import { type Fetcher, LocalMapper } from '../../clients/fetch/index.js';
import type { GathererConfig, RootNode } from '../../protocols/config/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { DocumentRecord, GathererStore, QueuedUri } from '../../storage/index.js';
import type { ChainName, Processor, ProcessorChains } from '../crawler/chains.js';
import type { Frontier } from '../crawler/frontier/index.js';
import { digestStore, historyStore } from '../crawler/history-store.js';
import { Blocker } from '../crawler/processors/blocker.js';
import { ChangeEvaluator } from '../crawler/processors/change-evaluator.js';
import { ContentDigest } from '../crawler/processors/content-digest.js';
import { DigestHistory } from '../crawler/processors/digest-history.js';
import { FetchProcessor, ResponseClassifier } from '../crawler/processors/fetch.js';
import { FetchHistory } from '../crawler/processors/fetch-history.js';
import { LinksScoper } from '../crawler/processors/links-scoper.js';
import { PreconditionEnforcer } from '../crawler/processors/precondition-enforcer.js';
import { QuotaEnforcer } from '../crawler/processors/quota-enforcer.js';
import { RuntimeLimit, type RuntimeLimitOptions } from '../crawler/processors/runtime-limit.js';
import { WarcWriter } from '../crawler/processors/warc-writer.js';
import type { CookieJars } from '../crawler/requests/index.js';
import type { Scope } from '../crawler/scope.js';
import type { ServerCache } from '../crawler/servers/index.js';
import type { WarcFiles } from '../crawler/warc/index.js';
import { type EssencePool, isRejected, mayContainLinks, typeByUrl } from '../essence/index.js';
import type { Annotations } from './annotations.js';
import type { MinTimeToLive } from './min-time-to-live.js';
import { ExtractProcessor } from './processors/extract.js';
import { History } from './processors/history.js';
import { ListingExtractor } from './processors/listing-extractor.js';
import { LocalMappingProcessor } from './processors/local-mapping.js';
import { Preselector } from './processors/preselector.js';
import { ReferencesWriter } from './processors/references-writer.js';
import { WriterProcessor } from './processors/writer.js';
import type { RulesDigest } from './run-state.js';

/** The stores, services and settings that the processors of a run use. */
export interface ChainOptions {
  readonly store: GathererStore;
  readonly config: GathererConfig;
  readonly fetcher: Fetcher;
  readonly essence: EssencePool;
  readonly frontier: Frontier;
  readonly scope: Scope;
  readonly servers: ServerCache;
  /** Undefined if the order keeps none. */
  readonly cookies: CookieJars | undefined;
  readonly minTimeToLive: MinTimeToLive;
  readonly roots: readonly RootNode[];
  /** Product token by which robots.txt addresses this crawler. */
  readonly robotsAgent: string;
  /** G-174: whether the request for a queued URI must not reach private addresses. */
  readonly mustBePublic: (uri: QueuedUri) => boolean;
  /** Digest of everything other than the document that affects its summary (G-110). */
  readonly rulesDigest: RulesDigest;
  readonly annotations: Annotations | undefined;
  readonly force: boolean;
  readonly readTimeoutMs: number;
  readonly now: () => UnixSeconds;
  /** Whether the configuration names an order, so that its quotas, blocks, digests and fetch histories apply. */
  readonly ordered: boolean;
  readonly warc:
    | { readonly files: WarcFiles; readonly skipIdenticalDigests: boolean; readonly digestHistory: boolean }
    | undefined;
  readonly runtime: RuntimeLimitOptions;
  /** Processors of the caller. Those of `extract` run before Essence, which transfers the body to a thread, the others at the end of their chain. */
  readonly extraProcessors: Partial<Record<ChainName, readonly Processor[]>>;
}

/** Returns the five chains of a Gatherer's run (CRAWL-11.2), with the processors that its order adds. */
export function crawlChains(options: ChainOptions): ProcessorChains {
  const { store, config, fetcher, essence, frontier, scope, servers, rulesDigest, now, extraProcessors } =
    options;
  const limits = {
    maxBytes: config.maxRetrievalSize,
    timeoutMs: options.readTimeoutMs,
    conditional: (known: DocumentRecord) =>
      config.httpIfModifiedSince && known.rulesDigest === rulesDigest(known),
    logins: loginsOf(config),
    mustBePublic: options.mustBePublic,
    cookies: options.cookies,
  };
  const history = options.ordered ? new FetchHistory({ store: historyStore(store) }) : undefined;
  const digests = options.warc?.digestHistory === true ? new DigestHistory(digestStore(store)) : undefined;
  const revisits = [history, digests].filter((source) => source !== undefined);
  const warc = options.warc === undefined ? undefined : new WarcWriter({ ...options.warc, revisits });
  return {
    'pre-fetch': [
      new Preselector({
        stoppedType: (url) => stoppedByUrl(url, essence),
        // The first run has no earlier records.
        ...(store.summaries.count > 0 ? { documents: store.documents } : {}),
        now,
      }),
      ...when(options.ordered, () => [
        new RuntimeLimit(options.runtime),
        ...orderedChecks(servers, frontier),
      ]),
      ...when(history !== undefined, () => [history!.loader]),
      new History({
        documents: store.documents,
        hasRecords: store.summaries.count > 0,
        force: options.force,
        timeToLive: config.timeToLive,
        rulesDigest,
        now,
      }),
      new LocalMappingProcessor(new LocalMapper(config.localMappings), limits),
      new PreconditionEnforcer(servers, options.mustBePublic),
      ...(extraProcessors['pre-fetch'] ?? []),
    ],
    fetch: [
      new FetchProcessor(fetcher, limits, servers),
      // Before the ResponseClassifier, so that redirects and error pages get digests and records too.
      ...when(options.ordered || warc !== undefined, () => [new ContentDigest()]),
      ...when(history !== undefined, () => [history!]),
      ...when(digests !== undefined, () => [digests!]),
      ...when(warc !== undefined, () => [warc!]),
      new ResponseClassifier(limits),
      ...(extraProcessors.fetch ?? []),
    ],
    extract: [
      ...when(history !== undefined, () => [new ChangeEvaluator(history!)]),
      new ListingExtractor({ roots: options.roots }),
      ...(extraProcessors.extract ?? []),
      new ExtractProcessor({ essence, rulesDigest, robotsAgent: options.robotsAgent, now }),
    ],
    write: [
      new WriterProcessor({
        summaries: store.summaries,
        refreshRate: config.refreshRate,
        timeToLive: config.timeToLive,
        minTimeToLive: options.minTimeToLive,
        rulesDigest,
        now,
        ...(options.annotations === undefined ? {} : { annotations: options.annotations }),
      }),
      ...(extraProcessors.write ?? []),
    ],
    'post-process': [
      new ReferencesWriter({ now }),
      ...(extraProcessors['post-process'] ?? []),
      new LinksScoper({ frontier, scope }),
      ...when(warc !== undefined, () => [warc!.metadata]),
      ...when(history !== undefined, () => [history!.keeper]),
      ...when(digests !== undefined, () => [digests!.keeper]),
    ],
  };
}

/** Returns all user names and passwords of the configuration. */
function loginsOf({ httpBasicAuth, ftpAuth }: GathererConfig): string[] {
  return [...httpBasicAuth, ...ftpAuth].flatMap(({ user, password }) => [user, password]);
}

/** CRAWL-11.3: the processors that enforce an order's blocks and quotas. */
function orderedChecks(servers: ServerCache, frontier: Frontier): Processor[] {
  return [
    new Blocker({ settings: ({ settings }) => settings }),
    new QuotaEnforcer({
      counters: {
        server: (url) => servers.serverTraffic(url),
        host: (url) => servers.hostTraffic(url),
        group: (classKey) => frontier.traffic(classKey),
      },
      settings: ({ settings }) => settings,
    }),
  ];
}

/** E-28: returns the type if the URL shows that the document is rejected and contains no links (E-25). */
function stoppedByUrl(url: string, { rules }: EssencePool): string | undefined {
  const type = typeByUrl(url, rules);
  if (type === undefined || mayContainLinks(type)) return undefined;
  return isRejected(type, rules) ? type : undefined;
}

/** Returns the processors if the condition is true. */
function when(condition: boolean, create: () => readonly Processor[]): readonly Processor[] {
  return condition ? create() : [];
}
