// Counts the objects of a result by type, host and Gatherer.

import { LRUCache } from 'lru-cache';
import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import { formatQuery, type Query } from '../../../protocols/broker/index.js';
import type { Clock } from '../../../protocols/clock.js';
import { PeerError } from '../../../protocols/errors.js';
import type { RegistryEntry } from '../../../storage/index.js';
import { hostOfUrl, NameCounter } from '../admin/name-counter.js';
import type { BrokerParts } from '../admin/parts.js';
import type { QueryForm } from './form.js';
import { NARROW_KINDS, type NarrowKind } from './narrow.js';
import type { PageTurns } from './visitor.js';

/** Objects of each host that a folded list has. */
export const LISTED_OF_HOST = 2;

/** One value of a facet. */
interface FacetValue {
  /** Empty for objects without the property. */
  readonly value: string;
  readonly objects: number;
}

/** The objects of a result by one property. */
export interface Facet {
  readonly kind: NarrowKind;
  /** The most frequent first. */
  readonly values: readonly FacetValue[];
  /** Number of further values. */
  readonly others: number;
}

/** The counts of a whole result. */
export interface FacetCounts {
  readonly objects: number;
  /** Number of those that have all words, of a query for most of them. */
  readonly withAll: number;
  /** False if counting stopped at a limit: every count is then a lower bound. */
  readonly complete: boolean;
  readonly facets: readonly Facet[];
  /** Number of objects of a list that has two of each host; undefined if there are too many hosts. */
  readonly foldedObjects?: number | undefined;
}

/** The flags of a query that change its result. */
export type Matching = Pick<QueryForm, 'ignoreCase' | 'matchWord' | 'errors'> &
  Partial<Pick<QueryForm, 'contentOnly' | 'ignoreAccents' | 'mostWords'>>;

/** Limits of {@link FacetCounter}. */
export interface FacetLimits {
  /** Objects of one result counted, default 50 000. */
  readonly maxFacetObjects?: number;
  /** Concurrent counts, default 4; further pages have no facets. */
  readonly maxFacetCounts?: number;
  /** Values listed of each facet, default 8. */
  readonly facetValues?: number;
  /** The clock of the limit of time. Default: that of this process. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

/** Time that one count may take; a page waits no longer. */
const COUNT_MS = 1500;

/** Counts cached until the store changes. */
const KEPT_COUNTS = 64;

/** Entries that are read from the store together, half a millisecond of work: then other clients have their turn. */
const BATCH = 64;
const BATCH_COST_MS = 0.5;

/** Different values counted of each property; it limits the memory of a count. */
const MAX_NAMES = 20_000;

/**
 * Counts types, hosts and Gatherers over all objects that a query finds, not only the listed ones. Caches the
 * counts.
 */
export class FacetCounter {
  readonly #parts: Pick<BrokerParts, 'store' | 'indexer'>;
  readonly #limits: FacetLimits;
  readonly #cache = new LRUCache<string, FacetCounts>({ max: KEPT_COUNTS });
  #running = 0;

  constructor(parts: Pick<BrokerParts, 'store' | 'indexer'>, limits: FacetLimits = {}) {
    this.#parts = parts;
    this.#limits = limits;
  }

  /** Returns undefined if too many counts are running, or the engine cannot answer the query (BRK-2.19). */
  async count(
    query: Query,
    matching: Matching,
    signal: AbortSignal,
    client?: string,
    turns?: Pick<PageTurns, 'take'>,
  ): Promise<FacetCounts | undefined> {
    const { ignoreCase, matchWord, errors, contentOnly, ignoreAccents, mostWords } = matching;
    const { store } = this.#parts;
    const flags = { ignoreCase, matchWord, errors, contentOnly, ignoreAccents, mostWords };
    const key = [store.lastSequence, JSON.stringify(flags), formatQuery(query)].join(' ');
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    if (this.#running >= (this.#limits.maxFacetCounts ?? 4)) return undefined;
    this.#running += 1;
    try {
      const counts = await this.#count(query, { ...flags, client }, signal, turns);
      // A count that stopped at a limit is not cached, because it may be complete the next time.
      if (counts.complete) this.#cache.set(key, counts);
      return counts;
    } catch (error) {
      if (error instanceof PeerError) return undefined;
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  async #count(
    query: Query,
    { client, ...matching }: Matching & { readonly client: string | undefined },
    signal: AbortSignal,
    turns: Pick<PageTurns, 'take'> | undefined,
  ): Promise<FacetCounts> {
    const { maxFacetObjects = 50_000, facetValues = 8, clock = monotonicClock } = this.#limits;
    const { store, indexer } = this.#parts;
    const counters = {
      type: new NameCounter(MAX_NAMES),
      host: new NameCounter(MAX_NAMES),
      gatherer: new NameCounter(MAX_NAMES),
    };
    const deadline = clock.now() + COUNT_MS;
    let objects = 0;
    let withAll = 0;
    let complete = true;
    const add = (entries: readonly (RegistryEntry | undefined)[]) => {
      for (const entry of entries) {
        if (entry === undefined) continue;
        objects += 1;
        counters.type.add(entry.type);
        counters.host.add(hostOfUrl(entry.url));
        counters.gatherer.add(entry.gathererName);
      }
      signal.throwIfAborted();
      return objects < maxFacetObjects && clock.now() < deadline;
    };

    if (query.kind === 'all') {
      for await (const entries of store.all({ signal, pageRows: BATCH })) {
        await turns?.take(BATCH_COST_MS);
        if (!add(entries)) break;
      }
      complete = objects >= store.count;
    } else {
      const hits = indexer.query(query, {
        ...matching,
        wantLines: false,
        ordered: false,
        maxFiles: maxFacetObjects,
        lifetimeMs: COUNT_MS,
        signal,
        client,
      });
      let batch: number[] = [];
      for await (const { oid, lacks } of hits) {
        if (lacks === undefined) withAll += 1;
        batch.push(oid);
        if (batch.length < BATCH) continue;
        await turns?.take(BATCH_COST_MS);
        if (!add(await store.entries.getMany(batch))) complete = false;
        batch = [];
        if (!complete) break;
      }
      if (complete) {
        add(await store.entries.getMany(batch));
        complete = (await hits.outcome).complete;
      }
    }
    const facets: Facet[] = [];
    for (const kind of NARROW_KINDS) {
      await turns?.take(BATCH_COST_MS);
      const { rows, others } = counters[kind].top(facetValues);
      facets.push({ kind, values: rows.map(({ name, objects }) => ({ value: name, objects })), others });
    }
    return { objects, withAll, complete, facets, foldedObjects: counters.host.countedUpTo(LISTED_OF_HOST) };
  }
}
