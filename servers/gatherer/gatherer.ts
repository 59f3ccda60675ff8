import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createFetcher, type Fetcher } from '../../clients/fetch/index.js';
import type { Clock } from '../../protocols/clock.js';
import { CloseStack } from '../../protocols/close-stack.js';
import type { GathererConfig } from '../../protocols/config/index.js';
import { errorCode, StorageError, UsageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { resolveUrl, withoutUserInfo } from '../../protocols/urls/index.js';
import { PRODUCTION_FILE } from '../../storage/databases/file-kind.js';
import { ListedDirectory } from '../../storage/files/listed-directory.js';
import { createDirectory } from '../../storage/files/make-directory.js';
import { GathererStore } from '../../storage/gatherer/store.js';
import { readLiveFiles } from '../../storage/level/verify/live-files.js';
import { setStoreUrl } from '../../storage/place/store-url.js';
import type { PublishedReferences } from '../../storage/references/index.js';
import type { ChainName, Processor } from '../crawler/chains.js';
import type { CrawlControl } from '../crawler/controller.js';
import type { Disposition } from '../crawler/crawl-uri.js';
import { type DocumentEvent, documentChannel } from '../crawler/events.js';
import type { CrawlOrderConfig } from '../crawler/order/order.js';
import type { EndReason } from '../crawler/states.js';
import type { OwnModules } from '../essence/external/limits.js';
import { EssencePool } from '../essence/pool/pool.js';
import type { Logger } from '../host/logger.js';
import { Annotations } from './annotate/annotations.js';
import { essenceOptionsOf, findConfigFile, linkLimit } from './configuration/essence-options.js';
import {
  fileRoots,
  ftpProxyOf,
  openDiskCache,
  ownFetchers,
  ownSchemes,
  removeDiskCache,
  type SchemeFetcher,
} from './configuration/fetchers.js';
import { plainOrder } from './configuration/gather-settings.js';
import { boundLogins } from './configuration/logins.js';
import { readConfiguredOrder, withOrder } from './configuration/order-seeds.js';
import {
  annotatedDigest,
  type ConfigurationDigests,
  configurationDigests,
  joinedDigest,
  type RulesDigest,
} from './configuration/rules-digest.js';
import { withSecrets } from './configuration/secrets.js';
import { lifeWarnings } from './configuration/short-lives.js';
import { CommitGate } from './run/commit-gate.js';
import type { OpenBrowser } from './run/console.js';
import { type CrawlJob, openCrawlJob } from './run/crawl-job.js';
import { expireSummaries } from './run/expire-summaries.js';
import { USER_AGENT } from './run/network.js';
import { repairTimes } from './run/repair-times.js';
import { expandNodes, RunState } from './run/run-state.js';
import { LEASE_MS, processName, refuseShared, SharedRun, type SharedRunOptions } from './run/shared-run.js';
import type { Refusal } from './scope/root-limits.js';
import { type FailedRoot, Tally } from './watch/tally.js';

/** Options of a Gatherer. `config` determines what it gathers, the other options how it runs. */
export interface GathererOptions {
  /** Contains `working/` (the store) and `generations/` (the published summaries, for gatherd). */
  readonly directory: string;
  readonly config: GathererConfig;
  /** Maximum number of URIs in process, over all hosts. Default 16. */
  readonly workers?: number;
  /**
   * Number of queues for the URIs of one host (CRAWL-9.7). Default 1: one connection per host. More queues open
   * several connections to a host; use them for your own hosts only.
   */
  readonly queuesPerHost?: number;
  /**
   * Number of threads that summarize; 0 summarizes in the calling thread. Default: depends on the number of
   * processors.
   */
  readonly essenceWorkers?: number | undefined;
  /** MiB: replaces the order's `lowDiskMiB` (CRAWL-20.4). */
  readonly lowDiskMiB?: number | undefined;
  /** Whether a run ends below that limit (`disk limit`) instead of pausing. Default false. */
  readonly endOnLowDisk?: boolean;
  /** Whether the files of programs and the disk cache are kept, to be examined (G-12). Default false. */
  readonly keepTemporaryFiles?: boolean;
  /** Fetches documents again although they are not yet due (G-108). Default false. */
  readonly force?: boolean;
  /** Attempts before a URI fails, deferrals included (CRAWL-8.3). Default 4. */
  readonly maxRetries?: number;
  /** Milliseconds before the retry of a failed contact. Default 10 000. */
  readonly retryDelayMs?: number;
  /** The same for a server that has not answered in this run; at most {@link retryDelayMs}. Default 500. */
  readonly unansweredRetryDelayMs?: number;
  /** Milliseconds without a byte after which a read fails (G-85). Default 120 000. */
  readonly readTimeoutMs?: number;
  /**
   * Milliseconds to establish a connection, TLS and greeting included. Default 30 000; at most
   * {@link readTimeoutMs}.
   */
  readonly connectTimeoutMs?: number;
  /**
   * Milliseconds from a request to the last byte of its response: a limit for very slow servers. Default 1 200
   * 000.
   */
  readonly maxTransferMs?: number;
  /**
   * Bytes that a server must send on average per second, once {@link minRateGraceMs} have passed; the rate then
   * rises (G-85). Default 100; 0 for no limit.
   */
  readonly minBytesPerSecond?: number;
  /** Milliseconds after a server's first byte before {@link minBytesPerSecond} applies. Default 300 000. */
  readonly minRateGraceMs?: number;
  /** The clock of the limits of time of requests. Default: that of this process. */
  readonly clock?: Clock | undefined;
  /** Replaces the order that the configuration names (`Crawl-Order`). */
  readonly order?: CrawlOrderConfig;
  /** Name of the configuration file, for messages. */
  readonly configFile?: string;
  /**
   * Fetchers by scheme, e.g. `gemini`; they precede the built-in ones and those of `Fetcher` lines. Links to
   * their URLs are followed.
   */
  readonly fetchers?: Readonly<Record<string, SchemeFetcher>>;
  /**
   * Files of modules that summarize or unpack documents, by type; they precede those of the Gatherer's
   * directories.
   */
  readonly modules?: OwnModules;
  /**
   * Extra processors of the chains: those of `extract` run before Essence, those of `post-process` before
   * LinksScoper, the others at the end of their chain.
   */
  readonly processors?: Partial<Record<ChainName, readonly Processor[]>>;
  /** Receives the problems of the files that the configuration names. */
  readonly onProblem?: (problem: Error) => void;
  /** Opens the browser of `settings.fetcher` of the order. Default: Chromium, by playwright-core. */
  readonly openBrowser?: OpenBrowser | undefined;
  /** Log of the console; without it the order's console is not started. */
  readonly log?: Logger;
  /** The console of a crawl whose order has none, or that has no order. Default: no console. */
  readonly console?: CrawlOrderConfig['console'];
  /** Called at the start of a run with the control of its crawl. */
  readonly onControl?: (control: CrawlControl, consoleUrl: string | undefined) => void;
  /** Shares the runs with other processes, on a store in a database. Default: this process alone. */
  readonly shared?: SharedRunOptions;
  /** Returns the time in seconds since 1970. Default: the system clock. */
  readonly now?: () => UnixSeconds;
}

/** The results of a run. */
export interface GatherReport {
  /** URIs by their disposition. */
  readonly counts: Readonly<Record<Disposition, number>>;
  /** Bytes fetched. */
  readonly bytes: number;
  readonly seconds: number;
  /** Why it ended (CRAWL-20.2). */
  readonly end: EndReason;
  /** True when the run continued an interrupted one. */
  readonly resumed: boolean;
  readonly roots: readonly RootReport[];
  /** The roots whose document could not be gathered, so that nothing else was found from it. */
  readonly failedRoots: readonly FailedRoot[];
}

/** G-148: the URLs and hosts of a RootNode, and the limits that stopped it. */
export interface RootReport {
  readonly url: string;
  readonly urls: number;
  readonly hosts: number;
  /** Number of refused links by reason. */
  readonly refused: Readonly<Partial<Record<Refusal, number>>>;
}

/**
 * The Gatherer (G-5): expands RootNodes, fetches and summarizes documents, updates the database and publishes
 * it. It never starts an update itself (G-6): each {@link run} processes the configured URLs once. The next
 * call continues a run that was killed.
 */
export class Gatherer implements AsyncDisposable {
  /** The order of the crawl engine; undefined if neither the options nor the configuration name one. */
  readonly #order: CrawlOrderConfig | undefined;
  readonly #gate: CommitGate;
  /** When the last {@link run} began; undefined before the first. */
  #begun: UnixSeconds | undefined;
  readonly #resources: CloseStack;

  private constructor(
    readonly options: GathererOptions,
    /**
     * The configuration with the logins of its secrets file, and with the seeds and the identity that its order
     * names.
     */
    readonly config: GathererConfig,
    order: CrawlOrderConfig | undefined,
    readonly store: GathererStore,
    readonly fetcher: Fetcher,
    readonly essence: EssencePool,
    readonly annotations: Annotations | undefined,
    /** Of everything besides the document that a summary depends on (G-110), annotations excluded. */
    readonly digests: ConfigurationDigests,
    /** The Update-Time of the newest object; 0 without objects. */
    newest: UnixSeconds,
    resources: CloseStack,
  ) {
    this.#order = order;
    // After a clock that was a little ahead the times continue, for collectors that select by them.
    this.#gate = new CommitGate(() => this.#now(), newest > this.#now() ? newest + 1 : 0);
    this.#resources = resources;
  }

  /**
   * Opens the working store, starts the threads that summarize, and reads the files that the configuration
   * names. If a step fails, everything is closed again.
   *
   * @throws ConfigError if a file of the configuration is not valid; StorageError if the store or a file cannot
   *   be read
   */
  static async open(options: GathererOptions): Promise<Gatherer> {
    const { directory, onProblem = () => undefined } = options;
    await createDirectory(directory);
    const { config: written, warnings } = await withSecrets(options.config, process.env);
    const order = options.order ?? (await readConfiguredOrder(written, onProblem));
    const config = withOrder(written, order, onProblem);
    const logins = boundLogins(config);
    for (const warning of [...warnings, ...logins.warnings]) onProblem(warning);
    // G-81: queues and lists of links contain logins, so other users must not read them.
    const working = join(directory, 'working');
    await createDirectory(working, 0o700);
    if (config.storeUrl !== undefined) await setStoreUrl(working, config.storeUrl);
    await using resources = new CloseStack();
    const files = resources.use(
      await ListedDirectory.open(
        directory,
        (sentence) => onProblem(new StorageError(sentence)),
        readLiveFiles,
      ),
    );
    const owner = processName();
    const { shared } = options;
    const store = resources.use(
      await GathererStore.open(
        working,
        shared === undefined ? {} : { shared: { owner, leaseMs: shared.leaseMs ?? LEASE_MS } },
      ),
    );
    await files.start();
    await repairTimes(store, presentOf(options), onProblem);
    const schemes = ownSchemes(config, options.fetchers);
    const essenceOptions = {
      ...essenceOptionsOf(config, {
        keepFiles: options.keepTemporaryFiles ?? false,
        modules: options.modules,
      }),
      ...(Object.keys(schemes).length === 0 ? {} : { schemes }),
      ...linkLimit(order),
    };
    const essence = resources.use(
      await EssencePool.create({
        ...essenceOptions,
        ...(options.essenceWorkers === undefined ? {} : { workers: options.essenceWorkers }),
      }),
    );
    const annotations =
      config.annotations.length === 0
        ? undefined
        : await Annotations.load(
            config.annotations.map((name) => findConfigFile(config, name)),
            { onProblem },
          );
    // The store resumes an interrupted run better than a cache (G-91), so the cache is used only if the
    // configuration enables it.
    const cache = config.keepCache ? await openDiskCache(config) : undefined;
    const fetcher = resources.adopt(
      createFetcher({
        userAgent: config.httpUserAgent ?? USER_AGENT,
        from: config.httpFrom,
        httpBasicAuth: logins.httpBasicAuth,
        httpProxy: config.httpProxy,
        ftpProxy: config.ftpProxy ?? ftpProxyOf(process.env, onProblem),
        ftpAuth: logins.ftpAuth,
        fileRoots: fileRoots(config),
        withoutHidden: !config.hiddenFiles,
        connectTimeoutMs: Math.min(options.connectTimeoutMs ?? 30_000, readTimeoutOf(options)),
        maxTransferMs: options.maxTransferMs,
        clock: options.clock,
        minBytesPerSecond: options.minBytesPerSecond,
        minRateGraceMs: options.minRateGraceMs,
        maxConnectionsPerHost: options.queuesPerHost ?? 1,
        onWarning: (sentence) => onProblem(new Error(sentence)),
        schemes: await ownFetchers(config, options.fetchers),
        cache,
      }),
      (opened) => opened.close(),
    );
    const renamed = await store.renameUrls(
      (url) => resolveUrl(url, undefined, order?.settings.urlForm),
      options.now?.() ?? Math.floor(Date.now() / 1000),
    );
    if (renamed > 0)
      onProblem(
        new Error(`${renamed} documents of an earlier version have the present form of their URLs now`),
      );
    return new Gatherer(
      options,
      config,
      order,
      store,
      fetcher,
      essence,
      annotations,
      await configurationDigests(essenceOptions, order),
      await store.summaries.newest(),
      resources.move(),
    );
  }

  get generationsDirectory(): string {
    return join(this.options.directory, 'generations');
  }

  /**
   * Gathers until no URI is left. The next call continues an aborted run.
   *
   * @param onDocument called for every URI that is finished, after it is stored
   * @throws the signal's reason when aborted
   */
  async run(
    signal: AbortSignal,
    onDocument: (event: DocumentEvent) => void = () => undefined,
  ): Promise<GatherReport> {
    const begin = performance.now();
    const tally = new Tally();
    const state = new RunState(this.store, this.config);
    await using shared = await this.#share();
    const open = async () => {
      const interrupted = await state.interrupted();
      if (interrupted !== undefined && shared === undefined) await refuseShared(this.store);
      if (interrupted === undefined && shared !== undefined && this.options.shared?.begin !== true)
        throw new UsageError('no crawl of this configuration is in progress in the store');
      const nodes =
        interrupted ??
        (await expandNodes(this.config, {
          file: this.options.configFile ?? 'configuration',
          signal,
          onProblem: this.options.onProblem,
        }));
      if (interrupted === undefined) await this.store.clearFrontier();
      await shared?.settlePartitions(interrupted !== undefined);
      const job = await this.#openJob(nodes, state, interrupted !== undefined, shared, (event) => {
        tally.add(event);
        documentChannel.publish(event);
        onDocument(event);
      });
      return { interrupted, job };
    };
    const opened = await (shared === undefined ? open() : shared.alone(signal, open));
    await using job = opened.job;
    const { interrupted } = opened;
    this.#begun = await state.begin(this.#now());
    await this.#warnOfShortLives(state);
    this.options.onControl?.(job.controller, job.consoleUrl);
    const end = await job.run(signal);
    if (end === 'finished') await this.#finishRun(state, shared, signal);
    return {
      counts: tally.counts,
      bytes: tally.bytes,
      seconds: (performance.now() - begin) / 1000,
      resumed: interrupted !== undefined,
      end,
      roots: job.roots.map(({ rules, urls, hosts, refused }) => ({
        url: withoutUserInfo(rules.root.url),
        urls,
        hosts,
        refused: Object.fromEntries(refused),
      })),
      failedRoots: tally.failedRoots(job.roots.map(({ rules }) => rules.root.url)),
    };
  }

  /** G-103: a run that is made seldom leaves its objects to expire, whatever the configuration promises. */
  async #warnOfShortLives(state: RunState): Promise<void> {
    const seconds = await state.interval();
    if (seconds === undefined || seconds <= this.config.refreshRate) return;
    const interval = { seconds, name: 'the longest time between two runs' };
    const warnings = lifeWarnings(this.config, this.options.configFile ?? 'configuration', interval);
    for (const warning of warnings) this.options.onProblem?.(warning);
  }

  async #openJob(
    nodes: Parameters<typeof openCrawlJob>[1],
    state: RunState,
    resumed: boolean,
    shared: SharedRun | undefined,
    onDocument: (event: DocumentEvent) => void,
  ): Promise<CrawlJob> {
    const { options, config, store, fetcher, essence, annotations } = this;
    const order =
      this.#order ??
      plainOrder({
        accessDelay: config.accessDelay,
        queuesPerHost: options.queuesPerHost ?? 1,
        maxRetries: options.maxRetries ?? 4,
        retryDelayMs: options.retryDelayMs ?? 10_000,
        unansweredRetryDelayMs: options.unansweredRetryDelayMs ?? 500,
        workers: options.workers ?? 16,
      });
    return openCrawlJob(
      {
        directory: options.directory,
        config,
        store,
        fetcher,
        essence,
        rulesDigest: (document) => this.digestOf(document),
        annotations,
        order: {
          ...order,
          console: order.console ?? options.console,
          ...(options.workers === undefined ? {} : { workers: options.workers }),
          ...(options.lowDiskMiB === undefined ? {} : { lowDiskMiB: options.lowDiskMiB }),
        },
        endOnLowDisk: options.endOnLowDisk ?? false,
        ordered: this.#order !== undefined,
        force: options.force ?? false,
        readTimeoutMs: readTimeoutOf(options),
        gate: this.#gate,
        now: () => this.#now(),
        extraProcessors: options.processors ?? {},
        onDocument,
        shared,
        openBrowser: options.openBrowser,
        log: options.log,
      },
      nodes,
      state,
      resumed,
    );
  }

  /**
   * G-110, G-141: an annotation changes the digest of its own objects only. The Gatherer's name and rates can
   * be replaced in objects that have them as they are configured: rules may set others (E-120), and lists of
   * ready summaries may bring them (E-46).
   */
  digestOf({ url, objects }: Parameters<RulesDigest>[0]): string {
    const { annotations, digests, config } = this;
    const { minimalBookkeeping = false } = config.essenceOptions;
    const canReplace = config.postSummarizing === undefined && !minimalBookkeeping && objects.length === 0;
    const configuration = joinedDigest(digests, canReplace);
    if (annotations === undefined) return configuration;
    const annotationDigests = [url, ...objects].flatMap((object) => annotations.digestFor(object) ?? []);
    return annotatedDigest(configuration, annotationDigests);
  }

  /** G-92, G-99: marks the run as finished and removes its cache. */
  /** The process that shares a run with others. */
  async #share(): Promise<SharedRun | undefined> {
    const { shared } = this.options;
    return shared && SharedRun.open(this.store, this.store.leases?.owner ?? '', shared);
  }

  /** Of the processes that share a run, the first one that finds it done marks it so. */
  async #finishRun(state: RunState, shared: SharedRun | undefined, signal: AbortSignal): Promise<void> {
    if (shared === undefined) return this.#finish(state);
    await shared.alone(signal, async () => {
      if ((await state.interrupted()) !== undefined) await this.#finish(state);
    });
  }

  async #finish(state: RunState): Promise<void> {
    await state.markDone(this.#now());
    const { directory, keepTemporaryFiles = false } = this.options;
    if (!this.config.keepCache && !keepTemporaryFiles) await removeDiskCache(this.config, directory);
  }

  /**
   * Deletes expired objects (G-103) and publishes the others as a generation for gatherd. Returns its number.
   */
  async publish(): Promise<number> {
    const { onProblem = () => undefined } = this.options;
    await expireSummaries(this.store, this.#now(), onProblem, this.#begun);
    return this.#publish();
  }

  /**
   * Publishes what is gathered so far, during a {@link run}. Nothing is deleted because it has not been reached
   * yet: whether an object has expired is decided by {@link publish}, after the run. Returns the generation's
   * number.
   */
  publishSoFar(): Promise<number> {
    return this.#publish();
  }

  async #publish(): Promise<number> {
    await retireProduction(this.options.directory);
    const { gathererName, gathererHost, gathererVersion } = this.config;
    return this.store.publish(this.generationsDirectory, {
      gatherer: { gathererName, gathererHost, gathererVersion },
      atRest: (work) => this.#gate.exclusive(work),
    });
  }

  /**
   * Publishes the links that were found as a generation of references for refererd, in `references/` of the
   * directory. Returns undefined if no link changed since the last generation or the configuration has
   * `References: off`. Call it after {@link publish}, which deletes expired objects. An abort keeps the
   * previous generation.
   */
  async publishReferences(signal?: AbortSignal): Promise<PublishedReferences | undefined> {
    if (!this.config.references) return undefined;
    return this.store.publishReferences(this.options.directory, { signal });
  }

  /** Closes the fetcher, the threads, then the store; each even if another fails to close. */
  close(): Promise<void> {
    return this.#resources[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #now(): UnixSeconds {
    return presentOf(this.options);
  }
}

function presentOf({ now }: GathererOptions): UnixSeconds {
  return now?.() ?? Math.floor(Date.now() / 1000);
}

function readTimeoutOf({ readTimeoutMs = 120_000 }: GathererOptions): number {
  return readTimeoutMs;
}

/**
 * Renames the `PRODUCTION.gdbm` that a script of the database tools left in a data directory to
 * `PRODUCTION.gdbm.old`. As a run of the original Gatherer replaces the database (G-112), the name then stands
 * for the new generation, and a script that merges annotations (G-140) does not start from the objects of an
 * earlier run. Before the publication: a process that is killed in between leaves the generation that was made
 * from the database.
 * @throws StorageError if the file cannot be renamed
 */
async function retireProduction(directory: string): Promise<void> {
  const path = join(directory, PRODUCTION_FILE);
  try {
    await rename(path, `${path}.old`);
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return;
    throw new StorageError(`${path} cannot be renamed: ${errorCode(cause) ?? String(cause)}`, { cause });
  }
}
