// Opens the resources of a broker: store, index, event log.
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { CloseStack } from '../../protocols/close-stack.js';
import type { BrokerConfig, CollectionPoint } from '../../protocols/config/index.js';
import { messageOf, StateError } from '../../protocols/errors.js';
import { textOfUrl } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { DiskReserve } from '../../storage/files/disk-reserve.js';
import { ListedDirectory } from '../../storage/files/listed-directory.js';
import { createDirectory } from '../../storage/files/make-directory.js';
import { BrokerStore } from '../../storage/index.js';
import {
  ENGINES,
  type Indexer,
  isModuleType,
  type OpenOwnIndexer,
  openIndexer,
  parseIndexerType,
} from '../../storage/indexers/index.js';
import { readLiveFiles } from '../../storage/level/verify/live-files.js';
import { createDebug, type Debug, DebugFlags, type Logger } from '../host/index.js';
import { PassedClock, storedClock } from './admin/clock-watch.js';
import { CurrentConfig } from './admin/current-config.js';
import { EventLog, logTypesByName } from './admin/event-log.js';
import { IndexKeeper, type IndexKeeperOptions } from './admin/index-keeper.js';
import { INDEX_LEASE_MS, IndexLead } from './admin/index-lead.js';
import type { BrokerParts } from './admin/parts.js';
import { repairStoredTimes } from './admin/repair-times.js';
import { StoreDamage } from './admin/store-damage.js';
import { Timetable } from './admin/timetable.js';
import type { CollectLimits } from './collect/context.js';
import { openSearchSettings } from './opensearch-settings.js';

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
  readonly limits?: CollectLimits & Pick<IndexKeeperOptions, 'flushEvery'>;
  /** Opens the query engine instead of that of `Indexer-Type`: an engine of the caller. */
  readonly openIndexer?: OpenOwnIndexer;
  /** The clock, for tests. */
  readonly now?: () => UnixSeconds;
  /** The clock that cannot be set, for tests. Default: that of the process. */
  readonly monotonicMs?: () => number;
}

/** This process, among the Brokers that share a store. */
export function processName(): string {
  return `${hostname()} (process ${process.pid})`;
}

/** BRK-6.5: returns the debug section of the configured indexer; that of a module is the embedded engine's. */
export function indexerSection({ indexerType }: BrokerConfig): number {
  return ENGINES[isModuleType(indexerType) ? 'embedded' : parseIndexerType(indexerType)].section;
}

/**
 * Opens the store (`Store-URL` or `<Broker-Directory>/store`), `Log-File` and the index by `Indexer-Type`, and brings the index up to date
 * with the store.
 *
 * @param opened receives each resource as soon as it is open, and closes them all
 * @param closing aborts the update of the index
 */
export async function openParts(
  options: BrokerOptions,
  opened: CloseStack,
  closing: AbortSignal,
): Promise<BrokerParts> {
  const { config, log, debug = createDebug(DebugFlags.parse([]), log) } = options;
  const report = (sentence: string): void => log.warn(sentence);
  const clock =
    options.now === undefined ? new PassedClock(report) : { read: options.now, witness: () => false };
  const { read: now } = clock;
  const witness = (newest: UnixSeconds): boolean => clock.witness(newest);
  const directory = config.brokerDirectory;
  const place = config.storeUrl ?? join(directory, 'store');
  await createDirectory(directory);
  let read: (oid: number) => Promise<unknown> = () => Promise.reject(new StateError('the store is not open'));
  const damage = new StoreDamage({ read: (oid) => read(oid), report });
  const files = opened.use(
    await ListedDirectory.open(
      directory,
      (sentence, file) => {
        log.warn(sentence);
        if (file?.name.startsWith('store/') !== true) return;
        if (file.isWhole) damage.forget(file.name);
        else damage.note(sentence, file.name);
      },
      readLiveFiles,
    ),
  );
  const events = opened.use(EventLog.open({ file: config.logFile, directory, types: config.logTypes, now }));
  for (const name of config.logTypes) {
    if (logTypesByName(name) === undefined) log.warn(`Log-Types: ${name} is not a type of event`);
  }
  const timetable = new Timetable(now, (event, error) => {
    if (!closing.aborted) log.error({ err: error }, `${event.name} failed`);
  });
  const settings = new CurrentConfig({
    initial: config,
    reread: options.reread,
    onChange: ({ logTypes }, previous) => {
      if (logTypes !== previous.logTypes) events.setTypes(logTypes);
      timetable.reschedule();
    },
  });
  const reserve = new DiskReserve(join(directory, 'reserve'));
  const store = opened.adopt(await reserve.open(() => BrokerStore.open(place, { now })), (store) =>
    store.close(),
  );
  read = (oid) => store.objects([oid]);
  damage.opened();
  await files.start();
  await repairStoredTimes({
    store,
    log,
    now,
    setBackWatch: store.isShared ? undefined : storedClock(store.lastChange),
  });
  const storeName = await store.sharedName();
  const indexer = opened.adopt(
    await reserve.open(async () =>
      (options.openIndexer ?? openIndexer)({
        type: config.indexerType,
        brokerDirectory: directory,
        storeDirectory: place,
        storeName,
        glimpseIndexOption: config.glimpseIndexOption,
        glimpseServerHost: config.glimpseServerHost,
        glimpseServerPort: config.glimpseServerPort,
        maxWork: config.maxWork,
        openSearch: openSearchSettings(config),
        onWarning: (sentence) => log.warn(`${config.indexerType}: ${sentence}`),
      }),
    ),
    (indexer) => indexer.close(),
  );
  const started = performance.now();
  const before = indexer.watermark;
  // Other Brokers may have indexed since the store was opened.
  await store.refresh();
  if (before > store.lastSequence) {
    log.error(
      `The store has ${store.lastSequence} changes, but its index has ${before}: the last ones are lost, and the next collection brings them`,
    );
  }
  const lead = openLead(store, indexer, log);
  if (lead !== undefined) opened.use(lead);
  const keeper = await IndexKeeper.open(store, indexer, {
    ...options.limits,
    lead,
    // The Brokers of a shared store have an index each, or one that its writer follows the store for.
    follower: lead?.name ?? `${hostname()}:${resolve(directory)}`,
    signal: closing,
    onTerm: (isWriter) =>
      log.info(
        isWriter ? 'This broker writes the shared index now' : 'Another broker writes the shared index now',
      ),
    onPartlyIndexed: (url, limit) =>
      log.warn(`${textOfUrl(url)}: only ${limit} bytes of the object are searchable`),
  });
  if (indexer.watermark !== before) {
    log.info(`Index brought up to date in ${Math.round(performance.now() - started)} ms`);
  }
  if (keeper.failure !== undefined) log.error(`The index is not up to date: ${keeper.failure}`);
  if (reserve.released)
    log.warn(
      `the disk of ${directory} is full; the broker serves the stored objects, and stores no new ones`,
    );
  await reserve.hold();
  return { store, damage, indexer, keeper, events, settings, timetable, log, debug, now, witness, closing };
}

/** The right to write an index that the Brokers of a store share; undefined if each has its own. */
function openLead({ collections }: BrokerStore, { shared }: Indexer, log: Logger): IndexLead | undefined {
  if (collections === undefined || shared === undefined) return undefined;
  return new IndexLead({
    leases: collections.leases({ owner: processName(), leaseMs: INDEX_LEASE_MS }),
    index: shared.name,
    onError: (error) => log.warn(`The lease on the index is not renewed: ${messageOf(error)}`),
  });
}
