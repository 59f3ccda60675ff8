import { type ConnectionSlot, ConnectionTable, type Logger } from '../../host/index.js';
import type { CrawlSnapshot } from '../control.js';
import type { CrawlControl } from '../controller.js';
import { RateHistory } from './history.js';

/** The open reply that a stream of events is written to. */
export interface EventSink {
  readonly writableNeedDrain: boolean;
  readonly destroyed: boolean;
  write(text: string): boolean;
  end(): unknown;
  destroy(): unknown;
}

/** A client that follows the crawl. */
export interface Follower {
  readonly sink: EventSink;
  /** IP address of the client. */
  readonly address: string;
  /**
   * Returns the text of the events that follow a snapshot. `index` is the number of snapshots that the follower
   * received before.
   */
  readonly moreEvents: (snapshot: CrawlSnapshot, index: number) => Promise<string>;
  /** Whether the client still has access. */
  readonly allowed: () => boolean;
}

interface Following extends Follower {
  slot: ConnectionSlot | undefined;
  busy: boolean;
  /** Number of snapshots in a row that the follower missed. */
  missed: number;
  /** Number of snapshots that the follower received. */
  received: number;
}

export interface SnapshotFeedOptions {
  readonly control: CrawlControl;
  readonly log: Logger;
  /** Milliseconds between snapshots, default 1000; 0: only {@link SnapshotFeed.tick} takes them. */
  readonly intervalMs?: number;
  /** Maximum number of followers; default 32. A newcomer ends the oldest one of the address with the most. */
  readonly maxFollowers?: number | undefined;
  /**
   * Maximum number of followers of one IPv4 address or IPv6 /64. Default: a quarter of `maxFollowers`; for this
   * machine all of them.
   */
  readonly maxFollowersPerAddress?: number | undefined;
  /** Number of snapshots in a row that a follower may miss before its connection is closed, default 60. */
  readonly maxMissed?: number;
}

/**
 * Takes a snapshot each second, keeps the last ten minutes and sends it to followers. A slow follower misses
 * snapshots: its buffer contains at most one, and other followers do not wait for it. A newcomer is always
 * served: when there are too many followers, or too many of its address, the oldest one ends.
 */
export class SnapshotFeed implements Disposable {
  readonly #options: SnapshotFeedOptions;
  readonly history = new RateHistory();
  /** Number of snapshots that slow followers missed. */
  missed = 0;
  readonly #followers = new Set<Following>();
  readonly #table: ConnectionTable;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(options: SnapshotFeedOptions) {
    this.#options = options;

    const { intervalMs = 1000, maxFollowers = 32, maxFollowersPerAddress } = options;
    this.#table = new ConnectionTable(() => ({
      maxConnections: maxFollowers,
      maxPerAddress: maxFollowersPerAddress,
      // A follower only waits, and the oldest one connects again later.
      graceMs: 0,
    }));
    this.tick();
    if (intervalMs > 0) {
      this.#timer = setInterval(() => this.tick(), intervalMs);
      this.#timer.unref();
    }
  }

  /** Number of followers. */
  get followers(): number {
    return this.#followers.size;
  }

  /** Adds a follower: sends the first events now, then those of every snapshot. */
  follow(follower: Follower): void {
    const following: Following = { ...follower, slot: undefined, busy: false, missed: 0, received: 0 };
    following.slot = this.#table.admit(follower.address, () => this.#dismiss(following));
    this.#followers.add(following);
    void this.#send(following, this.#options.control.overview());
  }

  /** Removes the follower of this reply. */
  leave(sink: EventSink): void {
    for (const following of this.#followers) if (following.sink === sink) this.#remove(following);
  }

  /** Takes a snapshot and sends it to the followers. */
  tick(): void {
    let snapshot: CrawlSnapshot;
    try {
      snapshot = this.#options.control.overview();
    } catch (error) {
      this.#options.log.error({ err: error }, 'console: no snapshot');
      return;
    }
    this.history.add(snapshot);
    for (const following of this.#followers) void this.#send(following, snapshot);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const following of this.#followers) {
      this.#remove(following);
      following.sink.end();
    }
  }

  #remove(following: Following): void {
    this.#followers.delete(following);
    following.slot?.release();
  }

  /** Ends a follower to make room. A browser connects again, but not soon: it would end another one. */
  #dismiss(following: Following): void {
    const { sink } = following;
    this.#remove(following);
    if (sink.writableNeedDrain) {
      sink.destroy();
      return;
    }
    sink.write(`retry: ${DISMISSED_RETRY_MS}\n\n`);
    sink.end();
  }

  async #send(following: Following, snapshot: CrawlSnapshot): Promise<void> {
    const { sink } = following;
    if (sink.destroyed || !following.allowed()) {
      this.#remove(following);
      sink.end();
      return;
    }
    if (following.busy || sink.writableNeedDrain) {
      this.missed++;
      if (++following.missed >= (this.#options.maxMissed ?? 60)) {
        this.#remove(following);
        sink.destroy();
      }
      return;
    }
    following.missed = 0;
    following.busy = true;
    try {
      const more = await following.moreEvents(snapshot, following.received++);
      if (!sink.destroyed && this.#followers.has(following))
        sink.write(eventText('snapshot', snapshot) + more);
    } catch (error) {
      this.#options.log.error({ err: error }, 'console: no events');
      this.#remove(following);
      sink.end();
    } finally {
      following.busy = false;
    }
  }
}

/** Milliseconds after which a browser whose stream has made room connects again. */
const DISMISSED_RETRY_MS = 60_000;

/** Formats a server-sent event. JSON text has no line ends, so the data is one line. */
export function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
