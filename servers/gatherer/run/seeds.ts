// The RootNodes and LeafNodes of a run as seeds of the crawl engine.
import type { GathererConfig } from '../../../protocols/config/index.js';
import { ConfigError, throwConfigErrors } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { type GathererBatch, type GathererStore, NETWORK } from '../../../storage/index.js';
import { decideSequence } from '../../crawler/decide/build-rules.js';
import type { DecideSequence } from '../../crawler/decide/decision.js';
import {
  type Candidate,
  type CrawlFrontier,
  DIRECTIVE,
  type Enumerations,
  ONE_ENUMERATION,
} from '../../crawler/frontier/contract.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import type { HostAddresses } from '../../crawler/servers/host-addresses.js';
import { FilterFiles, NO_FILTER } from '../configuration/filters.js';
import type { NetworkReach } from '../scope/reach.js';
import { RootLimits, readProgress } from '../scope/root-limits.js';
import type { MinTimeToLive } from './min-time-to-live.js';
import { type RunNodes, type RunState, startUrlsOf } from './run-state.js';

/** What determines the seeds of a run. */
interface SeedOptions {
  readonly store: GathererStore;
  readonly config: GathererConfig;
  readonly order: CrawlOrderConfig;
  readonly now: () => UnixSeconds;
}

/**
 * Reads the filters of the RootNodes and, for a resumed run, their counters.
 * @throws ConfigError naming every filter that is wrong
 */
export async function openRootLimits(
  { config, store, order }: Pick<SeedOptions, 'config' | 'store' | 'order'>,
  { roots }: RunNodes,
  addresses: HostAddresses,
  resumed: boolean,
): Promise<RootLimits[]> {
  // CRAWL-22.6: an archive has files of every type; only a filter that the configuration names leaves some out.
  const files = new FilterFiles(config, order.profile === 'archive' ? NO_FILTER : undefined);
  const errors: ConfigError[] = [];
  const read = await Promise.all(
    roots.map((root) =>
      files.rulesOf(root).catch((error: unknown) => {
        if (!(error instanceof ConfigError)) throw error;
        errors.push(error);
        return { root, urlFilter: undefined, hostFilter: undefined };
      }),
    ),
  );
  throwConfigErrors(errors);
  return Promise.all(
    read.map(async (rules, index) => {
      return new RootLimits(rules, addresses, resumed ? await readProgress(store.meta, index) : undefined);
    }),
  );
}

/**
 * G-69: schedules the RootNodes in the order of the file, then the LeafNodes, and marks the run as begun, in
 * one batch.
 */
export async function scheduleSeeds(
  { store, order, config, now }: SeedOptions,
  nodes: RunNodes,
  state: RunState,
  frontier: CrawlFrontier<GathererBatch>,
  roots: readonly RootLimits[],
  minTimeToLive: MinTimeToLive,
  reach?: NetworkReach,
): Promise<void> {
  const batch = store.batch();
  const common = { via: '', pathFromSeed: '', depth: 0, forceFetch: false, directive: DIRECTIVE.medium };
  const tag = (url: string): string => (order.sourceTagSeeds ? url : '');
  const network = (url: string): number => reach?.ofSeed(url) ?? NETWORK.unknown;
  const candidates: Candidate[] = [];
  roots.forEach((limits, root) => {
    for (const url of startUrlsOf(limits.rules.root)) {
      const admit = (): boolean => {
        limits.countUrl(new URL(url), true);
        return true;
      };
      candidates.push({
        ...common,
        url,
        root,
        isLeaf: false,
        sourceTag: tag(url),
        network: network(url),
        admit,
      });
    }
  });
  for (const { url } of nodes.leaves)
    candidates.push({
      ...common,
      url,
      root: roots.length,
      isLeaf: true,
      sourceTag: tag(url),
      network: network(url),
    });
  minTimeToLive.record(config.timeToLive, batch);
  await state.markBegun(nodes, now(), batch);
  await frontier.schedule(candidates, batch, () => {
    for (const [root, limits] of roots.entries()) limits.store(root, batch);
  });
}

/**
 * The rules of the order's scope, for the run's seeds and those that were added later; undefined if the order
 * has none.
 */
export function scopeRules(
  { scope }: CrawlOrderConfig,
  nodes: RunNodes,
  added: readonly string[] = [],
): DecideSequence | undefined {
  return scope.length === 0 ? undefined : decideSequence(scope, { seeds: [...seedsOf(nodes), ...added] });
}

/**
 * G-27 to G-38: each RootNode enumerates by its own limits. A page that one of them has reached is known
 * to that one only: a page beyond the Depth of one, or a LeafNode, may lead another to its documents. The rules
 * of an order apply to all of them at once.
 */
export function enumerationsOf({ roots, leaves }: RunNodes, rules: DecideSequence | undefined): Enumerations {
  const count = roots.length + (leaves.length === 0 ? 0 : 1);
  if (rules !== undefined || count < 2) return ONE_ENUMERATION;
  // The first one has the plain keys, which a run with a single RootNode has, too.
  const nameOf = (root: number): string => (root === 0 ? '' : String(root));
  return { of: nameOf, all: Array.from({ length: count }, (_, root) => nameOf(root)) };
}

/** Returns the URLs of the RootNodes and LeafNodes. */
export function seedsOf({ roots, leaves }: RunNodes): string[] {
  return [...roots, ...leaves].map(({ url }) => url);
}
