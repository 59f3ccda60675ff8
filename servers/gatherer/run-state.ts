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

/** The nodes of a run, with what programs and generators have made of the configuration's lists (G-50 to G-54). */
export interface RunNodes {
  readonly roots: readonly RootNode[];
  readonly leaves: readonly LeafNode[];
}

/** The configuration's nodes, every program in them run. */
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

/** What a RootNode's enumeration begins with (G-172): itself, or where its site's sitemaps are. */
export function startsOf(root: RootNode): readonly string[] {
  return isListed(root) ? sitemapUrls(root.url) : [root.url];
}

const storedNodes = z.object({
  roots: z.array(z.custom<RootNode>((value) => typeof value === 'object')),
  leaves: z.array(z.custom<LeafNode>((value) => typeof value === 'object')),
});

/** What the store knows of the run that is under way, so that a killed one goes on (G-171). */
export class RunState {
  readonly #job: string;

  constructor(
    private readonly store: GathererStore,
    config: GathererConfig,
  ) {
    this.#job = digest([JSON.stringify(config.rootNodes), JSON.stringify(config.leafNodes)]);
  }

  /** The nodes of an interrupted run of just these lists. What its programs printed is not asked for again. */
  async interrupted(): Promise<RunNodes | undefined> {
    const { meta } = this.store;
    if ((await meta.get('run.state')) !== 'running' || (await meta.get('run.job')) !== this.#job)
      return undefined;
    const nodes = await meta.get('run.nodes');
    return typeof nodes === 'string' ? storedNodes.parse(JSON.parse(nodes)) : undefined;
  }

  begun(nodes: RunNodes, batch: GathererBatch): void {
    batch
      .putMeta('run.state', 'running')
      .putMeta('run.job', this.#job)
      .putMeta('run.nodes', JSON.stringify(nodes));
  }

  async done(): Promise<void> {
    await this.store.batch().putMeta('run.state', 'done').deleteMeta('run.nodes').commit({ sync: true });
  }
}

/** Digest of what the objects of a document depend on besides the document itself (G-110). */
export type RulesDigest = (document: Pick<DocumentRecord, 'url' | 'objects'>) => string;

export function digest(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest('hex').slice(0, 32);
}
