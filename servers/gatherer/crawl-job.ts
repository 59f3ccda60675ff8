import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Fetcher, mayReach, mustBePublic } from '../../clients/fetch/index.js';
import type { GathererConfig } from '../../protocols/config/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { GathererStore } from '../../storage/index.js';
import { openSeenFilter, type SeenFilter } from '../../storage/seen/index.js';
import type { ChainName, Processor } from '../crawler/chains.js';
import { Checkpoints } from '../crawler/checkpoint.js';
import { saveComponents, takeComponents } from '../crawler/component-state.js';
import { CrawlConsole } from '../crawler/console/index.js';
import type { CrawlControl, EndReason } from '../crawler/control.js';
import { CrawlController } from '../crawler/controller.js';
import { decideSequence } from '../crawler/decide/index.js';
import { crawlChannel, type DocumentEvent } from '../crawler/events.js';
import { type Candidate, DIRECTIVE, Frontier } from '../crawler/frontier/index.js';
import { JOURNAL_FILE, JournalWriter } from '../crawler/journal/index.js';
import { CrawlLogs, CrawlStatistics, writeEndReports } from '../crawler/logs/index.js';
import type { CrawlOrderConfig } from '../crawler/order/order.js';
import { FrontierPreparer } from '../crawler/preparer.js';
import { redactEvent, shownControl } from '../crawler/redaction.js';
import { HostAddresses, ServerCache, TotalBandwidth } from '../crawler/servers/index.js';
import { WarcFiles } from '../crawler/warc/index.js';
import type { EssencePool } from '../essence/index.js';
import type { Logger } from '../host/index.js';
import type { Annotations } from './annotations.js';
import { crawlChains } from './crawl-chains.js';
import { FilterFiles } from './filters.js';
import { GatherSettings } from './gather-settings.js';
import { MinTimeToLive } from './min-time-to-live.js';
import { RootLimits, readProgress } from './root-limits.js';
import { type RulesDigest, type RunNodes, type RunState, startsOf } from './run-state.js';
import { RootNodeScope } from './scope.js';

/** Product token of User-Agent and robots.txt (G-63, G-65). */
const ROBOTS_AGENT = 'Harvest';
export const USER_AGENT = 'Harvest/1.8 (harvest-kit)';

/** What a run is made of. */
export interface CrawlJobOptions {
  /** The Gatherer's directory: `working/`, `seen/`, `crawl/` below it. */
  readonly directory: string;
  readonly config: GathererConfig;
  readonly store: GathererStore;
  readonly fetcher: Fetcher;
  readonly essence: EssencePool;
  readonly rulesDigest: RulesDigest;
  readonly annotations: Annotations | undefined;
  readonly order: CrawlOrderConfig;
  /** The configuration names the order. */
  readonly ordered: boolean;
  readonly force: boolean;
  readonly readTimeoutMs: number;
  readonly now: () => UnixSeconds;
  readonly further: Partial<Record<ChainName, readonly Processor[]>>;
  readonly log?: Logger;
  readonly onDocument: (event: DocumentEvent) => void;
}

/**
 * One run of the crawl engine: put together from a configuration and an order, with what accompanies it (logs, journal, WARC files,
 * console, checkpoints). It owns all of that and lets go of it, children first, when it is disposed of.
 */
export class CrawlJob implements AsyncDisposable {
  constructor(
    readonly options: CrawlJobOptions,
    readonly controller: CrawlController,
    readonly roots: readonly RootLimits[],
    /** The console's address; undefined: there is none. */
    readonly consoleUrl: string | undefined,
    private readonly closers: (() => Promise<unknown>)[],
  ) {}

  /** What others see of the controller (G-81). */
  get control(): CrawlControl {
    return shownControl(this.controller);
  }

  /** Crawls until nothing is left; throws the signal's reason when stopped. */
  async run(signal: AbortSignal): Promise<EndReason> {
    const end = await this.controller.run(signal);
    const { order, directory } = this.options;
    if (order.logs) await writeEndReports(join(crawlDirectoryOf(directory), 'reports'), this.control);
    return end;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    // What fails to close must not keep the others open.
    for (const close of this.closers.splice(0).reverse()) {
      await close().catch((error: unknown) => {
        failure ??= { error };
      });
    }
    if (failure !== undefined) throw failure.error;
  }
}

/** Where logs, reports, checkpoints and the console's file of a Gatherer are. */
export function crawlDirectoryOf(gatherer: string): string {
  return join(gatherer, 'crawl');
}

/**
 * @param nodes of the run
 * @param resumed go on with what the store holds; else the nodes are scheduled as seeds
 */
export async function openCrawlJob(
  options: CrawlJobOptions,
  nodes: RunNodes,
  state: RunState,
  resumed: boolean,
): Promise<CrawlJob> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    return await assemble(options, nodes, state, resumed, closers);
  } catch (error) {
    for (const close of closers.reverse()) await close().catch(() => undefined);
    throw error;
  }
}

async function assemble(
  options: CrawlJobOptions,
  nodes: RunNodes,
  state: RunState,
  resumed: boolean,
  closers: (() => Promise<unknown>)[],
): Promise<CrawlJob> {
  const { store, order, config, fetcher, directory } = options;
  const crawlDirectory = crawlDirectoryOf(directory);
  const settings = new GatherSettings(order, options.ordered, nodes.roots);
  const addresses = new HostAddresses({
    validitySeconds: (host) => settings.ofUrl(`http://${host}/`).ipValiditySeconds,
  });
  const preparer = new FrontierPreparer({
    settingsFor: (uri) => settings.of(uri),
    addressOf: (host) => addresses.bytesOf(host),
  });
  const seen = await openSeen(options, resumed);
  closers.push(() => seen.close());
  const bandwidth = new TotalBandwidth(order.totalBandwidthKBs);
  const journal = order.recoveryJournal ? await openJournal(crawlDirectory, closers) : undefined;
  const frontier = await Frontier.open({
    store,
    seen,
    prepare: (uri) => preparer.prepare(uri),
    holdQueues: order.holdQueues,
    targetReadyBacklog: order.targetReadyBacklog,
    snoozeDeactivateMs: order.snoozeDeactivateMs,
    totalWait: (now) => bandwidth.wait(now),
    ...(journal === undefined
      ? {}
      : {
          onAdded: ({ uri }) => journal.write({ tag: 'F+', ...uri }),
          onEmitted: ({ uri }) => journal.write({ tag: 'Fe', url: uri.url }),
        }),
  });
  const roots = await rootLimits(options, nodes, addresses, resumed);
  const hosts = roots.map(({ rules }) => new URL(rules.root.url).hostname).filter((host) => host !== '');
  await addresses.resolve(hosts);
  const lives = await MinTimeToLive.read(store.meta);
  if (!resumed) await seed(options, nodes, state, frontier, roots, lives);

  const servers = new ServerCache({
    fetcher,
    settingsFor: (url) => settings.ofUrl(url),
    robotsAgent: ROBOTS_AGENT,
    userAgent: config.httpUserAgent ?? USER_AGENT,
    timeoutMs: options.readTimeoutMs,
    addresses,
  });
  // CRAWL-17.3.1: a restored checkpoint, or a run that was stopped, goes on with what it had.
  const left = (await takeComponents(crawlDirectory)) ?? {};
  if (resumed && left.servers !== undefined) servers.restore(left.servers);
  const statistics =
    resumed && left.statistics !== undefined
      ? CrawlStatistics.restore(left.statistics)
      : new CrawlStatistics();
  const components = () => ({
    servers: servers.snapshot(),
    statistics: statistics.toJSON(),
    frontier: frontier.counts,
  });
  closers.push(async () => {
    if (!frontier.empty) await saveComponents(crawlDirectory, components());
  });
  const logs = order.logs ? await openLogs(crawlDirectory, closers) : undefined;
  const warc = await openWarc(options, closers);
  const rules = order.scope.length === 0 ? undefined : decideSequence(order.scope, { seeds: seedsOf(nodes) });
  const configured = new Set(seedsOf(nodes).map((url) => new URL(url).hostname));
  const hostKnowledge = {
    addresses: (host: string) => addresses.of(host),
    isConfigured: (host: string) => configured.has(host),
  };
  // G-81: copies of the working store, whose queues have their logins.
  await mkdir(join(crawlDirectory, 'checkpoints'), { recursive: true, mode: 0o700 });
  const checkpoints = await Checkpoints.open(join(crawlDirectory, 'checkpoints'), {
    store,
    ...(order.seen === 'level' ? {} : { seenDirectory: join(directory, 'seen') }),
    kept: order.checkpointsKept,
    atRest: (work) => frontier.atRest(work),
    components,
    rotate: async (suffix) => {
      await logs?.rotate(suffix);
      await journal?.rotate(suffix);
    },
  });
  closers.push(() => checkpoints.settled());
  const controller: CrawlController = new CrawlController({
    name: order.name === 'crawl' ? (config.gathererName ?? 'crawl') : order.name,
    store,
    directory,
    frontier,
    seen,
    chains: crawlChains({
      ...options,
      frontier,
      scope: new RootNodeScope(roots, addresses, rules, (from, to) => mayReach(from, to, hostKnowledge)),
      roots: nodes.roots,
      robotsAgent: ROBOTS_AGENT,
      mustBePublic: (from, to) => mustBePublic(from, to, hostKnowledge),
      servers,
      lives,
      warc: warc && { files: warc, skipIdenticalDigests: order.warc.skipIdenticalDigests },
    }),
    servers,
    settingsFor: (uri) => settings.of(uri),
    statistics,
    bandwidth,
    workers: order.workers,
    limits: order,
    pauseAtStart: order.pauseAtStart,
    pauseAtFinish: order.pauseAtFinish,
    onFinish: ({ entry }, batch) => roots[entry.uri.root]?.store(entry.uri.root, batch),
    onDocument: async (event) => {
      options.onDocument(redactEvent(event));
      logs?.document(event);
      journal?.finished(event);
      if (logs?.full === true) await logs.room();
      if (journal?.full === true) await journal.room();
    },
    checkpoint: () => checkpoints.take(),
    lastCheckpoint: () => checkpoints.newest,
  });
  if (logs !== undefined) followProgress(logs, controller, closers);
  if (order.checkpointMinutes > 0) takeRegularly(order.checkpointMinutes, controller, closers);
  const console = await openConsole(options, controller, crawlDirectory, closers);
  return new CrawlJob(options, controller, roots, console?.url, closers);
}

/** The default is the table of the working store; the others have files of their own, which a new run empties. */
export async function openSeen(
  { store, order, directory }: Pick<CrawlJobOptions, 'store' | 'order' | 'directory'>,
  resumed: boolean,
): Promise<SeenFilter> {
  if (order.seen === 'level') return store.openSeenFilter();
  const own = join(directory, 'seen', order.seen);
  if (!resumed) await rm(own, { recursive: true, force: true });
  await mkdir(own, { recursive: true });
  return openSeenFilter({ kind: order.seen, directory: own });
}

export async function rootLimits(
  { config, store }: Pick<CrawlJobOptions, 'config' | 'store'>,
  { roots }: RunNodes,
  addresses: HostAddresses,
  resumed: boolean,
): Promise<RootLimits[]> {
  const files = new FilterFiles(config);
  return Promise.all(
    roots.map(async (root, index) => {
      const rules = await files.rulesOf(root);
      return new RootLimits(rules, addresses, resumed ? await readProgress(store.meta, index) : undefined);
    }),
  );
}

/** G-69: RootNodes in the order of the file, then the LeafNodes. One batch: the run has begun, or it has not. */
export async function seed(
  { store, order, config }: Pick<CrawlJobOptions, 'store' | 'order' | 'config'>,
  nodes: RunNodes,
  state: RunState,
  frontier: Frontier,
  roots: readonly RootLimits[],
  lives: MinTimeToLive,
): Promise<void> {
  const batch = store.batch();
  const common = { via: '', pathFromSeed: '', depth: 0, forceFetch: false, directive: DIRECTIVE.medium };
  const tag = (url: string): string => (order.sourceTagSeeds ? url : '');
  const candidates: Candidate[] = [];
  roots.forEach((limits, root) => {
    for (const url of startsOf(limits.rules.root)) {
      const admit = (): boolean => {
        limits.take(new URL(url));
        return true;
      };
      candidates.push({ ...common, url, root, isLeaf: false, sourceTag: tag(url), admit });
    }
  });
  for (const { url } of nodes.leaves)
    candidates.push({ ...common, url, root: roots.length, isLeaf: true, sourceTag: tag(url) });
  lives.note(config.timeToLive, batch);
  state.begun(nodes, batch);
  await frontier.schedule(candidates, batch, () => {
    for (const [root, limits] of roots.entries()) limits.store(root, batch);
  });
}

export function seedsOf({ roots, leaves }: RunNodes): string[] {
  return [...roots, ...leaves].map(({ url }) => url);
}

async function openLogs(directory: string, closers: (() => Promise<unknown>)[]): Promise<CrawlLogs> {
  const logs = await CrawlLogs.open(join(directory, 'logs'));
  closers.push(() => logs.close());
  return logs;
}

async function openJournal(directory: string, closers: (() => Promise<unknown>)[]): Promise<JournalWriter> {
  await mkdir(join(directory, 'logs'), { recursive: true });
  const journal = await JournalWriter.open(join(directory, 'logs', JOURNAL_FILE));
  closers.push(() => journal.close());
  return journal;
}

async function openWarc(
  { order }: CrawlJobOptions,
  closers: (() => Promise<unknown>)[],
): Promise<WarcFiles | undefined> {
  const { directory, prefix, maxFileBytes, compress } = order.warc;
  if (directory === '') return undefined;
  const files = await WarcFiles.open({
    directory,
    prefix,
    maxFileBytes,
    compress,
    info: { isPartOf: order.name, robots: order.settings.robotsPolicy },
  });
  closers.push(() => files.close());
  return files;
}

/** CRAWL-16.3: a line every 20 seconds, and the crawl's events among them. */
function followProgress(
  logs: CrawlLogs,
  controller: CrawlController,
  closers: (() => Promise<unknown>)[],
): void {
  const onEvent = (event: unknown): void => logs.crawl(event as Parameters<CrawlLogs['crawl']>[0]);
  crawlChannel.subscribe(onEvent);
  const timer = setInterval(() => logs.progress(controller.snapshot()), 1000);
  closers.push(async () => {
    clearInterval(timer);
    crawlChannel.unsubscribe(onEvent);
  });
}

function takeRegularly(
  minutes: number,
  controller: CrawlController,
  closers: (() => Promise<unknown>)[],
): void {
  let taking: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    taking = controller.checkpoint().catch((error: unknown) => {
      crawlChannel.publish({ text: `no checkpoint: ${String(error)}`, alert: true });
    });
  }, minutes * 60_000);
  closers.push(async () => {
    clearInterval(timer);
    await taking;
  });
}

async function openConsole(
  { order, log }: CrawlJobOptions,
  controller: CrawlController,
  directory: string,
  closers: (() => Promise<unknown>)[],
): Promise<CrawlConsole | undefined> {
  if (order.console === undefined || log === undefined) return undefined;
  const { host, port, passwordEnvironment } = order.console;
  await mkdir(directory, { recursive: true });
  const console = await CrawlConsole.start({
    control: shownControl(controller),
    host,
    port,
    password: process.env[passwordEnvironment] ?? '',
    name: order.name,
    log,
    file: join(directory, 'console.json'),
  });
  closers.push(() => console.close());
  return console;
}
