// The crawl as the action directory sees it (CRAWL-17.1.4).
import { isAbsolute, join } from 'node:path';
import { resolveUrl, withoutUserInfo } from '../../../protocols/urls/index.js';
import { type GathererBatch, type GathererStore, NETWORK } from '../../../storage/index.js';
import {
  type ActionCounts,
  ActionDirectory,
  type ActionSink,
  type ScheduleOptions,
} from '../../crawler/actions/action-directory.js';
import { parseSeeds } from '../../crawler/decide/seed-list.js';
import { announce } from '../../crawler/events.js';
import { type Candidate, type CrawlFrontier, DIRECTIVE } from '../../crawler/frontier/contract.js';
import type { JournalUri } from '../../crawler/journal/journal-line.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import type { HostAddresses } from '../../crawler/servers/host-addresses.js';
import type { UrlLogins } from '../configuration/url-logins.js';
import type { NetworkReach } from '../scope/reach.js';
import type { RootLimits } from '../scope/root-limits.js';
import type { RootNodeScope } from '../scope/root-node-scope.js';
import { JournalScope } from './journal-scope.js';
import type { RunNodes, RunState } from './run-state.js';
import { scopeRules } from './seeds.js';

/**
 * How far the current file with the ending `.force` was carried out: `FILE` and a line number, separated by a
 * line feed.
 */
const POSITION = 'run.action';
/** Time of the last flush, milliseconds since 1970. */
const SYNCED = 'run.action.synced';

export interface CrawlActionsOptions {
  readonly store: GathererStore;
  readonly order: CrawlOrderConfig;
  /** Directory of the crawl; a relative action directory is below it. */
  readonly directory: string;
  readonly nodes: RunNodes;
  readonly state: RunState;
  readonly frontier: CrawlFrontier<GathererBatch>;
  readonly roots: readonly RootLimits[];
  readonly addresses: HostAddresses;
  readonly scope: RootNodeScope;
  readonly logins: UrlLogins;
  readonly reach: NetworkReach;
  /** Seeds that were added earlier; more are appended. */
  readonly added: string[];
  /** Called when URIs are queued: a crawl that waits for more continues. */
  readonly onQueued: () => void;
}

/** Returns the action directory of the order; undefined if it has none. */
export function openActions(options: CrawlActionsOptions): ActionDirectory | undefined {
  const { directory, firstLookSeconds, lookSeconds } = options.order.actions;
  if (directory === '') return undefined;
  return new ActionDirectory({
    directory: isAbsolute(directory) ? directory : join(options.directory, directory),
    firstLookMs: firstLookSeconds * 1000,
    lookMs: lookSeconds * 1000,
    sink: new CrawlActions(options),
  });
}

class CrawlActions implements ActionSink {
  readonly #options: CrawlActionsOptions;
  readonly #scope: JournalScope;

  constructor(options: CrawlActionsOptions) {
    this.#options = options;

    const { nodes, roots, addresses, scope } = options;
    this.#scope = new JournalScope({ nodes, roots, addresses, rules: scope.rules });
  }

  begin(): (() => void) | undefined {
    return this.#options.frontier.announce();
  }

  async seeds(lines: readonly string[]): Promise<ActionCounts> {
    const { order, nodes, scope, state, store, added, logins } = this.#options;
    const list = parseSeeds(lines.join('\n'));
    for (const { line } of list.ignored) announce(`a seed is not a URI: ${line}`);
    const named = list.seeds.flatMap((seed) => resolveUrl(seed, undefined, order.settings.urlForm) ?? []);
    const urls = named.map(withoutUserInfo);
    const rules = scopeRules(order, nodes, [...added, ...urls]);
    scope.rules = rules;
    this.#scope.rules = rules;
    const uris = urls.map((url) => ({ url, pathFromSeed: '', via: '' }));
    await this.#scope.resolve(uris);
    const candidates: Candidate[] = [];
    for (const uri of uris) {
      const candidate = this.#scope.candidate(uri);
      if (candidate === undefined) announce(`the seed ${uri.url} is below no RootNode, or out of scope`);
      else candidates.push(this.#asSeed(candidate));
    }
    const accepted = new Set(candidates.map(({ url }) => url));
    const batch = store.batch();
    const acceptedAsNamed = named.filter((url) => accepted.has(withoutUserInfo(url)));
    if (accepted.size > 0) await state.addSeeds(acceptedAsNamed, batch);
    // G-81: an operator names them, so their logins are configuration.
    for (const url of acceptedAsNamed) logins.add(url);
    added.push(...accepted);
    return await this.#schedule(candidates, lines.length, batch);
  }

  note(urls: readonly string[]): Promise<void> {
    return this.#options.frontier.note(urls);
  }

  accepts(uri: JournalUri): Promise<boolean> {
    return this.#scope.accepts(uri);
  }

  async schedule(
    uris: readonly JournalUri[],
    { force, checkScope, position }: ScheduleOptions,
  ): Promise<ActionCounts> {
    await this.#scope.resolve(uris);
    const candidates = uris.flatMap((uri) => {
      const found = checkScope ? this.#scope.candidate(uri) : this.#scope.unchecked(uri);
      if (found === undefined) return [];
      // G-174: only a URI that an operator names alone counts as a seed; a line with a page is a link of that
      // page.
      const network = found.via === '' ? this.#options.reach.ofSeed(found.url) : NETWORK.unknown;
      return { ...found, forceFetch: force, network };
    });
    const batch = this.#options.store.batch();
    if (position !== undefined) batch.putMeta(POSITION, `${position.file}\n${position.line}`);
    return await this.#schedule(candidates, uris.length, batch);
  }

  async position(file: string): Promise<number | undefined> {
    const [name, line] = String((await this.#options.store.meta.get(POSITION)) ?? '').split('\n');
    return name === file ? Number(line) : undefined;
  }

  async sync(): Promise<void> {
    // A flushed batch flushes those before it.
    await this.#options.store.batch().putMeta(SYNCED, Date.now()).commit({ sync: true });
  }

  async clearPosition(): Promise<void> {
    await this.#options.store.batch().deleteMeta(POSITION).commit();
  }

  #asSeed(candidate: Candidate): Candidate {
    const { order, reach } = this.#options;
    return {
      ...candidate,
      directive: DIRECTIVE.medium,
      sourceTag: order.sourceTagSeeds ? candidate.url : '',
      network: reach.ofSeed(candidate.url),
    };
  }

  /** Queues the candidates with the counters of their RootNodes. */
  async #schedule(
    candidates: readonly Candidate[],
    wanted: number,
    batch: ReturnType<GathererStore['batch']>,
  ): Promise<ActionCounts> {
    const { frontier, roots } = this.#options;
    const accepted = await frontier.schedule(candidates, batch, () => {
      for (const [root, limits] of roots.entries()) limits.store(root, batch);
    });
    if (accepted > 0) this.#options.onQueued();
    return { accepted, refused: wanted - candidates.length };
  }
}
