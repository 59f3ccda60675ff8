import { setMaxListeners } from 'node:events';
import { StateError } from '../../protocols/errors.js';
import type { GathererBatch, GathererStore } from '../../storage/index.js';
import type { SeenFilter } from '../../storage/seen/index.js';
import { CHAIN_NAMES, type ProcessorChains, runChains } from './chains.js';
import { Completions, documentEvent } from './completions.js';
import type {
  CheckpointInfo,
  CrawlControl,
  CrawlSnapshot,
  CrawlState,
  EndReason,
  HostReport,
  QueueReport,
  RecentError,
  WorkerReport,
} from './control.js';
import { CrawlUri, FETCH_STATUS } from './crawl-uri.js';
import { disposition } from './disposition.js';
import { crawlChannel, type DocumentEvent } from './events.js';
import type { CrawlFrontier } from './frontier/index.js';
import { type CrawlLimits, freeDiskBytes, NO_LIMITS } from './limits.js';
import { CrawlStatistics } from './logs/statistics.js';
import type { CrawlSettings } from './order/settings.js';
import { patternMatcher } from './patterns.js';
import { TotalBandwidth } from './servers/politeness.js';
import type { ServerCache } from './servers/server-cache.js';
import { runWorkers } from './worker-pool.js';

export interface ControllerOptions {
  readonly name: string;
  readonly store: GathererStore;
  /** The directory of the crawl; the free space of its disk is watched. */
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
  readonly pauseAtStart?: boolean;
  /** When nothing is left the crawl waits until it is resumed or stopped. */
  readonly pauseAtFinish?: boolean;
  /** Adds the caller's records to the batch that finishes the URI; they are stored with it or not at all. */
  readonly onFinish?: (uri: CrawlUri, batch: GathererBatch) => void;
  /** Called for every returned URI after it is stored; its promise delays the workers. */
  readonly onDocument?: (event: DocumentEvent, uri: CrawlUri) => void | Promise<void>;
  /** Takes a checkpoint. Default: the crawl takes none. */
  readonly checkpoint?: () => Promise<CheckpointInfo>;
  /** Name of the newest checkpoint; empty: none. */
  readonly lastCheckpoint?: () => string;
}

/** Interval at which the limits of time and disk are checked, milliseconds. */
const WATCH_MS = 2_000;
const MIB = 1 << 20;

interface Worker {
  /** Aborted when the run is aborted or the worker is killed. */
  kill: AbortController;
  uri: CrawlUri | undefined;
  begin: number;
  killed: boolean;
}

/**
 * The controller of the engine (CRAWL-1.1): its workers take URIs from the frontier, lead them through the chains and return them with
 * their outcome. The console, the reports and the terminal use it as {@link CrawlControl}.
 */
export class CrawlController implements CrawlControl {
  readonly #workers: Worker[];
  readonly #chainCounts = new Map<string, number>();
  readonly #statistics: CrawlStatistics;
  readonly #bandwidth: TotalBandwidth;
  readonly #limits: CrawlLimits;
  #state: CrawlState = 'preparing';
  #end: EndReason | undefined;
  readonly #completions: Completions;
  #abort: AbortController | undefined;
  #stopped = false;
  #pauseFirst = false;
  #resumed: (() => void) | undefined;
  #diskFree = -1;
  #bytes = 0;
  #documents = 0;
  /** Seconds of crawling in earlier runs. */
  #elapsedBefore = 0;

  constructor(readonly options: ControllerOptions) {
    this.#statistics = options.statistics ?? new CrawlStatistics();
    this.#bandwidth = options.bandwidth ?? new TotalBandwidth(0);
    this.#limits = options.limits ?? NO_LIMITS;
    this.#completions = new Completions(
      async (event, uri) => {
        options.servers.note(event);
        this.#statistics.document(event);
        await options.onDocument?.(event, uri);
      },
      (error) => this.#abort?.abort(error),
    );
    this.#workers = Array.from({ length: options.workers }, () => ({
      kill: new AbortController(),
      uri: undefined,
      begin: 0,
      killed: false,
    }));
  }

  /**
   * Crawls until the frontier is empty, a limit is reached or {@link stop} is called. Pending URIs stay for the next run.
   * @throws the signal's reason when aborted
   */
  async run(signal: AbortSignal): Promise<EndReason> {
    const statistics = this.#statistics;
    const { frontier, pauseAtStart = false, pauseAtFinish = false } = this.options;
    const abort = new AbortController();
    this.#abort = abort;
    // Every worker listens to the one signal, in the frontier and in its fetch.
    setMaxListeners(0, abort.signal);
    abort.signal.addEventListener('abort', () => this.#abortWorkers(abort.signal.reason), { once: true });
    const stop = (): void => abort.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const watch = setInterval(() => void this.#watch(), WATCH_MS);
    try {
      this.#enter('running', 'started');
      this.#elapsedBefore = statistics.figures().elapsed;
      statistics.resume();
      if (pauseAtStart || this.#pauseFirst) this.pause();
      for (;;) {
        await runWorkers(
          this.options.workers,
          (worker) => this.#step(worker, abort.signal),
          (reason) => abort.abort(reason),
        );
        if (!pauseAtFinish || this.#stopped || abort.signal.aborted) break;
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
      clearInterval(watch);
      signal.removeEventListener('abort', stop);
      await frontier.settled();
      await this.#completions.settled();
      frontier.close();
      statistics.pause();
      this.#enter('finished', `ended: ${this.#end ?? 'finished'}`);
    }
  }

  pause(): void {
    if (this.#state === 'preparing') this.#pauseFirst = true;
    if (this.#state !== 'running') return;
    this.options.frontier.hold();
    this.#enter('pausing', 'pausing');
    this.#notePaused();
  }

  resume(): void {
    if (this.#state === 'empty') this.#resumed?.();
    if (this.#state !== 'paused' && this.#state !== 'pausing') return;
    this.#statistics.resume();
    this.#enter('running', 'resumed');
    this.options.frontier.release();
  }

  stop(reason: EndReason = 'ended by operator'): void {
    this.#finish(reason);
  }

  async checkpoint(): Promise<CheckpointInfo> {
    const { checkpoint } = this.options;
    if (checkpoint === undefined) throw new StateError('this crawl takes no checkpoints');
    const info = await checkpoint();
    this.#say(`checkpoint ${info.name}`);
    return info;
  }

  forceWake(): void {
    this.options.frontier.forceWake();
  }

  reconsiderRetired(): Promise<number> {
    return this.options.frontier.reconsiderRetired();
  }

  deleteUris(pattern: string, queuePattern?: string): Promise<number> {
    const url = patternMatcher(pattern);
    const queue = queuePattern === undefined ? () => true : patternMatcher(queuePattern);
    return this.options.frontier.deleteUris((text, classKey) => queue(classKey) && url(text));
  }

  killWorker(number: number): boolean {
    const worker = this.#workers[number - 1];
    if (worker?.uri === undefined) return false;
    worker.killed = true;
    worker.kill.abort(new Error('killed'));
    return true;
  }

  snapshot(): CrawlSnapshot {
    const { name, frontier, seen, lastCheckpoint } = this.options;
    const figures = frontier.figures;
    const { queued, inProcess, discovered, succeeded, failed, disregarded, bytes } = frontier.counts;
    const memory = process.memoryUsage();
    return {
      name,
      time: Date.now(),
      state: this.#state,
      ...(this.#end === undefined ? {} : { end: this.#end }),
      discovered,
      queued,
      inProcess,
      ...this.#statistics.figures(),
      // The frontier's counters are stored; those of the statistics are lost with a killed process.
      succeeded,
      failed,
      disregarded,
      bytes,
      workers: this.#workers.length,
      busyWorkers: this.#busy,
      ...figures,
      seenFilter: { kind: seen.kind, count: seen.count, memoryBytes: seen.memoryBytes },
      memoryBytes: memory.rss,
      heapBytes: memory.heapUsed,
      diskFreeBytes: this.#diskFree,
      checkpoint: lastCheckpoint?.() ?? '',
    };
  }

  queues(options: Parameters<CrawlControl['queues']>[0] = {}): Promise<QueueReport[]> {
    return this.options.frontier.reports(options);
  }

  hosts(options: Parameters<CrawlControl['hosts']>[0] = {}): HostReport[] {
    return this.options.servers.report(options);
  }

  workers(): WorkerReport[] {
    const now = Date.now();
    return this.#workers.flatMap(({ uri, begin }, i) =>
      uri === undefined ? [] : [{ worker: i + 1, url: uri.url, step: uri.step, milliseconds: now - begin }],
    );
  }

  recentErrors(): readonly RecentError[] {
    return this.#statistics.recentErrors();
  }

  chains(): readonly { readonly chain: string; readonly processor: string; readonly uris: number }[] {
    const { chains } = this.options;
    return CHAIN_NAMES.flatMap((chain) =>
      chains[chain].map(({ name }) => ({
        chain,
        processor: name,
        uris: this.#chainCounts.get(`${chain} ${name}`) ?? 0,
      })),
    );
  }

  get #busy(): number {
    return this.#workers.reduce((busy, { uri }) => busy + (uri === undefined ? 0 : 1), 0);
  }

  /** Processes one URI from `next` to `finished` (CRAWL-11.5). Returns false if nothing is left. */
  async #step(number: number, signal: AbortSignal): Promise<boolean> {
    const { frontier, store, chains, settingsFor } = this.options;
    const worker = this.#workers[number - 1]!;
    const entry = await frontier.next(signal);
    if (entry === undefined) return false;
    const uri = new CrawlUri(entry, store.batch(), worker.kill.signal, settingsFor(entry.uri), number);
    worker.uri = uri;
    worker.begin = Date.now();
    try {
      try {
        await runChains(chains, uri, (chain, processor) => {
          const key = `${chain} ${processor}`;
          this.#chainCounts.set(key, (this.#chainCounts.get(key) ?? 0) + 1);
        });
      } catch (error) {
        if (!worker.killed) {
          frontier.abandoned(entry);
          if (signal.aborted) return false;
          throw error;
        }
        this.#killed(worker, uri);
      }
      await this.#finishUri(uri, worker.begin);
    } finally {
      worker.uri = undefined;
      this.#notePaused();
    }
    return true;
  }

  /** CRAWL-20.3: the URI ends with -7000; the worker gets a new signal. */
  #killed(worker: Worker, uri: CrawlUri): void {
    worker.killed = false;
    worker.kill = new AbortController();
    setMaxListeners(0, worker.kill.signal);
    uri.status = FETCH_STATUS.killed;
    uri.disposition = 'failed';
    uri.reason = `killed in ${uri.step}`;
    uri.candidates = [];
    this.#say(`worker ${uri.worker} was killed: ${uri.url}`, true);
  }

  async #finishUri(uri: CrawlUri, begin: number): Promise<void> {
    const { frontier, servers, store, onFinish } = this.options;
    // The records of a killed URI are not stored.
    const batch = uri.status === FETCH_STATUS.killed ? store.batch() : uri.batch;
    const finish = disposition(uri, servers);
    const { written } = await frontier.finished(uri.entry, finish, batch, uri.candidates, () =>
      onFinish?.(uri, batch),
    );
    this.#completions.add(written, documentEvent(uri, begin, frontier.counts), uri);
    await this.#completions.room(this.#workers.length);
    this.#bandwidth.took(uri.size);
    this.#bytes += uri.size;
    if (finish.outcome === 'success') this.#documents++;
    this.#checkLimits();
  }

  /** CRAWL-20.2, as in the 1.x line: checked when a URI finishes. */
  #checkLimits(): void {
    const { maxBytes, maxDocuments } = this.#limits;
    if (maxBytes > 0 && this.#bytes >= maxBytes) this.#finish('data limit');
    else if (maxDocuments > 0 && this.#documents >= maxDocuments) this.#finish('document limit');
  }

  /** Checks the limits of time and disk, and kills stuck workers. */
  async #watch(): Promise<void> {
    const limits = this.#limits;
    const { directory } = this.options;
    const now = Date.now();
    if (
      limits.maxSeconds > 0 &&
      this.#statistics.figures().elapsed - this.#elapsedBefore >= limits.maxSeconds
    )
      this.#finish('time limit');
    this.#workers.forEach(({ uri, begin }, i) => {
      if (limits.stuckSeconds > 0 && uri !== undefined && now - begin > limits.stuckSeconds * 1000)
        this.killWorker(i + 1);
    });
    const free = await freeDiskBytes(directory);
    if (free < 0) return;
    this.#diskFree = free;
    if (limits.lowDiskMiB > 0 && this.#diskFree < limits.lowDiskMiB * MIB && this.#state === 'running') {
      this.#say(`less than ${limits.lowDiskMiB} MiB are free in ${directory}: the crawl pauses`, true);
      this.pause();
    }
  }

  /** Ends the crawl when the URIs in flight are finished. */
  #finish(reason: EndReason): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#end = reason;
    this.#enter('stopping', `stopping: ${reason}`);
    this.options.frontier.close();
    this.#resumed?.();
  }

  async #waitForMore(signal: AbortSignal): Promise<void> {
    this.#enter('empty', 'nothing is left; waiting');
    this.#statistics.pause();
    await new Promise<void>((resolve) => {
      this.#resumed = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#resumed = undefined;
    if (this.#stopped || signal.aborted) return;
    this.#statistics.resume();
    this.#enter('running', 'resumed');
  }

  #notePaused(): void {
    if (this.#state !== 'pausing' || this.#busy > 0) return;
    this.#statistics.pause();
    this.#enter('paused', 'paused');
  }

  #abortWorkers(reason: unknown): void {
    for (const { kill } of this.#workers) kill.abort(reason);
  }

  #enter(state: CrawlState, text: string): void {
    this.#state = state;
    this.#say(text);
  }

  #say(text: string, alert = false): void {
    crawlChannel.publish({ text: `crawl ${text}`, alert });
  }
}
