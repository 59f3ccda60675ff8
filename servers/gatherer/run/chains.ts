import { isAbsolute, join } from 'node:path';
import { type Fetcher, LocalMapper } from '../../../clients/fetch/index.js';
import type { CloseStack } from '../../../protocols/close-stack.js';
import type { GathererConfig, RootNode } from '../../../protocols/config/index.js';
import { messageOf } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { GathererStore } from '../../../storage/gatherer/store.js';
import type { DocumentRecord, QueuedUri } from '../../../storage/records/records.js';
import { type PageLoader, type PagePartsOptions, PartCache } from '../../crawler/browser/index.js';
import { CHAIN_NAMES, type ChainName, type Processor, type ProcessorChains } from '../../crawler/chains.js';
import { decideSequence } from '../../crawler/decide/index.js';
import { crawlChannel } from '../../crawler/events.js';
import type { Frontier } from '../../crawler/frontier/index.js';
import { digestStore, historyStore } from '../../crawler/history-store.js';
import {
  CrawlMap,
  CrawlMapper,
  Diversions,
  LinksMapper,
  type MapperOptions,
} from '../../crawler/mapper/index.js';
import type { ChainStep } from '../../crawler/order/chain-config.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import type { ProcessorName } from '../../crawler/order/processor-names.js';
import { Blocker } from '../../crawler/processors/blocker.js';
import { BrowserProcessor } from '../../crawler/processors/browser.js';
import { ChangeEvaluator } from '../../crawler/processors/change-evaluator.js';
import { ContentDigest } from '../../crawler/processors/content-digest.js';
import { DigestHistory } from '../../crawler/processors/digest-history.js';
import { type FetchLimits, FetchProcessor, ResponseClassifier } from '../../crawler/processors/fetch.js';
import { FetchHistory } from '../../crawler/processors/fetch-history.js';
import { FormLogin, type LoginForm } from '../../crawler/processors/form-login.js';
import { GatedProcessor } from '../../crawler/processors/gated-processor.js';
import { LinksScoper } from '../../crawler/processors/links-scoper.js';
import { PreconditionEnforcer } from '../../crawler/processors/precondition-enforcer.js';
import { QuotaEnforcer } from '../../crawler/processors/quota-enforcer.js';
import { RuntimeLimit, type RuntimeLimitOptions } from '../../crawler/processors/runtime-limit.js';
import { loadProcessor } from '../../crawler/processors/user-processor.js';
import { WarcWriter } from '../../crawler/processors/warc-writer.js';
import type { CookieJars } from '../../crawler/requests/index.js';
import type { Scope } from '../../crawler/scope.js';
import type { ServerCache } from '../../crawler/servers/index.js';
import type { WarcFiles } from '../../crawler/warc/index.js';
import { gathererAttributes } from '../../essence/assemble.js';
import type { EssencePool } from '../../essence/pool.js';
import { isRejected, mayContainLinks, typeByUrl } from '../../essence/recognize.js';
import type { Annotations } from '../annotate/annotations.js';
import { essenceOptionsOf } from '../configuration/essence-options.js';
import { hasSameRules, type RulesDigest } from '../configuration/rules-digest.js';
import { ExtractProcessor } from '../processors/extract.js';
import { History } from '../processors/history.js';
import { ListingExtractor } from '../processors/listing-extractor.js';
import { LocalMappingProcessor } from '../processors/local-mapping.js';
import { Preselector } from '../processors/preselector.js';
import { ReferencesWriter } from '../processors/references-writer.js';
import { WriterProcessor } from '../processors/writer.js';
import type { RootLimits } from '../scope/root-limits.js';
import type { MinTimeToLive } from './min-time-to-live.js';

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
  readonly forms: readonly LoginForm[];
  readonly minTimeToLive: MinTimeToLive;
  readonly roots: readonly RootNode[];
  /** Product token by which robots.txt addresses this crawler. */
  readonly robotsAgent: string;
  /** G-174: whether the request for a queued URI must not reach private addresses. */
  readonly mustBePublic: (uri: QueuedUri) => boolean;
  /** Digest of everything other than the document that affects its summary (G-110). */
  readonly rulesDigest: RulesDigest;
  readonly annotations: Annotations | undefined;
  readonly rootLimits: readonly RootLimits[];
  /** When the run began, if several RootNodes may lead to the same document. */
  readonly repeatedSince: UnixSeconds | undefined;
  readonly force: boolean;
  readonly readTimeoutMs: number;
  readonly now: () => UnixSeconds;
  /** Whether the configuration names an order, so that its quotas, blocks, digests and fetch histories apply. */
  readonly ordered: boolean;
  readonly warc:
    | (Pick<CrawlOrderConfig['warc'], 'format' | 'skipIdenticalDigests' | 'transferCoding'> & {
        readonly files: WarcFiles;
      })
    | undefined;
  readonly runtime: RuntimeLimitOptions;
  /** The browser of `settings.fetcher`; undefined if no page is loaded in one. */
  readonly browser:
    | (Pick<CrawlOrderConfig['browser'], 'maxCacheMiB' | 'keepDocuments'> &
        Pick<PagePartsOptions, 'prepare' | 'settingsFor'> & { readonly loader: PageLoader })
    | undefined;
  /** The processors of each chain, by the order. */
  readonly steps: Readonly<Record<ChainName, readonly ChainStep[]>>;
  /** The loaded modules among them. */
  readonly loaded: ReadonlyMap<ChainStep, Processor>;
  readonly seeds: readonly string[];
  /** Of a crawl that shares the web with others. */
  readonly mapper: MapperOptions | undefined;
  /** Processors of the caller. Those of `extract` run before Essence, which transfers the body to a thread, the others at the end of their chain. */
  readonly extraProcessors: Partial<Record<ChainName, readonly Processor[]>>;
}

/** Returns the five chains of a Gatherer's run (CRAWL-11.2): those of its order, or the default ones. */
export function crawlChains(options: ChainOptions): ProcessorChains {
  const factories = processorFactories(options, () => chains);
  const { steps, loaded, ordered, extraProcessors, seeds } = options;
  const chains = Object.fromEntries(
    CHAIN_NAMES.map((chain) => {
      const processors = steps[chain].flatMap((step): Processor | readonly Processor[] => {
        const { entry } = step;
        // The order is checked: a step without a module has the name of a processor.
        const name = entry.processor as ProcessorName;
        if (!ordered && ORDER_ONLY.has(name)) return [];
        const processor = loaded.get(step) ?? factories[name]();
        if (processor === undefined) return [];
        const { rules } = entry;
        return rules.length === 0
          ? processor
          : new GatedProcessor(processor, decideSequence(rules, { seeds }));
      });
      const extra = extraProcessors[chain] ?? [];
      const before = processors.findIndex(({ name }) => name === BEFORE[chain]);
      return [chain, processors.toSpliced(before === -1 ? processors.length : before, 0, ...extra)];
    }),
  ) as Record<ChainName, Processor[]>;
  return chains;
}

/** The processors before which those of the caller run; in other chains they are the last. */
const BEFORE: Partial<Record<ChainName, string>> = { extract: 'Essence', 'post-process': 'LinksScoper' };

/** Processors that only a crawl with an order has. */
const ORDER_ONLY: ReadonlySet<ProcessorName> = new Set([
  'RuntimeLimit',
  'Blocker',
  'QuotaEnforcer',
  'FetchHistoryLoader',
  'ContentDigest',
  'FetchHistory',
  'FetchHistoryKeeper',
  'ChangeEvaluator',
]);

/** Returns a function that creates each of this project's processors, by name; undefined without what it needs. */
function processorFactories(
  options: ChainOptions,
  chains: () => ProcessorChains,
): Readonly<Record<ProcessorName, () => Processor | undefined>> {
  const { store, config, fetcher, essence, frontier, scope, servers, rulesDigest, now } = options;
  const limits = {
    maxBytes: config.maxRetrievalSize,
    timeoutMs: options.readTimeoutMs,
    conditional: (known: DocumentRecord) =>
      config.httpIfModifiedSince && hasSameRules(known.rulesDigest, rulesDigest(known)),
    logins: [...loginsOf(config), ...options.forms.flatMap(({ secrets }) => secrets)],
    mustBePublic: options.mustBePublic,
    cookies: options.cookies,
    keepWire: options.warc && keepWireFor(options.warc),
  };
  const isListed = (name: ProcessorName): boolean =>
    CHAIN_NAMES.some((chain) => options.steps[chain].some(({ entry }) => entry.processor === name));
  const history =
    options.ordered && isListed('FetchHistory')
      ? new FetchHistory({ store: historyStore(store) })
      : undefined;
  const digests = isListed('DigestHistory') ? new DigestHistory(digestStore(store)) : undefined;
  const revisits = [history, digests].filter((source) => source !== undefined);
  const warc = options.warc === undefined ? undefined : new WarcWriter({ ...options.warc, revisits });
  return {
    CrawlMapper: () => options.mapper && new CrawlMapper(options.mapper),
    Preselector: () =>
      new Preselector({
        stoppedType: (url) => stoppedByUrl(url, essence),
        roots: options.rootLimits,
        // The first run has no earlier records.
        ...(store.summaries.count > 0 ? { documents: store.documents } : {}),
        now,
      }),
    RuntimeLimit: () => new RuntimeLimit(options.runtime),
    Blocker: () => new Blocker({ settings: ({ settings }) => settings }),
    QuotaEnforcer: () => quotaEnforcer(servers, frontier),
    FetchHistoryLoader: () => history?.loader,
    History: () =>
      new History({
        documents: store.documents,
        hasRecords: store.summaries.count > 0,
        repeatedSince: options.repeatedSince,
        force: options.force,
        refreshRate: config.refreshRate,
        timeToLive: config.timeToLive,
        rulesDigest,
        now,
      }),
    LocalMapping: () => new LocalMappingProcessor(new LocalMapper(config.localMappings), limits),
    PreconditionEnforcer: () => new PreconditionEnforcer(servers, options.mustBePublic),
    FormLogin: () => formLogin(options),
    Fetch: () => new FetchProcessor(fetcher, limits, servers),
    ContentDigest: () => new ContentDigest(),
    FetchHistory: () => history,
    DigestHistory: () => digests,
    WarcWriter: () => warc,
    ResponseClassifier: () => new ResponseClassifier(limits),
    ChangeEvaluator: () => (history === undefined ? undefined : new ChangeEvaluator(history)),
    Browser: () => browserProcessor(options, limits, chains, warc),
    ListingExtractor: () => new ListingExtractor({ roots: options.roots }),
    Essence: () => new ExtractProcessor({ essence, rulesDigest, robotsAgent: options.robotsAgent, now }),
    Writer: () =>
      new WriterProcessor({
        summaries: store.summaries,
        meta: store.meta,
        refreshRate: config.refreshRate,
        timeToLive: config.timeToLive,
        values: gathererAttributes(essenceOptionsOf(config)),
        minTimeToLive: options.minTimeToLive,
        rulesDigest,
        now,
        annotations: options.annotations,
      }),
    ReferencesWriter: () => new ReferencesWriter({ deletesGone: config.httpImmediateDelete, now }),
    LinksScoper: () => new LinksScoper({ frontier, scope }),
    LinksMapper: () => options.mapper && new LinksMapper(options.mapper),
    WarcMetadata: () => warc?.metadata,
    FetchHistoryKeeper: () => history?.keeper,
    DigestHistoryKeeper: () => digests?.keeper,
  };
}

/** What a WARC writer needs of the messages. */
export function keepWireFor({
  transferCoding,
}: Pick<CrawlOrderConfig['warc'], 'transferCoding'>): 'messages' | 'framing' {
  return transferCoding === 'kept' ? 'framing' : 'messages';
}

/** Returns all user names and passwords of the configuration. */
function loginsOf({ httpBasicAuth, ftpAuth }: GathererConfig): string[] {
  return [...httpBasicAuth, ...ftpAuth].flatMap(({ user, password }) => [user, password]);
}

/** CRAWL-12.4; undefined without forms. */
function formLogin(options: ChainOptions): FormLogin | undefined {
  const { cookies, forms, readTimeoutMs } = options;
  if (cookies === undefined || forms.length === 0) return undefined;
  return new FormLogin({ ...options, forms, cookies, timeoutMs: readTimeoutMs });
}

/** Undefined if no page is loaded in a browser. */
function browserProcessor(
  { browser, fetcher, servers, scope }: ChainOptions,
  limits: FetchLimits,
  chains: () => ProcessorChains,
  warc: WarcWriter | undefined,
): BrowserProcessor | undefined {
  if (browser === undefined) return undefined;
  const { loader, prepare, settingsFor, maxCacheMiB, keepDocuments } = browser;
  const cache = new PartCache(maxCacheMiB * 2 ** 20);
  const archive = keepDocuments ? warc : undefined;
  return new BrowserProcessor({
    loader,
    prepare,
    settingsFor,
    cache,
    archive,
    fetcher,
    servers,
    scope,
    limits,
    chains,
  });
}

/** CRAWL-11.3. */
function quotaEnforcer(servers: ServerCache, frontier: Frontier): QuotaEnforcer {
  return new QuotaEnforcer({
    counters: {
      server: (url) => servers.serverTraffic(url),
      host: (url) => servers.hostTraffic(url),
      group: (classKey) => frontier.traffic(classKey),
    },
    settings: ({ settings }) => settings,
  });
}

/** E-28: returns the type if the URL shows that the document is rejected and contains no links (E-25). */
function stoppedByUrl(url: string, { rules }: EssencePool): string | undefined {
  const type = typeByUrl(url, rules);
  if (type === undefined || mayContainLinks(type)) return undefined;
  return isRejected(type, rules) ? type : undefined;
}

/**
 * Loads the operator's processors of an order; they are closed with the resources.
 * @throws ConfigError as {@link loadProcessor}
 */
export async function loadProcessors(
  steps: Readonly<Record<ChainName, readonly ChainStep[]>>,
  directory: string,
  resources: CloseStack,
): Promise<ReadonlyMap<ChainStep, Processor>> {
  const loaded = new Map<ChainStep, Processor>();
  for (const chain of CHAIN_NAMES)
    for (const step of steps[chain]) {
      if (step.entry.module === undefined) continue;
      const processor = await loadProcessor(step, chain, directory);
      resources.defer(() =>
        processor.close().catch((error: unknown) => {
          // The documents are stored; the crawl ends as usual.
          const text = `the processor ${processor.name} cannot be closed: ${messageOf(error)}`;
          crawlChannel.publish({ text, alert: true });
        }),
      );
      loaded.set(step, processor);
    }
  return loaded;
}

/** Opens the diversion files of the order; undefined if the crawl has the web for itself. @throws StorageError */
export async function openMapper(
  { mapper }: Pick<CrawlOrderConfig, 'mapper'>,
  crawlDirectory: string,
  { prepare }: Pick<MapperOptions, 'prepare'>,
  resources: CloseStack,
): Promise<MapperOptions | undefined> {
  const { crawlers, own, by, directory } = mapper;
  if (crawlers === 0) return undefined;
  const path = isAbsolute(directory) ? directory : join(crawlDirectory, directory);
  const diversions = resources.use(await Diversions.open(path, own));
  return { map: new CrawlMap({ crawlers, own, by }), diversions, prepare };
}
