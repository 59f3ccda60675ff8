// Sends the query of a form to the Broker, and counts its whole result meanwhile.
import { queryMessage } from '../../../clients/broker/index.js';
import { formatQuery, type Query } from '../../../protocols/broker/index.js';
import type { FacetCounts } from './facets.js';
import type { ForgivenResult, ForgivingQuery } from './forgiving.js';
import { type QueryForm, toRequest } from './form.js';
import { narrowQuery } from './narrow.js';
import { isFull, type Paging, windowsOf } from './paging.js';
import { type QueryTarget, queryBroker, readQuery } from './query.js';
import { type Results, SHOWN_ATTRIBUTES, type ShownHit } from './results.js';
import type { PageTurns } from './visitor.js';

/** If fewer objects than this have all words, those that have some of them follow. */
const FEW_OBJECTS = 10;

/** The answer to a query. */
export interface Answer {
  readonly results: Results;
  /** Undefined if the result was not counted. */
  readonly counts: FacetCounts | undefined;
  /** The message line that was sent. */
  readonly message: string;
  /** The query without its narrowings. */
  readonly query: Query;
  readonly forgiven?: Omit<ForgivenResult, 'said'>;
}

/** Why a query has no answer: it cannot be read together with its narrowings, or the broker refused it. */
export interface Refusal {
  readonly kind: 'unreadable' | 'refused';
  readonly text: string;
  readonly message: string;
}

/** What every query of a request has in common: the form, its Broker, the function that counts results. */
export interface AskContext {
  readonly form: QueryForm;
  readonly target: QueryTarget;
  readonly turns: PageTurns;
  readonly paging: Paging;
  readonly count: (query: Query, form: QueryForm, signal: AbortSignal) => Promise<FacetCounts | undefined>;
  /** Whether the Broker answers queries for most of their words (BRK-2.27). */
  readonly hasMostWords: boolean;
}

/**
 * Sends a query, within the narrowings of the form, and finds the objects of the requested page and all before
 * them.
 *
 * @param reading the query as a person means it
 * @throws ConnectionError when the broker cannot be reached or closes the connection before the first object
 */
export async function askForPage(
  context: AskContext,
  query: Query,
  reading: ForgivingQuery | undefined,
  signal: AbortSignal,
): Promise<Answer | Refusal> {
  const { form, paging } = context;
  let answer: Answer | Refusal | undefined;
  for (const limit of windowsOf(form, paging)) {
    answer = await (reading === undefined
      ? ask(context, query, limit, signal)
      : askForgiving(context, reading, limit, signal));
    if ('kind' in answer || answer.results.failure !== undefined) break;
    if (isFull(form, paging, answer.results, answer.counts)) break;
  }
  return answer!;
}

async function ask(
  context: AskContext,
  query: Query,
  limit: number,
  signal: AbortSignal,
): Promise<Answer | Refusal> {
  const { form, target } = context;
  const whole = readQuery(narrowQuery(formatQuery(query), form.narrow));
  if (whole.kind === 'fault') return { kind: 'unreadable', text: whole.message, message: '' };
  const request = toRequest(form, limit, SHOWN_ATTRIBUTES);
  const message = queryMessage(whole.query, request, target.opaqueMode);
  const stop = new AbortController();
  const counting = context.count(whole.query, form, AbortSignal.any([signal, stop.signal]));
  try {
    const outcome = await queryBroker(form, whole.query, target, limit, { signal, turns: context.turns });
    if (outcome.kind === 'refused') return { kind: 'refused', text: outcome.message, message };
    return { results: outcome.results, counts: await counting, message, query };
  } finally {
    stop.abort();
  }
}

/**
 * Sends a query as a person means it: if few objects have all of its words, those follow that have most of them,
 * the ones with more words first.
 */
async function askForgiving(
  context: AskContext,
  reading: ForgivingQuery,
  limit: number,
  signal: AbortSignal,
): Promise<Answer | Refusal> {
  // By another order, objects with few of the words would be first.
  if (context.hasMostWords && reading.words > 1 && context.form.sort === 'by-rank')
    return askForMost(context, reading, limit, signal);
  const strict = await ask(context, reading.all, limit, signal);
  if ('kind' in strict) return strict;
  const few = Math.min(FEW_OBJECTS, limit);
  const withAll = strict.results.hits.length;
  let answer: Answer = strict;
  let least: number | undefined;
  for (const fewer of reading.fewer) {
    const { hits, truncated, failure } = answer.results;
    if (hits.length >= few || truncated || failure !== undefined) break;
    const more = await ask(context, fewer.query, limit, signal);
    if ('kind' in more) break;
    const found = joinedHits(hits, more.results.hits);
    if (found.length === hits.length) continue;
    const isCut = more.results.truncated || found.length > limit;
    answer = { ...more, results: { ...more.results, hits: found.slice(0, limit), truncated: isCut } };
    least = fewer.least;
  }
  const follows = least === undefined ? undefined : { objects: withAll, least };
  return { ...answer, forgiven: { reading, withAll: follows } };
}

/** Sends a query for objects with most of its words, in one order with those that have all. */
async function askForMost(
  context: AskContext,
  reading: ForgivingQuery,
  limit: number,
  signal: AbortSignal,
): Promise<Answer | Refusal> {
  const form: QueryForm = { ...context.form, mostWords: true };
  const answer = await ask({ ...context, form }, reading.all, limit, signal);
  if ('kind' in answer) return answer;
  const { counts, results } = answer;
  const isKnown = counts?.complete === true;
  const some = results.hits.some(({ lacks }) => lacks !== undefined);
  const inOneOrder = {
    withAll: isKnown ? counts.withAll : undefined,
    others: isKnown ? counts.objects - counts.withAll : undefined,
  };
  return { ...answer, forgiven: { reading, inOneOrder: some ? inOneOrder : undefined } };
}

/** The hits of a result, and after them those that only another one has. */
function joinedHits(hits: readonly ShownHit[], others: readonly ShownHit[]): ShownHit[] {
  const nameOf = ({ objectUrl, url }: ShownHit) => objectUrl ?? url;
  const known = new Set(hits.map(nameOf));
  return [...hits, ...others.filter((hit) => !known.has(nameOf(hit)))];
}
