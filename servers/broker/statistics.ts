import type { UnixSeconds } from '../../protocols/time.js';
import type { BrokerStore } from '../../storage/index.js';

/** One line of a table of counts. */
export interface Count {
  readonly name: string;
  readonly objects: number;
}

/** BRK-9.12: the database in numbers. */
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
  /** Different hosts in all; undefined when there were too many to count. */
  readonly hostCount?: number;
}

/** Limits of {@link StatisticsCache}. */
export interface StatisticsOptions {
  /** Seconds for which numbers are given out again although the store has changed, default 300. */
  readonly maxAge?: number;
  /** Rows of each table, default 20. */
  readonly top?: number;
  /** Different names counted of each kind, default 100 000: the memory this may take. */
  readonly maxNames?: number;
}

/** Statistics that cost one walk over the registry at most every `maxAge` seconds, however often they are asked for. */
export class StatisticsCache {
  #latest: BrokerStatistics | undefined;
  #sequence = -1;
  #running: Promise<BrokerStatistics> | undefined;

  constructor(
    readonly store: BrokerStore,
    readonly options: StatisticsOptions = {},
  ) {}

  /** The numbers, at most `maxAge` seconds old. */
  async get(now: UnixSeconds): Promise<BrokerStatistics> {
    const latest = this.#latest;
    const fresh = latest !== undefined && now - latest.computedAt < (this.options.maxAge ?? 300);
    if (latest !== undefined && (fresh || this.#sequence === this.store.lastSequence)) return latest;
    this.#running ??= this.#compute(now).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #compute(now: UnixSeconds): Promise<BrokerStatistics> {
    const { top = 20, maxNames = 100_000 } = this.options;
    const sequence = this.store.lastSequence;
    const types = new Counter(maxNames);
    const gatherers = new Counter(maxNames);
    const hosts = new Counter(maxNames);
    let objects = 0;
    let bytes = 0;
    let oldest = Number.POSITIVE_INFINITY;
    let newest = 0;
    for await (const page of this.store.all()) {
      for (const entry of page) {
        objects += 1;
        bytes += entry.length;
        oldest = Math.min(oldest, entry.updateTime);
        newest = Math.max(newest, entry.updateTime);
        types.add(entry.type === '' ? 'unknown' : entry.type);
        gatherers.add(`${entry.gathererName} (${entry.gathererHost})`);
        hosts.add(hostOf(entry.url));
      }
    }
    this.#latest = {
      computedAt: now,
      objects,
      bytes,
      ...(objects === 0 ? {} : { oldestUpdate: oldest, newestUpdate: newest }),
      types: types.top(top),
      gatherers: gatherers.top(top),
      hosts: hosts.top(top),
      ...(hosts.full ? {} : { hostCount: hosts.names }),
    };
    this.#sequence = sequence;
    return this.#latest;
  }
}

class Counter {
  readonly #counts = new Map<string, number>();
  #others = 0;

  constructor(readonly maxNames: number) {}

  get names(): number {
    return this.#counts.size;
  }

  get full(): boolean {
    return this.#others > 0;
  }

  add(name: string): void {
    const count = this.#counts.get(name);
    if (count !== undefined) this.#counts.set(name, count + 1);
    else if (this.#counts.size < this.maxNames) this.#counts.set(name, 1);
    else this.#others += 1;
  }

  top(rows: number): Count[] {
    const counts = [...this.#counts].map(([name, objects]) => ({ name, objects }));
    counts.sort((a, b) => b.objects - a.objects || (a.name < b.name ? -1 : 1));
    return counts.slice(0, rows);
  }
}

/** The host part of a URL; what has none is counted under its scheme. */
function hostOf(url: string): string {
  const match = /^([a-z][a-z0-9+.-]*):(?:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*))?/i.exec(url);
  return match?.[2]?.toLowerCase() || `${match?.[1]?.toLowerCase() ?? 'unknown'}:`;
}
