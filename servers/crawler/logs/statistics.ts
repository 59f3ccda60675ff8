import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { StorageError } from '../../../protocols/errors.js';
import type { CrawlSnapshot, RecentError } from '../control.js';
import type { DocumentEvent } from '../events.js';
import { redactEvent } from '../redaction.js';
import { BoundedCounts } from './bounded-counts.js';
import { mimeType } from './crawl-log.js';
import { outcomeOf } from './outcome.js';

/** Seconds that the current rates look back (CRAWL-16.3). */
const WINDOW = 20;
/** How many recent errors are kept. */
const ERRORS = 100;

export interface CrawlStatisticsOptions {
  /** Milliseconds since 1970; must not run backwards. Default: the process's monotonic clock. */
  readonly now?: () => number;
  /** Different media types, source tags and statuses that are counted by name; the rest is `other`. Default 1000. */
  readonly namesLimit?: number;
  /** Seeds whose fate is kept for the seeds report; later ones are not. Default 100 000. */
  readonly seedsLimit?: number;
}

/** What became of a seed (CRAWL-16.7). */
export interface SeedFate {
  readonly url: string;
  /** CRAWL-8.1; of the last attempt. */
  readonly status: number;
  /** False while it is to be tried again. */
  readonly disposed: boolean;
  /** Where it was redirected to; empty: nowhere, or that was not fetched. */
  readonly redirect: string;
}

/** CRAWL-16.6: what a crawl brought that was not there before. */
export interface NoveltyCounts {
  readonly novel: { readonly uris: number; readonly bytes: number };
  readonly notModified: { readonly uris: number; readonly bytes: number };
  readonly duplicate: { readonly uris: number; readonly bytes: number };
}

/** What {@link CrawlStatistics} gives to a {@link CrawlSnapshot}. */
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
  novelty: z.object({ novel: amount, notModified: amount, duplicate: amount }),
  statuses: named,
  mimeTypes: named,
  sources: named,
  seeds: z.array(
    z.object({ url: z.string(), status: z.number(), disposed: z.boolean(), redirect: z.string() }),
  ),
  errors: z.array(z.object({ time: z.number(), url: z.string(), status: z.number(), reason: z.string() })),
});

/** The statistics as a checkpoint keeps them. */
export type StoredStatistics = z.output<typeof storedSchema>;

/**
 * The counters of a crawl (CRAWL-16.5, 16.6): fed with every {@link DocumentEvent}, asked at any time. Time counts from
 * {@link resume} to {@link pause}: the statistics begin paused. Memory is bounded, whatever is crawled.
 */
export class CrawlStatistics {
  readonly #now: () => number;
  readonly #seedsLimit: number;
  /** Milliseconds before the present stretch of running. */
  #before = 0;
  /** When the present stretch began; undefined while paused. */
  #since: number | undefined;
  #succeeded = 0;
  #failed = 0;
  #disregarded = 0;
  #retries = 0;
  #bytes = 0;
  #novelty = {
    novel: { uris: 0, bytes: 0 },
    notModified: { uris: 0, bytes: 0 },
    duplicate: { uris: 0, bytes: 0 },
  };
  readonly #statuses: BoundedCounts;
  readonly #mimeTypes: BoundedCounts;
  readonly #sources: BoundedCounts;
  readonly #seeds = new Map<string, SeedFate>();
  /** The newest last. */
  #errors: RecentError[] = [];
  /** The last seconds of crawling, one place a second. */
  readonly #window = Array.from({ length: WINDOW }, () => ({ second: -1, uris: 0, bytes: 0 }));

  constructor(options: CrawlStatisticsOptions = {}) {
    const { namesLimit = 1000, seedsLimit = 100_000 } = options;
    this.#now = options.now ?? (() => performance.timeOrigin + performance.now());
    this.#seedsLimit = seedsLimit;
    this.#statuses = new BoundedCounts(namesLimit);
    this.#mimeTypes = new BoundedCounts(namesLimit);
    this.#sources = new BoundedCounts(namesLimit);
  }

  /** The crawl runs: time counts. Nothing happens when it does already. */
  resume(): void {
    this.#since ??= this.#now();
  }

  /** The crawl pauses or has ended: time stands still. */
  pause(): void {
    this.#before = this.#elapsedMs();
    this.#since = undefined;
  }

  document(given: DocumentEvent): void {
    const event = redactEvent(given);
    const { url, status, bytes, reason, pathFromSeed } = event;
    const outcome = outcomeOf(event);
    if (pathFromSeed === '') this.#seed(event, outcome !== 'retry');
    // CRAWL-2.2: the first hop from a seed is where it was redirected to.
    else if (pathFromSeed === 'R') this.#redirected(event.via, url);

    if (outcome === 'retry') {
      this.#retries++;
      return;
    }
    this.#statuses.add(String(status), bytes);
    if (event.sourceTag !== '') this.#sources.add(event.sourceTag, bytes);
    if (outcome === 'disregarded') {
      this.#disregarded++;
      return;
    }
    if (outcome === 'failed') {
      this.#failed++;
      this.#errors.push({ time: Math.floor(this.#now()), url, status, reason });
      if (this.#errors.length > ERRORS) this.#errors.shift();
      return;
    }
    // CRAWL-8.4: bytes are those of successes.
    this.#succeeded++;
    this.#bytes += bytes;
    this.#mimeTypes.add(mimeType(event.contentType).toLowerCase() || 'no-type', bytes);
    const kind = this.#novelty[noveltyOf(event)];
    kind.uris++;
    kind.bytes += bytes;
    const place = this.#place();
    place.uris++;
    place.bytes += bytes;
  }

  /** What a snapshot shows of it. */
  figures(): StatisticsFigures {
    const elapsed = this.#elapsedMs() / 1000;
    const first = Math.floor(elapsed) - WINDOW + 1;
    // The first second is not extrapolated.
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

  /** Hand-backs that were tried again. */
  get retries(): number {
    return this.#retries;
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

  /** In the order in which they were met. */
  seeds(): SeedFate[] {
    return [...this.#seeds.values()];
  }

  /** For a checkpoint (CRAWL-17.3). */
  toJSON(): StoredStatistics {
    return {
      version: 1,
      elapsed: this.#elapsedMs(),
      succeeded: this.#succeeded,
      failed: this.#failed,
      disregarded: this.#disregarded,
      retries: this.#retries,
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
   * Goes on from what {@link toJSON} gave; the statistics are paused. Rates of the last seconds begin anew.
   *
   * @throws StorageError when it is no such thing
   */
  static restore(stored: unknown, options: CrawlStatisticsOptions = {}): CrawlStatistics {
    const read = storedSchema.safeParse(stored);
    if (!read.success)
      throw new StorageError(`statistics of a checkpoint are damaged: ${z.prettifyError(read.error)}`);
    const statistics = new CrawlStatistics(options);
    const { data } = read;
    statistics.#before = data.elapsed;
    statistics.#succeeded = data.succeeded;
    statistics.#failed = data.failed;
    statistics.#disregarded = data.disregarded;
    statistics.#retries = data.retries;
    statistics.#bytes = data.bytes;
    statistics.#novelty = data.novelty;
    for (const { name, uris, bytes } of data.statuses) statistics.#statuses.add(name, bytes, uris);
    for (const { name, uris, bytes } of data.mimeTypes) statistics.#mimeTypes.add(name, bytes, uris);
    for (const { name, uris, bytes } of data.sources) statistics.#sources.add(name, bytes, uris);
    for (const seed of data.seeds) statistics.#seeds.set(seed.url, seed);
    statistics.#errors = data.errors.slice(-ERRORS);
    return statistics;
  }

  #elapsedMs(): number {
    return this.#before + (this.#since === undefined ? 0 : Math.max(0, this.#now() - this.#since));
  }

  #place(): { second: number; uris: number; bytes: number } {
    const second = Math.floor(this.#elapsedMs() / 1000);
    const place = this.#window[second % WINDOW]!;
    if (place.second !== second) Object.assign(place, { second, uris: 0, bytes: 0 });
    return place;
  }

  #seed({ url, status }: DocumentEvent, disposed: boolean): void {
    const known = this.#seeds.get(url);
    if (known === undefined && this.#seeds.size >= this.#seedsLimit) return;
    this.#seeds.set(url, { url, status, disposed, redirect: known?.redirect ?? '' });
  }

  #redirected(seed: string, redirect: string): void {
    const known = this.#seeds.get(seed);
    if (known !== undefined) this.#seeds.set(seed, { ...known, redirect });
  }
}

/** CRAWL-16.6, 18: what the server, the digest or the Refresh-Rate found out. */
function noveltyOf({ annotations, status, disposition }: DocumentEvent): keyof NoveltyCounts {
  const asked = status === 304 || annotations.includes('duplicate:server-not-modified');
  if (asked || disposition === 'kept') return 'notModified';
  return disposition === 'unchanged' || annotations.includes('duplicate:digest') ? 'duplicate' : 'novel';
}
