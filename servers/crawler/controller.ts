import { setMaxListeners } from 'node:events';
import { getHeapStatistics } from 'node:v8';
import { steadyTime } from '../../clients/connection/monotonic-clock.js';
import { closeBodies } from '../../clients/fetch/index.js';
import { StateError } from '../../protocols/errors.js';
import { LinkedAbort } from '../../protocols/linked-abort.js';
import { residentBytes } from '../../storage/files/resident-memory.js';
import type { GathererBatch, GathererStore, QueueEntry } from '../../storage/index.js';
import type { SeenFilter } from '../../storage/seen/index.js';
import { CHAIN_NAMES, type ProcessorChains, runChains } from './chains.js';
import { Completions, recordedEvent } from './completions.js';
import type {
  CheckpointInfo,
  CrawlSnapshot,
  ProcessorReport,
  QueueReport,
  QueueSelection,
  WaitingReport,
} from './control.js';
import { CrawlUri, FETCH_STATUS } from './crawl-uri.js';
import { disposition, isTooLong } from './disposition.js';
import { announce, type DocumentEvent, type RecordedEvent } from './events.js';
import type { CrawlFrontier } from './frontier/contract.js';
import { type CrawlLimits, freeDiskBytes, NO_LIMITS } from './limits.js';
import { CrawlStatistics } from './logs/statistics.js';
import type { CrawlSettings } from './order/settings.js';
import { patternMatcher } from './patterns.js';
import { redactQueue, redactWaiting } from './redaction.js';
import { TotalBandwidth } from './servers/politeness.js';
import type { ServerCache } from './servers/server-cache.js';
import type { CrawlState, EndReason } from './states.js';
import { revive, runWorkers, type WorkerSlot, WorkerSlots } from './worker-pool.js';

export interface ControllerOptions {
  readonly name: string;
  readonly store: GathererStore;
  /** The directory of the crawl; the free space on its disk is checked. */
  readonly directory: string;
  readonly frontier: CrawlFrontier<GathererBatch>;
  readonly seen: SeenFilter;
  readonly chains: ProcessorChains;
  readonly servers: ServerCache;
  readonly settingsFor: (uri: CrawlUri['entry']['uri']) => CrawlSettings;
  /** Default: new ones. */
  readonly statistics?: CrawlStatistics;
  /** Default: no limit. */
  readonly bandwidth?: TotalBandwidth;
  /** Number of workers (CRAWL-20.3). */
  readonly workers: number;
  /** Default: no limits. */
  readonly limits?: CrawlLimits;
  /** Starts in the state `paused`. */
  readonly pauseAtStart?: boolean;
  /** Waits, when the frontier is empty, until the crawl is resumed or stopped. */
  readonly pauseAtFinish?: boolean;
  /** Adds the caller's records to the batch that finishes the URI; they are stored with it or not at all. */
  readonly onFinish?: (uri: CrawlUri, batch: GathererBatch) => void;
  /**
   * Adds the event of a returned URI to the batch that finishes it; returns a function that is called when the
   * batch is written and counts the event. Default: it is counted and not stored.
   */
  readonly record?: (event: RecordedEvent, batch: GathererBatch) => () => void;
  /** Called for every returned URI after it is stored; its promise delays the workers. */
  readonly onDocument?: (event: DocumentEvent, uri: CrawlUri) => void | Promise<void>;
  /** Takes a checkpoint. Default: the crawl does not support checkpoints. */
  readonly checkpoint?: () => Promise<CheckpointInfo>;
  /** Returns the name of the newest checkpoint; empty before the first checkpoint. */
  readonly lastCheckpoint?: () => string;
  /** Passes the orders of operators, and the ends by a limit of the crawl, on to the processes that share it. */
  readonly onCommand?: (order: CrawlCommand) => void;
  /** The snapshot of all processes that share the crawl. Default: this process has all of it. */
  readonly ofAll?: () => CrawlSnapshot;
}

/** What all processes that share a crawl do together. */
export type CrawlCommand =
  | { readonly kind: 'pause' | 'resume' }
  | { readonly kind: 'stop'; readonly reason: EndReason };

/** Milliseconds between two checks of the limits of time and disk and of stuck workers. */
const CHECK_INTERVAL_MS = 2_000;
const MIB = 1 << 20;

/**
 * Reports and actions of a running crawl, for the console, the terminal and the end reports. The reports have no
 * logins (G-81).
 */
export interface CrawlControl
  extends Pick<
    CrawlController,
    | 'snapshot'
    | 'overview'
    | 'queues'
    | 'retries'
    | 'chains'
    | 'pause'
    | 'resume'
    | 'stop'
    | 'checkpoint'
    | 'deleteUris'
  > {
  readonly frontier: Pick<CrawlFrontier<GathererBatch>, 'forceWake' | 'reconsiderRetired'>;
  readonly servers: Pick<ServerCache, 'report'>;
  readonly statistics: Pick<CrawlStatistics, 'recentErrors'>;
  readonly workers: Pick<WorkerSlots, 'reports' | 'kill'>;
}

/**
 * The controller of the engine (CRAWL-1.1): its workers take URIs from the frontier, run the chains on them and
 * return them with their outcome.
 */
export class CrawlController implements CrawlControl {
  readonly #options: ControllerOptions;
  readonly frontier: CrawlFrontier<GathererBatch>;
  readonly servers: ServerCache;
  readonly statistics: CrawlStatistics;
  readonly workers: WorkerSlots;
  readonly #chainCounts = new Map<string, number>();
  readonly #bandwidth: TotalBandwidth;
  readonly #limits: CrawlLimits;
  #state: CrawlState = 'preparing';
  #end: EndReason | undefined;
  readonly #completions: Completions;
  #abort: AbortController | undefined;
  #stopped = false;
  #pauseAtStart = false;
  #resumed: (() => void) | undefined;
  #diskFree = -1;
  /** Why the crawl paused by itself. It then resumes by itself. */
  #pauseReason: string | undefined;
  #bytes = 0;
  #documents = 0;
  /** Seconds of crawling in earlier runs. */
  #elapsedBefore = 0;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.frontier = options.frontier;
    this.servers = options.servers;
    this.statistics = options.statistics ?? new CrawlStatistics();
    this.#bandwidth = options.bandwidth ?? new TotalBandwidth(0);
    this.#limits = options.limits ?? NO_LIMITS;
    this.#completions = new Completions(
      async (event, uri) => options.onDocument?.(event, uri),
      (error) => this.#abort?.abort(error),
    );
    this.workers = new WorkerSlots(options.workers);
  }

  /**
   * Crawls until the frontier is empty, a limit is reached or {@link stop} is called. Pending URIs stay for the
   * next run.
   * @throws the signal's reason when aborted
   */
  async run(signal: AbortSignal): Promise<EndReason> {
    const { frontier, statistics } = this;
    const { pauseAtStart = false, pauseAtFinish = false } = this.#options;
    const abort = new AbortController();
    this.#abort = abort;
    // Every worker listens to the one signal, in the frontier and in its fetch.
    setMaxListeners(0, abort.signal);
    abort.signal.addEventListener('abort', () => this.workers.abortAll(abort.signal.reason), { once: true });
    const stop = (): void => abort.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const checkTimer = setInterval(() => void this.#checkRun(), CHECK_INTERVAL_MS);
    try {
      this.#enter('running', 'started');
      this.#elapsedBefore = statistics.figures().elapsed;
      statistics.resume();
      if (pauseAtStart || this.#pauseAtStart) this.#pause();
      await this.#checkDisk();
      for (;;) {
        await runWorkers(
          this.#options.workers,
          (worker) => this.#step(worker, abort.signal),
          (reason) => abort.abort(reason),
        );
        if (this.#stopped || abort.signal.aborted) break;
        // An operator scheduled URIs while the last worker ended.
        if (!frontier.empty) continue;
        if (!pauseAtFinish) {
          // In the same step, so that nothing can be scheduled in a crawl that is over.
          frontier.close();
          break;
        }
        await this.#waitForMore(abort.signal);
        if (this.#stopped || abort.signal.aborted) break;
      }
      await frontier.settled();
      await this.#completions.settled();
      this.#completions.throwFailure();
      signal.throwIfAborted();
      this.#end ??= 'finished';
      return this.#end;
    } catch (error) {
      this.#end ??= signal.aborted ? 'ended by operator' : 'abnormal exit';
      throw error;
    } finally {
      clearInterval(checkTimer);
      signal.removeEventListener('abort', stop);
      await frontier.settled();
      await this.#completions.settled();
      frontier.close();
      statistics.pause();
      this.#enter('finished', `ended: ${this.#end ?? 'finished'}`);
    }
  }

  pause(): void {
    this.#options.onCommand?.({ kind: 'pause' });
    this.#pause();
  }

  resume(): void {
    this.#options.onCommand?.({ kind: 'resume' });
    this.#resume();
  }

  /** Ends the crawl when the URIs in flight are finished; pending URIs stay for the next run. */
  stop(reason: EndReason = 'ended by operator'): void {
    if (!this.#stopped) this.#options.onCommand?.({ kind: 'stop', reason });
    this.#stop(reason);
  }

  /** Does what was ordered at another process that shares the crawl. */
  follow(order: CrawlCommand): void {
    if (order.kind === 'stop') this.#stop(order.reason);
    else if (order.kind === 'pause') this.#pause();
    else this.#resume();
  }

  #pause(): void {
    // An operator's pause is ended by the operator.
    this.#pauseReason = undefined;
    if (this.#state === 'preparing') this.#pauseAtStart = true;
    if (this.#state !== 'running') return;
    this.frontier.hold();
    this.#enter('pausing', 'pausing');
    this.#enterPausedIfIdle();
  }

  #resume(): void {
    this.#pauseReason = undefined;
    this.#pauseAtStart = false;
    if (this.#state === 'empty') this.#resumed?.();
    if (this.#state !== 'paused' && this.#state !== 'pausing') return;
    this.statistics.resume();
    this.#enter('running', 'resumed');
    this.frontier.release();
  }

  #stop(reason: EndReason): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#end = reason;
    this.#enter('stopping', `stopping: ${reason}`);
    this.frontier.close();
    this.#resumed?.();
  }

  async checkpoint(): Promise<CheckpointInfo> {
    const { checkpoint } = this.#options;
    if (checkpoint === undefined) throw new StateError('this crawl does not support checkpoints');
    const info = await checkpoint();
    this.#publish(`checkpoint ${info.name}`);
    return info;
  }

  /**
   * CRAWL-5.6.6: deletes pending URIs that match the pattern, in RE2 syntax, in queues that match the other one.
   * Returns their number.
   */
  deleteUris(pattern: string, queuePattern?: string): Promise<number> {
    const url = patternMatcher(pattern);
    const queue = queuePattern === undefined ? () => true : patternMatcher(queuePattern);
    return this.frontier.deleteUris((text, classKey) => queue(classKey) && url(text));
  }

  /** The state and figures of all processes that share the crawl: {@link snapshot} if this is the only one. */
  overview(): CrawlSnapshot {
    return this.#options.ofAll?.() ?? this.snapshot();
  }

  /** The state and figures of this process at this moment. */
  snapshot(): CrawlSnapshot {
    const { name, seen, lastCheckpoint } = this.#options;
    const { queued, inProcess, discovered, succeeded, failed, disregarded, bytes } = this.frontier.counts;
    return {
      name,
      time: Date.now(),
      state: this.#state,
      end: this.#end,
      pauseReason: this.#pauseReason,
      discovered,
      queued,
      inProcess,
      ...this.statistics.figures(),
      // The frontier's counters are stored; those of the statistics are lost with a killed process.
      succeeded,
      failed,
      disregarded,
      bytes,
      workers: this.workers.size,
      busyWorkers: this.workers.busy,
      ...this.frontier.figures,
      seenFilter: { kind: seen.kind, count: seen.count, memoryBytes: seen.memoryBytes },
      memoryBytes: residentBytes(),
      heapBytes: getHeapStatistics().used_heap_size,
      diskFreeBytes: this.#diskFree,
      checkpoint: lastCheckpoint?.() ?? '',
    };
  }

  /** Queues in the order of their class keys, after the key `after`, whether in memory or on disk. */
  async queues(selection: QueueSelection = {}): Promise<QueueReport[]> {
    return (await this.frontier.reports(selection)).map(redactQueue);
  }

  /** The URIs that wait for a retry beside their queues, the first due first. Default limit 100. */
  async retries({ limit }: { readonly limit?: number } = {}): Promise<WaitingReport[]> {
    return (await this.frontier.waiting(limit)).map(redactWaiting);
  }

  /** The processors by chain, with the number of URIs that each received. */
  chains(): readonly ProcessorReport[] {
    const { chains } = this.#options;
    return CHAIN_NAMES.flatMap((chain) =>
      chains[chain].map(({ name }) => ({
        chain,
        processor: name,
        uris: this.#chainCounts.get(`${chain} ${name}`) ?? 0,
      })),
    );
  }

  /** Processes one URI from `next` to `finished` (CRAWL-11.5). Returns false if no URI is left. */
  async #step(number: number, signal: AbortSignal): Promise<boolean> {
    const { frontier } = this;
    const { store, chains, settingsFor } = this.#options;
    const worker = this.workers.slot(number);
    const entry = await frontier.next(signal);
    if (entry === undefined) return false;
    const settings = settingsFor(entry.uri);
    // Nothing is awaited between this and `begin`, so that two workers cannot both find the host free.
    const heldMs = this.servers.holds.wait(entry.uri.url);
    if (heldMs > 0) {
      const isLeft = isTooLong(heldMs, settings);
      await this.#postpone(entry, heldMs, 'retry-after', isLeft ? 'retire' : 'retry');
      return true;
    }
    const delayMs = this.servers.pauses.wait(entry.uri.url, settings.minDelayMs);
    if (delayMs > 0) {
      await this.#postpone(entry, delayMs, 'politeness', 'retry');
      return true;
    }
    const lost = frontier.signalOf?.(entry);
    using abort = lost && new LinkedAbort(worker.abort.signal, lost);
    const uri = new CrawlUri(entry, store.batch(), abort?.signal ?? worker.abort.signal, settings, number);
    const end = this.servers.pauses.begin(uri.url);
    worker.uri = uri;
    worker.begin = steadyTime();
    try {
      try {
        await runChains(chains, uri, (chain, processor) => {
          const key = `${chain} ${processor}`;
          this.#chainCounts.set(key, (this.#chainCounts.get(key) ?? 0) + 1);
        });
      } catch (error) {
        if (!worker.killed) {
          uri.settle();
          frontier.abandoned(entry);
          if (signal.aborted) return false;
          // Another process has the URI now.
          if (lost?.aborted === true) return true;
          throw error;
        }
        this.#failKilled(worker, uri);
      }
      await this.#finishUri(uri, worker.begin);
    } finally {
      end();
      if (uri.fetched !== undefined) await closeBodies(uri.fetched);
      worker.uri = undefined;
      this.#enterPausedIfIdle();
    }
    return true;
  }

  /**
   * CRAWL-7, G-38: returns a URI to its queue while the other scheme of its host is in use or owes the host a
   * pause, or while the host has asked to be left alone (CRAWL-22.4).
   */
  async #postpone(
    entry: QueueEntry,
    delayMs: number,
    reason: 'politeness' | 'retry-after',
    outcome: 'retry' | 'retire',
  ): Promise<void> {
    const finish = { outcome, delayMs, reason, free: true, untried: true } as const;
    const { written } = await this.frontier.finished(entry, finish, this.#options.store.batch());
    await written;
  }

  /** CRAWL-20.3: the URI ends with -7000; the worker gets a new signal. */
  #failKilled(worker: WorkerSlot, uri: CrawlUri): void {
    revive(worker);
    uri.status = FETCH_STATUS.killed;
    uri.disposition = 'failed';
    uri.reason = `killed in ${uri.step}`;
    uri.candidates = [];
    uri.parts = [];
    this.#publish(`worker ${uri.worker} was killed: ${uri.url}`, true);
  }

  async #finishUri(uri: CrawlUri, begin: number): Promise<void> {
    const { frontier, servers } = this;
    const { store, onFinish, record } = this.#options;
    // The records of a killed URI are not stored.
    const batch = uri.status === FETCH_STATUS.killed ? store.batch() : uri.batch;
    const finish = disposition(uri, servers);
    const event = recordedEvent(uri, begin);
    const events = [...uri.parts.map((part) => part.event), event];
    const parts = uri.parts.flatMap(({ candidate }) => candidate ?? []);
    let count = (): void => {
      for (const each of events) this.#count(each);
    };
    const settle = (): void => uri.settle();
    const candidates = [...parts, ...uri.candidates];
    const { written } = await frontier
      .finished(uri.entry, finish, batch, candidates, () => {
        onFinish?.(uri, batch);
        if (record === undefined) return;
        const counts = events.map((each) => record(each, batch));
        count = () => {
          for (const each of counts) each();
        };
      })
      .catch((error: unknown) => {
        settle();
        throw error;
      });
    void written.then(settle, settle);
    const counted = written.then(count);
    this.#completions.add(counted, { ...event, frontier: frontier.counts }, uri);
    await this.#completions.waitForRoom(this.workers.size);
    const bytes = events.reduce((sum, each) => sum + each.bytes, 0);
    this.#bandwidth.addBytes(bytes);
    this.#bytes += bytes;
    if (finish.outcome === 'success') this.#documents++;
    this.#checkLimits();
  }

  #count(event: RecordedEvent): void {
    this.servers.countEvent(event);
    this.statistics.document(event);
  }

  /** CRAWL-20.2, as in the 1.x line: checked when a URI finishes. */
  #checkLimits(): void {
    const { maxBytes, maxDocuments } = this.#limits;
    if (maxBytes > 0 && this.#bytes >= maxBytes) this.stop('data limit');
    else if (maxDocuments > 0 && this.#documents >= maxDocuments) this.stop('document limit');
  }

  /** Checks the limits of time and disk, and kills stuck workers. */
  async #checkRun(): Promise<void> {
    const limits = this.#limits;
    if (limits.maxSeconds > 0 && this.statistics.figures().elapsed - this.#elapsedBefore >= limits.maxSeconds)
      this.stop('time limit');
    if (limits.stuckSeconds > 0) this.workers.killStuck(limits.stuckSeconds * 1000);
    await this.#checkDisk();
  }

  /**
   * CRAWL-20.4: pauses or ends the crawl while too little space is free; a crawl that paused so resumes by
   * itself.
   */
  async #checkDisk(): Promise<void> {
    const { lowDiskMiB, endOnLowDisk = false } = this.#limits;
    const { directory } = this.#options;
    const free = await freeDiskBytes(directory);
    if (free < 0) return;
    this.#diskFree = free;
    if (lowDiskMiB > 0 && free < lowDiskMiB * MIB) {
      const reason = `less than ${lowDiskMiB} MiB are free in ${directory} (lowDiskMiB)`;
      if (this.#state !== 'running') return;
      if (endOnLowDisk) {
        this.#publish(`ends: ${reason}`, true);
        // The other processes may have room.
        this.#stop('disk limit');
        return;
      }
      this.#pause();
      this.#pauseReason = reason;
      this.#publish(`pauses: ${reason}; it resumes when there is space`, true);
    } else if (this.#pauseReason !== undefined) {
      this.#publish('resumes: there is space again', true);
      this.#resume();
    }
  }

  async #waitForMore(signal: AbortSignal): Promise<void> {
    this.#enter('empty', 'the frontier is empty; waiting');
    this.statistics.pause();
    await new Promise<void>((resolve) => {
      this.#resumed = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#resumed = undefined;
    if (this.#stopped || signal.aborted) return;
    this.statistics.resume();
    this.#enter('running', 'resumed');
  }

  #enterPausedIfIdle(): void {
    if (this.#state !== 'pausing' || this.workers.busy > 0) return;
    this.statistics.pause();
    this.#enter('paused', 'paused');
  }

  #enter(state: CrawlState, text: string): void {
    this.#state = state;
    this.#publish(text);
  }

  #publish(text: string, alert = false): void {
    announce(`crawl ${text}`, alert);
  }
}
