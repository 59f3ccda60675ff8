// Divides the memory for pages of replies among the clients that receive one.
import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import { Budget } from '../../../protocols/budget.js';
import type { Clock } from '../../../protocols/clock.js';

/** Bytes of pages that all replies together aim at. */
const TOTAL_BYTES = 6 * 1024 * 1024;

/** Bytes of the smallest and the largest page. */
const MIN_PAGE_BYTES = 32 * 1024;
const MAX_PAGE_BYTES = 1024 * 1024;

/** Pages that are read at a time when many replies are sent. */
const READS = 2;

/** Limits of the large pages of {@link ReplyMemory}. */
export interface ReplyMemoryOptions {
  /**
   * Bytes of all large pages together, default 16 MiB; a larger page is held alone. A page is in memory about
   * twice.
   */
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

/** Who receives a reply. */
export interface ReplyOwner {
  /** The client by which large pages are shared. */
  readonly client?: string | undefined;
  /** Ends the reply when it occupies memory that others wait for. Default: it is never cut. */
  readonly cut?: ((reason: string) => void) | undefined;
}

/** One reply's part of the memory. */
export interface PageBudget extends Disposable {
  /** Bytes of objects to read for the next page; a larger object is read alone. */
  readonly pageBytes: number;
  /** Whether the next pages may be read while this one is sent. */
  readonly mayReadAhead: boolean;
  /** Reads a page. When many replies are sent, a few of them read at a time. */
  read<T>(work: () => Promise<T>): Promise<T>;
  /** Takes memory for a page if it is free; the holder disposes of it when the page is sent. */
  tryHold(bytes: number): Disposable | undefined;
  /**
   * Like {@link tryHold}, but waits for the memory. Rejects with the reason of the signal when that is aborted.
   */
  hold(bytes: number, signal?: AbortSignal): Promise<Disposable>;
  /** The client has accepted so many bytes of its page. */
  progress(bytes: number): void;
}

/** A reply that is being sent. */
interface Reply {
  readonly client: unknown;
  readonly cut: ((reason: string) => void) | undefined;
  /** Bytes of its pages that the client has accepted. */
  sent: number;
}

/** A large page in memory. */
interface HeldPage {
  readonly reply: Reply;
  readonly since: number;
  readonly sentBefore: number;
}

/**
 * A page is in memory until its client has read it. Few clients get large pages, which cost less for each
 * object; many get small ones, so that hundreds of clients that do not read occupy little. A reply with a page
 * of large objects waits until it fits; clients that hold least go first. While one waits for longer than the
 * grace, the slowest client is cut, so that clients that do not read cannot keep the others from large objects.
 */
export class ReplyMemory {
  readonly #options: Required<Omit<ReplyMemoryOptions, 'clock'>>;
  readonly #clock: Clock;
  readonly #pages: Budget<unknown>;
  readonly #held = new Set<HeldPage>();
  /** When the replies that wait for memory began to, the first one first. */
  readonly #waiting = new Set<{ readonly since: number }>();
  readonly #reads = new Budget(READS);
  #replies = 0;
  #cancelTimer: (() => void) | undefined;

  constructor({ clock = monotonicClock, ...options }: ReplyMemoryOptions = {}) {
    this.#clock = clock;
    this.#options = { ...DEFAULTS, ...options };
    this.#pages = new Budget(this.#options.totalBytes);
  }

  /** Replies that are being sent. */
  get replies(): number {
    return this.#replies;
  }

  /** Bytes of large pages that are held. */
  get bytes(): number {
    return this.#pages.used;
  }

  /** Begins a reply, which ends when its share is disposed of. */
  enter({ client, cut }: ReplyOwner = {}): PageBudget {
    this.#replies += 1;
    let isOver = false;
    const bytesOf = () => Math.floor(TOTAL_BYTES / Math.max(1, this.#replies));
    const reply: Reply = { client: client ?? Symbol('reply'), cut, sent: 0 };
    const share = {
      get pageBytes() {
        return Math.max(MIN_PAGE_BYTES, Math.min(MAX_PAGE_BYTES, bytesOf()));
      },
      get mayReadAhead() {
        return bytesOf() >= 3 * MAX_PAGE_BYTES;
      },
      read: <T>(work: () => Promise<T>) => (share.mayReadAhead ? work() : this.#reads.run(1, work)),
      tryHold: (bytes: number) => this.#tryHold(reply, bytes),
      hold: (bytes: number, signal?: AbortSignal) => this.#hold(reply, bytes, signal),
      progress: (bytes: number) => {
        reply.sent += bytes;
      },
      [Symbol.dispose]: () => {
        if (!isOver) this.#replies -= 1;
        isOver = true;
      },
    };
    return share;
  }

  #tryHold(reply: Reply, bytes: number): Disposable | undefined {
    if (bytes <= this.#options.smallBytes) return { [Symbol.dispose]: () => undefined };
    const memory = this.#pages.tryTake(bytes, reply.client);
    return memory && this.#watched(reply, memory);
  }

  async #hold(reply: Reply, bytes: number, signal: AbortSignal | undefined): Promise<Disposable> {
    signal?.throwIfAborted();
    const free = this.#tryHold(reply, bytes);
    if (free !== undefined) return free;
    const waiting = { since: this.#clock.now() };
    this.#waiting.add(waiting);
    this.#watch();
    try {
      return this.#watched(reply, await this.#pages.take(bytes, { key: reply.client, signal }));
    } finally {
      this.#waiting.delete(waiting);
      if (this.#waiting.size === 0) {
        this.#cancelTimer?.();
        this.#cancelTimer = undefined;
      }
    }
  }

  #watched(reply: Reply, memory: Disposable): Disposable {
    const page = { reply, since: this.#clock.now(), sentBefore: reply.sent };
    this.#held.add(page);
    return {
      [Symbol.dispose]: () => {
        this.#held.delete(page);
        memory[Symbol.dispose]();
      },
    };
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

  #cutSlowest(): void {
    const { graceMs, fastBytesPerSecond } = this.#options;
    const now = this.#clock.now();
    const [oldest] = this.#waiting;
    if (oldest === undefined || now - oldest.since < graceMs) return;
    let slowest: Reply | undefined;
    let least = fastBytesPerSecond;
    for (const { reply, since, sentBefore } of this.#held) {
      const elapsed = now - since;
      if (elapsed < graceMs || reply.cut === undefined) continue;
      const rate = ((reply.sent - sentBefore) * 1000) / elapsed;
      if (rate >= least) continue;
      least = rate;
      slowest = reply;
    }
    slowest?.cut?.('others wait for the memory of its large objects');
  }
}
