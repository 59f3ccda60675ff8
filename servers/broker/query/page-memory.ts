// The memory of pages with large objects, while their clients read them.
import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../../protocols/clock.js';

/** A reply that holds pages. */
export interface PageOwner {
  /** The client by which the memory is shared. */
  readonly client: unknown;
  /** Ends the reply. */
  readonly cut: ((reason: string) => void) | undefined;
  /** Bytes of its pages that the client has accepted. */
  sent: number;
}

/** Limits of {@link PageMemory}. */
export interface PageMemoryOptions {
  /** Bytes of all large pages together, default 16 MiB; a larger page is held alone. A page is in memory about twice. */
  readonly totalBytes?: number;
  /** Pages up to this size are not counted, default 128 KiB. */
  readonly smallBytes?: number;
  /** Milliseconds after which a reply may be cut for another that waits as long, default 5000. */
  readonly graceMs?: number;
  /** Bytes per second; a client that accepts as many is not cut. Default 256 KiB. */
  readonly fastBytesPerSecond?: number;
  /** Default: that of this process. */
  readonly clock?: Clock;
}

const DEFAULTS = {
  totalBytes: 16 * 1024 * 1024,
  smallBytes: 128 * 1024,
  graceMs: 5_000,
  fastBytesPerSecond: 256 * 1024,
};

interface Held {
  readonly owner: PageOwner;
  readonly bytes: number;
  readonly since: number;
  readonly sentBefore: number;
}

interface Waiter {
  readonly owner: PageOwner;
  readonly bytes: number;
  readonly since: number;
  grant(page: Disposable): void;
}

/**
 * Bounds the large pages that are in memory for their clients. A reply with a large page waits until it fits; clients that hold least go
 * first. While one waits for longer than the grace, the slowest client is cut, so that clients that do not read cannot keep the others from
 * large objects.
 */
export class PageMemory {
  readonly #options: Required<Omit<PageMemoryOptions, 'clock'>>;
  readonly #clock: Clock;
  readonly #held = new Set<Held>();
  readonly #waiting = new Set<Waiter>();
  #bytes = 0;
  #cancelTimer: (() => void) | undefined;

  constructor({ clock = monotonicClock, ...options }: PageMemoryOptions = {}) {
    this.#clock = clock;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes memory for a page if it fits now and no other reply waits. */
  tryTake(owner: PageOwner, bytes: number): Disposable | undefined {
    if (bytes <= this.#options.smallBytes) return { [Symbol.dispose]: () => undefined };
    return this.#waiting.size === 0 && this.#fits(bytes) ? this.#take(owner, bytes) : undefined;
  }

  /** Waits for the memory of a page. Rejects with the reason of the signal when that is aborted. */
  async take(owner: PageOwner, bytes: number, signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    const free = this.tryTake(owner, bytes);
    if (free !== undefined) return free;
    return new Promise((resolve, reject) => {
      const settle = () => {
        signal?.removeEventListener('abort', abort);
        this.#waiting.delete(waiter);
      };
      const abort = () => {
        settle();
        reject(signal?.reason as Error);
        this.#serve();
      };
      const waiter: Waiter = {
        owner,
        bytes,
        since: this.#clock.now(),
        grant: (page) => {
          settle();
          resolve(page);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.add(waiter);
      this.#watch();
    });
  }

  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#options.totalBytes;
  }

  #take(owner: PageOwner, bytes: number): Disposable {
    const held: Held = { owner, bytes, since: this.#clock.now(), sentBefore: owner.sent };
    this.#held.add(held);
    this.#bytes += bytes;
    return {
      [Symbol.dispose]: () => {
        if (!this.#held.delete(held)) return;
        this.#bytes -= bytes;
        this.#serve();
      },
    };
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined && this.#fits(next.bytes); next = this.#next())
      next.grant(this.#take(next.owner, next.bytes));
    if (this.#waiting.size > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** Looks for the slowest client again and again while a reply waits. */
  #watch(): void {
    const look = (): void => {
      this.#cancelTimer = undefined;
      this.#cutSlowest();
      if (this.#waiting.size > 0) this.#watch();
    };
    this.#cancelTimer ??= this.#clock.setTimer(look, this.#options.graceMs / 5, true);
  }

  /** The waiting reply whose client holds least; among equals the one that waits longest. */
  #next(): Waiter | undefined {
    const bytesOf = new Map<unknown, number>();
    for (const { owner, bytes } of this.#held)
      bytesOf.set(owner.client, (bytesOf.get(owner.client) ?? 0) + bytes);
    let next: Waiter | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const waiter of this.#waiting) {
      const bytes = bytesOf.get(waiter.owner.client) ?? 0;
      if (bytes >= least) continue;
      least = bytes;
      next = waiter;
    }
    return next;
  }

  #cutSlowest(): void {
    const { graceMs, fastBytesPerSecond } = this.#options;
    const now = this.#clock.now();
    const [oldest] = this.#waiting;
    if (oldest === undefined || now - oldest.since < graceMs) return;
    let slowest: Held | undefined;
    let least = fastBytesPerSecond;
    for (const held of this.#held) {
      const elapsed = now - held.since;
      if (elapsed < graceMs || held.owner.cut === undefined) continue;
      const rate = ((held.owner.sent - held.sentBefore) * 1000) / elapsed;
      if (rate >= least) continue;
      least = rate;
      slowest = held;
    }
    slowest?.owner.cut?.('others wait for the memory of its large objects');
  }
}
