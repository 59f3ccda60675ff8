import { uriKey } from '../../../protocols/urls/index.js';
import type { GathererBatch, GathererStore, QueuedUri, QueueEntry } from '../../../storage/index.js';
import type { CrawlUri } from './crawl-uri.js';
import { FingerprintSet, type UriUniqFilter } from './seen.js';
import { WakeHeap } from './wake-heap.js';
import { WorkQueue } from './work-queue.js';

/** CRAWL-2.5: smaller is earlier. */
export const DIRECTIVE = { highest: 0, high: 1, medium: 2, normal: 3 } as const;

/** Spellings of known URLs that are remembered to answer quickly; forgotten all at once when there are more. */
const RECENT_URLS = 65_536;

/** CRAWL-5.2.1 counters of a run (CRAWL-16.5). */
export interface FrontierCounts {
  readonly queued: number;
  readonly discovered: number;
  readonly inProcess: number;
  readonly queues: number;
  readonly snoozed: number;
}

export interface FrontierOptions {
  /** The queue of a URI: what shares a queue shares politeness (CRAWL-9.1). */
  readonly assignQueue: (url: string) => string;
}

/** What shall become of a URI that a worker hands back (CRAWL-8.4). */
export interface Finish {
  /** Put it back at the head for another attempt (CRAWL-8.3). */
  readonly retry: boolean;
  /** Milliseconds that the queue sleeps, counted from now (CRAWL-7.1 step 5). */
  readonly delayMs: number;
}

/**
 * Which URIs are scheduled, which are done, and which is next (CRAWL-1.2). The queues live in the working store; a URI
 * leaves its queue in the same atomic batch that stores what became of it and that queues what was found on it. So a
 * crash loses nothing and doubles nothing: the URI is either still the head of its queue, or all of its work is there.
 *
 * `next` suspends until a queue is ready (CRAWL-20.5). Between `next` and `finished` a queue is locked (CRAWL-5.6.4).
 */
export class Frontier {
  readonly #queues = new Map<string, WorkQueue>();
  #ready: WorkQueue[] = [];
  #readyHead = 0;
  readonly #snoozed = new WakeHeap<WorkQueue>();
  readonly #waiters: (() => void)[] = [];
  readonly #seen: UriUniqFilter = new FingerprintSet();
  readonly #recent = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #queued = 0;
  #inProcess = 0;
  #ordinal = 1;
  #commits: Promise<void> = Promise.resolve();

  private constructor(
    readonly store: GathererStore,
    readonly options: FrontierOptions,
  ) {}

  /** Opens the frontier on what the store holds: empty, or what an interrupted run left. */
  static async open(store: GathererStore, options: FrontierOptions): Promise<Frontier> {
    const frontier = new Frontier(store, options);
    for await (const keys of store.seen.keys()) {
      for (let at = 0; at + 8 <= keys.length; at += 8) frontier.#seen.add(keys.subarray(at, at + 8));
    }
    const survey = await store.queues.survey();
    frontier.#ordinal = survey.highestOrdinal + 1;
    for (const [classKey, count] of survey.queues) {
      const queue = frontier.#queue(classKey);
      queue.restored(count);
      frontier.#queued += count;
      frontier.#makeReady(queue);
    }
    return frontier;
  }

  get counts(): FrontierCounts {
    return {
      queued: this.#queued,
      discovered: this.#seen.count,
      inProcess: this.#inProcess,
      queues: this.#queues.size,
      snoozed: this.#snoozed.size,
    };
  }

  /** Nothing is queued and nothing is at a worker: the crawl is over (CRAWL-4.9). */
  get empty(): boolean {
    return this.#queued === 0 && this.#inProcess === 0;
  }

  /**
   * CRAWL-5.6.1: takes a URI in, unless it was seen before. The entry is put into `batch` and counts from the moment
   * the batch is committed by {@link finished} or {@link commit}. Returns the entry, or undefined for a known URI.
   */
  schedule(
    uri: QueuedUri,
    batch: GathererBatch,
    directive: number = DIRECTIVE.normal,
  ): QueueEntry | undefined {
    const key = uriKey(uri.url);
    if (!this.#seen.add(key) && !uri.forceFetch) return undefined;
    this.#remember(uri.url);
    const entry: QueueEntry = {
      classKey: this.options.assignQueue(uri.url),
      directive,
      cost: 1,
      ordinal: this.#ordinal++,
      uri,
    };
    batch.markSeen(key).enqueue(entry);
    return entry;
  }

  /**
   * Was this URL taken in before? The key is made from the Gatherer's canonical URL (G-57, G-68), which unlike the
   * crawler's (CRAWL-14) keeps case and `www.`: two documents are never taken for one.
   */
  knows(url: string): boolean {
    // The same links stand on page after page: most questions end at this small set of spellings.
    if (this.#recent.has(url)) return true;
    if (!this.#seen.has(uriKey(url))) return false;
    this.#remember(url);
    return true;
  }

  /** Commits scheduled entries that belong to no finished URI (the seeds). */
  async commit(batch: GathererBatch, scheduled: readonly QueueEntry[]): Promise<void> {
    await this.#write(batch);
    for (const entry of scheduled) this.#enqueued(entry);
  }

  /**
   * CRAWL-5.6.2: the next URI, when a queue may give one; undefined when the frontier is empty or `signal` is aborted.
   */
  async next(signal: AbortSignal): Promise<QueueEntry | undefined> {
    for (;;) {
      if (signal.aborted || this.empty) {
        this.#wakeAll();
        return undefined;
      }
      this.#wakeDue();
      const queue = this.#takeReady();
      if (queue === undefined) {
        await this.#wait(signal);
        continue;
      }
      queue.state = 'in-process';
      this.#inProcess++;
      if (queue.needsRefill) {
        // The queue is locked by its state while we read: nobody else touches it across this await.
        await queue.refill((limit) => this.store.queues.heads(queue.classKey, limit));
      }
      const entry = queue.peek();
      if (entry !== undefined) return entry;
      this.#inProcess--;
      queue.state = 'exhausted';
      this.#queues.delete(queue.classKey);
    }
  }

  /**
   * CRAWL-5.6.3: a worker hands a URI back. Its batch holds everything that the chains want stored and queued; one
   * atomic write takes all of it together with the URI's leaving its queue.
   */
  async finished(uri: CrawlUri, finish: Finish): Promise<void> {
    const queue = this.#queue(uri.entry.classKey);
    // CRAWL-5.2.3: a retried URI is rewritten under its own key and keeps its place.
    const again: QueueEntry = {
      ...uri.entry,
      uri: { ...uri.entry.uri, attempts: uri.entry.uri.attempts + 1 },
    };
    if (finish.retry) uri.batch.enqueue(again);
    else uri.batch.dequeue(uri.entry);
    await this.#write(uri.batch);

    for (const entry of uri.scheduled) this.#enqueued(entry);
    if (finish.retry) {
      queue.unpeek(again);
    } else {
      queue.removed();
      this.#queued--;
    }
    this.#inProcess--;
    if (finish.delayMs > 0) this.#snooze(queue, finish.delayMs);
    else this.#makeReady(queue);
    if (this.empty) this.#wakeAll();
  }

  /** A worker was stopped in the middle: the URI stays the head of its queue, as if it had never been given out. */
  abandoned(uri: CrawlUri): void {
    const queue = this.#queue(uri.entry.classKey);
    queue.unpeek(uri.entry);
    this.#inProcess--;
    this.#makeReady(queue);
  }

  /** Waits for the writes under way. */
  async settled(): Promise<void> {
    await this.#commits;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#wakeAll();
  }

  /** Batches are written one after another, so that counters inside them never go back. */
  async #write(batch: GathererBatch): Promise<void> {
    const write = this.#commits.then(() => batch.commit());
    this.#commits = write.catch(() => undefined);
    await write;
  }

  #remember(url: string): void {
    if (this.#recent.size >= RECENT_URLS) this.#recent.clear();
    this.#recent.add(url);
  }

  #enqueued(entry: QueueEntry): void {
    const queue = this.#queue(entry.classKey);
    queue.added(entry);
    this.#queued++;
    if (queue.state === 'exhausted') this.#makeReady(queue);
  }

  #queue(classKey: string): WorkQueue {
    let queue = this.#queues.get(classKey);
    if (queue === undefined) {
      queue = new WorkQueue(classKey);
      this.#queues.set(classKey, queue);
    }
    return queue;
  }

  #makeReady(queue: WorkQueue): void {
    if (queue.count === 0) {
      queue.state = 'exhausted';
      this.#queues.delete(queue.classKey);
      return;
    }
    queue.state = 'ready';
    this.#ready.push(queue);
    this.#waiters.shift()?.();
  }

  #takeReady(): WorkQueue | undefined {
    const queue = this.#ready[this.#readyHead];
    if (queue === undefined) return undefined;
    this.#readyHead++;
    if (this.#readyHead > 1024 && this.#readyHead * 2 > this.#ready.length) {
      this.#ready = this.#ready.slice(this.#readyHead);
      this.#readyHead = 0;
    }
    return queue;
  }

  #snooze(queue: WorkQueue, delayMs: number): void {
    // An exhausted queue sleeps too: a URI that arrives meanwhile must not find its host ready.
    queue.state = 'snoozed';
    this.#snoozed.push(Date.now() + delayMs, queue);
    this.#setTimer();
  }

  #wakeDue(): void {
    const now = Date.now();
    for (let queue = this.#snoozed.popDue(now); queue !== undefined; queue = this.#snoozed.popDue(now)) {
      this.#makeReady(queue);
    }
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const earliest = this.#snoozed.earliest;
    if (earliest === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#wakeDue();
        this.#setTimer();
      },
      Math.max(1, earliest - Date.now()),
    );
  }

  async #wait(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      signal.addEventListener('abort', done, { once: true });
      this.#waiters.push(done);
    });
  }

  #wakeAll(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}
