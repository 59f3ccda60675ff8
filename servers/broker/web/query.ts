// Sends the query of the form to a Broker.
import { forgivenSentence, readForgiving, type SentencePart } from '../../../clients/broker/forgiving.js';
import { BrokerClient } from '../../../clients/broker/index.js';
import {
  errorSentence,
  locateQueryFault,
  parseQuery,
  type Query,
  type QueryFault,
} from '../../../protocols/broker/index.js';
import { PeerError, ProtocolError } from '../../../protocols/errors.js';
import type { Endpoint } from '../query/local-callers.js';
import { type QueryForm, toRequest } from './form.js';
import { type Results, SHOWN_ATTRIBUTES, type ShownHit, shownHit } from './results.js';
import type { PageTurns } from './visitor.js';

/** A syntax error in a query; its positions count characters. */
export interface FaultyQuery extends QueryFault {
  readonly kind: 'fault';
}

/** Parses a query as the broker does, to show an error at its position instead of the broker's sentence. */
export function readQuery(text: string): { readonly kind: 'query'; readonly query: Query } | FaultyQuery {
  try {
    return { kind: 'query', query: parseQuery(text) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { kind: 'fault', ...locateQueryFault(text, error) };
  }
}

/** A query of a form as it was read, and what was changed for this. */
export interface TypedQuery {
  readonly kind: 'query';
  readonly query: Query;
  /** Parses to it. */
  readonly text: string;
  readonly said: readonly SentencePart[];
}

/**
 * Reads the query of a form: as a person means it, or exactly. A form that has only restrictions asks for every
 * object.
 *
 * @returns undefined if nothing of the query is seen
 */
export function readTyped({ query: text, forms }: QueryForm): TypedQuery | FaultyQuery | undefined {
  if (text === '') return { kind: 'query', query: { kind: 'all' }, text: '#allb', said: [] };
  try {
    if (forms) {
      const reading = readForgiving(text);
      return reading && { ...reading, kind: 'query', said: forgivenSentence(reading) };
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { kind: 'fault', ...locateQueryFault(text, error) };
  }
  const read = readQuery(text);
  return read.kind === 'fault' ? read : { ...read, text, said: [] };
}

/** A broker's address and settings. */
export interface QueryTarget {
  readonly host: string;
  readonly port: number;
  /** Of the certificate of this process's own port, if it has TLS. */
  readonly fingerprint?: string | undefined;
  readonly opaqueMode: 'suppress' | 'show';
  /** `Max-Results`. */
  readonly maxResults: number;
  /** Seconds without data after which it counts as down (`Timeout`, BRK-9.6). */
  readonly timeout?: number;
  /** Says for whom a connection to this process's own broker is; its result is disposed of after the query. */
  readonly register?: (local: Endpoint) => Disposable;
}

/** The end of a search: results, or a refusal by the broker before the first. */
export type QueryOutcome =
  | { readonly kind: 'results'; readonly results: Results }
  | { readonly kind: 'refused'; readonly message: string };

/** For whom a query works. */
export interface QueryWork {
  readonly signal: AbortSignal;
  readonly turns: Pick<PageTurns, 'take'>;
}

/** Objects of a reply that are read in a turn, and the cost of each, in milliseconds of processor time. */
const HITS_AT_ONCE = 8;
const HIT_COST_MS = 0.04;
/** Objects of which the newest are found in a turn, and its cost. */
const SORTED_AT_ONCE = 1000;
const SORT_COST_MS = 0.3;

/** The newest objects, the newest first; equal ones in their order. Their times are read once. */
async function newestOf(
  hits: readonly ShownHit[],
  limit: number,
  turns: QueryWork['turns'],
): Promise<ShownHit[]> {
  let best: { readonly hit: ShownHit; readonly time: number }[] = [];
  for (let from = 0; from < hits.length; from += SORTED_AT_ONCE) {
    await turns.take(SORT_COST_MS);
    const next = hits
      .slice(from, from + SORTED_AT_ONCE)
      .map((hit) => ({ hit, time: Number(hit.modified ?? 0) }));
    best = [...best, ...next].sort((a, b) => b.time - a.time).slice(0, limit);
  }
  return best.map(({ hit }) => hit);
}

/**
 * Sends the query to the broker's port, like any client.
 *
 * @param limit number of objects to find
 * @throws ConnectionError when the broker cannot be reached or closes the connection before the first object
 */
export async function queryBroker(
  form: QueryForm,
  query: Query,
  target: QueryTarget,
  limit: number,
  { signal, turns }: QueryWork,
): Promise<QueryOutcome> {
  const { host, port, fingerprint, opaqueMode, maxResults, timeout } = target;
  const idle = timeout === undefined ? {} : { timeoutMs: timeout * 1000 };
  let entry: Disposable | undefined;
  const onOpen = (local: Endpoint) => {
    entry = target.register?.(local);
  };
  const client = new BrokerClient({ host, port, fingerprint, opaqueMode, ...idle, onOpen });
  // The newest may be anywhere in the whole result.
  const request = toRequest(form, form.sort === 'by-date' ? maxResults : limit, SHOWN_ATTRIBUTES);
  const found = client.query(query, { ...request, signal });
  const hits: ShownHit[] = [];
  let failure: string | undefined;
  try {
    for await (const hit of found) {
      if (hits.length % HITS_AT_ONCE === 0) await turns.take(HITS_AT_ONCE * HIT_COST_MS);
      hits.push(shownHit(hit));
    }
  } catch (error) {
    signal.throwIfAborted();
    const sentence = error instanceof Error ? errorSentence(error.message) : String(error);
    if (hits.length === 0 && error instanceof PeerError) return { kind: 'refused', message: sentence };
    if (hits.length === 0) throw error;
    // BRK-4.15: the objects found until then are shown.
    failure = sentence;
  } finally {
    entry?.[Symbol.dispose]();
  }
  // A result as long as the broker's own limit may have been cut.
  const truncated = hits.length > limit || hits.length === maxResults;
  const shown = form.sort === 'by-date' ? await newestOf(hits, limit, turns) : hits.slice(0, limit);
  if (form.sort === 'by-NML') shown.sort((a, b) => b.lineCount - a.lineCount);
  const messages = hits.length === 0 ? [] : found.messages;
  return {
    kind: 'results',
    results: {
      hits: shown,
      truncated,
      messages,
      errors: found.errors,
      failure,
    },
  };
}
