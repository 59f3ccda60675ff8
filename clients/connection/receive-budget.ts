// Limits on everything that a collection receives: a peer that sends for ever, or almost nothing, is cut.
import type { Clock } from '../../protocols/clock.js';
import { RefusedError } from '../../protocols/errors.js';
import { monotonicClock } from './monotonic-clock.js';

/** Limits on what one collection receives, over all its connections together. */
export interface ReceiveLimits {
  /** Bytes received and bytes inflated from them, together. Default 64 GiB. */
  readonly maxReceivedBytes?: number;
  /** Milliseconds from the beginning of the collection to its end. Default 86 400 000, one day. */
  readonly maxDurationMs?: number;
  /**
   * Bytes that the peer must send on average per second that is spent waiting for it. Default 100; 0 turns the
   * limit off. The time in which the receiver is busy itself does not count.
   */
  readonly minBytesPerSecond?: number;
  /**
   * Milliseconds of waiting before {@link minBytesPerSecond} applies: preparing an update takes time. Default
   * 300 000.
   */
  readonly minRateGraceMs?: number;
}

/** Counts what a collection receives and how long it waits, against {@link ReceiveLimits}. */
export class ReceiveBudget {
  readonly #limits: Required<ReceiveLimits>;
  readonly #now: Clock['now'];
  readonly #started: number;
  #bytes = 0;
  #waitedMs = 0;

  /** @param now the time of a clock */
  constructor(limits: ReceiveLimits = {}, now: Clock['now'] = monotonicClock.now) {
    const { maxReceivedBytes = 64 * 2 ** 30, maxDurationMs = 86_400_000 } = limits;
    const { minBytesPerSecond = 100, minRateGraceMs = 300_000 } = limits;
    this.#limits = { maxReceivedBytes, maxDurationMs, minBytesPerSecond, minRateGraceMs };
    this.#now = now;
    this.#started = now();
  }

  /** Awaits the next bytes of the peer and counts them and the time. @throws RefusedError beyond a limit */
  async receive<T extends Uint8Array | undefined>(read: () => Promise<T>): Promise<T> {
    const before = this.#now();
    const chunk = await read();
    this.#waitedMs += this.#now() - before;
    this.count(chunk?.length ?? 0);
    return chunk;
  }

  /** Counts bytes that were inflated. @throws RefusedError beyond a limit */
  count(bytes: number): void {
    this.#bytes += bytes;
    const { maxReceivedBytes, maxDurationMs, minBytesPerSecond, minRateGraceMs } = this.#limits;
    if (this.#bytes > maxReceivedBytes) {
      throw new RefusedError(`the peer sent more than ${maxReceivedBytes} bytes in one collection`);
    }
    if (this.#now() - this.#started > maxDurationMs) {
      throw new RefusedError(`the collection took longer than ${Math.round(maxDurationMs / 1000)} s`);
    }
    if (this.#waitedMs > minRateGraceMs && (this.#bytes * 1000) / this.#waitedMs < minBytesPerSecond) {
      throw new RefusedError(`the peer sent less than ${minBytesPerSecond} bytes per second`);
    }
  }
}
