import { setMaxListeners } from 'node:events';
import { type Clock, pauseFor } from '../../../protocols/clock.js';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import { Mutex } from '../../../protocols/mutex.js';
import { Waiters } from '../../../protocols/waiters.js';
import {
  type GathererBatch,
  type GathererStore,
  partitionOf,
  type QueueEntry,
} from '../../../storage/index.js';
import type { LeaseKeeper } from '../../../storage/leases/lease-keeper.js';
import { StaleLeaseError } from '../../../storage/leases/leases.js';
import type { QueueReport, QueueSelection, WaitingReport } from '../control.js';
import {
  type Candidate,
  type CrawlFrontier,
  type Enumerations,
  type Finish,
  type FrontierCounts,
  type FrontierFigures,
  ONE_ENUMERATION,
  type QueueTraffic,
  seenIn,
  type Written,
} from './contract.js';
import type { FrontierOptions } from './frontier.js';
import { Inbox } from './inbox.js';
import { UrlCache } from './intake.js';
import { type HeldPartition, Partitions } from './partitions.js';

/** Milliseconds for which the database may be out of reach. */
const PATIENCE_MS = 60_000;

/** Options of {@link PartitionedFrontier}. */
export interface PartitionedFrontierOptions
  extends Omit<FrontierOptions, 'store' | 'seen' | 'onWake' | 'clock' | 'totalWait'> {
  /** Opened with `shared`. */
  readonly store: GathererStore;
  readonly keeper: LeaseKeeper;
  /** The name of this process, which no other has. */
  readonly owner: string;
  /** Number of partitions of the crawl, the same for all processes. */
  readonly partitions: number;
  /** Milliseconds by the clock of the database, as {@link databaseClock}. */
  readonly clock: Clock;
  /** Milliseconds between two looks for URIs of other processes, and for the end. Default 200. */
  readonly lookMs?: number;
  /** Milliseconds between two looks at the shares of the processes. */
  readonly balanceMs: number;
  /** Restores what was cut off when a URI was sent: what counts it against the limits of its RootNode. */
  readonly admitFor?: (candidate: Candidate) => Candidate['admit'] | undefined;
  readonly totalWait?: (now: number) => number;
  /** A partition was lost to another process. */
  readonly onLost?: (partition: number) => void;
  /** Whether URIs of others may be taken: not before what admits them is there. Default: they may. */
  readonly mayTake?: () => boolean;
  /** Looks at what else the processes share, as often as at the URIs of others. */
  readonly onLook?: () => Promise<void>;
  /** Called as often as the shares are looked at. */
  readonly onBalance?: () => Promise<void>;
}

/**
 * The frontier of a process that shares a crawl with others. The queues are divided into partitions by their class keys;
 * a partition belongs to one process at a time, by a lease, and is a frontier of its own there. A URI of a partition
 * that another process may hold is left in an inbox, in the change that found it; the holder takes it from there.
 *
 * Every change is written under the lease of its partition or not at all. A process that loses one drops it from memory,
 * and {@link signalOf} ends what is in flight.
 */
export class PartitionedFrontier implements CrawlFrontier<GathererBatch> {
  readonly #options: PartitionedFrontierOptions;
  readonly #partitions: Partitions;
  readonly #inbox: Inbox;
  readonly #enumerations: Enumerations;
  readonly #waiters = new Waiters();
  readonly #end = new AbortController();
  /** URLs that were sent to other partitions: most links of a page are those of the page before it. */
  readonly #sent = new UrlCache();
  readonly #entries = new WeakMap<QueueEntry, HeldPartition>();
  readonly #looks: Promise<void>[] = [];
  readonly #looking = new Mutex();
  #failure: { readonly error: unknown } | undefined;
  #held = false;
  #closed = false;
  #announced = 0;
  #isOver = false;
  /** Index of the partition that is asked first. */
  #turn = 0;

  private constructor(options: PartitionedFrontierOptions) {
    this.#options = options;
    this.#inbox = new Inbox(options.store);
    this.#enumerations = options.enumerations ?? ONE_ENUMERATION;
    setMaxListeners(0, this.#end.signal);
    const { totalWait: _, ...frontier } = options;
    this.#partitions = new Partitions(
      {
        store: options.store,
        keeper: options.keeper,
        count: options.partitions,
        frontier: { ...frontier, onWake: () => this.#waiters.wakeOne() },
        clock: options.clock,
        onChange: () => this.#waiters.wakeAll(),
        onLost: (partition) => options.onLost?.(partition),
      },
      options.owner,
    );
  }

  /** Takes the share of this process and begins to look for more, and for URIs of others, until {@link leave}. */
  static async open(options: PartitionedFrontierOptions): Promise<PartitionedFrontier> {
    const frontier = new PartitionedFrontier(options);
    await frontier.#partitions.balance();
    const { lookMs = 200, balanceMs } = options;
    frontier.#looks.push(
      frontier.#repeat(balanceMs, async () => {
        await frontier.#partitions.balance();
        await options.onBalance?.();
      }),
      frontier.#repeat(lookMs, async () => {
        await frontier.#look();
        await options.onLook?.();
      }),
    );
    return frontier;
  }

  get counts(): FrontierCounts {
    const sum = { queued: 0, discovered: 0, inProcess: 0, queues: 0, snoozed: 0 };
    const results = { succeeded: 0, failed: 0, disregarded: 0, bytes: 0 };
    const total: Record<keyof FrontierCounts, number> = { ...sum, ...results };
    for (const { frontier } of this.#partitions.held.values())
      for (const [name, value] of Object.entries(frontier.counts))
        total[name as keyof FrontierCounts] += value;
    return total;
  }

  get figures(): FrontierFigures {
    const queues = { exhausted: 0, inactive: 0, ready: 0, 'in-process': 0, snoozed: 0, retired: 0 };
    const reasons: Record<string, number> = {};
    let deepestQueue = 0;
    for (const { frontier } of this.#partitions.held.values()) {
      const { figures } = frontier;
      for (const state of Object.keys(queues) as (keyof typeof queues)[])
        queues[state] += figures.queues[state];
      for (const [reason, count] of Object.entries(figures.reasons))
        reasons[reason] = (reasons[reason] ?? 0) + count;
      deepestQueue = Math.max(deepestQueue, figures.deepestQueue);
    }
    const waiting = queues.ready + queues.snoozed + queues.inactive;
    return {
      queues,
      reasons,
      congestion: queues.snoozed === 0 ? 0 : waiting / queues.snoozed,
      averageDepth: waiting === 0 ? 0 : this.counts.queued / waiting,
      deepestQueue,
    };
  }

  /** Whether all processes have finished. */
  get empty(): boolean {
    return this.#isOver && this.#announced === 0;
  }

  /** Aborted when the partition of a URI in process is lost: another process may request it. */
  signalOf(entry: QueueEntry): AbortSignal | undefined {
    return this.#entries.get(entry)?.lease.signal;
  }

  /** The processes that share the crawl, with the number of partitions that each has. */
  holders(): Promise<ReadonlyMap<string, number>> {
    return this.#partitions.holders();
  }

  /** The names of the processes that share the crawl, as they were seen last. */
  get processes(): ReadonlySet<string> {
    return this.#partitions.processes;
  }

  /** Number of partitions that this process has. */
  get partitions(): number {
    return this.#partitions.held.size;
  }

  async schedule(
    candidates: readonly Candidate[],
    batch = this.#options.store.batch(),
    admitted: () => void = () => undefined,
  ): Promise<number> {
    for (const candidate of candidates) this.#inbox.send(this.#partitionOf(candidate), candidate, batch);
    admitted();
    await batch.commit();
    this.#isOver = false;
    await this.#look();
    return candidates.length;
  }

  announce(): (() => void) | undefined {
    if (this.#closed) return undefined;
    this.#announced++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#announced--;
      this.#waiters.wakeAll();
    };
  }

  note(): Promise<void> {
    return Promise.reject(new StateError('a crawl that several processes share marks no URLs as seen'));
  }

  async next(signal: AbortSignal): Promise<QueueEntry | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (signal.aborted || this.#closed || (this.empty && !this.#held)) return undefined;
      const waitMs = this.#options.totalWait?.(this.#options.clock.now()) ?? 0;
      const entry = waitMs > 0 || this.#held ? undefined : await this.#take();
      if (entry !== undefined) return entry;
      using stop = new LinkedAbort(signal, this.#end.signal);
      const paused =
        waitMs > 0 ? pauseFor(this.#options.clock, waitMs, stop.signal) : this.#waiters.wait(stop.signal);
      await paused.catch(() => undefined);
    }
  }

  poll(): Promise<QueueEntry | undefined> {
    return this.#take();
  }

  async finished(
    entry: QueueEntry,
    finish: Finish,
    batch: GathererBatch,
    candidates: readonly Candidate[] = [],
    admitted: () => void = () => undefined,
  ): Promise<Written> {
    const held = this.#entries.get(entry);
    // The URI is in the queue of another process again, which stores its result.
    if (held === undefined || !this.#partitions.holds(held)) return { written: this.#forget(entry) };
    const own: Candidate[] = [];
    batch.bind(held.store);
    for (const candidate of candidates) {
      const partition = this.#partitionOf(candidate);
      const url = seenIn(this.#enumerations.of(candidate.root), candidate.url);
      if (partition === held.number) own.push(candidate);
      else if (candidate.forceFetch || !this.#sent.has(url)) {
        this.#sent.add(url);
        this.#inbox.send(partition, candidate, batch);
      }
    }
    const lose = (error: unknown): void => void this.#ofPartition(held, error);
    const finished = await held.frontier.finished(entry, finish, batch, own, admitted).catch(lose);
    return {
      written: Promise.resolve(finished?.written)
        .catch(lose)
        .then(() => this.#forget(entry)),
    };
  }

  abandoned(entry: QueueEntry): void {
    const held = this.#entries.get(entry);
    if (held !== undefined && this.#partitions.holds(held)) held.frontier.abandoned(entry);
    void this.#forget(entry);
  }

  isKnownWithoutLookup(url: string, root: number): boolean {
    return this.#sent.has(seenIn(this.#enumerations.of(root), url));
  }

  traffic(classKey: string): QueueTraffic {
    const held = this.#partitions.held.get(partitionOf(classKey, this.#options.partitions));
    const none = { successes: 0, successBytes: 0, responses: 0, totalBytes: 0 };
    return held?.frontier.traffic(classKey) ?? none;
  }

  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#waiters.wakeAll();
  }

  forceWake(): void {
    for (const { frontier } of this.#partitions.held.values()) frontier.forceWake();
    this.#waiters.wakeAll();
  }

  async reconsiderRetired(budgets?: (classKey: string) => number): Promise<number> {
    let count = 0;
    for (const { frontier } of [...this.#partitions.held.values()])
      count += await frontier.reconsiderRetired(budgets);
    return count;
  }

  async deleteUris(matches: (url: string, classKey: string) => boolean): Promise<number> {
    let count = 0;
    for (const { frontier } of [...this.#partitions.held.values()])
      count += await frontier.deleteUris(matches);
    return count;
  }

  async reports(selection: QueueSelection = {}): Promise<QueueReport[]> {
    const all: QueueReport[] = [];
    for (const { frontier } of [...this.#partitions.held.values()])
      all.push(...(await frontier.reports(selection)));
    all.sort((a, b) => Buffer.compare(Buffer.from(a.classKey), Buffer.from(b.classKey)));
    return all.slice(0, selection.limit ?? 100);
  }

  async waiting(limit = 100): Promise<WaitingReport[]> {
    const all: WaitingReport[] = [];
    for (const { frontier } of [...this.#partitions.held.values()])
      all.push(...(await frontier.waiting(limit)));
    return all.sort((a, b) => a.dueTime - b.dueTime).slice(0, limit);
  }

  async settled(): Promise<void> {
    for (const { frontier } of [...this.#partitions.held.values()]) await frontier.settled();
  }

  atRest<T>(): Promise<T> {
    return Promise.reject(new StateError('a crawl that several processes share has no checkpoints yet'));
  }

  close(): void {
    this.#closed = true;
    this.#end.abort();
    this.#waiters.wakeAll();
  }

  /** Ends the work of this process and releases its partitions, after its workers have returned their URIs. */
  async leave(): Promise<void> {
    this.close();
    await Promise.all(this.#looks);
    await this.#partitions.leave();
  }

  async #take(): Promise<QueueEntry | undefined> {
    const all = [...this.#partitions.held.values()];
    for (let i = 0; i < all.length; i++) {
      const held = all[(this.#turn + i) % all.length]!;
      if (held.leaving || !this.#partitions.holds(held)) continue;
      // Counted before it is there, so that the partition stays.
      held.inProcess++;
      const entry = await held.frontier.take().catch((error: unknown) => this.#ofPartition(held, error));
      if (entry !== undefined && this.#partitions.holds(held)) {
        this.#turn = (this.#turn + i + 1) % all.length;
        this.#entries.set(entry, held);
        return entry;
      }
      if (entry !== undefined) held.frontier.abandoned(entry);
      await this.#partitions.returned(held);
    }
    return undefined;
  }

  /** Drops a partition that is lost; other errors end the crawl. */
  #ofPartition(held: HeldPartition, error: unknown): undefined {
    if (!(error instanceof StaleLeaseError) && this.#partitions.holds(held)) throw error;
    this.#partitions.drop(held);
  }

  async #forget(entry: QueueEntry): Promise<void> {
    const held = this.#entries.get(entry);
    if (held === undefined) return;
    this.#entries.delete(entry);
    await this.#partitions.returned(held);
    this.#waiters.wakeOne();
  }

  #partitionOf({ url, via, pathFromSeed, directive }: Candidate): number {
    const uri = { url, via, pathFromSeed };
    const { classKey } = this.#options.prepare(directive === undefined ? uri : { ...uri, directive });
    return partitionOf(classKey, this.#options.partitions);
  }

  /** Takes what other processes have sent, and looks whether anything is left. */
  #look(): Promise<void> {
    return this.#looking.runExclusive(() => this.#lookOnce());
  }

  async #lookOnce(): Promise<void> {
    if (this.#options.mayTake?.() === false) return;
    const { held } = this.#partitions;
    for (const number of await this.#inbox.filled(new Set(held.keys()))) {
      const partition = held.get(number);
      if (partition === undefined || partition.leaving || !this.#partitions.holds(partition)) continue;
      await this.#takeInbox(partition).catch((error: unknown) => this.#ofPartition(partition, error));
    }
    const isIdle = [...held.values()].every(({ frontier }) => frontier.empty);
    if (!isIdle || this.#announced > 0) {
      this.#isOver = false;
      return;
    }
    this.#isOver = await this.#options.store.isCrawled(this.#options.partitions);
    if (this.#isOver) this.#waiters.wakeAll();
  }

  async #takeInbox(held: HeldPartition): Promise<void> {
    const { admitFor } = this.#options;
    for (;;) {
      const entries = await this.#inbox.read(held.number);
      if (entries.length === 0 || held.leaving || !this.#partitions.holds(held)) return;
      const batch = held.store.batch();
      for (const { place } of entries) batch.deleteInbox(place);
      const candidates = entries.map(({ candidate }) => {
        const admit = admitFor?.(candidate);
        return admit === undefined ? candidate : { ...candidate, admit };
      });
      await held.frontier.schedule(candidates, batch);
    }
  }

  async #repeat(milliseconds: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#end;
    const { clock } = this.#options;
    let since: number | undefined;
    while (!signal.aborted) {
      const paused = await pauseFor(clock, milliseconds, signal).then(
        () => true,
        () => false,
      );
      if (!paused) return;
      const begun = clock.now();
      try {
        await work();
        since = undefined;
      } catch (error) {
        if (this.#closed) return;
        since ??= begun;
        // The database may have another primary in a moment.
        if (error instanceof StorageError && clock.now() - since < PATIENCE_MS) continue;
        this.#failure ??= { error };
        this.#waiters.wakeAll();
        return;
      }
    }
  }
}
