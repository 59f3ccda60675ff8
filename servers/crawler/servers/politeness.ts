import type { WaitReason } from '../control.js';
import type { CrawlSettings } from '../order/settings.js';

/** Bytes a millisecond of one KB/s (CRAWL-7.1: 1024 bytes a second). */
const BYTES_PER_MS = 1.024;

/** What {@link politenessDelay} reads of the settings. */
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

/** A contact with a server that is over. Times are milliseconds since 1970. */
export interface Contact {
  readonly begin: number;
  /** 0: it has no end, as a failed connect or a URI that contacted nobody (CRAWL-7.3). */
  readonly end: number;
  /** Bytes received. */
  readonly bytes: number;
  /** When the URI is handed back: the wait counts from here. */
  readonly now: number;
  /** Seconds that robots.txt asks for. */
  readonly crawlDelay?: number | undefined;
  /** Milliseconds that a 429 or 503 asked us to stay away; 0 or absent: it did not. */
  readonly retryAfterMs?: number | undefined;
  /** The host's next emission time; 0: none yet (CRAWL-12.2). */
  readonly hostEmission?: number | undefined;
}

export interface PolitenessDelay {
  /** How long the queue sleeps, counted from `now`. */
  readonly delayMs: number;
  /** The longest of the waits: what an operator is shown (CRAWL-22 pain 3). */
  readonly reason: WaitReason;
  /** To be remembered for the host until its next contact. */
  readonly hostEmission: number;
}

/**
 * How long a queue sleeps after a contact (CRAWL-7.1, 7.3): a multiple of the time that the fetch took, within limits; raised by
 * Crawl-delay, which may exceed the upper limit (G-63: it never lowers anything), by the host's bandwidth and by Retry-After.
 *
 * A Gatherer without an order passes the RootNode's Delay as `minDelayMs` and `maxDelayMs`, and `delayFactor` 0 (G-38).
 */
export function politenessDelay(settings: PolitenessSettings, contact: Contact): PolitenessDelay {
  const { hostEmission = 0 } = contact;
  // CRAWL-7.1: only if both times are known.
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
    // CRAWL-7.5: the bandwidth's wait, and then the interval.
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
  // CRAWL-7.4: what the document before left holds now, what this one leaves holds the next time.
  if (bandwidthReading === 'maximum')
    return { wait: Math.max(0, hostEmission - now), next: now + Math.trunc(due) };
  // The bytes are due from when they began to flow; those of other queues of the host come first.
  const next = Math.ceil(Math.max(hostEmission, begin) + due);
  return { wait: Math.max(0, next - now), next };
}

/** The wait, and which of its parts is to be named. */
class LongestWait {
  delay = 0;
  reason: WaitReason = 'politeness';
  #part = 0;

  raise(wait: number, reason: WaitReason): void {
    if (wait <= this.delay) return;
    this.delay = Math.ceil(wait);
    this.#part = wait;
    this.reason = reason;
  }

  add(wait: number, reason: WaitReason): void {
    this.delay += Math.ceil(wait);
    if (wait <= this.#part) return;
    this.#part = wait;
    this.reason = reason;
  }
}

/**
 * The bandwidth of the whole crawl (CRAWL-7.6): whoever takes a URI waits first. All wait for the same time, so the limit is loose;
 * over a while it holds.
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

  /** CRAWL-7.6: a changed limit counts the bytes anew. */
  set limitKBs(limit: number) {
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#bytes = 0;
  }

  /** Bytes that were received, whatever URI they belong to. */
  took(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * To be asked once before each URI is handed out.
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
