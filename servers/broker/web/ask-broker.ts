// Sends the query of a form to the Broker, and counts its whole result meanwhile.
import { queryMessage } from '../../../clients/broker/index.js';
import { formatQuery, type Query } from '../../../protocols/broker/index.js';
import type { FacetCounts } from './facets.js';
import type { ForgivenResult, ForgivingQuery } from './forgiving.js';
import { type QueryForm, toRequest } from './form.js';
import { narrowQuery } from './narrow.js';
import { objectsToList, type QueryTarget, queryBroker, readQuery } from './query.js';
import { type Results, SHOWN_ATTRIBUTES, type ShownHit } from './results.js';

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
  readonly forgiven?: ForgivenResult;
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
  readonly count: (query: Query, signal: AbortSignal) => Promise<FacetCounts | undefined>;
}

/**
 * Sends one query, within the narrowings of the form.
 *
 * @throws ConnectionError when the broker cannot be reached or closes the connection before the first object
 */
export async function ask(context: AskContext, query: Query, signal: AbortSignal): Promise<Answer | Refusal> {
  const { form, target } = context;
  const whole = readQuery(narrowQuery(formatQuery(query), form.narrow));
  if (whole.kind === 'fault') return { kind: 'unreadable', text: whole.message, message: '' };
  const request = toRequest(form, objectsToList(form, target.maxResults), SHOWN_ATTRIBUTES);
  const message = queryMessage(whole.query, request, target.opaqueMode);
  const stop = new AbortController();
  const counting = context.count(whole.query, AbortSignal.any([signal, stop.signal]));
  try {
    const outcome = await queryBroker(form, whole.query, target, signal);
    if (outcome.kind === 'refused') return { kind: 'refused', text: outcome.message, message };
    return { results: outcome.results, counts: await counting, message, query };
  } finally {
    stop.abort();
  }
}

/** Sends a query as a person means it: if few objects have all of its words, those with some of them follow. */
export async function askForgiving(
  context: AskContext,
  reading: ForgivingQuery,
  signal: AbortSignal,
): Promise<Answer | Refusal> {
  const strict = await ask(context, reading.all, signal);
  if ('kind' in strict) return strict;
  const { hits, truncated, failure } = strict.results;
  const most = objectsToList(context.form, context.target.maxResults);
  const isEnough = hits.length >= Math.min(FEW_OBJECTS, most) || truncated || failure !== undefined;
  if (isEnough || reading.any === undefined) return { ...strict, forgiven: { reading, withAll: undefined } };
  const more = await ask(context, reading.any, signal);
  if ('kind' in more || more.results.hits.length <= hits.length)
    return { ...strict, forgiven: { reading, withAll: undefined } };
  const nameOf = ({ objectUrl, url }: ShownHit) => objectUrl ?? url;
  const known = new Set(hits.map(nameOf));
  const others = more.results.hits.filter((hit) => !known.has(nameOf(hit)));
  const results = { ...more.results, hits: [...hits, ...others].slice(0, most) };
  return { ...more, results, forgiven: { reading, withAll: hits.length } };
}
