import { withoutUserInfo } from '../../../protocols/urls/index.js';
import { type GathererBatch, NETWORK, type QueuedUri, type QueueEntry } from '../../../storage/index.js';
import { type Candidate, type Enumerations, type Prepared, type PreparedOf, seenIn } from './contract.js';
import type { FrontierWriter } from './frontier-writer.js';
import type { QueueLifeCycle } from './life-cycle.js';
import type { QueueMemory } from './queue-memory.js';
import type { SeenUris } from './seen-uris.js';
import type { WorkQueue } from './work-queue.js';

/** URLs of each of the two generations. */
const GENERATION_URLS = 65_536;

/**
 * An approximate LRU set of two generations, as hashlru has them: a look-up moves a URL to the young
 * generation, and a full young generation replaces the old one. It answers 7 million look-ups a second where
 * lru-cache, which keeps an exact order, answers 3.5 million; every link of every page is looked up.
 */
export class UrlCache {
  #young = new Set<string>();
  #old = new Set<string>();

  has(url: string): boolean {
    if (this.#young.has(url)) return true;
    if (!this.#old.has(url)) return false;
    this.add(url);
    return true;
  }

  add(url: string): void {
    if (this.#young.size >= GENERATION_URLS) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(url);
  }

  delete(url: string): void {
    this.#young.delete(url);
    this.#old.delete(url);
  }
}

/** Up to five redirects in a row, so that two URIs that redirect to each other are not fetched forever. */
const FEW_REDIRECTS = /(?<!R)R{1,5}$/;

/** CRAWL-5.1.1: larger URI precedences are clipped. */
const MAX_URI_PRECEDENCE = 127;

export interface IntakeOptions {
  readonly memory: QueueMemory;
  readonly cycle: QueueLifeCycle;
  readonly writer: FrontierWriter;
  readonly seen: SeenUris;
  readonly knownUrls: UrlCache;
  readonly prepare: (uri: PreparedOf) => Prepared;
  readonly enumerations: Enumerations;
  /** CRAWL-17.1.1 `F+`. */
  readonly onAdded: (entry: QueueEntry) => void;
}

/** Queues the candidates that are new (CRAWL-5.6.1). */
export class CandidateIntake {
  readonly #options: IntakeOptions;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Adds the new candidates to the batch and to their queues. The caller holds the frontier's mutex. */
  async enqueueNew(found: readonly Candidate[], batch: GathererBatch): Promise<QueueEntry[]> {
    if (found.length === 0) return [];
    const candidates = found.map(withoutLogin);
    const prepared = candidates.map((candidate) => this.#options.prepare(candidate));
    const enumerations = candidates.map(({ root }) => this.#options.enumerations.of(root));
    const seenKeys = prepared.map(({ seenKey }, i) => seenIn(enumerations[i]!, seenKey));
    const isNew = await this.#options.seen.add(seenKeys);
    const isWanted = candidates.map(
      (candidate, i) => isNew[i] === 1 || candidate.forceFetch || this.#isOwnTarget(candidate, prepared[i]!),
    );
    const admitted = await Promise.all(
      candidates.map((candidate, i) => isWanted[i]! && (candidate.admit?.() ?? true)),
    );
    const refused: string[] = [];
    const taken: { readonly candidate: Candidate; readonly prepared: Prepared }[] = [];
    candidates.forEach((candidate, i) => {
      const seenUrl = seenIn(enumerations[i]!, candidate.url);
      if (!isWanted[i]!) this.#options.knownUrls.add(seenUrl);
      else if (!admitted[i]!) {
        if (isNew[i] === 1) refused.push(seenKeys[i]!);
      } else {
        this.#options.knownUrls.add(seenUrl);
        if (candidate.fetched === true) return;
        taken.push({ candidate, prepared: prepared[i]! });
      }
    });
    // A refused URI does not count as seen: another RootNode may admit it.
    await this.#options.seen.remove(refused);
    const queues = await this.#options.memory.load([
      ...new Set(taken.map(({ prepared: { classKey } }) => classKey)),
    ]);
    this.#options.writer.after(batch, this.#options.seen.addChangesTo(batch));
    const entries = taken.map(({ candidate, prepared: uri }) => this.#enqueue(candidate, uri, batch));
    for (const queue of queues) this.#options.cycle.hold(queue, batch);
    return entries;
  }

  /** Makes entries that are on disk available in their queues. */
  markAvailable(entries: readonly QueueEntry[]): void {
    const limit = this.#options.memory.windowSize;
    for (const entry of entries) {
      const queue = this.#options.memory.queues.get(entry.classKey);
      // The queue was removed from memory meanwhile; its entries are read from disk later.
      if (queue === undefined) continue;
      queue.window.added(entry, limit);
      if (queue.state === 'ready' && !queue.listed) this.#options.cycle.makeReady(queue);
    }
  }

  queuesOf(entries: readonly QueueEntry[]): WorkQueue[] {
    return entries.map(({ classKey }) => this.#options.memory.queues.get(classKey)!);
  }

  /**
   * CRAWL-2.7: whether the URI is the target of a redirect and counts as the same as the URI that redirects, as
   * `site.test/x` and `www.site.test/x` may: then its document has not been fetched.
   */
  #isOwnTarget({ url, via, pathFromSeed }: Candidate, { seenKey }: Prepared): boolean {
    if (!FEW_REDIRECTS.test(pathFromSeed) || url === via) return false;
    return this.#options.prepare({ url: via, via: '', pathFromSeed: '' }).seenKey === seenKey;
  }

  #enqueue(candidate: Candidate, prepared: Prepared, batch: GathererBatch): QueueEntry {
    const entry = this.#entryOf(candidate, prepared);
    batch.enqueue(entry);
    const queue = this.#options.memory.queues.get(prepared.classKey)!;
    queue.count++;
    queue.enqueued++;
    queue.lastQueued = candidate.url;
    this.#options.onAdded(entry);
    queue.setBudgets(prepared.budgets, entry);
    // CRAWL-5.4: enqueuing into a retired queue does not raise the queued count.
    if (queue.state !== 'retired') this.#options.cycle.queued++;
    return entry;
  }

  #entryOf(candidate: Candidate, { classKey, directive, cost, precedence }: Prepared): QueueEntry {
    const {
      url,
      via,
      pathFromSeed,
      root,
      depth,
      forceFetch,
      isLeaf,
      sourceTag,
      network = NETWORK.unknown,
    } = candidate;
    const uri: QueuedUri = {
      url,
      via,
      pathFromSeed,
      root,
      depth,
      attempts: 0,
      forceFetch,
      isLeaf,
      cost,
      sourceTag,
      network,
    };
    const ordinal = this.#options.writer.counters.nextOrdinal++;
    return { classKey, directive, precedence: Math.min(precedence, MAX_URI_PRECEDENCE), ordinal, uri };
  }
}

/** G-81: the URL without a login is the identity of a document; logins are of the configuration. */
function withoutLogin(candidate: Candidate): Candidate {
  const { url, via } = candidate;
  if (!url.includes('@') && !via.includes('@')) return candidate;
  return { ...candidate, url: withoutUserInfo(url), via: withoutUserInfo(via) };
}
