import { isAbsolute, join } from 'node:path';
import { LocalMapper } from '../../../clients/fetch/index.js';
import type { CloseStack } from '../../../protocols/close-stack.js';
import type { GathererConfig, RootNode } from '../../../protocols/config/index.js';
import { messageOf } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { CHAIN_NAMES, type ChainName, type Processor } from '../../crawler/chains.js';
import { announce } from '../../crawler/events.js';
import { CrawlMap, Diversions, type MapperOptions } from '../../crawler/mapper/diversions.js';
import type { ChainStep } from '../../crawler/order/chain-config.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import type { ChainsOptions } from '../../crawler/processors/assemble-chains.js';
import type { FetchLimits, ProcessorParts } from '../../crawler/processors/parts.js';
import { loadProcessor } from '../../crawler/processors/user-processor.js';
import { gathererAttributes } from '../../essence/assemble.js';
import type { EssencePool } from '../../essence/pool/pool.js';
import { isRejected, mayContainLinks, typeByUrl } from '../../essence/recognition/recognize.js';
import type { Annotations } from '../annotate/annotations.js';
import { essenceOptionsOf } from '../configuration/essence-options.js';
import { hasSameRules, type RulesDigest } from '../configuration/rules-digest.js';
import { ExtractProcessor } from '../processors/extract.js';
import { History } from '../processors/history.js';
import { IndexDuplicates } from '../processors/index-duplicates.js';
import { ListingExtractor } from '../processors/listing-extractor.js';
import { LocalMappingProcessor, Preselector } from '../processors/preselector.js';
import { ReferencesWriter } from '../processors/references-writer.js';
import { WriterProcessor } from '../processors/writer.js';
import type { RootLimits } from '../scope/root-limits.js';
import type { CommitGate } from './commit-gate.js';
import type { MinTimeToLive } from './min-time-to-live.js';

/** What a Gatherer's own processors use, beside what those of any crawl do. */
export interface GathererParts {
  readonly config: GathererConfig;
  readonly essence: EssencePool;
  readonly minTimeToLive: MinTimeToLive;
  readonly roots: readonly RootNode[];
  readonly rootLimits: readonly RootLimits[];
  /** Product token by which robots.txt addresses this crawler. */
  readonly robotsAgent: string;
  /** Digest of everything other than the document that affects its summary (G-110). */
  readonly rulesDigest: RulesDigest;
  readonly annotations: Annotations | undefined;
  /** When the run began, if several RootNodes may lead to the same document. */
  readonly repeatedSince: UnixSeconds | undefined;
  /** When the run that is continued began; undefined for a new one. */
  readonly resumedSince: UnixSeconds | undefined;
  /** Seconds between the runs; undefined if that is not known. */
  readonly runInterval: number | undefined;
  /** Seconds that the last run took. */
  readonly runDuration: number;
  readonly force: boolean;
  readonly gate: CommitGate;
  readonly now: () => UnixSeconds;
}

/** Makes the processors that only a Gatherer has. */
export function gathererProcessors(
  { store, limits }: Pick<ProcessorParts, 'store' | 'limits'>,
  parts: GathererParts,
): ChainsOptions['owners'] {
  const { config, essence, rulesDigest, gate, now } = parts;
  const { refreshRate, timeToLive } = config;
  return {
    Preselector: () =>
      new Preselector({
        stoppedType: (url) => stoppedByUrl(url, essence),
        roots: parts.rootLimits,
        // The first run has no earlier records.
        documents: store.summaries.count > 0 ? store.documents : undefined,
        gate,
      }),
    History: () =>
      new History({
        documents: store.documents,
        summaries: store.summaries,
        hasRecords: store.summaries.count > 0,
        repeatedSince: parts.repeatedSince,
        force: parts.force,
        refreshRate,
        timeToLive,
        minTimeToLive: () => parts.minTimeToLive.seconds,
        // An object that is kept must also live until this run publishes it.
        runInterval: Math.max(Math.min(parts.runInterval ?? refreshRate, refreshRate), parts.runDuration),
        rulesDigest,
        now,
      }),
    LocalMapping: () => new LocalMappingProcessor(new LocalMapper(config.localMappings), limits),
    ListingExtractor: () => new ListingExtractor(parts.roots),
    Essence: () => new ExtractProcessor({ essence, rulesDigest, robotsAgent: parts.robotsAgent, now }),
    Writer: () =>
      new WriterProcessor({
        summaries: store.summaries,
        documents: store.documents,
        meta: store.meta,
        refreshRate,
        timeToLive,
        values: gathererAttributes(essenceOptionsOf(config)),
        minTimeToLive: parts.minTimeToLive,
        rulesDigest,
        gate,
        indexDuplicates: config.indexDuplicates
          ? undefined
          : new IndexDuplicates({
              record: (url) => store.documents.get(url),
              resumedSince: parts.resumedSince,
            }),
        annotations: parts.annotations,
      }),
    ReferencesWriter: () =>
      new ReferencesWriter({
        documents: store.documents,
        deletesGone: config.httpImmediateDelete,
        gate,
        now,
      }),
  };
}

/** The limits of a configuration for requests. */
export function fetchLimits(
  { maxRetrievalSize, httpIfModifiedSince, httpBasicAuth, ftpAuth }: GathererConfig,
  rulesDigest: RulesDigest,
  others: Pick<
    FetchLimits,
    'timeoutMs' | 'cookies' | 'keepWire' | 'openBody' | 'mustBePublic' | 'loginFor' | 'linksOfLarge'
  > & {
    readonly forms: ProcessorParts['forms'];
  },
): FetchLimits {
  const { forms, ...limits } = others;
  const logins = [...httpBasicAuth, ...ftpAuth].flatMap(({ user, password }) => [user, password]);
  return {
    ...limits,
    maxBytes: maxRetrievalSize,
    conditional: (known) => httpIfModifiedSince && hasSameRules(known.rulesDigest, rulesDigest(known)),
    logins: [...logins, ...forms.flatMap(({ secrets }) => secrets)],
  };
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
          announce(`the processor ${processor.name} cannot be closed: ${messageOf(error)}`);
        }),
      );
      loaded.set(step, processor);
    }
  return loaded;
}

/**
 * Opens the diversion files of the order; undefined if the crawl has the web for itself. @throws StorageError
 */
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
