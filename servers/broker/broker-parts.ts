// Opens the resources of a broker: store, index, event log.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CloseStack } from '../../protocols/close-stack.js';
import type { BrokerConfig, CollectionPoint } from '../../protocols/config/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { BrokerStore } from '../../storage/index.js';
import {
  type Indexer,
  type IndexerType,
  openIndexer,
  parseIndexerType,
} from '../../storage/indexers/index.js';
import type { Debug, Logger } from '../host/index.js';
import type { CollectLimits } from './collect-context.js';
import { EventLog, logTypesByName } from './event-log.js';
import { IndexKeeper, type IndexKeeperOptions } from './index-keeper.js';
import type { StatisticsOptions } from './statistics.js';

/** Options of {@link Broker.open}. */
export interface BrokerOptions {
  readonly config: BrokerConfig;
  /** `broker.out` (BRK-5.8). */
  readonly log: Logger;
  /** BRK-6.5: sections 70 to 79 and 101 to 103. Default: none. */
  readonly debug?: Debug;
  /** Collection points instead of those in `Collection-File`. */
  readonly points?: readonly CollectionPoint[];
  /** Reads the configuration again, for `#restart`. Default: the configuration stays as it was at the start. */
  readonly reread?: () => Promise<BrokerConfig>;
  readonly limits?: CollectLimits & StatisticsOptions & Omit<IndexKeeperOptions, 'signal'>;
  /** The clock, for tests. */
  readonly now?: () => UnixSeconds;
}

/** The resources of a broker. */
export interface BrokerParts {
  readonly store: BrokerStore;
  readonly indexer: Indexer;
  readonly keeper: IndexKeeper;
  /** `admin/LOG`. */
  readonly events: EventLog;
}

/** BRK-6.5: the debug sections of the indexers. The table has none for our own engine, which uses that of PLWeb. */
const INDEXER_SECTIONS: Readonly<Record<IndexerType, number>> = { embedded: 101, glimpse: 102, swish: 103 };

/** Returns the debug section of the configured indexer. */
export function indexerSection({ indexerType }: BrokerConfig): number {
  return INDEXER_SECTIONS[parseIndexerType(indexerType)];
}

export function systemClock(): UnixSeconds {
  return Math.floor(Date.now() / 1000);
}

/**
 * Opens `<Broker-Directory>/store`, `Log-File` and the index by `Indexer-Type`, and brings the index up to date with the store.
 *
 * @param opened receives each resource as soon as it is open, and closes them all
 * @param signal aborts the update of the index
 */
export async function openParts(
  options: BrokerOptions,
  opened: CloseStack,
  signal: AbortSignal,
): Promise<BrokerParts> {
  const { config, log, now = systemClock } = options;
  const directory = config.brokerDirectory;
  const storeDirectory = join(directory, 'store');
  await mkdir(directory, { recursive: true });
  const events = opened.use(EventLog.open({ file: config.logFile, directory, types: config.logTypes, now }));
  for (const name of config.logTypes) {
    if (logTypesByName(name) === undefined) log.warn(`Log-Types: ${name} is not a type of event`);
  }
  const store = opened.adopt(await BrokerStore.open(storeDirectory, { now }), (store) => store.close());
  const indexer = opened.adopt(
    await openIndexer({
      type: config.indexerType,
      brokerDirectory: directory,
      storeDirectory,
      glimpseIndexOption: config.glimpseIndexOption,
      glimpseServerHost: config.glimpseServerHost,
      glimpseServerPort: config.glimpseServerPort,
      onWarning: (sentence) => log.warn(`${config.indexerType}: ${sentence}`),
    }),
    (indexer) => indexer.close(),
  );
  const started = performance.now();
  const before = indexer.watermark;
  const keeper = await IndexKeeper.open(store, indexer, { ...options.limits, signal });
  if (indexer.watermark !== before) {
    log.info(`Index brought up to date in ${Math.round(performance.now() - started)} ms`);
  }
  return { store, indexer, keeper, events };
}
