import { join } from 'node:path';
import type { GathererConfig } from '../../protocols/config/index.js';
import { UsageError } from '../../protocols/errors.js';
import { hopCount, shownHops } from '../../protocols/urls/index.js';
import { GathererStore } from '../../storage/index.js';
import { decideSequence } from '../crawler/decide/index.js';
import { type Candidate, Frontier } from '../crawler/frontier/index.js';
import {
  type ImportJournalOptions,
  type ImportProgress,
  importJournal,
  type JournalUri,
} from '../crawler/journal/index.js';
import type { CrawlOrderConfig } from '../crawler/order/order.js';
import { FrontierPreparer } from '../crawler/preparer.js';
import { HostAddresses } from '../crawler/servers/index.js';
import { openSeen } from './crawl-job.js';
import { isListed } from './enumerate/index.js';
import { GatherSettings, plainOrder } from './gather-settings.js';
import { MinTimeToLive } from './min-time-to-live.js';
import { withOrder } from './order-seeds.js';
import type { RootLimits } from './root-limits.js';
import { openRootLimits, scheduleSeeds, seedsOf } from './run-seeds.js';
import { expandNodes, type RunNodes, RunState } from './run-state.js';

export interface RecoverJournalOptions
  extends Pick<ImportJournalOptions, 'retainFailures' | 'progress' | 'onDamage'> {
  /** The Gatherer's directory. */
  readonly directory: string;
  readonly config: GathererConfig;
  /** Undefined if the configuration names no order. */
  readonly order: CrawlOrderConfig | undefined;
  /** Name of the configuration file, for messages. */
  readonly configFile: string;
  /** The journal's files, the oldest first. */
  readonly journals: readonly string[];
  /** Discards an interrupted run. Default false. */
  readonly replace?: boolean;
  readonly signal: AbortSignal;
}

/** The result of a recovery. */
export interface RecoveredJournal extends ImportProgress {
  /** Number of queued URIs. */
  readonly queued: number;
}

/**
 * CRAWL-17.1.2: creates a run of the configuration from a recovery journal: finished URIs are marked as seen, unfinished ones are queued
 * if the RootNodes and the scope accept them now. The Gatherer's next run continues it. The store contains the run only when the import is
 * complete, so that an interrupted recovery starts again. Budgets, counters and retries are not in a journal (CRAWL-17.1.3).
 *
 * @throws UsageError if the store has an interrupted run; StorageError, ConfigError, the signal's reason
 */
export async function recoverJournal(options: RecoverJournalOptions): Promise<RecoveredJournal> {
  const { directory, signal, journals, configFile } = options;
  const config = withOrder(options.config, options.order);
  const order = options.order ?? defaultOrder(config);
  await using store = await GathererStore.open(join(directory, 'working'));
  const state = new RunState(store, config);
  if (options.replace !== true && (await state.interrupted()) !== undefined)
    throw new UsageError(`${directory} has an interrupted run, which the next run continues`);
  const nodes = await expandNodes(config, { file: configFile, signal });
  await store.batch().deleteMeta('run.state').commit({ sync: true });
  await store.clearFrontier();
  await using seen = await openSeen({ store, order, directory }, false);
  const settings = new GatherSettings(order, options.order !== undefined, nodes.roots);
  const addresses = new HostAddresses({
    validitySeconds: (host) => settings.forUrl(`http://${host}/`).ipValiditySeconds,
  });
  const preparer = new FrontierPreparer({
    settingsFor: (uri) => settings.forUri(uri),
    addressOf: (host) => addresses.bytesOf(host),
  });
  const frontier = await Frontier.open({
    store,
    seen,
    prepare: (uri) => preparer.prepare(uri),
    holdQueues: order.holdQueues,
    targetReadyBacklog: order.targetReadyBacklog,
  });
  try {
    const roots = await openRootLimits({ config, store }, nodes, addresses, false);
    const scope = new JournalScope(order, nodes, roots, addresses);
    const { retainFailures, progress, onDamage } = options;
    const imported = await importJournal(
      journals,
      {
        note: (urls) => frontier.note(urls),
        schedule: async (uris) => {
          await frontier.schedule(uris.flatMap((uri) => scope.candidate(uri) ?? []));
        },
      },
      {
        signal,
        scope: (uri) => scope.accepts(uri),
        ...(retainFailures === undefined ? {} : { retainFailures }),
        ...(progress === undefined ? {} : { progress }),
        ...(onDamage === undefined ? {} : { onDamage }),
      },
    );
    // The last batch marks the run as begun, and queues seeds that are not in the journal.
    await scheduleSeeds(
      { store, order, config },
      nodes,
      state,
      frontier,
      roots,
      await MinTimeToLive.read(store.meta),
    );
    return { ...imported, queued: frontier.counts.queued };
  } finally {
    await frontier.settled();
    frontier.close();
  }
}

function defaultOrder({ accessDelay }: GathererConfig): CrawlOrderConfig {
  return plainOrder({ accessDelay, queuesPerHost: 1, maxRetries: 4, retryDelayMs: 10_000, workers: 16 });
}

/** Assigns a journal's URIs to RootNodes, which the journal does not record: to the first that accepts it, those of its host first. */
class JournalScope {
  readonly #rules;
  readonly #leaves: ReadonlySet<string>;

  constructor(
    order: CrawlOrderConfig,
    nodes: RunNodes,
    readonly roots: readonly RootLimits[],
    readonly addresses: HostAddresses,
  ) {
    this.#rules =
      order.scope.length === 0 ? undefined : decideSequence(order.scope, { seeds: seedsOf(nodes) });
    this.#leaves = new Set(nodes.leaves.map(({ url }) => url));
  }

  /** CRAWL-17.1.2: whether the scope accepts the URI now. */
  async accepts(uri: JournalUri): Promise<boolean> {
    if (!URL.canParse(uri.url)) return false;
    const { hostname } = new URL(uri.url);
    if (hostname !== '') await this.addresses.resolve([hostname]);
    return this.candidate(uri) !== undefined;
  }

  candidate({ url, pathFromSeed, via }: JournalUri): Candidate | undefined {
    const common = { url, via, pathFromSeed, forceFetch: false, sourceTag: '' };
    if (this.#leaves.has(url)) return { ...common, root: this.roots.length, depth: 0, isLeaf: true };
    const parsed = new URL(url);
    const depth = depthOf(pathFromSeed);
    const root = this.#rootOf(parsed, depth);
    if (root === undefined || this.#refuses(url, pathFromSeed, via)) return undefined;
    const limits = this.roots[root]!;
    return {
      ...common,
      root,
      depth,
      isLeaf: pathFromSeed.endsWith('L') && isListed(limits.rules.root),
      admit: () => {
        const refusal = limits.refusal(parsed, depth) ?? limits.hostRefusal(parsed, depth);
        if (refusal === undefined) limits.countUrl(parsed);
        return refusal === undefined;
      },
    };
  }

  #rootOf(url: URL, depth: number): number | undefined {
    const accepting = [...this.roots.keys()].filter((index) => {
      const limits = this.roots[index]!;
      return limits.refusal(url, depth) === undefined && limits.hostRefusal(url, depth) === undefined;
    });
    return (
      accepting.find((index) => new URL(this.roots[index]!.rules.root.url).host === url.host) ?? accepting[0]
    );
  }

  #refuses(uri: string, hops: string, via: string): boolean {
    const isSeed = hops === '';
    return this.#rules?.accepts({ uri, hops, seed: isSeed, ...(isSeed ? {} : { via }) }) === false;
  }
}

/** G-60: redirects do not count. */
function depthOf(pathFromSeed: string): number {
  const redirects = [...shownHops(pathFromSeed).letters].filter((hop) => hop === 'R').length;
  return hopCount(pathFromSeed) - redirects;
}
