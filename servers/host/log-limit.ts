// Bounds the log lines that peers can cause.
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { addressGroup } from './address-group.js';

/** How many lines peers can cause. A bucket holds `burst` lines and gains `perSecond`. */
export interface LogLimits {
  /** For one connection. Default: a burst of 200 lines, then 2 per second. */
  readonly connection?: LogRate;
  /**
   * For all connections of one IPv4 address or one IPv6 /64. Default: a burst of 1000 lines, then 10 per
   * second.
   */
  readonly address?: LogRate;
  /** For all peers together. Default: a burst of 10 000 lines, then 100 per second. */
  readonly total?: LogRate;
}

interface LogRate {
  readonly burst: number;
  readonly perSecond: number;
}

const DEFAULTS = {
  connection: { burst: 200, perSecond: 2 },
  address: { burst: 1000, perSecond: 10 },
  total: { burst: 10_000, perSecond: 100 },
} as const satisfies Required<LogLimits>;

/** Addresses whose lines are counted; the one that has been quiet longest is forgotten first. */
const MAX_ADDRESSES = 10_000;

/** Milliseconds after which lines that were not written are reported. */
const REPORT_MS = 10_000;

/** A token bucket. */
class Bucket {
  readonly #rate: LogRate;
  #tokens: number;
  #filledAt: number;
  readonly #clock: Clock;

  constructor(rate: LogRate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#filledAt = clock.now();
  }

  get isEmpty(): boolean {
    const now = this.#clock.now();
    const { burst, perSecond } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
    return this.#tokens < 1;
  }

  take(): void {
    this.#tokens -= 1;
  }
}

/** The lines of one address that were not written. */
interface AddressLines {
  readonly bucket: Bucket;
  suppressed: number;
}

/**
 * Bounds the lines that peers can cause in a log, for each connection, each address and all together, so that a
 * flood of commands or connections does not fill the disk. Lines that were not written are counted, and the
 * count is written.
 */
export class LogLimiter implements Disposable {
  readonly #report: (text: string) => void;
  readonly #limits: Required<LogLimits>;
  readonly #total: Bucket;
  readonly #addresses: LRUCache<string, AddressLines>;
  /** Lines of addresses that were forgotten before they were reported. */
  #forgotten = 0;
  readonly #clock: Clock;
  #cancelTimer: (() => void) | undefined;

  /** @param report writes the line about lines that were not written */
  constructor(report: (text: string) => void, limits: LogLimits = {}, clock: Clock = monotonicClock) {
    this.#report = report;
    this.#limits = { ...DEFAULTS, ...limits };
    this.#clock = clock;
    this.#total = new Bucket(this.#limits.total, clock);
    this.#addresses = new LRUCache({
      max: MAX_ADDRESSES,
      dispose: ({ suppressed }, _group, reason) => {
        if (reason === 'evict') this.#forgotten += suppressed;
      },
    });
  }

  /** Whether a line about this address may be written; if not, it is counted. */
  allows(address: string, connection?: ConnectionLines): boolean {
    const group = addressGroup(address);
    let lines = this.#addresses.get(group);
    if (lines === undefined) {
      lines = { bucket: new Bucket(this.#limits.address, this.#clock), suppressed: 0 };
      this.#addresses.set(group, lines);
    }
    const bucket = connection?.bucket;
    if (bucket?.isEmpty === true || lines.bucket.isEmpty || this.#total.isEmpty) {
      lines.suppressed += 1;
      this.#cancelTimer ??= this.#clock.setTimer(() => this.#reportAll(), REPORT_MS, true);
      return false;
    }
    bucket?.take();
    lines.bucket.take();
    this.#total.take();
    return true;
  }

  /** Returns the bucket of one connection, for {@link allows}. */
  connection(): ConnectionLines {
    return { bucket: new Bucket(this.#limits.connection, this.#clock) };
  }

  /** Reports the lines that were not written. */
  [Symbol.dispose](): void {
    this.#reportAll();
  }

  /** Writes at most a few lines: one for each of the first addresses, one for the rest. */
  #reportAll(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    let rest = this.#forgotten;
    this.#forgotten = 0;
    let reported = 0;
    for (const [group, lines] of this.#addresses.entries()) {
      const { suppressed } = lines;
      if (suppressed === 0) continue;
      lines.suppressed = 0;
      if (reported < MAX_REPORTED) this.#report(`${group}: ${suppressed} further lines suppressed`);
      else rest += suppressed;
      reported += 1;
    }
    if (rest > 0) this.#report(`other addresses: ${rest} further lines suppressed`);
  }
}

/** Addresses with a line of their own in one report. */
const MAX_REPORTED = 10;

/** The lines of one connection. */
export interface ConnectionLines {
  readonly bucket: Bucket;
}

/** The log of one session: each line begins with the peer's address. */
export interface PeerLog {
  info(text: string): void;
  warn(text: string): void;
  error(text: string, error?: unknown): void;
}

/** Creates the log of one connection. */
export function peerLog(log: Logger, limiter: LogLimiter, address: string): PeerLog {
  const connection = limiter.connection();
  const allowed = (): boolean => limiter.allows(address, connection);
  return {
    info: (text) => void (allowed() && log.info(`${address}: ${text}`)),
    warn: (text) => void (allowed() && log.warn(`${address}: ${text}`)),
    error: (text, error) => {
      if (!allowed()) return;
      if (error === undefined) log.error(`${address}: ${text}`);
      else log.error({ err: error }, `${address}: ${text}`);
    },
  };
}
