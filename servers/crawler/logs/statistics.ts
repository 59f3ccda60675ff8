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

/** CRAWL-16.6: documents by novelty. */
export interface NoveltyCounts {
  readonly novel: { readonly uris: number; readonly bytes: number };
  readonly notModified: { readonly uris: number; readonly bytes: number };
  readonly duplicate: { readonly uris: number; readonly bytes: number };
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

const storedSchema = z.object({
  version: z.literal(1),
  elapsed: count,
  succeeded: count,
  failed: count,
  disregarded: count,
  retries: count,
  bytes: count,
  // Absent in checkpoints of earlier versions.
  lenientHttp: count.default(0),
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

/**
 * The counters of a crawl (CRAWL-16.5, 16.6), updated with every {@link RecordedEvent}. Time counts from
 * {@link resume} to {@link pause}; the statistics start paused. Memory is bounded.
 */
export class CrawlStatistics {
  readonly #now: () => number;
  readonly #seedsLimit: number;
  /** Milliseconds of crawling before the last {@link resume}. */
  #before = 0;
  /** Time of the last {@link resume}; undefined while paused. */
  #since: number | undefined;
  #succeeded = 0;
  #failed = 0;
  #disregarded = 0;
  #retries = 0;
  #lenientHttp = 0;
  #bytes = 0;
  #novelty = {
    novel: { uris: 0, bytes: 0 },
    notModified: { uris: 0, bytes: 0 },
    duplicate: { uris: 0, bytes: 0 },
  };
  readonly #statuses: BoundedCounts;
  readonly #mimeTypes: BoundedCounts;
  readonly #sources: BoundedCounts;
  readonly #seeds = new Map<string, SeedState>();
  /** The newest last. */
  #errors: RecentError[] = [];
  /** Ring buffer of the last seconds of crawling, one slot per second. */
  readonly #window = Array.from({ length: WINDOW_SECONDS }, () => ({ second: -1, uris: 0, bytes: 0 }));

  constructor(options: CrawlStatisticsOptions = {}) {
    const { namesLimit = 1000, seedsLimit = 100_000 } = options;
    this.#now = options.now ?? (() => performance.timeOrigin + performance.now());
    this.#seedsLimit = seedsLimit;
    this.#statuses = new BoundedCounts(namesLimit);
    this.#mimeTypes = new BoundedCounts(namesLimit);
    this.#sources = new BoundedCounts(namesLimit);
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

    if (outcome === 'retry') {
      this.#retries++;
      return;
    }
    if (event.annotations.includes('lenientHttp')) this.#lenientHttp++;
    this.#statuses.add(String(status), bytes);
    if (event.sourceTag !== '') this.#sources.add(event.sourceTag, bytes);
    if (outcome === 'disregarded') {
      this.#disregarded++;
      return;
    }
    if (outcome === 'failed') {
      this.#failed++;
      this.#errors.push({ time: Math.floor(this.#now()), url, status, reason });
      if (this.#errors.length > MAX_ERRORS) this.#errors.shift();
      return;
    }
    // CRAWL-8.4: only bytes of successes count.
    this.#succeeded++;
    this.#bytes += bytes;
    this.#mimeTypes.add(mimeType(event.contentType).toLowerCase() || 'no-type', bytes);
    const kind = this.#novelty[noveltyOf(event)];
    kind.uris++;
    kind.bytes += bytes;
    const slot = this.#currentSlot();
    slot.uris++;
    slot.bytes += bytes;
  }

  /** The figures of a snapshot. */
  figures(): StatisticsFigures {
    const elapsed = this.#elapsedMs() / 1000;
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
      succeeded: this.#succeeded,
      failed: this.#failed,
      disregarded: this.#disregarded,
      bytes: this.#bytes,
      documentsPerSecond: elapsed === 0 ? 0 : this.#succeeded / elapsed,
      kilobytesPerSecond: elapsed === 0 ? 0 : this.#bytes / 1024 / elapsed,
      currentDocumentsPerSecond: recent.uris / span,
      currentKilobytesPerSecond: recent.bytes / 1024 / span,
    };
  }

  /** Number of retries. */
  get retries(): number {
    return this.#retries;
  }

  /** Number of disposed URIs whose response broke the rules of HTTP and was read by the lenient reader. */
  get lenientHttp(): number {
    return this.#lenientHttp;
  }

  get novelty(): NoveltyCounts {
    return structuredClone(this.#novelty);
  }

  /** The last hundred URIs that failed, the newest first. */
  recentErrors(): RecentError[] {
    return this.#errors.toReversed();
  }

  /** CRAWL-8.1 statuses of disposed URIs, the most frequent first. */
  responseCodes() {
    return this.#statuses.sorted();
  }

  /** Media types of successes, the most frequent first. */
  mimeTypes() {
    return this.#mimeTypes.sorted();
  }

  /** Disposed URIs by source tag (CRAWL-2.9); empty when seeds are not tagged. */
  sources() {
    return this.#sources.sorted();
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
      succeeded: this.#succeeded,
      failed: this.#failed,
      disregarded: this.#disregarded,
      retries: this.#retries,
      lenientHttp: this.#lenientHttp,
      bytes: this.#bytes,
      novelty: structuredClone(this.#novelty),
      statuses: this.#statuses.sorted(),
      mimeTypes: this.#mimeTypes.sorted(),
      sources: this.#sources.sorted(),
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
    const statistics = new CrawlStatistics(options);
    const { data } = read;
    statistics.#before = data.elapsed;
    statistics.#succeeded = data.succeeded;
    statistics.#failed = data.failed;
    statistics.#disregarded = data.disregarded;
    statistics.#retries = data.retries;
    statistics.#lenientHttp = data.lenientHttp;
    statistics.#bytes = data.bytes;
    statistics.#novelty = data.novelty;
    for (const { name, uris, bytes } of data.statuses) statistics.#statuses.add(name, bytes, uris);
    for (const { name, uris, bytes } of data.mimeTypes) statistics.#mimeTypes.add(name, bytes, uris);
    for (const { name, uris, bytes } of data.sources) statistics.#sources.add(name, bytes, uris);
    for (const seed of data.seeds) statistics.#seeds.set(seed.url, seed);
    statistics.#errors = data.errors.slice(-MAX_ERRORS);
    return statistics;
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

/** URIs and bytes of one kind. */
interface Count {
  uris: number;
  bytes: number;
}

/** Counts by name in bounded memory. New names beyond `limit` are counted together as {@link OTHER}. */
class BoundedCounts {
  readonly #limit: number;
  readonly #counts = new Map<string, Count>();

  constructor(limit: number) {
    this.#limit = limit;
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
  sorted(): { name: string; uris: number; bytes: number }[] {
    return [...this.#counts]
      .map(([name, count]) => ({ name, ...count }))
      .sort((a, b) => b.uris - a.uris || (a.name < b.name ? -1 : 1));
  }

  get size(): number {
    return this.#counts.size;
  }
}
