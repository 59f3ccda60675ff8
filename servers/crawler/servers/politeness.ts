import { z } from 'zod';
import { StorageError } from '../../../protocols/errors.js';
import type { CrawlSettings } from '../order/settings.js';
import type { WaitReason } from '../states.js';

/** Bytes per millisecond at one KB/s (CRAWL-7.1: 1024 bytes per second). */
const BYTES_PER_MS = 1.024;

/** The settings of {@link politenessDelay}. */
export type PolitenessSettings = Pick<
  CrawlSettings,
  | 'delayFactor'
  | 'minDelayMs'
  | 'maxDelayMs'
  | 'respectCrawlDelayUpToSecs'
  | 'maxPerHostBandwidthKBs'
  | 'bandwidthReading'
  | 'respectRetryAfterUpToSecs'
>;

/** A completed contact with a server. Times are milliseconds since 1970. */
export interface Contact {
  readonly begin: number;
  /** 0 if it has no end: the connection failed, or there was no contact (CRAWL-7.3). */
  readonly end: number;
  /** Bytes received. */
  readonly bytes: number;
  /** When the URI is returned; the wait counts from here. */
  readonly now: number;
  /** Crawl-delay of robots.txt, seconds. */
  readonly crawlDelay?: number | undefined;
  /** Retry-After of a 429 or 503, milliseconds; 0 or absent without the header. */
  readonly retryAfterMs?: number | undefined;
  /** The host's next emission time, milliseconds since 1970; 0 without a bandwidth limit (CRAWL-12.2). */
  readonly hostEmission?: number | undefined;
}

export interface PolitenessDelay {
  /** Sleep of the queue from `now`, milliseconds. */
  readonly delayMs: number;
  /** Reason of the longest wait, for the operator (CRAWL-22). */
  readonly reason: WaitReason;
  /** The host's emission time for its next contact. */
  readonly hostEmission: number;
}

/**
 * Computes the sleep of a queue after a contact (CRAWL-7.1, 7.3): a multiple of the duration of the fetch,
 * within limits. Crawl-delay (which may exceed the upper limit, G-63), the host's bandwidth and Retry-After can
 * raise it.
 *
 * A Gatherer without an order passes the RootNode's Delay as `minDelayMs` and `maxDelayMs`, and `delayFactor` 0
 * (G-38).
 */
export function politenessDelay(settings: PolitenessSettings, contact: Contact): PolitenessDelay {
  const { hostEmission = 0 } = contact;
  // CRAWL-7.1: both times are required.
  if (contact.end === 0) return { delayMs: 0, reason: 'politeness', hostEmission };
  const waits = new LongestWait();
  const duration = Math.max(0, contact.end - contact.begin);
  // CRAWL-7.1 steps 1 and 2.
  const own = Math.max(Math.trunc(settings.delayFactor * duration), settings.minDelayMs);
  waits.raise(Math.min(own, settings.maxDelayMs), 'politeness');
  // CRAWL-7.1 step 3.
  const respected = settings.respectCrawlDelayUpToSecs * 1000;
  waits.raise(Math.min((contact.crawlDelay ?? 0) * 1000, respected), 'crawl-delay');
  const retryAfter = Math.min(contact.retryAfterMs ?? 0, settings.respectRetryAfterUpToSecs * 1000);
  const emission = bandwidthWait(settings, contact, hostEmission);
  if (settings.bandwidthReading === 'maximum') {
    waits.raise(emission.wait, 'bandwidth');
    waits.raise(retryAfter, 'retry-after');
  } else {
    // CRAWL-7.5: the wait for bandwidth is added to the interval.
    waits.add(emission.wait, 'bandwidth');
    waits.raise(retryAfter, 'retry-after');
  }
  return { delayMs: waits.delay, reason: waits.reason, hostEmission: emission.next };
}

/** CRAWL-7.1 step 4, in one of the two readings of 7.5. */
function bandwidthWait(
  { maxPerHostBandwidthKBs: limit, bandwidthReading }: PolitenessSettings,
  { begin, bytes, now }: Contact,
  hostEmission: number,
): { readonly wait: number; readonly next: number } {
  if (limit <= 0) return { wait: 0, next: hostEmission };
  const due = bytes / (limit * BYTES_PER_MS);
  // CRAWL-7.4: the emission time of the previous document applies now, that of this one to the next document.
  if (bandwidthReading === 'maximum')
    return { wait: Math.max(0, hostEmission - now), next: now + Math.trunc(due) };
  // The bytes are due from the start of the fetch, after those of other queues of the host.
  const next = Math.ceil(Math.max(hostEmission, begin) + due);
  return { wait: Math.max(0, next - now), next };
}

/** The total wait and the reason of its longest part. */
class LongestWait {
  delay = 0;
  reason: WaitReason = 'politeness';
  #longest = 0;

  raise(wait: number, reason: WaitReason): void {
    if (wait <= this.delay) return;
    this.delay = Math.ceil(wait);
    this.#longest = wait;
    this.reason = reason;
  }

  add(wait: number, reason: WaitReason): void {
    this.delay += Math.ceil(wait);
    if (wait <= this.#longest) return;
    this.#longest = wait;
    this.reason = reason;
  }
}

const bandwidthSchema = z.strictObject({ limitKBs: z.number().min(0), bytes: z.number().min(0) });

/** {@link TotalBandwidth.snapshot}. */
type BandwidthSnapshot = z.output<typeof bandwidthSchema>;

/**
 * The bandwidth of the whole crawl (CRAWL-7.6): every worker waits before it takes a URI. All of them wait
 * until the same time, so the limit is kept on average only.
 */
export class TotalBandwidth {
  #limit: number;
  #emission = 0;
  #bytes = 0;

  /** @param limitKBs kilobytes a second; 0: no limit */
  constructor(limitKBs: number) {
    this.#limit = limitKBs;
  }

  get limitKBs(): number {
    return this.#limit;
  }

  /** CRAWL-7.6: a changed limit resets the count of bytes. */
  set limitKBs(limit: number) {
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#bytes = 0;
  }

  /** CRAWL-17.2.2: the limit, and the bytes since the last URI was given out; plain JSON. */
  snapshot(): BandwidthSnapshot {
    return { limitKBs: this.#limit, bytes: this.#bytes };
  }

  /**
   * Continues from a {@link snapshot}; one with another limit begins anew.
   * @throws StorageError when it is not a snapshot
   */
  restore(snapshot: unknown): void {
    const result = bandwidthSchema.safeParse(snapshot);
    if (!result.success)
      throw new StorageError(`the bandwidth of a checkpoint is damaged: ${z.prettifyError(result.error)}`);
    if (result.data.limitKBs === this.#limit) this.#bytes += result.data.bytes;
  }

  /** Adds received bytes. */
  addBytes(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * Called once before each URI is given out.
   * @param now milliseconds since 1970
   * @returns milliseconds to wait
   */
  wait(now: number): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    if (this.#limit <= 0) return 0;
    const lead = this.#emission === 0 ? 0 : this.#emission - now;
    this.#emission = Math.trunc(bytes / (this.#limit * BYTES_PER_MS)) + now + lead;
    return Math.max(0, lead);
  }
}
