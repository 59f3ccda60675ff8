import type { QueueEntry } from '../../../storage/index.js';

/**
 * Where a queue stands (CRAWL-5.4): `exhausted` has nothing to give, `ready` may give a URI now, `in-process` has one
 * at a worker, `snoozed` sleeps until its wake time. A queue gives out one URI at a time, and none while it sleeps:
 * that is what makes "one connection a host, with the delay" true (CRAWL-5.6.4).
 */
export type QueueState = 'exhausted' | 'ready' | 'in-process' | 'snoozed';

/** Entries of one queue that are held in memory; the rest stays on disk and is read by ranges. */
const WINDOW_ENTRIES = 256;

/**
 * All pending URIs of one class key. The truth is on disk; this object holds the queue's state and a window on its
 * head, so that handing out a URI costs no read.
 *
 * ```
 *   disk:    e1 e2 e3 e4 e5 e6 ... en        (in the order of their keys, CRAWL-5.1.1)
 *   window:  e1 e2 e3 e4                     `complete` when it reaches to en
 * ```
 */
export class WorkQueue {
  state: QueueState = 'exhausted';
  /** The URI that a worker has: it stays the head on disk until it is finished (CRAWL-5.2.2). */
  peeked: QueueEntry | undefined;
  /** Entries on disk, the peeked one included. */
  count = 0;
  #window: QueueEntry[] = [];
  #complete = true;
  #addedWhileReading = false;

  constructor(readonly classKey: string) {}

  /** True when the next entry must be read from disk first. */
  get needsRefill(): boolean {
    return this.#window.length === 0 && !this.#complete;
  }

  /** Takes the head out of the window for a worker. */
  peek(): QueueEntry | undefined {
    this.peeked = this.#window.shift();
    return this.peeked;
  }

  /** The worker gave it back unfinished: it is the head again. */
  unpeek(entry: QueueEntry): void {
    this.peeked = undefined;
    this.#window.unshift(entry);
  }

  /** The entry is on disk now; it enters the window when it belongs there. */
  added(entry: QueueEntry): void {
    this.count++;
    this.#addedWhileReading = true;
    const window = this.#window;
    const last = window.at(-1);
    if (!this.#complete && (last === undefined || compareEntries(entry, last) > 0)) return;
    let at = window.length;
    while (at > 0 && compareEntries(entry, window[at - 1]!) < 0) at--;
    window.splice(at, 0, entry);
    if (window.length > WINDOW_ENTRIES) {
      window.length = WINDOW_ENTRIES;
      this.#complete = false;
    }
  }

  /** The entry is gone from disk. */
  removed(): void {
    this.count--;
    this.peeked = undefined;
  }

  /** A restart found entries on disk that no window shows yet. */
  restored(count: number): void {
    this.count = count;
    this.#complete = count === 0;
  }

  /** Reads the first entries on disk into the window. Only the holder of the queue's lock may call it. */
  async refill(read: (limit: number) => Promise<readonly QueueEntry[]>): Promise<void> {
    this.#addedWhileReading = false;
    const entries = await read(WINDOW_ENTRIES);
    this.#window = [...entries];
    // What was added since the read began may be missing from it: then the next refill finds it.
    this.#complete = entries.length < WINDOW_ENTRIES && !this.#addedWhileReading;
  }
}

function compareEntries(a: QueueEntry, b: QueueEntry): number {
  return a.directive - b.directive || a.cost - b.cost || a.ordinal - b.ordinal;
}
