import { join } from 'node:path';
import type { Fetcher } from '../../../clients/fetch/index.js';
import { CloseStack } from '../../../protocols/close-stack.js';
import type { GathererConfig } from '../../../protocols/config/index.js';
import { defined } from '../../../protocols/defined.js';
import { messageOf } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import type { GathererStore } from '../../../storage/gatherer/store.js';
import type { ActionDirectory } from '../../crawler/actions/index.js';
import type { ChainName, Processor } from '../../crawler/chains.js';
import { Checkpoints } from '../../crawler/checkpoint.js';
import { deletedEvent } from '../../crawler/completions.js';
import { saveComponents } from '../../crawler/component-state.js';
import type { CrawlControl, EndReason } from '../../crawler/control.js';
import { CrawlController } from '../../crawler/controller.js';
import { crawlChannel, type DocumentEvent } from '../../crawler/events.js';
import { Frontier } from '../../crawler/frontier/index.js';
import { type ReportOptions, writeEndReports } from '../../crawler/logs/index.js';
import { chainSteps } from '../../crawler/order/chain-config.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import { FrontierPreparer } from '../../crawler/preparer.js';
import { redactControl, redactEvent } from '../../crawler/redaction.js';
import { HostAddresses, ServerCache, TotalBandwidth } from '../../crawler/servers/index.js';
import { ArchiveIndex, SideCaptures, WarcFiles } from '../../crawler/warc/index.js';
import type { EssencePool } from '../../essence/pool.js';
import type { Logger } from '../../host/logger.js';
import type { Annotations } from '../annotate/annotations.js';
import { GatherSettings } from '../configuration/gather-settings.js';
import { loginForms } from '../configuration/order-credentials.js';
import type { RulesDigest } from '../configuration/rules-digest.js';
import { NetworkReach } from '../scope/reach.js';
import type { RootLimits } from '../scope/root-limits.js';
import { RootNodeScope } from '../scope/root-node-scope.js';
import { openActions } from './actions.js';
import { type OpenBrowser, openBrowser } from './browser.js';
import { crawlChains, keepWireFor, loadProcessors, openMapper } from './chains.js';
import { openConsole } from './console.js';
import { openCrawlCookies } from './cookies.js';
import { MinTimeToLive } from './min-time-to-live.js';
import { type CrawlRecords, dumpPending, followProgress, openCrawlRecords } from './records.js';
import type { RunNodes, RunState } from './run-state.js';
import { enumerationsOf, openRootLimits, scheduleSeeds, scopeRules, seedsOf } from './seeds.js';
import { openSeen, warnOfEmptyFilter } from './seen.js';

/** Product token in robots.txt, beside those of the User-Agent that is sent (G-63, G-65). */
const ROBOTS_AGENT = 'Harvest';
export const USER_AGENT = 'Harvest/1.8 (harvest-kit)';

/** The stores, services and settings of a run. */
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
  /** Whether the configuration names the order. */
  readonly ordered: boolean;
  readonly force: boolean;
  /** Whether the crawl ends, instead of pausing, when too little disk space is free. */
  readonly endOnLowDisk?: boolean;
  readonly readTimeoutMs: number;
  readonly now: () => UnixSeconds;
  readonly extraProcessors: Partial<Record<ChainName, readonly Processor[]>>;
  /** Opens the browser of `settings.fetcher`. Default: Chromium. */
  readonly openBrowser?: OpenBrowser | undefined;
  readonly log?: Logger | undefined;
  readonly onDocument: (event: DocumentEvent) => void;
}

/**
 * One run of the crawl engine, assembled from a configuration and an order, with its logs, journal, WARC files, console and
 * checkpoints. It owns all of them and closes them in reverse order.
 */
export class CrawlJob implements AsyncDisposable {
  readonly #reports: Pick<ReportOptions, 'statistics' | 'seeds'>;
  readonly #indexes: ArchiveIndex | undefined;
  readonly #actions: ActionDirectory | undefined;
  readonly #records: CrawlRecords;
  readonly #resources: CloseStack;

  constructor(
    readonly options: CrawlJobOptions,
    readonly controller: CrawlController,
    readonly roots: readonly RootLimits[],
    /** The console's address; undefined if the order has no console. */
    readonly consoleUrl: string | undefined,
    reports: Pick<ReportOptions, 'statistics' | 'seeds'>,
    indexes: ArchiveIndex | undefined,
    actions: ActionDirectory | undefined,
    records: CrawlRecords,
    resources: CloseStack,
  ) {
    this.#reports = reports;
    this.#indexes = indexes;
    this.#actions = actions;
    this.#records = records;
    this.#resources = resources;
  }

  /** The controller as consoles and reports see it, without logins (G-81). */
  get control(): CrawlControl {
    return redactControl(this.controller);
  }

  /** Crawls until no URI is left. @throws the signal's reason when aborted */
  async run(signal: AbortSignal): Promise<EndReason> {
    const onAbort = (): void => this.#indexes?.stop();
    signal.addEventListener('abort', onAbort, { once: true });
    const ended = new AbortController();
    const acting = this.#actions?.run(AbortSignal.any([signal, ended.signal]));
    const end = await this.controller.run(signal).finally(async () => {
      signal.removeEventListener('abort', onAbort);
      ended.abort();
      await acting;
    });
    const { order, directory, store } = this.options;
    if (order.dumpPendingAtClose) await dumpPending(store, this.#records, signal);
    // A checkpoint that is being taken now holds the last events back.
    await this.#records.events.settled();
    if (order.logs)
      await writeEndReports(join(crawlDirectoryOf(directory), 'reports'), this.control, this.#reports);
    return end;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources[Symbol.asyncDispose]();
  }
}

/** Directory of a Gatherer's logs, reports, checkpoints and console file. */
function crawlDirectoryOf(gatherer: string): string {
  return join(gatherer, 'crawl');
}

/**
 * Assembles a run. If a part of it cannot be opened, everything is closed again.
 *
 * @param nodes the RootNodes and LeafNodes of the run
 * @param resumed true continues the run in the store; false schedules the nodes as seeds
 */
export async function openCrawlJob(
  options: CrawlJobOptions,
  nodes: RunNodes,
  state: RunState,
  resumed: boolean,
): Promise<CrawlJob> {
  await using resources = new CloseStack();
  const { store, order, config, fetcher, directory } = options;
  const crawlDirectory = crawlDirectoryOf(directory);
  const settings = new GatherSettings(order, options.ordered, nodes.roots);
  // The WARC files are opened after the logs, which tell what was wrong with them.
  let side: SideCaptures | undefined;
  const addresses = new HostAddresses({
    validitySeconds: (host) => settings.forUrl(`http://${host}/`).ipValiditySeconds,
    onResolved: async (host, found) => side?.recordAddresses(host, found),
  });
  const preparer = new FrontierPreparer({
    settingsFor: (uri) => settings.forUri(uri),
    addressOf: (host) => addresses.bytesOf(host),
    onSharedQueue: (queue, hosts) => {
      // CRAWL-9.9.
      const text = `queueAssignment elf: ${hosts.join(' and ')} share queue ${queue}, and URIs of one host are in several queues: pauses and single connections are not kept for each host`;
      crawlChannel.publish({ text, alert: true });
    },
  });
  const seen = resources.adopt(await openSeen(options, resumed), (filter) => filter.close());
  const bandwidth = new TotalBandwidth(order.totalBandwidthKBs);
  const userAgent = config.httpUserAgent ?? USER_AGENT;
  const servers = new ServerCache({
    fetcher,
    settingsFor: (url) => settings.forUrl(url),
    robotsAgent: ROBOTS_AGENT,
    userAgent,
    timeoutMs: options.readTimeoutMs,
    addresses,
    archive:
      order.warc.directory === ''
        ? undefined
        : { keepWire: keepWireFor(order.warc), record: async (fetched) => side?.record(fetched) },
  });
  const records = await openCrawlRecords(
    { store, directory: crawlDirectory, order, ordered: options.ordered, resumed, servers },
    resources,
  );
  const { logs, journal, statistics, events } = records;
  if (resumed && seen.count === 0) warnOfEmptyFilter(order.seen, statistics);
  const indexes =
    order.warc.index && order.warc.directory !== '' ? openIndex(order.warc.directory, resources) : undefined;
  const warc = await openWarc(options, indexes, resources);
  side = warc && new SideCaptures(warc);
  const loader = await openBrowser(options, userAgent, resources);
  const steps = chainSteps(order);
  const loaded = await loadProcessors(steps, crawlDirectory, resources);
  const enumerations = enumerationsOf(nodes, scopeRules(order, nodes));
  const frontier = await Frontier.open({
    store,
    seen,
    prepare: (uri) => preparer.prepare(uri),
    enumerations,
    // The queues of one host are not in order anyway, and no processor of a Gatherer's own chains needs the former URI's results.
    overlapWrites: !options.ordered && order.settings.parallelQueues > 1,
    holdQueues: order.holdQueues,
    targetReadyBacklog: order.targetReadyBacklog,
    snoozeDeactivateMs: order.snoozeDeactivateMs,
    totalWait: (now) => bandwidth.wait(now),
    onDeleted: (entry, batch) => events.put(deletedEvent(entry), batch),
    ...(journal === undefined
      ? {}
      : {
          onAdded: ({ uri }) => journal.write({ tag: 'F+', ...uri }),
          onEmitted: ({ uri }) => journal.write({ tag: 'Fe', url: uri.url }),
        }),
  });
  resources.defer(() => frontier.close());
  const roots = await openRootLimits(options, nodes, addresses, resumed);
  const hosts = roots.map(({ rules }) => new URL(rules.root.url).hostname).filter((host) => host !== '');
  await addresses.resolve(hosts);
  const configured = new Set(seedsOf(nodes).map((url) => new URL(url).hostname));
  const reach = new NetworkReach(
    (host) => addresses.addressesOf(host),
    (host) => configured.has(host),
  );
  const minTimeToLive = await MinTimeToLive.read(store.meta);
  const forms = options.ordered ? loginForms(order, config.crawlOrder ?? 'order') : [];
  // Before the seeds, which mark the run as begun: a run that was killed here begins anew.
  const cookies = options.ordered ? await openCrawlCookies({ store, order, resumed }, resources) : undefined;
  if (!resumed) await scheduleSeeds(options, nodes, state, frontier, roots, minTimeToLive, reach);

  const components = () => ({
    servers: servers.snapshot(),
    statistics: statistics.toJSON(),
    frontier: frontier.counts,
  });
  resources.defer(async () => {
    if (frontier.empty) return;
    await saveComponents(crawlDirectory, components()).catch((error: unknown) => {
      // The next run continues without these figures.
      const text = `cannot save the state of servers and statistics: ${messageOf(error)}`;
      crawlChannel.publish({ text, alert: true });
    });
  });
  const added = resumed ? await state.addedSeeds() : [];
  const scope = new RootNodeScope(roots, addresses, scopeRules(order, nodes, added), reach);
  const actions = openActions({
    ...{ store, order, nodes, state, frontier, roots, addresses, scope, reach, added },
    directory: crawlDirectory,
    onQueued: () => {
      // CRAWL-6.1: pauseAtFinish.
      if (controller.snapshot().state === 'empty') controller.resume();
    },
  });
  // G-81: checkpoints copy the working store, whose queues contain logins.
  await createDirectory(join(crawlDirectory, 'checkpoints'), 0o700);
  const checkpoints = await Checkpoints.open(join(crawlDirectory, 'checkpoints'), {
    store,
    ...(order.seen === 'level' ? {} : { seenDirectory: join(directory, 'seen') }),
    kept: order.checkpointsKept,
    // The copy has no events whose lines are in the logs already.
    atRest: (work) =>
      frontier.atRest(async () => {
        await events.purge();
        return work();
      }),
    components,
    rotate: async (suffix) => {
      await events.rotate(suffix);
      await journal?.rotate(suffix);
    },
  });
  resources.defer(() => checkpoints.settled());
  const mapper = await openMapper(
    order,
    crawlDirectory,
    { prepare: (uri) => preparer.prepare(uri) },
    resources,
  );
  const controller: CrawlController = new CrawlController({
    name: order.name === 'crawl' ? (config.gathererName ?? 'crawl') : order.name,
    store,
    directory,
    frontier,
    seen,
    chains: crawlChains({
      ...options,
      frontier,
      scope,
      roots: nodes.roots,
      rootLimits: roots,
      repeatedSince: enumerations.all.length > 1 ? await state.begin(options.now()) : undefined,
      robotsAgent: `${userAgent} ${ROBOTS_AGENT}`,
      mustBePublic: (uri) => reach.mustBePublic(uri),
      servers,
      cookies,
      forms,
      minTimeToLive,
      steps,
      loaded,
      seeds: seedsOf(nodes),
      mapper,
      warc: warc && { ...order.warc, files: warc },
      browser: loader && {
        ...order.browser,
        loader,
        prepare: (candidate) => preparer.prepare(candidate),
        settingsFor: (uri) => settings.forUri(uri),
      },
      runtime: {
        elapsed: () => statistics.figures().elapsed,
        pause: () => controller.pause(),
        terminate: () => controller.stop('time limit'),
      },
    }),
    servers,
    settingsFor: (uri) => settings.forUri(uri),
    statistics,
    bandwidth,
    workers: order.workers,
    limits: { ...order, endOnLowDisk: options.endOnLowDisk ?? false },
    pauseAtStart: order.pauseAtStart,
    pauseAtFinish: order.pauseAtFinish,
    onFinish: ({ entry }, batch) => roots[entry.uri.root]?.store(entry.uri.root, batch),
    record: (event, batch) => events.put(event, batch),
    onDocument: async (event) => {
      options.onDocument(redactEvent(event));
      journal?.finished(event);
      if (logs?.full === true) await logs.waitForRoom();
      if (journal?.full === true) await journal.waitForRoom();
    },
    checkpoint: () => checkpoints.take(),
    lastCheckpoint: () => checkpoints.newest,
  });
  if (logs !== undefined) followProgress(logs, controller, resources);
  if (order.checkpointMinutes > 0) scheduleCheckpoints(order.checkpointMinutes, controller, resources);
  const reports = {
    statistics,
    get seeds() {
      return [...seedsOf(nodes), ...added].map(withoutUserInfo);
    },
  };
  const console = await openConsole(options, controller, crawlDirectory, resources);
  return new CrawlJob(
    options,
    controller,
    roots,
    console?.url,
    reports,
    indexes,
    actions,
    records,
    resources.move(),
  );
}

function openIndex(directory: string, resources: CloseStack): ArchiveIndex {
  const onProblem = (text: string): void => crawlChannel.publish({ text, alert: true });
  return resources.adopt(new ArchiveIndex(directory, onProblem), (opened) => opened[Symbol.asyncDispose]());
}

async function openWarc(
  { order, config }: CrawlJobOptions,
  indexes: ArchiveIndex | undefined,
  resources: CloseStack,
): Promise<WarcFiles | undefined> {
  const { directory, prefix, format, maxFileBytes, poolMaxActive, compress, compression } = order.warc;
  if (directory === '') return undefined;
  const files = await WarcFiles.open({
    directory,
    prefix,
    format,
    maxFileBytes,
    poolMaxActive,
    compression: compress ? compression : 'none',
    info: warcInfo(order, config),
    onFinished: (name) => indexes?.add(name),
  });
  for (const { file, damaged } of files.recovered) {
    if (damaged.length === 0) continue;
    const text = `${join(directory, file)}: the records at offsets ${damaged.join(', ')} are damaged; the others are kept`;
    crawlChannel.publish({ text, alert: true });
  }
  await indexes?.addMissing();
  return resources.adopt(files, (opened) => opened.close());
}

/** What a warcinfo record says of the crawl (WARC 1.1, 6.2), with its order, except logins. */
function warcInfo(
  order: CrawlOrderConfig,
  { httpUserAgent, httpFrom }: GathererConfig,
): Record<string, string> {
  const { credentials: _, ...shown } = order;
  return {
    isPartOf: order.name,
    robots: order.settings.robotsPolicy,
    'http-header-user-agent': httpUserAgent ?? USER_AGENT,
    ...defined({ 'http-header-from': httpFrom }),
    order: JSON.stringify(shown),
  };
}

function scheduleCheckpoints(minutes: number, controller: CrawlController, resources: CloseStack): void {
  let current: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    current = controller.checkpoint().catch((error: unknown) => {
      crawlChannel.publish({ text: `the checkpoint failed: ${messageOf(error)}`, alert: true });
    });
  }, minutes * 60_000);
  resources.defer(async () => {
    clearInterval(timer);
    await current;
  });
}
