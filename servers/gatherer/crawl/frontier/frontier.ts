import { setImmediate as nextTick } from 'node:timers/promises';
import type { GathererBatch, GathererStore, QueuedUri, QueueEntry } from '../../../../storage/index.js';
import { STANDING } from '../../../../storage/index.js';
import type { SeenFilter } from '../../../../storage/seen/index.js';
import type { QueueReport, QueueState, WaitReason } from '../control.js';
import type { Candidate, Finish, FrontierCounts, FrontierFigures, Prepared } from './contract.js';
import { InactiveQueues, placeOf } from './inactive-queues.js';
import { RecentUrls } from './recent-urls.js';
import { SeenGate } from './seen-gate.js';
import { Turns } from './turns.js';
import { WakeHeap } from './wake-heap.js';
import { WorkQueue } from './work-queue.js';

export interface FrontierOptions {
  readonly store: GathererStore;
  /** Its owner closes it. A filter on the store itself is written in the batches that queue what is new. */
  readonly seen: SeenFilter;
  /** CRAWL-11.4, FrontierPreparer. */
  readonly prepare: (uri: PreparedOf) => Prepared;
  /** CRAWL-5.4 T1: default true. */
  readonly holdQueues?: boolean;
  /** CRAWL-5.4 T1: default 50. */
  readonly targetReadyBacklog?: number;
  /** CRAWL-5.4 T18: default 300 000. */
  readonly snoozeDeactivateMs?: number;
  /** CRAWL-7.6: milliseconds that everybody waits before the next URI. Default none. */
  readonly totalWait?: (now: number) => number;
  /** CRAWL-17.1.1 `F+` and `Fe`, for a journal. */
  readonly onAdded?: (entry: QueueEntry) => void;
  readonly onEmitted?: (entry: QueueEntry) => void;
  /** Queues without work that stay in memory. Default 10 000. */
  readonly restingQueues?: number;
  /** URIs in memory over all queues. Default 65 536. */
  readonly windowEntries?: number;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

export type PreparedOf = Pick<Candidate, 'url' | 'via' | 'pathFromSeed' | 'directive'>;

const MIN_WINDOW = 8;
const MAX_WINDOW = 256;
/** CRAWL-9.11: queues at or above are never crawled. */
const PRECEDENCE_FLOOR = 255;
/** CRAWL-5.1.1: larger URI precedences are clipped. */
const MAX_URI_PRECEDENCE = 127;

/**
 * Which URIs are scheduled, which are done, and which is next (CRAWL-1.2). The queues live in the working store; a URI leaves its
 * queue in the same atomic batch that stores what became of it and that queues what was found on it. So a crash loses nothing and
 * doubles nothing: the URI is either still the head of its queue, or all of its work is there.
 *
 * `next` suspends until a queue is ready (CRAWL-20.5). Between `next` and `finished` a queue is locked (CRAWL-5.6.4). What is read
 * from disk before something is queued is read in one turn after the other ({@link Turns}), so that two URIs cannot both be the first to
 * find a third; the writes themselves go together. Memory follows the queues that are active: the others are records on disk.
 *
 * ```
 *   exhausted -> ready -> in process -> snoozed -> ready ...        retired: until the operator says otherwise
 *            \-> inactive -^                \---> inactive          (CRAWL-5.4)
 * ```
 */
export class Frontier {
  /** Those in memory: all active ones, and some that rest. */
  readonly #queues = new Map<string, WorkQueue>();
  /** In memory without need, the longest resting first. */
  readonly #resting = new Set<WorkQueue>();
  #ready: WorkQueue[] = [];
  #readyHead = 0;
  readonly #snoozed = new WakeHeap<WorkQueue>();
  readonly #inactive: InactiveQueues;
  readonly #seen: SeenGate;
  readonly #recent = new RecentUrls();
  readonly #turns = new Turns();
  readonly #waiters: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #filling: Promise<void> | undefined;
  #held = false;
  #closed = false;
  /** A write of our own that nobody waits for has failed. */
  #failure: { readonly error: unknown } | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  /** They wait for the seen filter to be written. */
  readonly #seenWaiters: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  /** What is to be done when a batch is written. */
  readonly #followers = new Map<GathererBatch, (() => void)[]>();

  readonly #standing: Record<QueueState, number> = {
    exhausted: 0,
    inactive: 0,
    ready: 0,
    'in-process': 0,
    snoozed: 0,
    retired: 0,
  };
  #queued = 0;
  #inProcess = 0;
  #nextOrdinal = 1;
  #succeeded = 0;
  #failed = 0;
  #disregarded = 0;
  #bytes = 0;

  private constructor(
    readonly options: FrontierOptions,
    nextSequence: number,
  ) {
    const { store } = options;
    this.#inactive = new InactiveQueues(async (limit, after) => {
      await store.flush();
      return store.queueRecords.inactive(limit, after);
    }, nextSequence);
    this.#seen = new SeenGate(options.seen);
  }

  /** Opens the frontier on what the store holds: empty, or what an interrupted crawl left (CRAWL-17.2.2). */
  static async open(options: FrontierOptions): Promise<Frontier> {
    const { store, seen } = options;
    const state = await store.queueRecords.state();
    const frontier = new Frontier(options, state?.nextSequence ?? 1);
    if (state === undefined) {
      await frontier.#adopt();
      return frontier;
    }
    frontier.#nextOrdinal = state.nextOrdinal;
    frontier.#succeeded = state.succeeded;
    frontier.#failed = state.failed;
    frontier.#disregarded = state.disregarded;
    frontier.#bytes = state.bytes;
    for await (const records of store.queueRecords.pages())
      for (const record of records) frontier.#restore(WorkQueue.restored(record), record.standing);
    frontier.#inactive.restored(frontier.#standing.inactive);
    // A filter with files of its own may lack what was queued last.
    if (!frontier.#seen.inStore)
      for await (const entries of store.queues.pages())
        await seen.add(entries.map(({ uri }) => options.prepare(uri).seenKey));
    frontier.#setTimer();
    return frontier;
  }

  get counts(): FrontierCounts {
    const { exhausted: _, ...held } = this.#standing;
    return {
      queued: this.#queued,
      discovered: this.#seen.count,
      inProcess: this.#inProcess,
      queues: Object.values(held).reduce((sum, count) => sum + count, 0),
      snoozed: this.#standing.snoozed,
      succeeded: this.#succeeded,
      failed: this.#failed,
      disregarded: this.#disregarded,
      bytes: this.#bytes,
    };
  }

  /** CRAWL-5.6.7. */
  get figures(): FrontierFigures {
    const standing = this.#standing;
    const reasons: Partial<Record<WaitReason, number>> = {};
    let deepest = 0;
    for (const queue of this.#queues.values()) {
      deepest = Math.max(deepest, queue.count);
      if (queue.state === 'snoozed' && queue.reason !== '')
        reasons[queue.reason] = (reasons[queue.reason] ?? 0) + 1;
    }
    if (standing.inactive > 0) reasons.backlog = standing.inactive;
    const active = standing.ready + standing['in-process'] + standing.snoozed;
    const busy = standing['in-process'] + standing.snoozed;
    return {
      queues: { ...standing },
      reasons,
      congestion: busy === 0 ? 0 : (active + standing.inactive) / busy,
      averageDepth: active + standing.inactive === 0 ? 0 : this.#queued / (active + standing.inactive),
      deepestQueue: deepest,
    };
  }

  /** Nothing is queued that could be had, and nothing is at a worker: the crawl is over (CRAWL-4.9). */
  get empty(): boolean {
    return this.#queued === 0 && this.#inProcess === 0;
  }

  /** CRAWL-16.6, 11.3: what a queue in memory has brought so far. */
  traffic(classKey: string): {
    successes: number;
    successBytes: number;
    responses: number;
    totalBytes: number;
  } {
    const { successes = 0, errors = 0, bytes = 0 } = this.#queues.get(classKey) ?? {};
    return { successes, successBytes: bytes, responses: successes + errors, totalBytes: bytes };
  }

  /** True for a URL that is surely known; false says nothing. The same links stand on page after page. */
  surelyKnows(url: string): boolean {
    return this.#recent.has(url);
  }

  /** CRAWL-5.6.1: takes in what belongs to no finished URI (seeds, what a journal or an operator brings). Returns how many were new. */
  async schedule(
    candidates: readonly Candidate[],
    batch = this.options.store.batch(),
    admitted: () => void = () => undefined,
  ): Promise<number> {
    let entries: QueueEntry[] = [];
    let written: Promise<void> = Promise.resolve();
    await this.#turn(async () => {
      entries = await this.#takeIn(candidates, batch);
      admitted();
      written = this.#submit(batch, this.#queuesOf(entries));
    });
    await written;
    await this.#keepSeen();
    this.#available(entries);
    return entries.length;
  }

  /** CRAWL-4.3 note: these URLs count as seen without being fetched. */
  async note(urls: readonly string[]): Promise<void> {
    const { store, seen, prepare } = this.options;
    await this.#turn(async () => {
      await seen.add(urls.map((url) => prepare({ url, via: '', pathFromSeed: '' }).seenKey));
      const batch = store.batch();
      const written = this.#seen.into(batch);
      await batch.commit();
      written();
    });
    await this.#keepSeen();
  }

  /**
   * CRAWL-5.6.2: the next URI, when a queue may give one; undefined when the frontier is empty or closed, or `signal` is aborted.
   */
  async next(signal: AbortSignal): Promise<QueueEntry | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (signal.aborted || this.#closed || (this.empty && !this.#held)) {
        this.#wakeAll();
        return undefined;
      }
      if (this.#held) {
        await this.#wait(signal);
        continue;
      }
      const pause = this.options.totalWait?.(this.#now()) ?? 0;
      if (pause > 0) {
        await this.#wait(signal, pause);
        continue;
      }
      this.#wakeDue();
      this.#topUp();
      const queue = this.#takeReady();
      if (queue === undefined) {
        if (this.#filling !== undefined) await this.#filling;
        else await this.#wait(signal);
        continue;
      }
      const entry = await this.#give(queue);
      if (entry !== undefined) return entry;
    }
  }

  /**
   * CRAWL-5.6.3: a worker hands a URI back. Its batch holds everything that the chains want stored; one atomic write takes all of it
   * together with the URI's leaving its queue and the coming of what was found on it.
   *
   * @returns when that is on disk; the queue goes on before it. What must not be heard of before it is true waits for it.
   */
  async finished(
    entry: QueueEntry,
    finish: Finish,
    batch: GathererBatch,
    candidates: readonly Candidate[] = [],
    /** Called when the candidates are admitted, before the batch is handed to the store. */
    admitted: () => void = () => undefined,
  ): Promise<Written> {
    const queue = this.#queues.get(entry.classKey)!;
    const stays = finish.outcome === 'retry' || finish.outcome === 'retire';
    // CRAWL-5.2.3: a retried URI is rewritten under its own key and keeps its place.
    const again: QueueEntry = { ...entry, uri: { ...entry.uri, attempts: entry.uri.attempts + 1 } };
    let entries: QueueEntry[] = [];
    let written: Promise<void> = Promise.resolve();
    let settle: () => void = () => undefined;
    await this.#turn(async () => {
      entries = await this.#takeIn(candidates, batch);
      admitted();
      if (finish.forget === true) {
        await this.#seen.forget(this.options.prepare(entry.uri).seenKey);
        this.#after(batch, this.#seen.into(batch));
        this.#recent.delete(entry.uri.url);
      }
      if (finish.outcome === 'retire') batch.enqueue(entry);
      else if (stays) batch.enqueue(again);
      else batch.dequeue(entry);
      this.#account(queue, entry, finish);
      settle = this.#dispose(queue, finish, batch);
      written = this.#submit(batch, [queue, ...this.#queuesOf(entries)], true);
    });
    // With the filter in the store nobody needs to wait: what is written later is written in this order. A filter with files of its
    // own must have what was found before it can be fetched.
    if (!this.#seen.inStore) {
      await written;
      await this.#keepSeen();
    }
    if (stays) queue.unpeek(finish.outcome === 'retire' ? entry : again);
    else queue.peeked = undefined;
    this.#inProcess--;
    this.#available(entries);
    settle();
    if (this.empty) this.#wakeAll();
    return { written };
  }

  /** A worker was stopped in the middle: the URI stays the head of its queue, as if it had never been given out. */
  abandoned(entry: QueueEntry): void {
    const queue = this.#queues.get(entry.classKey)!;
    queue.unpeek(entry);
    this.#inProcess--;
    this.#list(queue);
  }

  /** CRAWL-5.6.5: `next` gives nothing until {@link release}. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#wakeAll();
  }

  /** CRAWL-5.4 T20: every sleeping queue wakes now. */
  forceWake(): void {
    for (let queue = this.#snoozed.pop(); queue !== undefined; queue = this.#snoozed.pop()) this.#wake(queue);
    this.#setTimer();
    this.#wakeAll();
  }

  /** CRAWL-5.4 T19: all retired queues become inactive; those still over budget retire again when their turn comes. */
  async reconsiderRetired(budgets?: (classKey: string) => WorkQueue['totalBudget']): Promise<number> {
    let count = 0;
    for await (const records of this.options.store.queueRecords.pages()) {
      const retired = records.filter(({ standing }) => standing === STANDING.retired);
      if (retired.length === 0) continue;
      let settle: (() => void)[] = [];
      let written: Promise<void> = Promise.resolve();
      await this.#turn(async () => {
        const batch = this.options.store.batch();
        const queues = (await this.#load(retired.map(({ classKey }) => classKey))).filter(
          ({ state }) => state === 'retired',
        );
        settle = queues.map((queue) => {
          queue.totalBudget = budgets?.(queue.classKey) ?? queue.totalBudget;
          this.#queued += queue.count;
          return this.#deactivate(queue, batch, 'backlog');
        });
        count += queues.length;
        written = this.#submit(batch, queues);
      });
      await written;
      for (const done of settle) done();
    }
    this.#wakeAll();
    return count;
  }

  /**
   * CRAWL-5.6.6, T21: deletes pending URIs. Those at a worker stay.
   * @returns the URIs that were deleted
   */
  async deleteUris(matches: (url: string, classKey: string) => boolean): Promise<number> {
    let deleted = 0;
    for await (const entries of this.options.store.queues.pages()) {
      const doomed = entries.filter(({ uri, classKey }) => matches(uri.url, classKey));
      if (doomed.length === 0) continue;
      await this.options.store.flush();
      let written: Promise<void> = Promise.resolve();
      let queues: readonly WorkQueue[] = [];
      await this.#turn(async () => {
        const batch = this.options.store.batch();
        queues = await this.#load([...new Set(doomed.map(({ classKey }) => classKey))]);
        for (const entry of doomed) {
          const queue = this.#queues.get(entry.classKey)!;
          // Not at a worker, nor given back or finished since the page was read.
          if (queue.peeked?.ordinal === entry.ordinal) continue;
          const [now] = await this.options.store.queues.heads(entry.classKey, 1, before(entry));
          if (now?.ordinal !== entry.ordinal) continue;
          batch.dequeue(entry);
          queue.count--;
          if (queue.state !== 'retired') this.#queued--;
          this.#disregarded++;
          deleted++;
        }
        written = this.#submit(batch, queues);
      });
      await written;
      for (const queue of queues) queue.window.clear(queue.count > 0);
    }
    this.#wakeAll();
    return deleted;
  }

  /** Queues in the order of their class keys. */
  async reports(
    options: { readonly state?: QueueState; readonly after?: string; readonly limit?: number } = {},
  ): Promise<QueueReport[]> {
    const { state, after, limit = 100 } = options;
    const reports: QueueReport[] = [];
    for await (const records of this.options.store.queueRecords.pages(after)) {
      for (const record of records) {
        const report = (this.#queues.get(record.classKey) ?? WorkQueue.restored(record)).report();
        if (state === undefined ? report.count > 0 : report.state === state) reports.push(report);
        if (reports.length >= limit) return reports;
      }
    }
    return reports;
  }

  /** Waits for the writes under way. */
  async settled(): Promise<void> {
    await this.#turns.take(() => Promise.resolve());
    await this.options.store.flush();
    await this.#writes;
  }

  /** CRAWL-17.3.1: runs `work` while nothing is taken in or handed back; what was before is on disk, the seen filter's part too. */
  atRest<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
      // Those that wait for it go on: what is on disk is counted, too.
      await this.#writeSeen();
      await this.options.seen.commit();
      return work();
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#wakeAll();
  }

  /** What loads queues and changes them happens in turns; only there are any let go, so that none goes while it is worked on. */
  #turn(work: () => Promise<void>): Promise<void> {
    return this.#turns.take(async () => {
      await work();
      this.#trim();
    });
  }

  #now(): number {
    return this.options.now?.() ?? Date.now();
  }

  /** A store of an older program has queues but no records: they are counted through, once. */
  async #adopt(): Promise<void> {
    const survey = await this.options.store.queues.survey();
    this.#nextOrdinal = survey.highestOrdinal + 1;
    for (const [classKey, count] of survey.queues) {
      const queue = new WorkQueue(classKey);
      Object.assign(queue, { count, enqueued: count });
      queue.window.clear(true);
      this.#restore(queue, STANDING.active);
      const [head] = await this.options.store.queues.heads(classKey, 1);
      if (head !== undefined) queue.setBudgets(this.options.prepare(head.uri).budgets);
      queue.replenishBalance();
    }
  }

  #restore(queue: WorkQueue, standing: number): void {
    if (standing === STANDING.retired) {
      this.#standing.retired++;
      return;
    }
    this.#queued += queue.count;
    if (standing === STANDING.inactive) {
      this.#standing.inactive++;
      return;
    }
    const sleeps = queue.wakeTime > this.#now();
    if (queue.count === 0 && !sleeps) return;
    this.#queues.set(queue.classKey, queue);
    this.#standing.exhausted++;
    if (sleeps) this.#snooze(queue);
    else this.#list(queue);
  }

  /** The queues of these class keys, from memory or disk, or new ones. Within a turn. */
  async #load(classKeys: readonly string[]): Promise<WorkQueue[]> {
    const missing = classKeys.filter((classKey) => !this.#queues.has(classKey));
    const records = missing.length === 0 ? [] : await this.options.store.queueRecords.getMany(missing);
    missing.forEach((classKey, i) => {
      const record = records[i];
      const queue = record === undefined ? new WorkQueue(classKey) : WorkQueue.restored(record);
      if (queue.state === 'exhausted') this.#standing.exhausted++;
      this.#queues.set(classKey, queue);
      this.#rest(queue);
    });
    return classKeys.map((classKey) => this.#queues.get(classKey)!);
  }

  /** CRAWL-5.6.1: which of the candidates are new; they are queued in the batch. Within a turn. */
  async #takeIn(candidates: readonly Candidate[], batch: GathererBatch): Promise<QueueEntry[]> {
    if (candidates.length === 0) return [];
    const prepared = candidates.map((candidate) => this.options.prepare(candidate));
    const fresh = await this.#seen.add(prepared.map(({ seenKey }) => seenKey));
    const refused: string[] = [];
    const taken: { readonly candidate: Candidate; readonly prepared: Prepared }[] = [];
    candidates.forEach((candidate, i) => {
      const known = fresh[i] !== 1;
      const one = prepared[i]!;
      if (known && !candidate.forceFetch) this.#recent.add(candidate.url);
      else if (candidate.admit?.() === false) {
        if (!known) refused.push(one.seenKey);
      } else {
        this.#recent.add(candidate.url);
        taken.push({ candidate, prepared: one });
      }
    });
    // What its RootNode refuses is not seen: another RootNode may want it.
    await this.#seen.refuse(refused);
    const queues = await this.#load([...new Set(taken.map(({ prepared: { classKey } }) => classKey))]);
    this.#after(batch, this.#seen.into(batch));
    const entries = taken.map(({ candidate, prepared: one }) => {
      const entry = this.#entryOf(candidate, one);
      batch.enqueue(entry);
      const queue = this.#queues.get(one.classKey)!;
      queue.count++;
      queue.enqueued++;
      queue.lastQueued = candidate.url;
      this.options.onAdded?.(entry);
      queue.setBudgets(one.budgets);
      // CRAWL-5.4: enqueuing into a retired queue does not raise the queued count.
      if (queue.state !== 'retired') this.#queued++;
      return entry;
    });
    for (const queue of queues) this.#hold(queue, batch);
    return entries;
  }

  #entryOf(candidate: Candidate, { classKey, directive, cost, precedence }: Prepared): QueueEntry {
    const { url, via, pathFromSeed, root, depth, forceFetch, isLeaf, sourceTag } = candidate;
    const uri: QueuedUri = {
      url,
      via,
      pathFromSeed,
      root,
      depth,
      attempts: 0,
      forceFetch,
      isLeaf,
      cost,
      sourceTag,
    };
    const ordinal = this.#nextOrdinal++;
    return { classKey, directive, cost: Math.min(precedence, MAX_URI_PRECEDENCE), ordinal, uri };
  }

  /** T1, T2: a queue that was exhausted has something to give. */
  #hold(queue: WorkQueue, batch: GathererBatch): void {
    if (queue.state !== 'exhausted') return;
    const { holdQueues = true, targetReadyBacklog = 50 } = this.options;
    queue.replenishBalance();
    if (queue.wakeTime > this.#now()) {
      this.#snooze(queue);
    } else if (holdQueues && this.#standing.ready >= targetReadyBacklog) {
      queue.sessionBalance = 0;
      const settle = this.#deactivate(queue, batch, 'backlog');
      this.#after(batch, settle);
    } else {
      this.#setState(queue, 'ready');
      queue.wakeTime = 0;
    }
  }

  /** CRAWL-8.4: the counters and the queue's budget. */
  #account(queue: WorkQueue, entry: QueueEntry, { outcome, free, penalty = 0, bytes = 0 }: Finish): void {
    const { cost } = entry.uri;
    switch (outcome) {
      case 'success':
        queue.charge(cost);
        queue.successes++;
        queue.bytes += bytes;
        this.#succeeded++;
        break;
      case 'failed':
        queue.charge(cost + penalty);
        queue.errors++;
        this.#failed++;
        break;
      case 'disregarded':
        this.#disregarded++;
        break;
      case 'retry':
        if (free !== true) queue.charge(cost);
        break;
      case 'retire':
        break;
    }
    this.#bytes += bytes;
    if (outcome !== 'retry' && outcome !== 'retire') {
      queue.count--;
      this.#queued--;
    }
  }

  /** T10 to T18: where the queue goes now; what is returned makes it so once the batch is written. Within a turn. */
  #dispose(queue: WorkQueue, { outcome, delayMs, reason }: Finish, batch: GathererBatch): () => void {
    if (outcome === 'retire') return this.#retire(queue, reason ?? 'operator');
    queue.reason = reason ?? '';
    if (delayMs <= 0) return this.#reenqueue(queue, batch);
    queue.wakeTime = this.#now() + delayMs;
    const { snoozeDeactivateMs = 300_000 } = this.options;
    // T18: what sleeps long makes room.
    if (delayMs > snoozeDeactivateMs && this.#inactive.size > 0 && queue.count > 0)
      return this.#deactivate(queue, batch, reason ?? 'politeness');
    return () => this.#snooze(queue);
  }

  /** T15, T16. */
  #reenqueue(queue: WorkQueue, batch: GathererBatch): () => void {
    queue.wakeTime = 0;
    queue.reason = '';
    if (queue.count === 0 || !queue.overBudget) return () => this.#list(queue);
    queue.sessionBalance = 0;
    return this.#deactivate(queue, batch, 'session-budget');
  }

  #retire(queue: WorkQueue, reason: WaitReason): () => void {
    this.#setState(queue, 'retired');
    queue.reason = reason;
    queue.wakeTime = 0;
    this.#queued -= queue.count;
    return () => this.#rest(queue);
  }

  #deactivate(queue: WorkQueue, batch: GathererBatch, reason: WaitReason): () => void {
    this.#setState(queue, 'inactive');
    queue.reason = reason;
    const place = this.#inactive.push(queue, batch);
    return () => {
      this.#inactive.written(place);
      this.#rest(queue);
      this.#waiters.shift()?.();
    };
  }

  /** CRAWL-5.6.2 (c): inactive queues become active until enough are ready; one filler at a time. */
  #topUp(): void {
    const wanted = this.options.targetReadyBacklog ?? 50;
    if (this.#filling !== undefined || this.#inactive.available === 0 || this.#standing.ready >= wanted)
      return;
    this.#filling = this.#activate(wanted - this.#standing.ready)
      .catch((error) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#filling = undefined;
      });
  }

  async #activate(count: number): Promise<void> {
    await this.#turn(async () => {
      const places = await this.#inactive.take(count);
      const batch = this.options.store.batch();
      const queues = await this.#load(places.map(({ classKey }) => classKey));
      const settle: (() => void)[] = [];
      for (const queue of queues) {
        if (queue.state !== 'inactive') continue;
        this.#inactive.remove(placeOf(queue), batch);
        queue.replenishBalance();
        if (queue.count > 0 && queue.overBudget) {
          settle.push(this.#retire(queue, 'total-budget')); // T4
        } else if (queue.precedence >= PRECEDENCE_FLOOR) {
          settle.push(this.#retire(queue, 'operator'));
        } else if (queue.wakeTime > this.#now()) {
          this.#snooze(queue); // T5
        } else {
          queue.wakeTime = 0; // T6
          queue.reason = '';
          this.#list(queue);
        }
      }
      const written = this.#submit(batch, queues);
      void written.then(() => {
        for (const done of settle) done();
        if (this.empty) this.#wakeAll();
      }, this.#writeFailed);
    });
  }

  /** T7 to T9: the queue's head goes to a worker. */
  async #give(queue: WorkQueue): Promise<QueueEntry | undefined> {
    this.#setState(queue, 'in-process');
    this.#inProcess++;
    try {
      while (queue.window.needsRefill) {
        // What was taken or added lately must be on disk, or gone from it, before it is read.
        await this.options.store.flush();
        // The queue is locked by its state while we read: nobody else touches it across this await.
        await queue.window.refill(this.#windowSize(), (limit, after) =>
          this.options.store.queues.heads(queue.classKey, limit, after),
        );
      }
    } catch (error) {
      this.#inProcess--;
      throw error;
    }
    const entry = queue.peek();
    if (entry === undefined) {
      this.#inProcess--;
      // What it holds is being written: it is ready again when that is done.
      if (queue.count > 0) this.#setState(queue, 'ready');
      else this.#exhaust(queue);
      return undefined;
    }
    const { classKey } = this.options.prepare(entry.uri);
    if (classKey === queue.classKey) {
      this.options.onEmitted?.(entry);
      return entry;
    }
    await this.#relocate(queue, entry, classKey);
    return undefined;
  }

  /** T8: the head belongs to another queue by now. */
  async #relocate(queue: WorkQueue, entry: QueueEntry, classKey: string): Promise<void> {
    const moved: QueueEntry = { ...entry, classKey };
    let written: Promise<void> = Promise.resolve();
    await this.#turn(async () => {
      const batch = this.options.store.batch().dequeue(entry).enqueue(moved);
      const [target] = await this.#load([classKey]);
      queue.count--;
      target!.count++;
      target!.enqueued++;
      target!.setBudgets(this.options.prepare(entry.uri).budgets);
      if (target!.state === 'retired') this.#queued--;
      this.#hold(target!, batch);
      written = this.#submit(batch, [queue, target!]);
    });
    await written;
    queue.peeked = undefined;
    this.#inProcess--;
    this.#available([moved]);
    this.#list(queue);
  }

  /** The entries are on disk: their queues may give them. */
  #available(entries: readonly QueueEntry[]): void {
    const limit = this.#windowSize();
    for (const entry of entries) {
      const queue = this.#queues.get(entry.classKey);
      // It has left memory since: the disk has it all.
      if (queue === undefined) continue;
      queue.window.added(entry, limit);
      if (queue.state === 'ready' && !queue.listed) this.#list(queue);
    }
  }

  /**
   * Lets the seen filter reach the disk. One with files of its own must not be there before the batches that queue what it holds: so
   * it is written when none is under way, for all that wait at that time together.
   */
  #keepSeen(): Promise<void> {
    if (this.#seen.inStore) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (this.#seenWaiters.push({ resolve, reject }) === 1) void this.#turns.take(() => this.#writeSeen());
    });
  }

  /** Within a turn. */
  async #writeSeen(): Promise<void> {
    try {
      await this.options.store.flush();
      await this.#writes;
      // Whoever has just heard that its batch is written comes to wait for this.
      await nextTick();
      await this.#seen.written();
      for (const { resolve } of this.#seenWaiters.splice(0)) resolve();
    } catch (error) {
      for (const { reject } of this.#seenWaiters.splice(0)) reject(error);
    }
  }

  /** Puts the records of the queues into the batch and hands it to the store; what was handed over first is written first. */
  #submit(batch: GathererBatch, queues: readonly WorkQueue[], lazy = false): Promise<void> {
    const changed = new Set(queues);
    for (const queue of changed) {
      queue.writes++;
      batch.putQueue(queue.toRecord());
    }
    batch.putFrontierState({
      nextOrdinal: this.#nextOrdinal,
      nextSequence: this.#inactive.nextSequence,
      succeeded: this.#succeeded,
      failed: this.#failed,
      disregarded: this.#disregarded,
      bytes: this.#bytes,
    });
    const followers = this.#followers.get(batch);
    this.#followers.delete(batch);
    const written = batch.commit({ lazy }).then(() => {
      for (const queue of changed) queue.writes--;
      for (const follow of followers ?? []) follow();
    });
    this.#writes = written.catch(() => undefined);
    return written;
  }

  /** Runs `work` when the batch is written. */
  #after(batch: GathererBatch, work: () => void): void {
    const followers = this.#followers.get(batch);
    if (followers === undefined) this.#followers.set(batch, [work]);
    else followers.push(work);
  }

  readonly #writeFailed = (error: unknown): void => {
    this.#failure ??= { error };
    this.#wakeAll();
  };

  #queuesOf(entries: readonly QueueEntry[]): WorkQueue[] {
    return entries.map(({ classKey }) => this.#queues.get(classKey)!);
  }

  #windowSize(): number {
    const { windowEntries = 65_536 } = this.options;
    const active = this.#queues.size - this.#resting.size;
    return Math.max(MIN_WINDOW, Math.min(MAX_WINDOW, Math.floor(windowEntries / Math.max(1, active))));
  }

  #setState(queue: WorkQueue, state: QueueState): void {
    this.#standing[queue.state]--;
    this.#standing[state]++;
    queue.state = state;
    if (state === 'ready' || state === 'in-process' || state === 'snoozed') this.#resting.delete(queue);
  }

  #list(queue: WorkQueue): void {
    if (queue.count === 0) {
      this.#exhaust(queue);
      return;
    }
    this.#setState(queue, 'ready');
    if (queue.listed) return;
    queue.listed = true;
    this.#ready.push(queue);
    this.#waiters.shift()?.();
  }

  #exhaust(queue: WorkQueue): void {
    this.#setState(queue, 'exhausted');
    this.#rest(queue);
  }

  /** The queue is kept for a while. */
  #rest(queue: WorkQueue): void {
    queue.window.clear(queue.count > 0);
    this.#resting.delete(queue);
    this.#resting.add(queue);
  }

  /** Lets go of those that have rested longest: their records are on disk. */
  #trim(): void {
    let surplus = this.#resting.size - (this.options.restingQueues ?? 10_000);
    if (surplus <= 0) return;
    for (const one of this.#resting) {
      if (surplus-- <= 0) return;
      if (one.writes > 0) continue;
      this.#resting.delete(one);
      this.#queues.delete(one.classKey);
      if (one.state === 'exhausted') this.#standing.exhausted--;
    }
  }

  #takeReady(): WorkQueue | undefined {
    const queue = this.#ready[this.#readyHead];
    if (queue === undefined) return undefined;
    this.#readyHead++;
    if (this.#readyHead > 1024 && this.#readyHead * 2 > this.#ready.length) {
      this.#ready = this.#ready.slice(this.#readyHead);
      this.#readyHead = 0;
    }
    queue.listed = false;
    return queue;
  }

  #snooze(queue: WorkQueue): void {
    // An exhausted queue sleeps too: a URI that arrives meanwhile must not find its host ready.
    this.#setState(queue, 'snoozed');
    this.#snoozed.push(queue.wakeTime, queue);
    this.#setTimer();
  }

  #wakeDue(): void {
    const now = this.#now();
    for (let queue = this.#snoozed.popDue(now); queue !== undefined; queue = this.#snoozed.popDue(now))
      this.#wake(queue);
  }

  /** T17. */
  #wake(queue: WorkQueue): void {
    const over = queue.count > 0 && queue.overBudget;
    if (!over) {
      this.#reenqueue(queue, this.options.store.batch())();
      return;
    }
    const batch = this.options.store.batch();
    const settle = this.#reenqueue(queue, batch);
    this.#submit(batch, [queue]).then(settle, this.#writeFailed);
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const earliest = this.#snoozed.earliest;
    if (earliest === undefined || this.#closed) return;
    this.#timer = setTimeout(
      () => {
        this.#wakeDue();
        this.#setTimer();
      },
      Math.max(1, Math.min(earliest - this.#now(), 0x7fffffff)),
    );
  }

  async #wait(signal: AbortSignal, milliseconds?: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      signal.addEventListener('abort', done, { once: true });
      if (milliseconds === undefined) this.#waiters.push(done);
      else timer = setTimeout(done, milliseconds);
    });
    clearTimeout(timer);
  }

  #wakeAll(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

/** Resolves when a batch is on disk; a promise by itself would be waited for by whoever gets it. */
export interface Written {
  readonly written: Promise<void>;
}

/** The place just before an entry's own. */
function before(entry: QueueEntry): QueueEntry {
  return { ...entry, ordinal: entry.ordinal - 1 };
}
