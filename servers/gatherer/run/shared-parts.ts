// The parts of a run that several processes share: its frontier, its state, the limits of its RootNodes.
import type { CloseStack } from '../../../protocols/close-stack.js';
import type { GathererStore } from '../../../storage/index.js';
import type { Candidate, Enumerations } from '../../crawler/frontier/contract.js';
import { PartitionedFrontier } from '../../crawler/frontier/partitioned-frontier.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import type { RootLimits } from '../scope/root-limits.js';
import { SharedAdmission } from '../scope/shared-admission.js';
import type { RunNetwork } from './network.js';
import type { RunNodes } from './run-state.js';
import { SharedControl } from './shared-control.js';
import type { SharedRun } from './shared-run.js';

/** A run that is being opened. */
interface SharedOpening {
  readonly options: {
    readonly store: GathererStore;
    readonly order: CrawlOrderConfig;
    readonly shared?: SharedRun | undefined;
  };
  readonly nodes: RunNodes;
  readonly network: Pick<RunNetwork, 'preparer' | 'bandwidth'>;
  readonly resumed: boolean;
  readonly resources: CloseStack;
}

/** What the frontier of a shared crawl needs and is opened after it. */
export interface LateParts {
  /** Undefined until URIs of others may be taken: they count against these limits. */
  roots?: readonly RootLimits[];
  /** Stores what this process does, for the consoles of the others. */
  renewFigures?: () => Promise<void>;
}

/** Opens the part of the frontier that this process has. */
export async function openSharedFrontier(
  { options, nodes, network, resources }: SharedOpening,
  shared: SharedRun,
  enumerations: Enumerations,
  late: LateParts,
  control: SharedControl,
): Promise<PartitionedFrontier> {
  const { store, order } = options;
  const { keeper, owner, partitions, clock } = shared;
  const frontier = await PartitionedFrontier.open({
    ...{ store, keeper, owner, partitions, clock, enumerations },
    balanceMs: balanceMsOf(shared),
    mayTake: () => late.roots !== undefined,
    onLook: () => control.look(),
    onBalance: async () => {
      await control.tick();
      await late.renewFigures?.();
    },
    prepare: (uri) => network.preparer.prepare(uri),
    holdQueues: order.holdQueues,
    targetReadyBacklog: order.targetReadyBacklog,
    snoozeDeactivateMs: order.snoozeDeactivateMs,
    restMs: longestDelay(order, nodes),
    totalWait: (now) => network.bandwidth.wait(now),
    admitFor: (candidate) => admitBy(late.roots?.[candidate.root], candidate),
  });
  resources.adopt(frontier, (opened) => opened.leave());
  return frontier;
}

/** From now on the limits of the RootNodes are those of all processes. */
export async function shareLimits(
  roots: readonly RootLimits[],
  store: GathererStore,
  resumed: boolean,
): Promise<void> {
  const admission = new SharedAdmission(store);
  for (const [root, limits] of roots.entries()) {
    limits.share(admission, root);
    // Another run may have left rows.
    if (!resumed) await store.changeMeta(async (meta) => limits.reset(meta));
  }
}

/** Milliseconds between two looks at what the processes have. */
function balanceMsOf({ leaseMs }: SharedRun): number {
  return leaseMs / 5;
}

/** The state of a shared crawl, which ends after its frontier. */
export async function openControl({
  options,
  resumed,
  resources,
}: SharedOpening): Promise<SharedControl | undefined> {
  const { shared, store, order } = options;
  if (shared === undefined) return undefined;
  const control = await SharedControl.open({
    ...{ store, limits: order, clock: shared.clock, tickMs: balanceMsOf(shared) },
    begin: resumed ? undefined : { paused: order.pauseAtStart },
  });
  return resources.use(control);
}

/** The longest pause between two requests to a server, milliseconds. */
function longestDelay({ settings }: CrawlOrderConfig, { roots }: RunNodes): number {
  const own = settings.delayFactor > 0 ? settings.maxDelayMs : settings.minDelayMs;
  return Math.max(own, ...roots.map(({ delay }) => Math.round(delay * 1000)));
}

/** What counts a URI that another process has found against the limits of its RootNode. */
function admitBy(
  limits: RootLimits | undefined,
  { url, depth, pathFromSeed }: Candidate,
): Candidate['admit'] | undefined {
  if (limits === undefined) return undefined;
  const parsed = new URL(url);
  const isSeed = pathFromSeed === '';
  const refusalNow = () =>
    isSeed ? undefined : (limits.refusal(parsed, depth, true) ?? limits.hostRefusal(parsed, depth));
  return async () => (await limits.admit(parsed, refusalNow, isSeed)) === undefined;
}
