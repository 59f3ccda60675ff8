import { z } from 'zod';
import type { GathererConfig, LeafNode, RootNode } from '../../../protocols/config/index.js';
import { ConfigError } from '../../../protocols/errors.js';
import { MONTH, type UnixSeconds } from '../../../protocols/time.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { GathererBatch, GathererStore } from '../../../storage/index.js';
import { digest } from '../configuration/rules-digest.js';
import { configuredUrls, UrlLogins } from '../configuration/url-logins.js';
import { isListed } from '../enumerate/listed.js';
import {
  type EnumerationOptions,
  enumerationSettings,
  expandLeafNodes,
  expandRootNodes,
} from '../enumerate/programs.js';
import { sitemapUrls } from '../enumerate/sitemaps.js';

/**
 * The nodes of a run: the configuration's lists with their programs and generators expanded (G-50 to G-54), their
 * URLs without logins ({@link UrlLogins}).
 */
export interface RunNodes {
  readonly roots: readonly RootNode[];
  readonly leaves: readonly LeafNode[];
}

/** Runs the programs in the configuration's nodes; returns the expanded nodes. */
export async function expandNodes(
  config: GathererConfig,
  options: Pick<EnumerationOptions, 'file' | 'onProblem' | 'signal'>,
): Promise<RunNodes> {
  const enumeration = { ...options, programs: enumerationSettings(config, process.env) };
  const roots: RootNode[] = [];
  const leaves: LeafNode[] = [];
  const logins = new UrlLogins(configuredUrls(config));
  let planted = 0;
  const plain = <N extends LeafNode>(node: N): N => {
    if (logins.isForeign(node.url)) planted++;
    return withoutLogin(node);
  };
  for await (const root of expandRootNodes(config.rootNodes, enumeration)) roots.push(plain(root));
  for await (const leaf of expandLeafNodes(config.leafNodes, enumeration)) leaves.push(plain(leaf));
  if (planted > 0) options.onProblem?.(new ConfigError(options.file, 0, '', plantedProblem(planted)));
  return { roots, leaves };
}

function withoutLogin<N extends LeafNode>(node: N): N {
  return { ...node, url: withoutUserInfo(node.url) };
}

function plantedProblem(count: number): string {
  const urls =
    count === 1 ? 'one URL that a program printed has' : `${count} URLs that programs printed have`;
  return `${urls} a login that the configuration does not name for it, which is not used: name the server with HTTP-Basic-Auth or FTP-Auth (G-81)`;
}

/** Returns the first URLs of a RootNode (G-172): its own, or those of its site's sitemaps. */
export function startUrlsOf(root: RootNode): readonly string[] {
  return isListed(root) ? sitemapUrls(root.url) : [root.url];
}

const storedNodes = z.object({
  roots: z.array(z.custom<RootNode>((value) => typeof value === 'object')),
  leaves: z.array(z.custom<LeafNode>((value) => typeof value === 'object')),
});

/** Number of rows of seeds that were added. */
const ADDED_SEEDS = 'run.seeds';

/** When the run began, in seconds since 1970. */
const BEGIN = 'run.begin';

/** Seconds between the runs. */
const INTERVAL = 'run.interval';

/** Seconds that the last finished run took. */
const DURATION = 'run.duration';

/** The state of the current run in the store, so that an interrupted one can be continued (G-171). */
export class RunState {
  readonly #store: GathererStore;
  readonly #configDigest: string;

  constructor(store: GathererStore, config: GathererConfig) {
    this.#store = store;
    // A run continues with other delays on this machine.
    const rootNodes = config.rootNodes.map(({ noLoopbackDelay: _, ...root }) => root);
    this.#configDigest = digest([JSON.stringify(rootNodes), JSON.stringify(config.leafNodes)]);
  }

  /** Returns the nodes of an interrupted run with the same lists; its programs are not run again. */
  async interrupted(): Promise<RunNodes | undefined> {
    const { meta } = this.#store;
    if ((await meta.get('run.state')) !== 'running' || (await meta.get('run.job')) !== this.#configDigest)
      return undefined;
    const nodes = await meta.get('run.nodes');
    if (typeof nodes !== 'string') return undefined;
    // Earlier versions stored the logins.
    const { roots, leaves } = storedNodes.parse(JSON.parse(nodes));
    return { roots: roots.map(withoutLogin), leaves: leaves.map(withoutLogin) };
  }

  /** Marks the run as begun, in the batch that schedules its seeds. */
  async markBegun(nodes: RunNodes, now: UnixSeconds, batch: GathererBatch): Promise<void> {
    const { meta } = this.#store;
    const [last, interval] = [await meta.get(BEGIN), await meta.get(INTERVAL)];
    // The first run has no predecessor, and a clock that was set back says nothing.
    if (last !== undefined && now > Number(last))
      batch.putMeta(INTERVAL, nextInterval(Number(interval ?? 0), now - Number(last)));
    batch
      .putMeta(BEGIN, now)
      .putMeta('run.state', 'running')
      .putMeta('run.job', this.#configDigest)
      .putMeta('run.nodes', JSON.stringify(nodes))
      .putMeta(ADDED_SEEDS, 0);
  }

  /** When the current run began; `now` if that is not known. */
  async begin(now: UnixSeconds): Promise<UnixSeconds> {
    return Number((await this.#store.meta.get(BEGIN)) ?? now);
  }

  /** Seconds after which the next run is expected; undefined in the first run. */
  async interval(): Promise<number | undefined> {
    const seconds = await this.#store.meta.get(INTERVAL);
    return seconds === undefined ? undefined : Number(seconds);
  }

  /** Seconds that the last finished run took; 0 before the first. */
  async duration(): Promise<number> {
    return Number((await this.#store.meta.get(DURATION)) ?? 0);
  }

  /** The seeds that were added while the run went on, with their logins. */
  async addedSeeds(): Promise<string[]> {
    const { meta } = this.#store;
    const rows = Number((await meta.get(ADDED_SEEDS)) ?? 0);
    const seeds: string[] = [];
    for (let row = 1; row <= rows; row++)
      seeds.push(
        ...z.array(z.string()).parse(JSON.parse(String((await meta.get(`${ADDED_SEEDS}.${row}`)) ?? '[]'))),
      );
    return seeds;
  }

  /** Stores more of them, in the batch that schedules them. */
  async addSeeds(seeds: readonly string[], batch: GathererBatch): Promise<void> {
    const row = Number((await this.#store.meta.get(ADDED_SEEDS)) ?? 0) + 1;
    batch.putMeta(`${ADDED_SEEDS}.${row}`, JSON.stringify(seeds)).putMeta(ADDED_SEEDS, row);
  }

  /** Marks the run as finished. */
  async markDone(now: UnixSeconds): Promise<void> {
    const duration = Math.min(MONTH, Math.max(0, now - (await this.begin(now))));
    const batch = this.#store.batch().putMeta('run.state', 'done').putMeta(DURATION, duration);
    await batch.deleteMeta('run.nodes').deleteMeta('run.partitions').commit({ sync: true });
  }
}

/**
 * The longest interval between two runs counts, so that a second run on the same day does not make the next
 * one expected soon. It is forgotten by halves in a month when the job runs more often than before.
 */
function nextInterval(known: number, last: number): number {
  return Math.round(Math.max(Math.min(last, MONTH), known * 2 ** (-last / MONTH)));
}
