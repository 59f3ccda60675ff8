import { type Fetcher, LocalMapper } from '../../clients/fetch/index.js';
import type { GathererConfig, RootNode } from '../../protocols/config/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { DocumentRecord, GathererStore } from '../../storage/index.js';
import type { ChainName, Processor, ProcessorChains } from '../crawler/chains.js';
import type { Frontier } from '../crawler/frontier/index.js';
import { historyStore } from '../crawler/history-store.js';
import { Blocker } from '../crawler/processors/blocker.js';
import { ContentDigest } from '../crawler/processors/content-digest.js';
import { FetchJudge, FetchProcessor } from '../crawler/processors/fetch.js';
import { FetchHistory } from '../crawler/processors/fetch-history.js';
import { LinksScoper } from '../crawler/processors/links-scoper.js';
import { PreconditionEnforcer } from '../crawler/processors/precondition-enforcer.js';
import { QuotaEnforcer } from '../crawler/processors/quota-enforcer.js';
import { WarcWriter } from '../crawler/processors/warc-writer.js';
import type { Scope } from '../crawler/scope.js';
import type { ServerCache } from '../crawler/servers/index.js';
import type { WarcFiles } from '../crawler/warc/index.js';
import { type EssencePool, isRejected, mayHoldLinks, typeByUrl } from '../essence/index.js';
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

/** What the processors of a run work with. */
export interface ChainParts {
  readonly store: GathererStore;
  readonly config: GathererConfig;
  readonly fetcher: Fetcher;
  readonly essence: EssencePool;
  readonly frontier: Frontier;
  readonly scope: Scope;
  readonly servers: ServerCache;
  readonly lives: MinTimeToLive;
  readonly roots: readonly RootNode[];
  /** Product token that robots rules address us by. */
  readonly robotsAgent: string;
  /** G-174. */
  readonly mustBePublic: (from: string, to: string) => boolean;
  /** Of what a summary depends on besides the document (G-110). */
  readonly rulesDigest: RulesDigest;
  readonly annotations: Annotations | undefined;
  readonly force: boolean;
  readonly readTimeoutMs: number;
  readonly now: () => UnixSeconds;
  /** An order is given: quotas, blocks, digests and fetch histories as it says. */
  readonly ordered: boolean;
  readonly warc: { readonly files: WarcFiles; readonly skipIdenticalDigests: boolean } | undefined;
  /** Further processors: those of `extract` come before Essence, which gives the body away; the others at the end of their chain. */
  readonly further: Partial<Record<ChainName, readonly Processor[]>>;
}

/** The five chains of a Gatherer's run (CRAWL-11.2), with what its order adds. */
export function crawlChains(parts: ChainParts): ProcessorChains {
  const { store, config, fetcher, essence, frontier, scope, servers, lives, rulesDigest, now, further } =
    parts;
  const limits = {
    maxBytes: config.maxRetrievalSize,
    timeoutMs: parts.readTimeoutMs,
    conditional: (known: DocumentRecord) =>
      config.httpIfModifiedSince && known.rulesDigest === rulesDigest(known),
    logins: loginsOf(config),
    mustBePublic: parts.mustBePublic,
  };
  const history = parts.ordered ? new FetchHistory({ store: historyStore(store) }) : undefined;
  const warc =
    parts.warc === undefined
      ? undefined
      : new WarcWriter({ ...parts.warc, ...(history === undefined ? {} : { revisits: [history] }) });
  return {
    'pre-fetch': [
      new Preselector({
        stopped: (url) => stoppedByUrl(url, essence),
        // Nothing needs to be looked up on the first run.
        ...(store.summaries.count > 0 ? { documents: store.documents } : {}),
        now,
      }),
      ...when(parts.ordered, () => orderedChecks(servers, frontier)),
      ...when(history !== undefined, () => [history!.loader]),
      new History({
        documents: store.documents,
        known: store.summaries.count > 0,
        force: parts.force,
        timeToLive: config.timeToLive,
        rulesDigest,
        now,
      }),
      new LocalMappingProcessor(new LocalMapper(config.localMappings), limits),
      new PreconditionEnforcer(servers),
      ...(further['pre-fetch'] ?? []),
    ],
    fetch: [
      new FetchProcessor(fetcher, limits, servers),
      // Redirects and error pages have digests and records too.
      ...when(parts.ordered || warc !== undefined, () => [new ContentDigest()]),
      ...when(history !== undefined, () => [history!]),
      ...when(warc !== undefined, () => [warc!]),
      new FetchJudge(limits),
      ...(further.fetch ?? []),
    ],
    extract: [
      new ListingExtractor({ roots: parts.roots }),
      ...(further.extract ?? []),
      new ExtractProcessor({ essence, rulesDigest, robotsAgent: parts.robotsAgent, now }),
    ],
    write: [
      new WriterProcessor({
        summaries: store.summaries,
        refreshRate: config.refreshRate,
        timeToLive: config.timeToLive,
        lives,
        rulesDigest,
        now,
        ...(parts.annotations === undefined ? {} : { annotations: parts.annotations }),
      }),
      ...(further.write ?? []),
    ],
    'post-process': [
      new ReferencesWriter({ now }),
      ...(further['post-process'] ?? []),
      new LinksScoper({ frontier, scope }),
      ...when(warc !== undefined, () => [warc!.metadata]),
      ...when(history !== undefined, () => [history!.keeper]),
    ],
  };
}

/** Users and passwords. */
function loginsOf({ httpBasicAuth, ftpAuth }: GathererConfig): string[] {
  return [...httpBasicAuth, ...ftpAuth].flatMap(({ user, password }) => [user, password]);
}

/** CRAWL-11.3: what an operator's order forbids. */
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

/** E-28: the type, when the URL alone tells that a transfer would be for nothing; links are still wanted (E-25). */
function stoppedByUrl(url: string, { rules }: EssencePool): string | undefined {
  const type = typeByUrl(url, rules);
  if (type === undefined || mayHoldLinks(type)) return undefined;
  return isRejected(type, rules) ? type : undefined;
}

function when(condition: boolean, make: () => readonly Processor[]): readonly Processor[] {
  return condition ? make() : [];
}
