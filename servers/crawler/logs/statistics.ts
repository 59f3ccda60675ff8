import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { StorageError } from '../../../protocols/errors.js';
import type { CrawlSnapshot, RecentError } from '../control.js';
import { outcomeOf } from '../dispositions.js';
import type { RecordedEvent } from '../events.js';
import { redactEvent } from '../redaction.js';
import { mimeType } from './crawl-log.js';

/** Window of the current rates, seconds (CRAWL-16.3). */
const WINDOW_SECONDS = 20;
/** Maximum number of recent errors in memory. */
const MAX_ERRORS = 100;

export interface CrawlStatisticsOptions {
  /** Milliseconds since 1970, monotonic. Default: the monotonic clock of the process. */
  readonly now?: () => number;
  /**
   * Maximum number of media types, source tags and statuses that are counted by name; others count as `other`.
   * Default 1000.
   */
  readonly namesLimit?: number;
  /** Maximum number of seeds in the seeds report. Default 100 000. */
  readonly seedsLimit?: number;
}

/** The state of a seed (CRAWL-16.7). */
export interface SeedState {
  readonly url: string;
  /** CRAWL-8.1, of the last attempt. */
  readonly status: number;
  /** False while a retry is pending. */
  readonly disposed: boolean;
  /** Target of its redirect; empty if it did not redirect or the target was not fetched. */
  readonly redirect: string;
}

/** The part of a {@link CrawlSnapshot} that {@link CrawlStatistics} provides. */
export type StatisticsFigures = Pick<
  CrawlSnapshot,
  | 'elapsed'
  | 'succeeded'
  | 'failed'
  | 'disregarded'
  | 'bytes'
  | 'documentsPerSecond'
  | 'kilobytesPerSecond'
  | 'currentDocumentsPerSecond'
  | 'currentKilobytesPerSecond'
>;

const count = z.number().min(0);
const amount = z.object({ uris: count, bytes: count });
const named = z.array(amount.extend({ name: z.string() }));

/** The counters. A new one is a row here, and the place in {@link CrawlStatistics.document} that counts it. */
const counterRows = {
  succeeded: count,
  failed: count,
  disregarded: count,
  retries: count,
  /**
   * Disposed URIs whose response broke the rules of HTTP and was read by the lenient reader. Absent in
   * checkpoints of earlier versions.
   */
  lenientHttp: count.default(0),
  /** CRAWL-8.4: only bytes of successes count. */
  bytes: count,
};

/** Each counter by its name. */
export type CrawlCounters = Record<keyof typeof counterRows, number>;

const storedSchema = z.object({
  version: z.literal(1),
  elapsed: count,
  ...counterRows,
  novelty: z.object({ novel: amount, notModified: amount, duplicate: amount }),
  statuses: named,
  mimeTypes: named,
  sources: named,
  seeds: z.array(
    z.object({ url: z.string(), status: z.number(), disposed: z.boolean(), redirect: z.string() }),
  ),
  errors: z.array(z.object({ time: z.number(), url: z.string(), status: z.number(), reason: z.string() })),
});

/** The statistics in a checkpoint. */
export type StoredStatistics = z.output<typeof storedSchema>;

/** CRAWL-16.6: successes by novelty. */
export type NoveltyCounts = StoredStatistics['novelty'];

/** The statistics of a crawl that has done nothing. */
const NOTHING: StoredStatistics = {
  version: 1,
  elapsed: 0,
  ...(Object.fromEntries(Object.keys(counterRows).map((name) => [name, 0])) as CrawlCounters),
  novelty: {
    novel: { uris: 0, bytes: 0 },
    notModified: { uris: 0, bytes: 0 },
    duplicate: { uris: 0, bytes: 0 },
  },
  statuses: [],
  mimeTypes: [],
  sources: [],
  seeds: [],
  errors: [],
};

/**
 * The counters of a crawl (CRAWL-16.5, 16.6), updated with every {@link RecordedEvent}. Time counts from
 * {@link resume} to {@link pause}; the statistics start paused. Memory is bounded.
 */
export class CrawlStatistics {
  readonly #now: () => number;
  readonly #seedsLimit: number;
  /** Milliseconds of crawling before the last {@link resume}. */
  #before: number;
  /** Time of the last {@link resume}; undefined while paused. */
  #since: number | undefined;
  readonly counters: CrawlCounters;
  readonly novelty: NoveltyCounts;
  /** CRAWL-8.1 statuses of disposed URIs. */
  readonly statuses: BoundedCounts;
  /** Media types of successes. */
  readonly mimeTypes: BoundedCounts;
  /** Disposed URIs by source tag (CRAWL-2.9); empty when seeds are not tagged. */
  readonly sources: BoundedCounts;
  readonly #seeds: Map<string, SeedState>;
  /** The newest last. */
  readonly #errors: RecentError[];
  /** Ring buffer of the last seconds of crawling, one slot per second. */
  readonly #window = Array.from({ length: WINDOW_SECONDS }, () => ({ second: -1, uris: 0, bytes: 0 }));

  /** @param stored the statistics to continue; {@link restore} checks them */
  constructor(options: CrawlStatisticsOptions = {}, stored = NOTHING) {
    const { namesLimit = 1000, seedsLimit = 100_000 } = options;
    this.#now = options.now ?? (() => performance.timeOrigin + performance.now());
    this.#seedsLimit = seedsLimit;
    this.#before = stored.elapsed;
    this.counters = z.object(counterRows).parse(stored);
    this.novelty = structuredClone(stored.novelty);
    this.statuses = new BoundedCounts(namesLimit, stored.statuses);
    this.mimeTypes = new BoundedCounts(namesLimit, stored.mimeTypes);
    this.sources = new BoundedCounts(namesLimit, stored.sources);
    this.#seeds = new Map(stored.seeds.map((seed) => [seed.url, seed]));
    this.#errors = stored.errors.slice(-MAX_ERRORS);
  }

  /** Starts counting time; no effect while it is counted. */
  resume(): void {
    this.#since ??= this.#now();
  }

  /** Stops counting time. */
  pause(): void {
    this.#before = this.#elapsedMs();
    this.#since = undefined;
  }

  /** Counts a returned URI. */
  document(unredacted: RecordedEvent): void {
    const event = redactEvent(unredacted);
    const { url, status, bytes, reason, pathFromSeed } = event;
    const outcome = outcomeOf(event);
    if (pathFromSeed === '') this.#recordSeed(event, outcome !== 'retry');
    // CRAWL-2.2: a redirect from a seed.
    else if (pathFromSeed === 'R') this.#recordRedirect(event.via, url);

    const { counters } = this;
    if (outcome === 'retry') {
      counters.retries++;
      return;
    }
    if (event.annotations.includes('lenientHttp')) counters.lenientHttp++;
    this.statuses.add(String(status), bytes);
    if (event.sourceTag !== '') this.sources.add(event.sourceTag, bytes);
    counters[outcome]++;
    if (outcome === 'disregarded') return;
    if (outcome === 'failed') {
      this.#errors.push({ time: Math.floor(this.#now()), url, status, reason });
      if (this.#errors.length > MAX_ERRORS) this.#errors.shift();
      return;
    }
    counters.bytes += bytes;
    this.mimeTypes.add(mimeType(event.contentType).toLowerCase() || 'no-type', bytes);
    const kind = this.novelty[noveltyOf(event)];
    kind.uris++;
    kind.bytes += bytes;
    const slot = this.#currentSlot();
    slot.uris++;
    slot.bytes += bytes;
  }

  /** The figures of a snapshot. */
  figures(): StatisticsFigures {
    const elapsed = this.#elapsedMs() / 1000;
    const { succeeded, failed, disregarded, bytes } = this.counters;
    const first = Math.floor(elapsed) - WINDOW_SECONDS + 1;
    // The first second is not extrapolated to a rate.
    const span = Math.max(1, elapsed - Math.max(0, first));
    const recent = { uris: 0, bytes: 0 };
    for (const { second, uris, bytes } of this.#window) {
      if (second < first) continue;
      recent.uris += uris;
      recent.bytes += bytes;
    }
    return {
      elapsed,
      succeeded,
      failed,
      disregarded,
      bytes,
      documentsPerSecond: elapsed === 0 ? 0 : succeeded / elapsed,
      kilobytesPerSecond: elapsed === 0 ? 0 : bytes / 1024 / elapsed,
      currentDocumentsPerSecond: recent.uris / span,
      currentKilobytesPerSecond: recent.bytes / 1024 / span,
    };
  }

  /** The last hundred URIs that failed, the newest first. */
  recentErrors(): RecentError[] {
    return this.#errors.toReversed();
  }

  /** Returns the seeds in the order of their first fetch. */
  seeds(): SeedState[] {
    return [...this.#seeds.values()];
  }

  /** Returns the statistics for a checkpoint (CRAWL-17.3). */
  toJSON(): StoredStatistics {
    return {
      version: 1,
      elapsed: this.#elapsedMs(),
      ...this.counters,
      novelty: structuredClone(this.novelty),
      statuses: this.statuses.sorted(),
      mimeTypes: this.mimeTypes.sorted(),
      sources: this.sources.sorted(),
      seeds: this.seeds(),
      errors: [...this.#errors],
    };
  }

  /**
   * Restores the result of {@link toJSON}. The statistics are paused; current rates start at 0.
   *
   * @throws StorageError when it is damaged
   */
  static restore(stored: unknown, options: CrawlStatisticsOptions = {}): CrawlStatistics {
    const read = storedSchema.safeParse(stored);
    if (!read.success)
      throw new StorageError(`the statistics of a checkpoint are damaged: ${z.prettifyError(read.error)}`);
    return new CrawlStatistics(options, read.data);
  }

  #elapsedMs(): number {
    return this.#before + (this.#since === undefined ? 0 : Math.max(0, this.#now() - this.#since));
  }

  #currentSlot(): { second: number; uris: number; bytes: number } {
    const second = Math.floor(this.#elapsedMs() / 1000);
    const slot = this.#window[second % WINDOW_SECONDS]!;
    if (slot.second !== second) Object.assign(slot, { second, uris: 0, bytes: 0 });
    return slot;
  }

  #recordSeed({ url, status }: RecordedEvent, disposed: boolean): void {
    const known = this.#seeds.get(url);
    if (known === undefined && this.#seeds.size >= this.#seedsLimit) return;
    this.#seeds.set(url, { url, status, disposed, redirect: known?.redirect ?? '' });
  }

  #recordRedirect(seed: string, redirect: string): void {
    const known = this.#seeds.get(seed);
    if (known !== undefined) this.#seeds.set(seed, { ...known, redirect });
  }
}

/** CRAWL-16.6, 18: the novelty of a document by the server's answer, its digest or its Refresh-Rate. */
function noveltyOf({ annotations, status, disposition }: RecordedEvent): keyof NoveltyCounts {
  const notModified = status === 304 || annotations.includes('duplicate:server-not-modified');
  if (notModified || disposition === 'kept') return 'notModified';
  return disposition === 'unchanged' || annotations.includes('duplicate:digest') ? 'duplicate' : 'novel';
}

/** The name under which names beyond the limit are counted. */
const OTHER = 'other';

/** Counts by name in bounded memory. New names beyond `limit` are counted together as {@link OTHER}. */
class BoundedCounts {
  readonly #limit: number;
  readonly #counts = new Map<string, z.output<typeof amount>>();

  constructor(limit: number, stored: z.output<typeof named>) {
    this.#limit = limit;
    for (const { name, uris, bytes } of stored) this.add(name, bytes, uris);
  }

  add(name: string, bytes: number, uris = 1): void {
    const known = this.#counts.has(name) || this.#counts.size < this.#limit;
    const key = known ? name : OTHER;
    const count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, { uris, bytes });
    else {
      count.uris += uris;
      count.bytes += bytes;
    }
  }

  /** Returns the counts, {@link OTHER} among them, the most frequent first; equally frequent ones by name. */
  sorted(): z.output<typeof named> {
    return [...this.#counts]
      .map(([name, count]) => ({ name, ...count }))
      .sort((a, b) => b.uris - a.uris || (a.name < b.name ? -1 : 1));
  }
}
