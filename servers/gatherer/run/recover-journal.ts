import { join } from 'node:path';
import type { GathererConfig } from '../../../protocols/config/index.js';
import { UsageError } from '../../../protocols/errors.js';
import { GathererStore } from '../../../storage/index.js';
import { Frontier } from '../../crawler/frontier/frontier.js';
import {
  type ImportJournalOptions,
  type ImportProgress,
  importJournal,
} from '../../crawler/journal/import-journal.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import { FrontierPreparer } from '../../crawler/preparer.js';
import { HostAddresses } from '../../crawler/servers/host-addresses.js';
import { GatherSettings, plainOrder } from '../configuration/gather-settings.js';
import { withOrder } from '../configuration/order-seeds.js';
import { JournalScope } from './journal-scope.js';
import { MinTimeToLive } from './min-time-to-live.js';
import { expandNodes, RunState } from './run-state.js';
import { enumerationsOf, openRootLimits, scheduleSeeds, scopeRules } from './seeds.js';
import { openSeen } from './seen.js';

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
 * CRAWL-17.1.2: creates a run of the configuration from a recovery journal: finished URIs are marked as seen,
 * unfinished ones are queued if the RootNodes and the scope accept them now. The Gatherer's next run continues
 * it. The store contains the run only when the import is complete, so that an interrupted recovery starts
 * again. Budgets, counters and retries are not in a journal (CRAWL-17.1.3).
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
    enumerations: enumerationsOf(nodes, scopeRules(order, nodes)),
    holdQueues: order.holdQueues,
    targetReadyBacklog: order.targetReadyBacklog,
  });
  try {
    const roots = await openRootLimits({ config, store, order }, nodes, addresses, false);
    const scope = new JournalScope({ nodes, roots, addresses, rules: scopeRules(order, nodes) });
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
        retainFailures,
        progress,
        onDamage,
      },
    );
    // The last batch marks the run as begun, and queues seeds that are not in the journal.
    await scheduleSeeds(
      { store, order, config, now: () => Math.floor(Date.now() / 1000) },
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
  return plainOrder({
    accessDelay,
    queuesPerHost: 1,
    maxRetries: 4,
    retryDelayMs: 10_000,
    unansweredRetryDelayMs: 500,
    workers: 16,
  });
}
