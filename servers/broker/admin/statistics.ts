// Statistics of the stored objects (BRK-9.12).
import type { UnixSeconds } from '../../../protocols/time.js';
import { walkEntries } from '../walk-entries.js';
import { hostOfUrl, NameCounter } from './name-counter.js';
import type { WalkedStore } from './walk-cache.js';

/** One row of a table of counts. */
export interface Count {
  readonly name: string;
  readonly objects: number;
}

/** BRK-9.12: statistics of the stored objects. */
export interface BrokerStatistics {
  readonly computedAt: UnixSeconds;
  readonly objects: number;
  /** Bytes of all objects. */
  readonly bytes: number;
  readonly oldestUpdate?: UnixSeconds;
  readonly newestUpdate?: UnixSeconds;
  /** The most frequent first, at most 20 of each. */
  readonly types: readonly Count[];
  readonly gatherers: readonly Count[];
  readonly hosts: readonly Count[];
  /** Number of different hosts; absent if there were more than 100 000. */
  readonly hostCount?: number | undefined;
}

/** Rows of each table. */
const ROWS = 20;
/** Different names counted of each kind; it limits the memory. */
const MAX_NAMES = 100_000;

/** Computes the statistics of a store in one walk over the Registry, for a {@link WalkCache}. */
export async function computeStatistics(store: WalkedStore, now: UnixSeconds): Promise<BrokerStatistics> {
  const types = new NameCounter(MAX_NAMES);
  const gatherers = new NameCounter(MAX_NAMES);
  const hosts = new NameCounter(MAX_NAMES);
  let objects = 0;
  let bytes = 0;
  let oldest = Number.POSITIVE_INFINITY;
  let newest = 0;
  for await (const page of walkEntries(store)) {
    for (const entry of page) {
      objects += 1;
      bytes += entry.length;
      oldest = Math.min(oldest, entry.updateTime);
      newest = Math.max(newest, entry.updateTime);
      types.add(entry.type === '' ? 'unknown' : entry.type);
      gatherers.add(`${entry.gathererName} (${entry.gathererHost})`);
      hosts.add(hostOfUrl(entry.url));
    }
  }
  return {
    computedAt: now,
    objects,
    bytes,
    ...(objects === 0 ? {} : { oldestUpdate: oldest, newestUpdate: newest }),
    types: types.top(ROWS).rows,
    gatherers: gatherers.top(ROWS).rows,
    hosts: hosts.top(ROWS).rows,
    hostCount: hosts.names,
  };
}
