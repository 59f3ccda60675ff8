import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { GathererConfig, LeafNode, RootNode } from '../../protocols/config/index.js';
import type { DocumentRecord, GathererBatch, GathererStore } from '../../storage/index.js';
import {
  type EnumerationOptions,
  enumerationSettings,
  expandLeafNodes,
  expandRootNodes,
  isListed,
  sitemapUrls,
} from './enumerate/index.js';

/** The nodes of a run: the configuration's lists with their programs and generators expanded (G-50 to G-54). */
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
  for await (const root of expandRootNodes(config.rootNodes, enumeration)) roots.push(root);
  for await (const leaf of expandLeafNodes(config.leafNodes, enumeration)) leaves.push(leaf);
  return { roots, leaves };
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

/** The state of the current run in the store, so that an interrupted one can be continued (G-171). */
export class RunState {
  readonly #configDigest: string;

  constructor(
    private readonly store: GathererStore,
    config: GathererConfig,
  ) {
    this.#configDigest = digest([JSON.stringify(config.rootNodes), JSON.stringify(config.leafNodes)]);
  }

  /** Returns the nodes of an interrupted run with the same lists; its programs are not run again. */
  async interrupted(): Promise<RunNodes | undefined> {
    const { meta } = this.store;
    if ((await meta.get('run.state')) !== 'running' || (await meta.get('run.job')) !== this.#configDigest)
      return undefined;
    const nodes = await meta.get('run.nodes');
    return typeof nodes === 'string' ? storedNodes.parse(JSON.parse(nodes)) : undefined;
  }

  /** Marks the run as begun, in the batch that schedules its seeds. */
  markBegun(nodes: RunNodes, batch: GathererBatch): void {
    batch
      .putMeta('run.state', 'running')
      .putMeta('run.job', this.#configDigest)
      .putMeta('run.nodes', JSON.stringify(nodes))
      .putMeta(ADDED_SEEDS, 0);
  }

  /** The seeds that were added while the run went on. */
  async addedSeeds(): Promise<string[]> {
    const { meta } = this.store;
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
    const row = Number((await this.store.meta.get(ADDED_SEEDS)) ?? 0) + 1;
    batch.putMeta(`${ADDED_SEEDS}.${row}`, JSON.stringify(seeds)).putMeta(ADDED_SEEDS, row);
  }

  /** Marks the run as finished. */
  async markDone(): Promise<void> {
    await this.store.batch().putMeta('run.state', 'done').deleteMeta('run.nodes').commit({ sync: true });
  }
}

/** Computes the digest of everything other than the document that affects its objects (G-110). */
export type RulesDigest = (document: Pick<DocumentRecord, 'url' | 'objects'>) => string;

/** The digest of a document with annotations (G-141): that of the rules, and that of the annotations, which need no new summary. */
export function annotatedDigest(rules: string, annotations: readonly string[]): string {
  return annotations.length === 0 ? rules : `${rules}+${digest(annotations)}`;
}

/** Whether a stored digest is that of an annotated document. */
export function isAnnotated(stored: string): boolean {
  return stored.includes('+');
}

/** Whether two digests differ in the annotations at most. */
export function hasSameRules(stored: string, current: string): boolean {
  return stored.split('+', 1)[0] === current.split('+', 1)[0];
}

/** Returns a digest of texts, 32 hexadecimal characters. */
export function digest(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest('hex').slice(0, 32);
}
