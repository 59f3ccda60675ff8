import { BrokerClient } from '../../../clients/broker/index.js';
import { parseQuery, type Query, type QueryFault, queryFault } from '../../../protocols/broker/index.js';
import { PeerError, ProtocolError } from '../../../protocols/errors.js';
import { type QueryForm, toRequest } from './form.js';
import { type Results, SHOWN_ATTRIBUTES, type ShownHit, shownHit } from './results.js';

/** A query that the language does not allow; places are characters. */
export interface FaultyQuery extends QueryFault {
  readonly kind: 'fault';
}

/** Reads a query as the broker will, so that a fault is shown at its place instead of as the broker's sentence. */
export function readQuery(text: string): { readonly kind: 'query'; readonly query: Query } | FaultyQuery {
  try {
    return { kind: 'query', query: parseQuery(text) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { kind: 'fault', ...queryFault(text, error) };
  }
}

/** Where the broker is and how it answers. */
export interface QueryTarget {
  readonly host: string;
  readonly port: number;
  readonly opaqueMode: 'suppress' | 'show';
  /** `Max-Results`. */
  readonly maxResults: number;
  /** Seconds without a word after which it counts as down (`Timeout`, BRK-9.6). */
  readonly timeout?: number;
}

/** Objects to list: what the form asks for, at most what the broker gives. */
export function wantedObjects(form: QueryForm, maxResults: number): number {
  return Math.min(form.maxObjects ?? maxResults, maxResults);
}

/** How a search can end: with results, or refused by the broker before any. */
export type QueryOutcome =
  | { readonly kind: 'results'; readonly results: Results }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Asks the broker over its port, as any stranger would.
 *
 * @throws ConnectionError when it cannot be reached or breaks off before the first object.
 */
export async function askBroker(
  form: QueryForm,
  query: Query,
  target: QueryTarget,
  signal: AbortSignal,
): Promise<QueryOutcome> {
  const { host, port, opaqueMode, maxResults, timeout } = target;
  const patience = timeout === undefined ? {} : { idleTimeoutMs: timeout * 1000 };
  const client = new BrokerClient({ host, port, opaqueMode, ...patience });
  const wanted = wantedObjects(form, maxResults);
  const found = client.query(query, { ...toRequest(form, wanted, SHOWN_ATTRIBUTES), signal });
  const hits: ShownHit[] = [];
  let failure: string | undefined;
  try {
    for await (const hit of found) hits.push(shownHit(hit));
  } catch (error) {
    signal.throwIfAborted();
    const sentence = error instanceof Error ? error.message.replace(/^ERROR: /, '') : String(error);
    if (hits.length === 0 && error instanceof PeerError) return { kind: 'refused', message: sentence };
    if (hits.length === 0) throw error;
    // BRK-4.15: what was found until then is worth showing.
    failure = sentence;
  }
  // At the broker's own limit nobody can tell whether it was reached or passed.
  const truncated = hits.length > wanted || hits.length === maxResults;
  const shown = hits.slice(0, wanted);
  if (form.sort === 'by-NML') shown.sort((a, b) => b.lineCount - a.lineCount);
  const messages = hits.length === 0 ? [] : found.messages;
  return {
    kind: 'results',
    results: {
      hits: shown,
      truncated,
      messages,
      errors: found.errors,
      ...(failure === undefined ? {} : { failure }),
    },
  };
}
