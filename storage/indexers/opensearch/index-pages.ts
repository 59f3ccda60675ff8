// Reads the candidates of a query in pages, from one state of the index, also if nodes fail meanwhile.
import { z } from 'zod';
import { pauseFor } from '../../../protocols/clock.js';
import { StorageError } from '../../../protocols/errors.js';
import type { Candidate } from '../external/candidate-search.js';
import type { ClusterClient, ClusterRequest } from './client.js';
import { clusterFailure, isPassing, readRefusal, refusalError } from './failures.js';
import type { IndexQuery } from './index-query.js';

/** The query of a search. */
export interface PageQuery {
  /** Undefined: all objects. */
  readonly query: IndexQuery | undefined;
  /** What makes an object a better answer; without it the objects are in the order of their OIDs. */
  readonly ranking?: readonly IndexQuery[] | undefined;
}

/** Limits of a search. */
export interface PageLimits {
  /** Ends the reading, without an error. */
  readonly stop: AbortSignal;
  /** Milliseconds after which a search is not begun again. */
  readonly patienceMs: number;
  /** Objects of one page. */
  readonly pageObjects: number;
  /** Objects that are ordered; the others follow by their OIDs. */
  readonly maxRanked: number;
}

const pitSchema = z.object({ pit_id: z.string() });
const pageSchema = z.object({
  pit_id: z.string().optional(),
  hits: z.object({
    hits: z.array(z.object({ _id: z.string(), _score: z.number().nullish(), sort: z.array(z.unknown()) })),
  }),
});
type Page = z.output<typeof pageSchema>['hits']['hits'];

/** How long OpenSearch keeps a state of the index after the last request for it. */
const KEEP_ALIVE = '1m';
/** Milliseconds for closing it; then its time passes. */
const CLOSE_MS = 2_000;
/** Milliseconds before a search is begun again. */
const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 2_000;

/**
 * Yields the objects that match, the best first. If the state of the index is lost with a node, the search begins again
 * on another one: an object may then be named twice.
 *
 * @throws StorageError if the index is gone, or no node has it any more
 */
export async function* readPages(
  client: ClusterClient,
  alias: string,
  { query, ranking }: PageQuery,
  { pageObjects, maxRanked, stop, patienceMs }: PageLimits,
): AsyncGenerator<readonly Candidate[]> {
  const until = client.clock.now() + patienceMs;
  let delay = FIRST_DELAY_MS;
  /** What remains after a loss: a position in the order of OIDs is one in any state. */
  let ranked = ranking === undefined ? maxRanked : 0;
  let after: number | undefined;
  while (!stop.aborted) {
    try {
      await using state = await IndexView.open(client, alias, stop);
      if (ranking !== undefined && ranked === 0) {
        let position: readonly unknown[] | undefined;
        for (let seen = 0; seen < maxRanked; ) {
          const page = await state.page({
            query: { bool: { filter: query ?? { match_all: {} }, should: ranking, minimum_should_match: 0 } },
            sort: [{ _score: 'desc' }, { oid: 'asc' }],
            size: pageObjects,
            position,
          });
          if (page.length > 0) yield page.map(({ _id, _score }) => scored(_id, _score));
          if (page.length < pageObjects) return;
          seen += page.length;
          position = page.at(-1)?.sort;
          delay = FIRST_DELAY_MS;
        }
        ranked = maxRanked;
      }
      for (;;) {
        const page = await state.page({
          query: { bool: { filter: query ?? { match_all: {} } } },
          sort: [{ oid: 'asc' }],
          size: pageObjects,
          position: after === undefined ? undefined : [after],
        });
        if (page.length > 0) yield page.map(({ _id }) => ({ oid: Number(_id) }));
        if (page.length < pageObjects) return;
        after = Number(page.at(-1)?._id);
        delay = FIRST_DELAY_MS;
      }
    } catch (error) {
      if (stop.aborted) return;
      if (!isPassing(error) || client.clock.now() + delay > until) throw error;
      client.avoidNode();
      await pauseFor(client.clock, delay, stop).catch(() => undefined);
      delay = Math.min(2 * delay, MAX_DELAY_MS);
    }
  }
}

function scored(id: string, score: number | null | undefined): Candidate {
  return typeof score === 'number' ? { oid: Number(id), score } : { oid: Number(id) };
}

/** What one page is. */
interface PageRequest {
  readonly query: IndexQuery;
  readonly sort: readonly IndexQuery[];
  readonly size: number;
  readonly position: readonly unknown[] | undefined;
}

/** One state of the index (a point in time), which later changes do not change. */
class IndexView implements AsyncDisposable {
  readonly #client: ClusterClient;
  readonly #stop: AbortSignal;
  #id: string;

  private constructor(client: ClusterClient, stop: AbortSignal, id: string) {
    this.#client = client;
    this.#stop = stop;
    this.#id = id;
  }

  /** @throws StorageError if there is no index */
  static async open(client: ClusterClient, alias: string, stop: AbortSignal): Promise<IndexView> {
    const path = `/${alias}/_search/point_in_time?keep_alive=${KEEP_ALIVE}&allow_partial_pit_creation=false`;
    const { status, body } = await client.send({ method: 'POST', path, signal: stop, patienceMs: 0 });
    if (status === 404) throw new StorageError(`cannot use the index: OpenSearch has no ${alias}`);
    return new IndexView(client, stop, client.read(pitSchema, body).pit_id);
  }

  async page({ query, sort, size, position }: PageRequest): Promise<Page> {
    const request: ClusterRequest = {
      method: 'POST',
      path: '/_search?allow_partial_search_results=false',
      body: {
        size,
        query,
        sort,
        _source: false,
        track_total_hits: false,
        pit: { id: this.#id, keep_alive: KEEP_ALIVE },
        ...(position === undefined ? {} : { search_after: position }),
      },
      signal: this.#stop,
      patienceMs: 0,
    };
    const { status, body } = await this.#client.send(request);
    if (status === 404) {
      // The state was lost with a node, or with an index that was replaced.
      const { message } = refusalError(readRefusal(status, body), 'a search');
      throw clusterFailure(message, true);
    }
    const read = this.#client.read(pageSchema, body);
    this.#id = read.pit_id ?? this.#id;
    return read.hits.hits;
  }

  /** Closes it at once: OpenSearch keeps the files of a state that is open. */
  async [Symbol.asyncDispose](): Promise<void> {
    const stop = new AbortController();
    const cancel = this.#client.clock.setTimer(() => stop.abort(), CLOSE_MS);
    const request: ClusterRequest = {
      method: 'DELETE',
      path: '/_search/point_in_time',
      body: { pit_id: [this.#id] },
      signal: stop.signal,
      patienceMs: 0,
    };
    await this.#client.send(request).catch(() => undefined);
    cancel();
  }
}
