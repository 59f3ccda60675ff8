import { formatQuery, type Query } from '../../../protocols/broker/index.js';
import { PeerError } from '../../../protocols/errors.js';
import type { RegistryEntry } from '../../../storage/index.js';
import type { Broker } from '../broker.js';
import { hostOfUrl, type NarrowKind } from './narrow.js';

/** One value of a facet. */
export interface FacetValue {
  /** Empty: the objects do not say. */
  readonly value: string;
  readonly objects: number;
}

/** How the objects of a result divide by one property. */
export interface Facet {
  readonly kind: NarrowKind;
  /** The most frequent first. */
  readonly values: readonly FacetValue[];
  /** Different values beyond those. */
  readonly others: number;
}

/** The counts of a whole result. */
export interface FacetCounts {
  readonly objects: number;
  /** False: counting stopped at a limit, so every count is "at least". */
  readonly complete: boolean;
  readonly facets: readonly Facet[];
}

/** How a query matches, as far as it changes what is found. */
export interface Matching {
  readonly ignoreCase: boolean;
  readonly matchWord: boolean;
  readonly errors: number;
}

/** Limits of {@link FacetCounter}. */
export interface FacetLimits {
  /** Objects of one result counted, default 50 000. */
  readonly maxFacetObjects?: number;
  /** Milliseconds one count may take, default 1500; a page waits no longer for it. */
  readonly facetMs?: number;
  /** Counts at one time, default 4; a page beyond that has no facets. */
  readonly maxFacetCounts?: number;
  /** Counts remembered until the store changes, default 64. */
  readonly keptFacets?: number;
  /** Values listed of each facet, default 8. */
  readonly facetValues?: number;
}

/** Entries read from the store in one trip. */
const BATCH = 500;

/** Different values counted of each property: the memory one count may take. */
const MAX_NAMES = 20_000;

/** Counts types, hosts and Gatherers over all objects that a query finds, not only those listed. */
export class FacetCounter {
  readonly #kept = new Map<string, FacetCounts>();
  #running = 0;

  constructor(
    readonly broker: Pick<Broker, 'store' | 'indexer'>,
    readonly limits: FacetLimits = {},
  ) {}

  /** The counts; undefined when too many are being made, or the engine cannot answer the query (BRK-2.19). */
  async count(query: Query, matching: Matching, signal: AbortSignal): Promise<FacetCounts | undefined> {
    const { ignoreCase, matchWord, errors } = matching;
    const { store } = this.broker;
    const key = [store.lastSequence, ignoreCase, matchWord, errors, formatQuery(query)].join(' ');
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    if (this.#running >= (this.limits.maxFacetCounts ?? 4)) return undefined;
    this.#running += 1;
    try {
      const counts = await this.#count(query, matching, signal);
      // A count that was cut by the clock may be longer another time.
      if (counts.complete) this.#keep(key, counts);
      return counts;
    } catch (error) {
      if (error instanceof PeerError) return undefined;
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  #keep(key: string, counts: FacetCounts): void {
    this.#kept.set(key, counts);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= (this.limits.keptFacets ?? 64)) return;
      this.#kept.delete(oldest);
    }
  }

  async #count(query: Query, matching: Matching, signal: AbortSignal): Promise<FacetCounts> {
    const { maxFacetObjects = 50_000, facetMs = 1500, facetValues = 8 } = this.limits;
    const { store, indexer } = this.broker;
    const counters = { type: new Counter(), host: new Counter(), gatherer: new Counter() };
    const deadline = performance.now() + facetMs;
    let objects = 0;
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
      return objects < maxFacetObjects && performance.now() < deadline;
    };

    if (query.kind === 'all') {
      for await (const entries of store.all({ signal })) {
        if (!add(entries)) break;
      }
      complete = objects >= store.count;
    } else {
      const hits = indexer.query(query, {
        ...matching,
        wantLines: false,
        maxFiles: maxFacetObjects,
        lifetimeMs: facetMs,
        signal,
      });
      let batch: number[] = [];
      for await (const { oid } of hits) {
        batch.push(oid);
        if (batch.length < BATCH) continue;
        if (!add(await store.entries(batch))) complete = false;
        batch = [];
        if (!complete) break;
      }
      if (complete) {
        add(await store.entries(batch));
        complete = (await hits.outcome).complete;
      }
    }
    const facets = (['type', 'host', 'gatherer'] as const).map((kind) => ({
      kind,
      ...counters[kind].top(facetValues),
    }));
    return { objects, complete, facets };
  }
}

class Counter {
  readonly #counts = new Map<string, number>();

  add(value: string): void {
    const count = this.#counts.get(value);
    if (count !== undefined) this.#counts.set(value, count + 1);
    else if (this.#counts.size < MAX_NAMES) this.#counts.set(value, 1);
  }

  top(rows: number): { readonly values: readonly FacetValue[]; readonly others: number } {
    const all = [...this.#counts].map(([value, objects]) => ({ value, objects }));
    all.sort((a, b) => b.objects - a.objects || (a.value < b.value ? -1 : 1));
    return { values: all.slice(0, rows), others: Math.max(0, all.length - rows) };
  }
}
