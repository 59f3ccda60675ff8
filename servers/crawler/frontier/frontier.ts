import type { GathererBatch, GathererStore, QueuedUri, QueueEntry } from '../../../storage/index.js';
import { QUEUE_STATUS } from '../../../storage/index.js';
import type { SeenFilter } from '../../../storage/seen/index.js';
import type { QueueReport, WaitReason } from '../control.js';
import type { Candidate, Finish, FrontierCounts, FrontierFigures, Prepared } from './contract.js';
import { FrontierWriter } from './frontier-writer.js';
import { InactiveQueues } from './inactive-queues.js';
import { QueueLifeCycle } from './life-cycle.js';
import { deleteUris, queueReports, reconsiderRetired } from './operator-actions.js';
import { QueueMemory } from './queue-memory.js';
import { RecentUrls } from './recent-urls.js';
import { SeenGate } from './seen-gate.js';
import { Turns } from './turns.js';
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
  readonly #memory: QueueMemory;
  readonly #cycle: QueueLifeCycle;
  readonly #inactive: InactiveQueues;
  readonly #writer: FrontierWriter;
  readonly #seen: SeenGate;
  readonly #recent = new RecentUrls();
  readonly #turns = new Turns();
  readonly #waiters: (() => void)[] = [];
  #filling: Promise<void> | undefined;
  #held = false;
  #closed = false;
  #inProcess = 0;

  private constructor(
    readonly options: FrontierOptions,
    nextSequence: number,
  ) {
    const { store, restingQueues = 10_000, windowEntries = 65_536 } = options;
    this.#inactive = new InactiveQueues(async (limit, after) => {
      await store.flush();
      return store.queueRecords.inactive(limit, after);
    }, nextSequence);
    this.#seen = new SeenGate(options.seen);
    this.#writer = new FrontierWriter(store, this.#seen, this.#turns, this.#inactive, () => this.#wakeAll());
    this.#memory = new QueueMemory(store.queueRecords, { restingQueues, windowEntries });
    this.#cycle = new QueueLifeCycle(this.#memory, this.#inactive, this.#writer, {
      holdQueues: options.holdQueues ?? true,
      targetReadyBacklog: options.targetReadyBacklog ?? 50,
      snoozeDeactivateMs: options.snoozeDeactivateMs ?? 300_000,
      now: () => this.#now(),
      onReady: () => this.#waiters.shift()?.(),
    });
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
    const { nextSequence: _, ...counters } = state;
    Object.assign(frontier.#writer.counters, counters);
    for await (const records of store.queueRecords.pages())
      for (const record of records) frontier.#restore(WorkQueue.restored(record), record.status);
    frontier.#inactive.restored(frontier.#memory.status.inactive);
    // A filter with files of its own may lack what was queued last.
    if (!frontier.#seen.inStore)
      for await (const entries of store.queues.pages())
        await seen.add(entries.map(({ uri }) => options.prepare(uri).seenKey));
    return frontier;
  }

  get counts(): FrontierCounts {
    const { status } = this.#memory;
    const { exhausted: _, ...held } = status;
    const { succeeded, failed, disregarded, bytes } = this.#writer.counters;
    return {
      queued: this.#cycle.queued,
      discovered: this.#seen.count,
      inProcess: this.#inProcess,
      queues: Object.values(held).reduce((sum, count) => sum + count, 0),
      snoozed: status.snoozed,
      succeeded,
      failed,
      disregarded,
      bytes,
    };
  }

  /** CRAWL-5.6.7. */
  get figures(): FrontierFigures {
    const { status } = this.#memory;
    const reasons: Partial<Record<WaitReason, number>> = {};
    let deepest = 0;
    for (const queue of this.#memory.values()) {
      deepest = Math.max(deepest, queue.count);
      if (queue.state === 'snoozed' && queue.reason !== '')
        reasons[queue.reason] = (reasons[queue.reason] ?? 0) + 1;
    }
    if (status.inactive > 0) reasons.backlog = status.inactive;
    const busy = status['in-process'] + status.snoozed;
    const eligible = status.ready + busy + status.inactive;
    return {
      queues: { ...status },
      reasons,
      congestion: busy === 0 ? 0 : eligible / busy,
      averageDepth: eligible === 0 ? 0 : this.#cycle.queued / eligible,
      deepestQueue: deepest,
    };
  }

  /** Nothing is queued that could be had, and nothing is at a worker: the crawl is over (CRAWL-4.9). */
  get empty(): boolean {
    return this.#cycle.queued === 0 && this.#inProcess === 0;
  }

  /** CRAWL-16.6, 11.3: what a queue in memory has brought so far. */
  traffic(classKey: string): {
    successes: number;
    successBytes: number;
    responses: number;
    totalBytes: number;
  } {
    const { successes = 0, errors = 0, bytes = 0 } = this.#memory.get(classKey) ?? {};
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
      written = this.#writer.submit(batch, this.#queuesOf(entries));
    });
    await written;
    await this.#writer.keepSeen();
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
    await this.#writer.keepSeen();
  }

  /**
   * CRAWL-5.6.2: the next URI, when a queue may give one; undefined when the frontier is empty or closed, or `signal` is aborted.
   */
  async next(signal: AbortSignal): Promise<QueueEntry | undefined> {
    for (;;) {
      if (this.#writer.failure !== undefined) throw this.#writer.failure.error;
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
      this.#cycle.wakeDue();
      this.#topUp();
      const queue = this.#cycle.takeReady();
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
   * @returns when that is on disk. The worker can take another URI before, but not one of this queue: so a kill undoes nothing that the
   *   server was asked for after it.
   */
  async finished(
    entry: QueueEntry,
    finish: Finish,
    batch: GathererBatch,
    candidates: readonly Candidate[] = [],
    /** Called when the candidates are admitted, before the batch is handed to the store. */
    admitted: () => void = () => undefined,
  ): Promise<Written> {
    const queue = this.#memory.get(entry.classKey)!;
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
        this.#writer.after(batch, this.#seen.into(batch));
        this.#recent.delete(entry.uri.url);
      }
      if (finish.outcome === 'retire') batch.enqueue(entry);
      else if (stays) batch.enqueue(again);
      else batch.dequeue(entry);
      this.#account(queue, entry, finish);
      settle = this.#cycle.dispose(queue, finish, batch);
      written = this.#writer.submit(batch, [queue, ...this.#queuesOf(entries)], true);
    });
    const settled = written
      .then(() => this.#writer.keepSeen())
      .then(() => {
        if (stays) queue.unpeek(finish.outcome === 'retire' ? entry : again);
        else queue.peeked = undefined;
        this.#inProcess--;
        this.#available(entries);
        settle();
        if (this.empty) this.#wakeAll();
      });
    return { written: settled };
  }

  /** A worker was stopped in the middle: the URI stays the head of its queue, as if it had never been given out. */
  abandoned(entry: QueueEntry): void {
    const queue = this.#memory.get(entry.classKey)!;
    queue.unpeek(entry);
    this.#inProcess--;
    this.#cycle.list(queue);
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
    this.#cycle.wakeAll();
    this.#wakeAll();
  }

  /** CRAWL-5.4 T19: retired queues become inactive; those still over budget retire again. @returns how many */
  async reconsiderRetired(budgets?: (classKey: string) => number): Promise<number> {
    const count = await reconsiderRetired(this.#scene, budgets);
    this.#wakeAll();
    return count;
  }

  /** CRAWL-5.6.6, T21: deletes pending URIs. @returns how many */
  async deleteUris(matches: (url: string, classKey: string) => boolean): Promise<number> {
    const count = await deleteUris(this.#scene, matches);
    this.#wakeAll();
    return count;
  }

  /** Queues in the order of their class keys. */
  reports(options: Parameters<typeof queueReports>[1] = {}): Promise<QueueReport[]> {
    return queueReports(this.#scene, options);
  }

  /** Waits for the writes under way. */
  async settled(): Promise<void> {
    await this.#turns.take(() => Promise.resolve());
    await this.#writer.settled();
  }

  /** CRAWL-17.3.1: runs `work` while nothing is taken in or handed back; what was before is on disk, the seen filter's part too. */
  atRest<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
      // Those that wait for it go on: what is on disk is counted, too.
      await this.#writer.writeSeen();
      await this.options.seen.commit();
      return work();
    });
  }

  close(): void {
    this.#closed = true;
    this.#cycle.close();
    this.#wakeAll();
  }

  get #scene() {
    return {
      memory: this.#memory,
      cycle: this.#cycle,
      writer: this.#writer,
      turn: (work: () => Promise<void>) => this.#turn(work),
    };
  }

  /** What loads queues and changes them happens in turns; only there are any let go, so that none goes while it is worked on. */
  #turn(work: () => Promise<void>): Promise<void> {
    return this.#turns.take(async () => {
      await work();
      this.#memory.trim();
    });
  }

  #now(): number {
    return this.options.now?.() ?? Date.now();
  }

  /** A store of an older program has queues but no records: they are counted through, once. */
  async #adopt(): Promise<void> {
    const survey = await this.options.store.queues.survey();
    this.#writer.counters.nextOrdinal = survey.highestOrdinal + 1;
    for (const [classKey, count] of survey.queues) {
      const queue = new WorkQueue(classKey);
      Object.assign(queue, { count, enqueued: count });
      queue.window.clear(true);
      this.#restore(queue, QUEUE_STATUS.active);
      const [head] = await this.options.store.queues.heads(classKey, 1);
      if (head !== undefined) queue.setBudgets(this.options.prepare(head.uri).budgets);
      queue.replenishBalance();
    }
  }

  #restore(queue: WorkQueue, status: number): void {
    if (status === QUEUE_STATUS.retired) {
      this.#memory.status.retired++;
      return;
    }
    this.#cycle.queued += queue.count;
    if (status === QUEUE_STATUS.inactive) {
      this.#memory.status.inactive++;
      return;
    }
    const sleeps = queue.wakeTime > this.#now();
    if (queue.count === 0 && !sleeps) return;
    this.#memory.add(queue);
    if (sleeps) this.#cycle.snooze(queue);
    else this.#cycle.list(queue);
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
    const queues = await this.#memory.load([...new Set(taken.map(({ prepared: { classKey } }) => classKey))]);
    this.#writer.after(batch, this.#seen.into(batch));
    const entries = taken.map(({ candidate, prepared: one }) => {
      const entry = this.#entryOf(candidate, one);
      batch.enqueue(entry);
      const queue = this.#memory.get(one.classKey)!;
      queue.count++;
      queue.enqueued++;
      queue.lastQueued = candidate.url;
      this.options.onAdded?.(entry);
      queue.setBudgets(one.budgets);
      // CRAWL-5.4: enqueuing into a retired queue does not raise the queued count.
      if (queue.state !== 'retired') this.#cycle.queued++;
      return entry;
    });
    for (const queue of queues) this.#cycle.hold(queue, batch);
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
    const ordinal = this.#writer.counters.nextOrdinal++;
    return { classKey, directive, cost: Math.min(precedence, MAX_URI_PRECEDENCE), ordinal, uri };
  }

  /** CRAWL-8.4: the counters and the queue's budget. */
  #account(queue: WorkQueue, entry: QueueEntry, { outcome, free, penalty = 0, bytes = 0 }: Finish): void {
    const { cost } = entry.uri;
    switch (outcome) {
      case 'success':
        queue.charge(cost);
        queue.successes++;
        queue.bytes += bytes;
        this.#writer.counters.succeeded++;
        break;
      case 'failed':
        queue.charge(cost + penalty);
        queue.errors++;
        this.#writer.counters.failed++;
        break;
      case 'disregarded':
        this.#writer.counters.disregarded++;
        break;
      case 'retry':
        if (free !== true) queue.charge(cost);
        break;
      case 'retire':
        break;
    }
    this.#writer.counters.bytes += bytes;
    if (outcome !== 'retry' && outcome !== 'retire') {
      queue.count--;
      this.#cycle.queued--;
    }
  }

  /** CRAWL-5.6.2 (c): inactive queues become active until enough are ready; one filler at a time. */
  #topUp(): void {
    const { targetReadyBacklog = 50 } = this.options;
    const { ready } = this.#memory.status;
    if (this.#filling !== undefined || this.#inactive.available === 0 || ready >= targetReadyBacklog) return;
    this.#filling = this.#activate(targetReadyBacklog - ready)
      .catch((error: unknown) => this.#writer.fail(error))
      .finally(() => {
        this.#filling = undefined;
      });
  }

  async #activate(count: number): Promise<void> {
    await this.#turn(async () => {
      const places = await this.#inactive.take(count);
      const batch = this.options.store.batch();
      const loaded = await this.#memory.load(places.map(({ classKey }) => classKey));
      const queues = loaded.filter(({ state }) => state === 'inactive');
      const settle = queues.map((queue) => this.#cycle.activate(queue, batch));
      this.#writer.submitAside(batch, queues, () => {
        for (const done of settle) done();
        if (this.empty) this.#wakeAll();
      });
    });
  }

  /** T7 to T9: the queue's head goes to a worker. */
  async #give(queue: WorkQueue): Promise<QueueEntry | undefined> {
    this.#memory.setState(queue, 'in-process');
    this.#inProcess++;
    try {
      while (queue.window.needsRefill) {
        // What was taken or added lately must be on disk, or gone from it, before it is read.
        await this.options.store.flush();
        // The queue is locked by its state while we read: nobody else touches it across this await.
        await queue.window.refill(this.#memory.windowSize, (limit, after) =>
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
      if (queue.count > 0) this.#memory.setState(queue, 'ready');
      else this.#cycle.exhaust(queue);
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
      const [target] = await this.#memory.load([classKey]);
      queue.count--;
      target!.count++;
      target!.enqueued++;
      target!.setBudgets(this.options.prepare(entry.uri).budgets);
      if (target!.state === 'retired') this.#cycle.queued--;
      this.#cycle.hold(target!, batch);
      written = this.#writer.submit(batch, [queue, target!]);
    });
    await written;
    queue.peeked = undefined;
    this.#inProcess--;
    this.#available([moved]);
    this.#cycle.list(queue);
  }

  /** The entries are on disk: their queues may give them. */
  #available(entries: readonly QueueEntry[]): void {
    const limit = this.#memory.windowSize;
    for (const entry of entries) {
      const queue = this.#memory.get(entry.classKey);
      // It has left memory since: the disk has it all.
      if (queue === undefined) continue;
      queue.window.added(entry, limit);
      if (queue.state === 'ready' && !queue.listed) this.#cycle.list(queue);
    }
  }

  #queuesOf(entries: readonly QueueEntry[]): WorkQueue[] {
    return entries.map(({ classKey }) => this.#memory.get(classKey)!);
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
