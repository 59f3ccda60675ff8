import { join } from 'node:path';
import { steadyTime } from '../../../clients/connection/monotonic-clock.js';
import type { Fetcher } from '../../../clients/fetch/index.js';
import { CloseStack } from '../../../protocols/close-stack.js';
import type { GathererConfig } from '../../../protocols/config/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { GathererBatch } from '../../../storage/gatherer/batch.js';
import type { GathererStore } from '../../../storage/gatherer/store.js';
import { openSeenFilter, type SeenFilter } from '../../../storage/seen/index.js';
import type { ActionDirectory } from '../../crawler/actions/action-directory.js';
import type { ChainName, Processor } from '../../crawler/chains.js';
import { deletedEvent } from '../../crawler/completions.js';
import { type ControllerOptions, CrawlController } from '../../crawler/controller.js';
import type { DocumentEvent } from '../../crawler/events.js';
import type { CrawlFrontier, Enumerations } from '../../crawler/frontier/contract.js';
import { Frontier } from '../../crawler/frontier/frontier.js';
import { PartitionedFrontier } from '../../crawler/frontier/partitioned-frontier.js';
import { type ReportOptions, writeEndReports } from '../../crawler/logs/reports.js';
import { chainSteps } from '../../crawler/order/chain-config.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import { assembleChains } from '../../crawler/processors/assemble-chains.js';
import type { ProcessorParts } from '../../crawler/processors/parts.js';
import { redactEvent } from '../../crawler/redaction.js';
import type { EndReason } from '../../crawler/states.js';
import { SideCaptures } from '../../crawler/warc/captures.js';
import type { EssencePool } from '../../essence/pool/pool.js';
import type { Logger } from '../../host/logger.js';
import type { Annotations } from '../annotate/annotations.js';
import { loginForms } from '../configuration/order-credentials.js';
import type { RulesDigest } from '../configuration/rules-digest.js';
import { linksOfLarge } from '../processors/large-links.js';
import { NetworkReach } from '../scope/reach.js';
import type { RootLimits } from '../scope/root-limits.js';
import { RootNodeScope } from '../scope/root-node-scope.js';
import { openActions } from './actions.js';
import { keepWireFor, openArchive, type RunArchive } from './archive.js';
import { fetchLimits, gathererProcessors, loadProcessors, openMapper } from './chains.js';
import { keepComponents, openCheckpoints, scheduleCheckpoints } from './checkpoints.js';
import type { CommitGate } from './commit-gate.js';
import { type OpenBrowser, openBrowser, openConsole } from './console.js';
import { continuedClock } from './continued-clock.js';
import { openCrawlCookies } from './cookies.js';
import { keepHolds } from './keep-holds.js';
import { MinTimeToLive } from './min-time-to-live.js';
import { RunNetwork } from './network.js';
import { type CrawlRecords, dumpPending, followProgress, openCrawlRecords } from './records.js';
import type { RunNodes, RunState } from './run-state.js';
import { enumerationsOf, openRootLimits, scheduleSeeds, scopeRules, seedsOf } from './seeds.js';
import { openSeen, warnOfEmptyFilter } from './seen.js';
import type { SharedControl } from './shared-control.js';
import { type FiguresSource, SharedFigures } from './shared-figures.js';
import { type LateParts, openControl, openSharedFrontier, shareLimits } from './shared-parts.js';
import type { SharedRun } from './shared-run.js';

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
  /** Orders the run's changes and the publications while it gathers. */
  readonly gate: CommitGate;
  readonly now: () => UnixSeconds;
  readonly extraProcessors: Partial<Record<ChainName, readonly Processor[]>>;
  /** Opens the browser of `settings.fetcher`. Default: Chromium. */
  readonly openBrowser?: OpenBrowser | undefined;
  readonly log?: Logger | undefined;
  readonly onDocument: (event: DocumentEvent) => void;
  /** Of a run that several processes share. */
  readonly shared?: SharedRun | undefined;
}

/** The open resources of a run while it crawls. */
interface JobParts {
  readonly reports: Pick<ReportOptions, 'statistics' | 'seeds'>;
  readonly archive: Pick<RunArchive, 'indexes' | 'copies'>;
  readonly actions: ActionDirectory | undefined;
  readonly records: CrawlRecords;
  readonly resources: CloseStack;
}

/**
 * One run of the crawl engine, assembled from a configuration and an order, with its logs, journal, WARC files,
 * console and checkpoints. It owns all of them and closes them in reverse order.
 */
export class CrawlJob implements AsyncDisposable {
  readonly #options: CrawlJobOptions;
  readonly #parts: JobParts;

  constructor(
    options: CrawlJobOptions,
    readonly controller: CrawlController,
    readonly roots: readonly RootLimits[],
    /** The console's address; undefined if the order has no console. */
    readonly consoleUrl: string | undefined,
    parts: JobParts,
  ) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Crawls until no URI is left. @throws the signal's reason when aborted */
  async run(signal: AbortSignal): Promise<EndReason> {
    const { archive, actions, records, reports } = this.#parts;
    const onAbort = (): void => {
      archive.indexes?.stop();
      archive.copies?.stop();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const ended = new AbortController();
    const acting = actions?.run(AbortSignal.any([signal, ended.signal]));
    const end = await this.controller.run(signal).finally(async () => {
      signal.removeEventListener('abort', onAbort);
      ended.abort();
      await acting;
    });
    const { order, directory, store } = this.#options;
    if (order.dumpPendingAtClose) await dumpPending(store, records, signal);
    // A checkpoint that is being taken now holds the last events back.
    await records.events.settled();
    if (order.logs)
      await writeEndReports(join(crawlDirectoryOf(directory), 'reports'), this.controller, reports);
    return end;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.resources[Symbol.asyncDispose]();
  }
}

/** Directory of a Gatherer's logs, reports, checkpoints and console file. */
function crawlDirectoryOf(gatherer: string): string {
  return join(gatherer, 'crawl');
}

/** A run that is being opened. */
interface Opening {
  readonly options: CrawlJobOptions;
  /** The RootNodes and LeafNodes of the run. */
  readonly nodes: RunNodes;
  readonly state: RunState;
  /** True continues the run in the store; false schedules the nodes as seeds. */
  readonly resumed: boolean;
  /** The directory of the crawl's files. */
  readonly directory: string;
  readonly network: RunNetwork;
  readonly records: CrawlRecords;
  readonly resources: CloseStack;
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
  const { store, order, config, ordered } = options;
  const directory = crawlDirectoryOf(options.directory);
  const network = new RunNetwork(options, nodes);
  const { userAgent, servers, bandwidth } = network;
  await keepHolds({ store, order, servers, now: options.now }, resources);
  const { shared } = options;
  const seen = resources.adopt(
    shared === undefined ? await openSeen(options, resumed) : await openSeenFilter({ kind: 'memory-set' }),
    (filter) => filter.close(),
  );
  const figures = {
    store,
    directory,
    order,
    ordered,
    resumed,
    servers,
    bandwidth,
    isShared: shared !== undefined,
  };
  const records = await openCrawlRecords(figures, resources);
  const opening = { options, nodes, state, resumed, directory, network, records, resources };
  if (resumed && shared === undefined && seen.count === 0) warnOfEmptyFilter(order.seen, records.statistics);
  const archive = await openArchive(order, config, userAgent, directory, resources);
  network.side = archive.files && new SideCaptures(archive.files);
  const loader = await openBrowser(options, userAgent, resources);
  const steps = chainSteps(order);
  const loaded = await loadProcessors(steps, directory, resources);
  const enumerations = enumerationsOf(nodes, scopeRules(order, nodes));
  const limits: LateParts = {};
  const control = await openControl(opening);
  const frontier = await openAnyFrontier(opening, seen, enumerations, limits, control);
  const scoped = await openScope(opening, frontier, limits);
  const { roots, scope, added } = scoped;
  const processes = shared && new SharedFigures(store, shared.owner);
  const source = (): FiguresSource => ({
    snapshot: () => controller.snapshot(),
    partitions: frontier instanceof PartitionedFrontier ? frontier.partitions : 0,
    processes: frontier instanceof PartitionedFrontier ? frontier.processes : new Set(),
  });
  const actions = openActions({
    ...{
      store,
      order,
      nodes,
      state,
      directory,
      frontier,
      addresses: network.addresses,
      logins: network.logins,
      ...scoped,
    },
    onQueued: () => {
      // CRAWL-6.1: pauseAtFinish.
      if (controller.snapshot().state === 'empty') controller.resume();
    },
  });
  const checkpoints = await openCheckpoints({ ...opening, frontier });
  const parts: ProcessorParts = {
    ...{ store, frontier, scope, servers, forms: scoped.forms, fetcher: options.fetcher },
    limits: fetchLimits(config, options.rulesDigest, {
      timeoutMs: options.readTimeoutMs,
      forms: scoped.forms,
      loginFor: (url) => network.logins.of(url),
      cookies: scoped.cookies,
      keepWire: archive.files && keepWireFor(order.warc),
      openBody: archive.openBody,
      linksOfLarge: archive.files && ((uri) => linksOfLarge(uri, network.robotsAgent, archive.openBody)),
      mustBePublic: (uri) => scoped.reach.mustBePublic(uri),
    }),
    mapper: await openMapper(order, directory, network.preparer, resources),
    warc: archive.files && { ...order.warc, files: archive.files },
    browser: loader && {
      ...order.browser,
      loader,
      prepare: (candidate) => network.preparer.prepare(candidate),
      settingsFor: (uri) => network.settings.forUri(uri),
    },
    runtime: {
      elapsed: () => control?.elapsed ?? records.statistics.figures().elapsed,
      pause: () => controller.pause(),
      terminate: () => controller.stop('time limit'),
    },
  };
  const chains = assembleChains({
    ...{ steps, ordered, loaded, parts, seeds: seedsOf(nodes), extraProcessors: options.extraProcessors },
    owners: gathererProcessors(parts, {
      ...options,
      roots: nodes.roots,
      rootLimits: roots,
      repeatedSince: enumerations.all.length > 1 ? await state.begin(options.now()) : undefined,
      runInterval: await state.interval(),
      runDuration: await state.duration(),
      resumedSince: resumed ? await state.begin(options.now()) : undefined,
      robotsAgent: network.robotsAgent,
      minTimeToLive: scoped.minTimeToLive,
    }),
  });
  const controller: CrawlController = new CrawlController({
    ...controllerOptions(opening, roots),
    ...{ frontier, seen, chains },
    checkpoint: () => checkpoints.take(),
    lastCheckpoint: () => checkpoints.newest,
    ...(control === undefined ? {} : { onCommand: (order) => control.order(order) }),
    ...(processes === undefined ? {} : { ofAll: () => processes.all(source()) }),
  });
  control?.attach(controller);
  if (processes !== undefined) limits.renewFigures = () => processes.renew(source());
  if (records.logs !== undefined) followProgress(records.logs, controller, resources);
  // A shared crawl has none yet.
  scheduleCheckpoints(shared === undefined ? order.checkpointMinutes : 0, controller, resources);
  const reports = {
    statistics: records.statistics,
    get seeds() {
      return [...seedsOf(nodes), ...added];
    },
  };
  const console = await openConsole(options, controller, directory, resources);
  return new CrawlJob(options, controller, roots, console?.url, {
    ...{ reports, archive, actions, records },
    resources: resources.move(),
  });
}

/** The frontier of a run, or the part of a shared one that this process has. */
async function openAnyFrontier(
  opening: Opening,
  seen: SeenFilter,
  enumerations: Enumerations,
  late: LateParts,
  control: SharedControl | undefined,
): Promise<CrawlFrontier<GathererBatch>> {
  const { shared } = opening.options;
  return shared === undefined || control === undefined
    ? openFrontier(opening, seen, enumerations)
    : openSharedFrontier(opening, shared, enumerations, late, control);
}

async function openFrontier(
  { options, network, records, resources, resumed }: Opening,
  seen: SeenFilter,
  enumerations: Enumerations,
): Promise<Frontier> {
  const { store, order, ordered } = options;
  const { journal, events } = records;
  const frontier = await Frontier.open({
    ...(resumed ? { clock: await continuedClock(options.store) } : {}),
    store,
    seen,
    prepare: (uri) => network.preparer.prepare(uri),
    enumerations,
    // The queues of one host are not in order anyway, and no processor of a Gatherer's own chains needs the
    // former URI's results.
    overlapWrites: !ordered && order.settings.parallelQueues > 1,
    holdQueues: order.holdQueues,
    targetReadyBacklog: order.targetReadyBacklog,
    snoozeDeactivateMs: order.snoozeDeactivateMs,
    totalWait: () => network.bandwidth.wait(steadyTime()),
    onDeleted: (entry, batch) => events.put(deletedEvent(entry), batch),
    onAdded: journal && (({ uri }) => journal.write({ tag: 'F+', ...uri })),
    onEmitted: journal && (({ uri }) => journal.write({ tag: 'Fe', url: uri.url })),
  });
  resources.defer(() => frontier.close());
  return frontier;
}

/** Opens what decides which URIs belong to the run, and schedules the seeds of a new one. */
async function openScope(opening: Opening, frontier: CrawlFrontier<GathererBatch>, limits: LateParts) {
  const { options, nodes, state, resumed, directory, network, resources } = opening;
  const { store, order, config, ordered } = options;
  const { addresses } = network;
  const { shared } = options;
  const roots = await openRootLimits(options, nodes, addresses, resumed);
  if (shared !== undefined) await shareLimits(roots, store, resumed);
  limits.roots = roots;
  const hosts = roots.map(({ rules }) => new URL(rules.root.url).hostname).filter((host) => host !== '');
  await addresses.resolve(hosts);
  const configured = new Set(seedsOf(nodes).map((url) => new URL(url).hostname));
  const reach = new NetworkReach(
    (host) => addresses.addressesOf(host),
    (host) => configured.has(host),
  );
  const minTimeToLive = await MinTimeToLive.read(store.meta);
  const forms = ordered ? loginForms(order, config.crawlOrder ?? 'order') : [];
  // Before the seeds, which mark the run as begun: a run that was killed here begins anew.
  const cookies = ordered
    ? await openCrawlCookies({ store, order, directory, resumed }, resources)
    : undefined;
  if (!resumed) await scheduleSeeds(options, nodes, state, frontier, roots, minTimeToLive, reach);
  keepComponents({ ...opening, frontier });
  const seeds = resumed ? await state.addedSeeds() : [];
  for (const seed of seeds) network.logins.add(seed);
  const added = seeds.map(withoutUserInfo);
  const scope = new RootNodeScope(roots, addresses, scopeRules(order, nodes, added), reach);
  return { roots, reach, minTimeToLive, forms, cookies, added, scope };
}

const NO_TOTALS = { maxBytes: 0, maxDocuments: 0, maxSeconds: 0 } as const;

/** The options of the controller, from those of the run, the order and the records. */
function controllerOptions(
  { options, network, records }: Opening,
  roots: readonly RootLimits[],
): Omit<ControllerOptions, 'frontier' | 'seen' | 'chains'> {
  const { store, order, config, directory } = options;
  const { logs, journal, statistics, events } = records;
  const isShared = options.shared !== undefined;
  return {
    name: order.name === 'crawl' ? (config.gathererName ?? 'crawl') : order.name,
    store,
    directory,
    servers: network.servers,
    settingsFor: (uri) => network.settings.forUri(uri),
    statistics,
    bandwidth: network.bandwidth,
    workers: order.workers,
    // Those of a shared crawl count what all processes have done.
    limits: { ...order, ...(isShared ? NO_TOTALS : {}), endOnLowDisk: options.endOnLowDisk ?? false },
    pauseAtStart: order.pauseAtStart && !isShared,
    pauseAtFinish: order.pauseAtFinish,
    ...(!isShared
      ? { onFinish: ({ entry }, batch) => roots[entry.uri.root]?.store(entry.uri.root, batch) }
      : {}),
    record: (event, batch) => events.put(event, batch),
    onDocument: async (event) => {
      options.onDocument(redactEvent(event));
      journal?.finished(event);
      if (logs?.full === true) await logs.waitForRoom();
      if (journal?.file.full === true) await journal.file.waitForRoom();
    },
  };
}
