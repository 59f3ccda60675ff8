import type { Logger } from '../../host/index.js';
import type { CrawlControl, CrawlSnapshot } from '../control.js';
import { RateHistory } from './history.js';

/** What a stream of events is written to: a reply that is still open. */
export interface EventSink {
  readonly writableNeedDrain: boolean;
  readonly destroyed: boolean;
  write(text: string): boolean;
  end(): unknown;
  destroy(): unknown;
}

/** One who follows. */
export interface Follower {
  readonly sink: EventSink;
  /** Events to send at this tick, beside the snapshot. */
  readonly more: (snapshot: CrawlSnapshot, tick: number) => Promise<string>;
  /** Whether it may still look. */
  readonly allowed: () => boolean;
}

interface Following extends Follower {
  busy: boolean;
  /** Ticks in a row of which it got nothing. */
  missed: number;
  ticks: number;
}

export interface SnapshotFeedOptions {
  readonly control: CrawlControl;
  readonly log: Logger;
  /** Milliseconds between snapshots, default 1000; 0: only {@link SnapshotFeed.tick} takes them. */
  readonly intervalMs?: number;
  /** Followers at once, default 32. */
  readonly maxFollowers?: number;
  /** Ticks in a row that a follower may miss before it is given up, default 60. */
  readonly maxMissed?: number;
}

/**
 * Takes a snapshot each second, keeps the last ten minutes and tells followers. Who reads slowly misses snapshots: nothing
 * waits for it, at most one tick lies in its buffer.
 */
export class SnapshotFeed implements Disposable {
  readonly history = new RateHistory();
  /** Snapshots that slow followers did not get, in all. */
  missed = 0;
  readonly #followers = new Set<Following>();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(readonly options: SnapshotFeedOptions) {
    const { intervalMs = 1000 } = options;
    this.tick();
    if (intervalMs > 0) {
      this.#timer = setInterval(() => this.tick(), intervalMs);
      this.#timer.unref();
    }
  }

  /** How many follow now. */
  get followers(): number {
    return this.#followers.size;
  }

  /** Whether nobody else may follow. */
  get isFull(): boolean {
    return this.#followers.size >= (this.options.maxFollowers ?? 32);
  }

  /** The first events go out at once, then those of every tick. */
  follow(follower: Follower): void {
    const following: Following = { ...follower, busy: false, missed: 0, ticks: 0 };
    this.#followers.add(following);
    void this.#tell(following, this.options.control.snapshot());
  }

  leave(sink: EventSink): void {
    for (const following of this.#followers) if (following.sink === sink) this.#followers.delete(following);
  }

  /** One second's work. */
  tick(): void {
    let snapshot: CrawlSnapshot;
    try {
      snapshot = this.options.control.snapshot();
    } catch (error) {
      this.options.log.error({ err: error }, 'console: no snapshot');
      return;
    }
    this.history.add(snapshot);
    for (const following of this.#followers) void this.#tell(following, snapshot);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const { sink } of this.#followers) sink.end();
    this.#followers.clear();
  }

  async #tell(following: Following, snapshot: CrawlSnapshot): Promise<void> {
    const { sink } = following;
    if (sink.destroyed || !following.allowed()) {
      this.#followers.delete(following);
      sink.end();
      return;
    }
    if (following.busy || sink.writableNeedDrain) {
      this.missed++;
      if (++following.missed >= (this.options.maxMissed ?? 60)) {
        this.#followers.delete(following);
        sink.destroy();
      }
      return;
    }
    following.missed = 0;
    following.busy = true;
    try {
      const more = await following.more(snapshot, following.ticks++);
      if (!sink.destroyed && this.#followers.has(following))
        sink.write(eventText('snapshot', snapshot) + more);
    } catch (error) {
      this.options.log.error({ err: error }, 'console: no events');
      this.#followers.delete(following);
      sink.end();
    } finally {
      following.busy = false;
    }
  }
}

/** One server-sent event; JSON has no line ends, so it is one line of data. */
export function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
