// The words of an index in OpenSearch: which there are, and how many objects have each. It has no request for words; those of
// the index that a query stands for are in what it says of the query.

import { z } from 'zod';
import { COLUMN_WEIGHTS } from '../columns/columns.js';
import { IndexCache } from '../embedded/index/index-cache.js';
import type { IndexTotals } from '../embedded/ranking/relevance-statements.js';
import type { ClusterClient } from './client.js';
import { ALL, LINKS, NAME, OWN_FIELDS } from './documents.js';
import { clusterFailure, readRefusal, refusalError } from './failures.js';
import type { IndexQuery } from './index-query.js';

/** Words of one request: a query that stands for more than 1024 is refused. */
const MAX_TERMS = 1_000;
/** Milliseconds for a request without which an answer is only in another order. */
const ORDER_MS = 2_000;
/** Lengths of words for which there are requests of their own. */
const MAX_LENGTHS = 24;
/** Queries of one request that counts objects. */
const COUNTED_AT_ONCE = 64;

const explained = z.object({
  explanations: z.array(z.object({ explanation: z.string().optional() })).default([]),
});
const frequencies = z.object({
  term_vectors: z
    .record(
      z.string(),
      z.object({
        field_statistics: z.object({ sum_ttf: z.number() }).optional(),
        terms: z.record(z.string(), z.object({ doc_freq: z.number().default(0) })).default({}),
      }),
    )
    .default({}),
});
const counted = z.object({
  responses: z.array(
    z.object({
      status: z.number().default(200),
      hits: z.object({ total: z.object({ value: z.number() }) }).optional(),
      error: z.unknown().optional(),
    }),
  ),
});

const linked = z.object({
  aggregations: z.object({
    links: z.object({ buckets: z.array(z.object({ key: z.string(), doc_count: z.number() })) }),
  }),
});
const matched = z.object({
  hits: z.object({
    hits: z.array(z.object({ _id: z.string(), matched_queries: z.array(z.string()).default([]) })),
  }),
});

/** An object, and the named parts of a query that it satisfies. */
interface NamedObject {
  readonly oid: number;
  readonly names: readonly string[];
}

/** Bytes of the words, and of the searches, that are kept until the index changes. */
const CACHE_BYTES = 8 << 20;

/** Columns with fields of their own, whose words are not those of the text. */
const TOTAL_FIELDS: readonly string[] = [...OWN_FIELDS];

/** The objects with a word, wherever they have it. */
function hasWord(word: string): IndexQuery {
  return { bool: { should: [{ term: { [ALL]: word } }, { term: { [NAME]: word } }] } };
}

/** Reads the terms of an index. */
export class IndexTerms {
  readonly #client: ClusterClient;
  readonly #alias: string;
  readonly #version: { readonly epoch: number };
  // A page asks for the same words in each of its queries.
  readonly #expansions: IndexCache<readonly string[]>;
  readonly #searches: IndexCache<readonly NamedObject[]>;

  /**
   * @param alias the name of the index
   * @param version its epoch changes with the index
   */
  constructor(client: ClusterClient, alias: string, version: { readonly epoch: number }) {
    this.#client = client;
    this.#alias = alias;
    this.#version = version;
    this.#expansions = new IndexCache(version, CACHE_BYTES, (words) => 64 * words.length);
    this.#searches = new IndexCache(version, CACHE_BYTES, (objects) => 128 * objects.length);
  }

  /**
   * The terms of a field that match a regular expression, at most 1000.
   *
   * @param pattern of Lucene; it must match whole terms
   */
  matching(field: string, pattern: string, signal?: AbortSignal): Promise<string[]> {
    const rewrite = `top_terms_${MAX_TERMS}`;
    return this.#expand(field, { regexp: { [field]: { value: pattern, rewrite } } }, signal);
  }

  /** The terms of a field that differ from a word in one or two places, at most 1000: the nearest. */
  near(field: string, word: string, places: number, signal?: AbortSignal): Promise<string[]> {
    const query = { value: word, fuzziness: places, transpositions: true, rewrite: `top_terms_${MAX_TERMS}` };
    return this.#expand(field, { fuzzy: { [field]: query } }, signal);
  }

  /**
   * The terms that begin with a text, at most `limit`. If there are more than 1000, those of each length have a request of
   * their own, the shortest first.
   */
  async startingWith(field: string, text: string, limit: number, signal?: AbortSignal): Promise<string[]> {
    const all = await this.matching(field, `${text}.*`, signal);
    if (all.length < MAX_TERMS) return all.slice(0, limit);
    const found: string[] = [];
    for (let more = 0; more <= MAX_LENGTHS && found.length < limit; more++)
      found.push(...(await this.matching(field, `${text}.{${more}}`, signal)));
    return found.slice(0, limit);
  }

  /**
   * The number of objects of each word, up to `limit`. Of many words, only the most frequent ones are counted: the numbers of
   * the others have objects that were replaced, too.
   */
  async counts(words: readonly string[], limit: number, signal?: AbortSignal): Promise<number[]> {
    const known = words.length <= COUNTED_AT_ONCE ? words.map(() => limit) : await this.#known(words, signal);
    const order = [...words.keys()].sort((a, b) => known[b]! - known[a]!).slice(0, COUNTED_AT_ONCE);
    const exact = await this.count(
      order.map((i) => hasWord(words[i]!)),
      limit,
      signal,
    );
    const counts = known.map((count) => Math.min(count, limit));
    for (const [n, i] of order.entries()) counts[i] = exact[n] ?? 0;
    return counts;
  }

  /** The number of objects that match each of some queries, up to `limit`. */
  async count(queries: readonly IndexQuery[], limit: number, signal?: AbortSignal): Promise<number[]> {
    if (queries.length === 0) return [];
    const lines = queries.flatMap((query) => [
      '{}',
      JSON.stringify({ size: 0, track_total_hits: limit, query }),
    ]);
    const body = `${lines.join('\n')}\n`;
    const reply = await this.#ask('/_msearch', body, signal);
    const { responses } = reply === undefined ? { responses: [] } : this.#client.read(counted, reply);
    return queries.map((_, i) => {
      const { status, hits, error } = responses[i] ?? { status: 200 };
      if (error !== undefined) throw refusalError(readRefusal(status, { error }), 'a request for words');
      return Math.min(limit, hits?.total.value ?? 0);
    });
  }

  /** The number of objects with any of some words, up to `limit`. */
  async countAny(words: readonly string[], limit: number): Promise<number> {
    const [count = 0] = await this.count([{ terms: { [ALL]: words } }], limit);
    return count;
  }

  /** How many objects have each of some links. */
  async countLinks(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const field = LINKS;
    const found = new Map<string, number>();
    for (let i = 0; i < keys.length; i += MAX_TERMS) {
      const some = keys.slice(i, i + MAX_TERMS);
      const aggregations = { links: { terms: { field, include: some, size: some.length } } };
      const body = { size: 0, track_total_hits: false, query: { terms: { [field]: some } }, aggregations };
      const reply = await this.#ask('/_search', body, undefined);
      if (reply === undefined) break;
      for (const { key, doc_count } of this.#client.read(linked, reply).aggregations.links.buckets)
        found.set(key, doc_count);
    }
    return found;
  }

  /** The objects that match, those with the highest scores first, and the named parts of the query that each satisfies. */
  async search(query: IndexQuery, size: number, signal?: AbortSignal): Promise<readonly NamedObject[]> {
    const { epoch } = this.#version;
    const key = `${size} ${JSON.stringify(query)}`;
    const known = this.#searches.get(key);
    if (known !== undefined) return known;
    const sort = [{ _score: 'desc' }, { oid: 'asc' }];
    const body = { size, query, sort, _source: false, track_total_hits: false };
    const reply = await this.#ask('/_search?allow_partial_search_results=false', body, signal);
    if (reply === undefined) return [];
    const { hits } = this.#client.read(matched, reply).hits;
    const found = hits.map(({ _id, matched_queries }) => ({ oid: Number(_id), names: matched_queries }));
    this.#searches.set(key, found, epoch);
    return found;
  }

  /** The number of objects, and the words of each column of an object, on average. */
  async totals(objects: number): Promise<IndexTotals> {
    const fields = [...TOTAL_FIELDS, ALL];
    const body = {
      doc: Object.fromEntries(fields.map((field) => [field, 'a'])),
      fields,
      field_statistics: true,
      positions: false,
      offsets: false,
      payloads: false,
    };
    const reply = await this.#ask('/_termvectors', body, undefined);
    const read = reply === undefined ? {} : this.#client.read(frequencies, reply).term_vectors;
    const average = (field: string) => (read[field]?.field_statistics?.sum_ttf ?? 0) / Math.max(1, objects);
    const words = average(ALL);
    const others = TOTAL_FIELDS.reduce((sum, field) => sum + average(field), 0);
    // The text is what the other fields do not have.
    const lengths = COLUMN_WEIGHTS.map(({ name }) =>
      TOTAL_FIELDS.includes(name) ? average(name) : name === 'body' ? Math.max(1, words - others) : 0,
    );
    return { objects, added: objects, lengths, words };
  }

  /** How many documents have each word, also those that were replaced: the index keeps them for a while. */
  async #known(words: readonly string[], signal?: AbortSignal): Promise<number[]> {
    const body = {
      doc: { [ALL]: words.join(' ') },
      fields: [ALL],
      term_statistics: true,
      field_statistics: false,
      positions: false,
      offsets: false,
      payloads: false,
    };
    const reply = await this.#ask('/_termvectors', body, signal);
    const terms =
      reply === undefined ? {} : (this.#client.read(frequencies, reply).term_vectors[ALL]?.terms ?? {});
    const of = new Map(Object.entries(terms));
    return words.map((word) => of.get(word)?.doc_freq ?? 0);
  }

  async #expand(field: string, query: IndexQuery, signal?: AbortSignal): Promise<string[]> {
    const { epoch } = this.#version;
    const key = JSON.stringify(query);
    const known = this.#expansions.get(key);
    if (known !== undefined) return [...known];
    const reply = await this.#ask('/_validate/query?rewrite=true&all_shards=true', { query }, signal);
    if (reply === undefined) return [];
    const { explanations } = this.#client.read(explained, reply);
    // Such as `all:cat (all:car)^0.5`. A query that stands for no word is shown as it is.
    const start = `${field}:`;
    const found = new Set<string>();
    for (const { explanation = '' } of explanations)
      for (const part of explanation.split(/[ ()]+/))
        if (part.startsWith(start) && /^[\p{L}\p{M}\p{N}_=]+(?:\^|$)/u.test(part.slice(start.length)))
          found.add(part.slice(start.length).replace(/\^.*/, ''));
    this.#expansions.set(key, [...found], epoch);
    return [...found];
  }

  /** Undefined before the first index. What only improves an order has no signal, and little time. */
  async #ask(path: string, body: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    const late = signal === undefined ? AbortSignal.timeout(ORDER_MS) : undefined;
    const patienceMs = late === undefined ? this.#client.queryPatienceMs : 0;
    const request = { method: 'POST', path: `/${this.#alias}${path}`, body, patienceMs } as const;
    const { status, body: reply } = await this.#client
      .send({ ...request, signal: signal ?? late })
      .catch((error: unknown) => {
        throw late?.aborted === true ? clusterFailure('OpenSearch is slow', true) : error;
      });
    if (status !== 404) return reply;
    const refusal = readRefusal(status, reply);
    if (refusal.type === 'index_not_found_exception') return undefined;
    throw refusalError(refusal, 'a request for words');
  }
}
