// Detects a peer that accepts output too slowly.
import type { Writable } from 'node:stream';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';

/** How fast a peer must accept output while the server waits for it. */
export interface SendLimits {
  /** Milliseconds over which the rate is measured, and after which a peer that accepts nothing is cut. */
  readonly drainTimeoutMs: number;
  /** Bytes per second that the peer must accept on average. 0: any progress suffices. */
  readonly minBytesPerSecond: number;
}

/** Pauses between waits that are shorter belong to one wait: the peer was slow again at once. */
const SAME_WAIT_MS = 1000;

/**
 * Measures how much a peer accepts while the server waits for it, in windows of `drainTimeoutMs`. Calls
 * `onSlow` when a window ends below the minimum. Input from the peer does not count: sending single bytes does
 * not extend the time.
 */
export class SendWatch {
  readonly #limits: SendLimits;
  readonly #accepted: () => number;
  readonly #onSlow: (reason: string) => void;
  readonly #clock: Clock;
  #cancelTimer: (() => void) | undefined;
  #acceptedBefore = 0;
  #waiting = false;
  #stoppedAt = 0;

  /** @param accepted returns the bytes that the peer's system has accepted so far */
  constructor(
    limits: SendLimits,
    accepted: () => number,
    onSlow: (reason: string) => void,
    clock: Clock = monotonicClock,
  ) {
    this.#limits = limits;
    this.#accepted = accepted;
    this.#onSlow = onSlow;
    this.#clock = clock;
  }

  /** The server begins to wait. */
  start(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    if (this.#cancelTimer !== undefined && this.#clock.now() - this.#stoppedAt < SAME_WAIT_MS) return;
    this.#beginWindow();
  }

  /** The server no longer waits. */
  stop(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    this.#stoppedAt = this.#clock.now();
  }

  /** Releases the timer. */
  close(): void {
    this.#waiting = false;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #beginWindow(): void {
    this.#acceptedBefore = this.#accepted();
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.setTimer(this.#onWindow, this.#limits.drainTimeoutMs);
  }

  readonly #onWindow = (): void => {
    if (!this.#waiting) {
      this.#cancelTimer = undefined;
      return;
    }
    const { drainTimeoutMs, minBytesPerSecond } = this.#limits;
    const accepted = this.#accepted() - this.#acceptedBefore;
    if (accepted > 0 && accepted >= (minBytesPerSecond * drainTimeoutMs) / 1000) {
      this.#beginWindow();
      return;
    }
    const amount = accepted > 0 ? `only ${accepted} bytes of data` : 'no data';
    this.#onSlow(`peer accepted ${amount} for ${drainTimeoutMs} ms`);
  };
}

/**
 * Returns how many bytes the system has accepted from a stream. Node counts a chunk in `writableLength` until
 * its last byte is accepted; the handle of a socket knows the progress within the chunk.
 *
 * @param written bytes passed to the stream so far
 */
export function acceptedBytes(stream: Writable, written: number): number {
  const handle: unknown = Reflect.get(stream, '_handle');
  if (typeof handle === 'object' && handle !== null) {
    const total: unknown = Reflect.get(handle, 'bytesWritten');
    const queued: unknown = Reflect.get(handle, 'writeQueueSize');
    if (typeof total === 'number' && typeof queued === 'number') return total - queued;
  }
  return written - stream.writableLength;
}
