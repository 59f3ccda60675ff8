import { setMaxListeners } from 'node:events';
import { monotonicClock, steadyTime } from '../../../clients/connection/monotonic-clock.js';
import { type Clock, pauseFor } from '../../../protocols/clock.js';
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import { Mutex } from '../../../protocols/mutex.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import { Waiters } from '../../../protocols/waiters.js';
import type { GathererBatch, QueueEntry } from '../../../storage/index.js';
import type { SeenFilter } from '../../../storage/seen/index.js';
import type { QueueReport, QueueSelection, WaitingReport } from '../control.js';
import { computeFigures, countOutcome } from './accounting.js';
import {
  type Candidate,
  type CrawlFrontier,
  type Enumerations,
  type Finish,
  type FrontierCounts,
  type FrontierFigures,
  ONE_ENUMERATION,
  type Prepared,
  type PreparedOf,
  type QueueTraffic,
  seenIn,
  type Written,
} from './contract.js';
import type { FrontierStore } from './frontier-store.js';
import { FrontierWriter } from './frontier-writer.js';
import { InactiveQueues } from './inactive-queues.js';
import { CandidateIntake, UrlCache } from './intake.js';
import { QueueLifeCycle } from './life-cycle.js';
import { deleteUris, type OperatorContext, queueReports, reconsiderRetired } from './operator-actions.js';
import { QueueMemory } from './queue-memory.js';
import { restoreFrontier } from './restore.js';
import { SeenUris } from './seen-uris.js';
import { QueueSupply } from './supply.js';
import { WaitingUris, waitingReport } from './waiting-uris.js';
import type { WorkQueue } from './work-queue.js';

/** The clock of a frontier: it keeps times over a restart, so they are milliseconds since 1970. */
const wallClock: Clock = { ...monotonicClock, now: steadyTime };

export interface FrontierOptions {
  readonly store: FrontierStore;
  /** The caller closes it. A filter in the store itself is written in the batches that queue the new URIs. */
  readonly seen: SeenFilter;
  /** Computes class key, cost and precedence of a URI (CRAWL-11.4), see FrontierPreparer. */
  readonly prepare: (uri: PreparedOf) => Prepared;
  /** Default: all RootNodes share what they have seen. */
  readonly enumerations?: Enumerations;
  /** CRAWL-5.4 T1: default true. */
  readonly holdQueues?: boolean;
  /** CRAWL-5.4 T1: default 50. */
  readonly targetReadyBacklog?: number;
  /** CRAWL-5.4 T18: default 300 000. */
  readonly snoozeDeactivateMs?: number;
  /** CRAWL-7.6: milliseconds that every worker waits before the next URI. Default 0. */
  readonly totalWait?: (now: number) => number;
  /** CRAWL-17.1.1 `F+` and `Fe`, for a journal. */
  readonly onAdded?: ((entry: QueueEntry) => void) | undefined;
  readonly onEmitted?: ((entry: QueueEntry) => void) | undefined;
  /**
   * A queue without a pause gives its next URI while the results of the former one are being written, which the
   * store does in order. For crawls in which no processor reads what the former URI of its queue has stored.
   * Default false.
   */
  readonly overlapWrites?: boolean;
  /**
   * Adds the record of a URI that the operator deletes to its batch; the result is called when the batch is
   * written.
   */
  readonly onDeleted?: (entry: QueueEntry, batch: GathererBatch) => () => void;
  /** Queues without work that stay in memory. Default 10 000. */
  readonly restingQueues?: number;
  /** URIs in memory over all queues. Default 65 536. */
  readonly windowEntries?: number;
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly clock?: Clock;
  /**
   * Milliseconds for which each queue with a URI rests when it is restored: another process may have used its server a moment
   * ago. Default 0.
   */
  readonly restMs?: number;
  /** Called when a queue may be ready, or nothing is left; see {@link Frontier.take}. */
  readonly onWake?: () => void;
}

/** Waiters, and one more that is not of this frontier. */
class ReportedWaiters extends Waiters {
  readonly #onWake: (() => void) | undefined;

  constructor(onWake: (() => void) | undefined) {
    super();
    this.#onWake = onWake;
  }

  override wakeOne(): void {
    super.wakeOne();
    this.#onWake?.();
  }

  override wakeAll(): void {
    super.wakeAll();
    this.#onWake?.();
  }
}

/**
 * What `next` can do now: take from a ready queue, wait for an activation, wait for a wake-up or a time, or
 * end.
 */
type Offer =
  | { readonly queue: WorkQueue }
  | { readonly activation: Promise<void> }
  | { readonly waitMs: number | undefined }
  | { readonly over: true };

/**
 * The frontier over the working store (CRAWL-1.2). A URI leaves its queue in the same atomic batch that stores
 * its outcome and queues the links found on it. A crash therefore neither loses nor repeats work: the URI is
 * either still the head of its queue, or all of its results are stored.
 *
 * `next` suspends until a queue is ready (CRAWL-20.5). Between `next` and `finished` a queue is locked
 * (CRAWL-5.6.4). The reads that precede a write run under a mutex, so that two URIs cannot both be the first to
 * find a third; the writes themselves are grouped by the store. Memory holds the active queues; the others are
 * records on disk.
 *
 * ```
 *   exhausted -> ready -> in process -> snoozed -> ready ...        retired: until an operator reconsiders it
 *            \-> inactive -^                \---> inactive          (CRAWL-5.4)
 * ```
 */
export class Frontier implements CrawlFrontier<GathererBatch> {
  readonly #options: FrontierOptions;
  readonly #memory: QueueMemory;
  readonly #cycle: QueueLifeCycle;
  readonly #inactive: InactiveQueues;
  readonly #writer: FrontierWriter;
  readonly #intake: CandidateIntake;
  readonly #supply: QueueSupply;
  readonly #seen: SeenUris;
  readonly #waiting: WaitingUris;
  readonly #knownUrls = new UrlCache();
  readonly #enumerations: Enumerations;
  readonly #mutex = new Mutex();
  readonly #clock: Clock;
  /** The calls of `next` that wait until a queue is ready (CRAWL-20.5). */
  readonly #waiters: Waiters;
  /** Aborted at the end: no more URIs are given out. */
  readonly #end = new AbortController();
  #held = false;
  #closed = false;
  #inProcess = 0;
  #announced = 0;

  private constructor(options: FrontierOptions) {
    this.#options = options;

    const {
      store,
      prepare,
      restingQueues = 10_000,
      windowEntries = 65_536,
      enumerations = ONE_ENUMERATION,
      targetReadyBacklog = 50,
    } = options;
    // Every worker may wait.
    setMaxListeners(0, this.#end.signal);
    this.#clock = options.clock ?? wallClock;
    this.#waiters = new ReportedWaiters(options.onWake);
    this.#enumerations = enumerations;
    this.#inactive = new InactiveQueues(async (limit, after) => {
      await store.flush();
      return store.inactiveQueues.page({ limit, after });
    });
    this.#seen = new SeenUris(options.seen);
    this.#writer = new FrontierWriter(store, this.#seen, this.#mutex, this.#inactive, () =>
      this.#waiters.wakeAll(),
    );
    this.#memory = new QueueMemory(store.queueRecords, { restingQueues, windowEntries });
    this.#writer.pending = () => this.#cycle.queued;
    const parts = { memory: this.#memory, inactive: this.#inactive, writer: this.#writer };
    this.#cycle = new QueueLifeCycle({
      ...parts,
      holdQueues: options.holdQueues ?? true,
      targetReadyBacklog,
      snoozeDeactivateMs: options.snoozeDeactivateMs ?? 300_000,
      clock: this.#clock,
      onReady: () => this.#waiters.wakeOne(),
    });
    this.#intake = new CandidateIntake({
      ...parts,
      cycle: this.#cycle,
      seen: this.#seen,
      knownUrls: this.#knownUrls,
      prepare,
      enumerations,
      onAdded: (entry) => options.onAdded?.(entry),
    });
    const more = {
      ...parts,
      cycle: this.#cycle,
      intake: this.#intake,
      exclusive: <T>(work: () => Promise<T>) => this.#exclusive(work),
    };
    this.#supply = new QueueSupply({
      ...more,
      prepare,
      targetReadyBacklog,
      onActivated: () => {
        if (this.empty) this.#waiters.wakeAll();
      },
    });
    this.#waiting = new WaitingUris({
      ...more,
      clock: this.#clock,
      onReturned: () => this.#waiters.wakeAll(),
    });
  }

  /** Opens the frontier on the store: empty, or with the queues of an interrupted crawl (CRAWL-17.2.2). */
  static async open(options: FrontierOptions): Promise<Frontier> {
    const frontier = new Frontier(options);
    await restoreFrontier({
      memory: frontier.#memory,
      cycle: frontier.#cycle,
      inactive: frontier.#inactive,
      writer: frontier.#writer,
      seenKeyOf: (uri) => frontier.#seenKeyOf(uri),
      ownFilter: frontier.#seen.inStore ? undefined : options.seen,
      now: frontier.#clock.now(),
      restMs: options.restMs ?? 0,
    });
    await frontier.#waiting.restore();
    return frontier;
  }

  get counts(): FrontierCounts {
    const { status } = this.#memory;
    const { exhausted: _, ...pending } = status;
    const { succeeded, failed, disregarded, bytes } = this.#writer.counters;
    return {
      queued: this.#cycle.queued + this.#waiting.count,
      discovered: this.#options.seen.count,
      inProcess: this.#inProcess,
      queues: Object.values(pending).reduce((sum, count) => sum + count, 0),
      snoozed: status.snoozed,
      succeeded,
      failed,
      disregarded,
      bytes,
    };
  }

  get figures(): FrontierFigures {
    return computeFigures(this.#memory, this.#cycle.queued);
  }

  get empty(): boolean {
    const isIdle = this.#cycle.queued === 0 && this.#inProcess === 0 && this.#waiting.count === 0;
    return isIdle && this.#announced === 0;
  }

  traffic(classKey: string): QueueTraffic {
    const { successes = 0, errors = 0, bytes = 0 } = this.#memory.queues.get(classKey) ?? {};
    return { successes, successBytes: bytes, responses: successes + errors, totalBytes: bytes };
  }

  isKnownWithoutLookup(url: string, root: number): boolean {
    return this.#knownUrls.has(seenIn(this.#enumerations.of(root), url));
  }

  async schedule(
    candidates: readonly Candidate[],
    batch = this.#options.store.batch(),
    admitted: () => void = () => undefined,
  ): Promise<number> {
    const { entries, written } = await this.#exclusive(async () => {
      const entries = await this.#intake.enqueueNew(candidates, batch);
      admitted();
      return { entries, written: this.#writer.submit(batch, this.#intake.queuesOf(entries)) };
    });
    await written;
    await this.#writer.flushSeen();
    this.#intake.markAvailable(entries);
    return entries.length;
  }

  async note(urls: readonly string[]): Promise<void> {
    const { store, seen, prepare } = this.#options;
    await this.#exclusive(async () => {
      const keys = urls.map(
        (url) => prepare({ url: withoutUserInfo(url), via: '', pathFromSeed: '' }).seenKey,
      );
      await seen.add(keys.flatMap((key) => this.#enumerations.all.map((name) => seenIn(name, key))));
      const batch = store.batch();
      const written = this.#seen.addChangesTo(batch);
      await batch.commit();
      written();
    });
    await this.#writer.flushSeen();
  }

  async next(signal: AbortSignal): Promise<QueueEntry | undefined> {
    for (;;) {
      const offer = this.#findOffer(signal.aborted);
      if ('queue' in offer) {
        const entry = await this.#takeHead(offer.queue);
        if (entry !== undefined) return entry;
      } else if ('activation' in offer) {
        await offer.activation;
      } else if ('over' in offer) {
        this.#waiters.wakeAll();
        return undefined;
      } else {
        await this.#pause(signal, offer.waitMs);
      }
    }
  }

  /** Waits until a queue is ready, or for a time; the signal and the end of the frontier end it, too. */
  async #pause(signal: AbortSignal, milliseconds: number | undefined): Promise<void> {
    using stop = new LinkedAbort(signal, this.#end.signal);
    const paused =
      milliseconds === undefined
        ? this.#waiters.wait(stop.signal)
        : pauseFor(this.#clock, milliseconds, stop.signal);
    await paused.catch(() => undefined);
  }

  /**
   * Returns the next URI if a queue provides one now, else undefined. Waits for less than {@link poll}: `onWake` says when
   * another call may have a result.
   */
  async take(): Promise<QueueEntry | undefined> {
    for (;;) {
      const offer = this.#findOffer(false);
      if ('queue' in offer) {
        const entry = await this.#takeHead(offer.queue);
        if (entry !== undefined) return entry;
        continue;
      }
      if ('activation' in offer) void offer.activation.then(() => this.#waiters.wakeAll());
      return undefined;
    }
  }

  async poll(): Promise<QueueEntry | undefined> {
    for (let settled = false; ; ) {
      const offer = this.#findOffer(false);
      if ('over' in offer) return undefined;
      if ('waitMs' in offer) {
        // A write in flight may make a queue available; after it only time or a worker can.
        if (settled) return undefined;
        await this.settled();
        settled = true;
        continue;
      }
      settled = false;
      if ('activation' in offer) {
        await offer.activation;
        continue;
      }
      const entry = await this.#takeHead(offer.queue);
      if (entry !== undefined) return entry;
    }
  }

  async finished(
    entry: QueueEntry,
    finish: Finish,
    batch: GathererBatch,
    candidates: readonly Candidate[] = [],
    admitted: () => void = () => undefined,
  ): Promise<Written> {
    const queue = this.#memory.queues.get(entry.classKey)!;
    const aside = finish.outcome === 'retry' ? finish.aside : undefined;
    const staysQueued = aside === undefined && (finish.outcome === 'retry' || finish.outcome === 'retire');
    // CRAWL-5.2.3: a retried URI is rewritten under its own key and keeps its position.
    const attempts = entry.uri.attempts + (finish.untried === true ? 0 : 1);
    const retried: QueueEntry = { ...entry, uri: { ...entry.uri, attempts } };
    const { entries, settle, written, onWaiting } = await this.#exclusive(async () => {
      const entries = await this.#intake.enqueueNew(candidates, batch);
      admitted();
      if (finish.forget === true) {
        await this.#seen.forget(this.#seenKeyOf(entry.uri));
        this.#writer.after(batch, this.#seen.addChangesTo(batch));
        this.#knownUrls.delete(seenIn(this.#enumerations.of(entry.uri.root), entry.uri.url));
      }
      let onWaiting: (() => void) | undefined;
      if (aside !== undefined) onWaiting = this.#waiting.add(retried, aside, batch);
      else if (finish.outcome === 'retire') batch.enqueue(entry);
      else if (staysQueued) batch.enqueue(retried);
      else batch.dequeue(entry);
      countOutcome(this.#writer.counters, queue, entry.uri.cost, finish);
      if (!staysQueued) {
        queue.count--;
        this.#cycle.queued--;
      }
      const settle = this.#cycle.dispose(queue, finish, batch);
      const written = this.#writer.submit(batch, [queue, ...this.#intake.queuesOf(entries)], true);
      const isFree =
        this.#options.overlapWrites === true &&
        !staysQueued &&
        queue.state === 'in-process' &&
        finish.delayMs <= 0 &&
        queue.goesOnBefore(entries);
      if (isFree) {
        queue.peeked = undefined;
        settle();
      }
      return { entries, settle: isFree ? undefined : settle, written, onWaiting };
    });
    const settled = written
      .then(() => this.#writer.flushSeen())
      .then(() => {
        if (staysQueued) queue.unpeek(finish.outcome === 'retire' ? entry : retried);
        else if (settle !== undefined) queue.peeked = undefined;
        this.#inProcess--;
        this.#intake.markAvailable(entries);
        settle?.();
        onWaiting?.();
        if (this.empty) this.#waiters.wakeAll();
      });
    return { written: settled };
  }

  announce(): (() => void) | undefined {
    if (this.#closed) return undefined;
    this.#announced++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#announced--;
      if (this.empty) this.#waiters.wakeAll();
    };
  }

  abandoned(entry: QueueEntry): void {
    const queue = this.#memory.queues.get(entry.classKey)!;
    queue.unpeek(entry);
    this.#inProcess--;
    this.#cycle.makeReady(queue);
  }

  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#waiters.wakeAll();
  }

  forceWake(): void {
    this.#cycle.wakeAll();
    if (this.#waiting.count > 0) void this.#waiting.returnDue(true);
    this.#waiters.wakeAll();
  }

  async reconsiderRetired(budgets?: (classKey: string) => number): Promise<number> {
    const count = await reconsiderRetired(this.#context, budgets);
    this.#waiters.wakeAll();
    return count;
  }

  async deleteUris(matches: (url: string, classKey: string) => boolean): Promise<number> {
    const count = await deleteUris(this.#context, matches).catch((error: unknown) => {
      // What is in memory may differ from the store.
      this.#writer.fail(error);
      throw error;
    });
    this.#waiters.wakeAll();
    return count;
  }

  reports(selection: QueueSelection = {}): Promise<QueueReport[]> {
    return queueReports(this.#context, selection);
  }

  async waiting(limit = 100): Promise<WaitingReport[]> {
    return (await this.#options.store.waiting.page({ limit })).map(waitingReport);
  }

  async settled(): Promise<void> {
    await this.#mutex.runExclusive(() => undefined);
    await this.#writer.settled();
  }

  atRest<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.runExclusive(async () => {
      // Callers that wait for their write may continue, so that their URIs are counted too.
      await this.#writer.flushSeenUnderMutex();
      await this.#options.seen.commit();
      return work();
    });
  }

  close(): void {
    this.#closed = true;
    this.#cycle.close();
    this.#waiting.close();
    this.#end.abort();
  }

  get #context(): OperatorContext {
    return {
      memory: this.#memory,
      cycle: this.#cycle,
      writer: this.#writer,
      waiting: this.#waiting,
      onDeleted: this.#options.onDeleted,
      exclusive: (work) => this.#exclusive(work),
    };
  }

  /**
   * Loads, changes and removes queues in memory under the mutex, so that no queue is removed while it is in
   * use.
   */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.runExclusive(async () => {
      const result = await work();
      this.#memory.trim();
      return result;
    });
  }

  #seenKeyOf(uri: QueueEntry['uri']): string {
    return seenIn(this.#enumerations.of(uri.root), this.#options.prepare(uri).seenKey);
  }

  /** CRAWL-5.6.2 (a) to (d). Synchronous, so that no wake-up can be missed between this and the wait. */
  #findOffer(aborted: boolean): Offer {
    if (this.#writer.failure !== undefined) throw this.#writer.failure.error;
    if (aborted || this.#closed || (this.empty && !this.#held)) return { over: true };
    if (this.#held) return { waitMs: undefined };
    const waitMs = this.#options.totalWait?.(this.#clock.now()) ?? 0;
    if (waitMs > 0) return { waitMs };
    this.#cycle.wakeDue();
    this.#supply.topUp();
    const { returning } = this.#waiting;
    const queue = this.#cycle.takeReady();
    if (queue !== undefined) return { queue };
    const activation = this.#supply.activation ?? returning;
    return activation === undefined ? { waitMs: undefined } : { activation };
  }

  async #takeHead(queue: WorkQueue): Promise<QueueEntry | undefined> {
    this.#inProcess++;
    let entry: QueueEntry | undefined;
    try {
      entry = await this.#supply.takeHead(queue);
    } finally {
      if (entry === undefined) this.#inProcess--;
    }
    if (entry !== undefined) this.#options.onEmitted?.(entry);
    return entry;
  }
}
