// Statistics of the stored objects (BRK-9.12).
import type { UnixSeconds } from '../../../protocols/time.js';
import { hostOfUrl, NameCounter } from './name-counter.js';
import { WalkCache, type WalkedStore } from './walk-cache.js';

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
  /** The most frequent first, at most `top` of each. */
  readonly types: readonly Count[];
  readonly gatherers: readonly Count[];
  readonly hosts: readonly Count[];
  /** Number of different hosts; absent if there were more than `maxNames`. */
  readonly hostCount?: number | undefined;
}

/** Limits of {@link StatisticsCache}. */
export interface StatisticsOptions {
  /** Seconds for which statistics are reused although the store has changed, default 300. */
  readonly maxAge?: number;
  /** Rows of each table, default 20. */
  readonly top?: number;
  /** Different names counted of each kind, default 100 000; it limits the memory. */
  readonly maxNames?: number;
}

/** Caches the statistics of a store. They cost at most one walk over the Registry every `maxAge` seconds. */
export class StatisticsCache {
  readonly #cache: WalkCache<BrokerStatistics>;

  constructor(store: WalkedStore, { maxAge = 300, top = 20, maxNames = 100_000 }: StatisticsOptions = {}) {
    this.#cache = new WalkCache(store, maxAge, (store, now) => compute(store, now, top, maxNames));
  }

  get(now: UnixSeconds): Promise<BrokerStatistics> {
    return this.#cache.get(now);
  }
}

async function compute(
  store: WalkedStore,
  now: UnixSeconds,
  top: number,
  maxNames: number,
): Promise<BrokerStatistics> {
  const types = new NameCounter(maxNames);
  const gatherers = new NameCounter(maxNames);
  const hosts = new NameCounter(maxNames);
  let objects = 0;
  let bytes = 0;
  let oldest = Number.POSITIVE_INFINITY;
  let newest = 0;
  for await (const page of store.all()) {
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
    types: types.top(top).rows,
    gatherers: gatherers.top(top).rows,
    hosts: hosts.top(top).rows,
    hostCount: hosts.names,
  };
}
