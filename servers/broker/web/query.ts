import { BrokerClient } from '../../../clients/broker/index.js';
import { parseQuery, type Query } from '../../../protocols/broker/index.js';
import { PeerError, ProtocolError } from '../../../protocols/errors.js';
import { type QueryForm, toRequest } from './form.js';
import { type Results, SHOWN_ATTRIBUTES, type ShownHit, shownHit } from './results-page.js';

/** A query that the language does not allow. */
export interface QueryFault {
  readonly kind: 'fault';
  readonly message: string;
  /** Characters of the query before the fault. */
  readonly at: number;
}

/** Reads a query as the broker will, so that a fault is shown at its place instead of as the broker's sentence. */
export function readQuery(text: string): { readonly kind: 'query'; readonly query: Query } | QueryFault {
  try {
    return { kind: 'query', query: parseQuery(text) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    // The rule and the byte offset are for protocol people; the page shows the place.
    const message = error.message.replace(/ \([^()]*, offset [0-9]+\)$/, '');
    return { kind: 'fault', message, at: charactersBefore(text, error.offset) };
  }
}

function charactersBefore(text: string, bytes: number): number {
  return Buffer.from(text).subarray(0, bytes).toString('utf8').length;
}

/** Where the broker is and how it answers. */
export interface QueryTarget {
  readonly host: string;
  readonly port: number;
  readonly opaqueMode: 'suppress' | 'show';
  /** `Max-Results`. */
  readonly maxResults: number;
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
  const { host, port, opaqueMode, maxResults } = target;
  const client = new BrokerClient({ host, port, opaqueMode });
  const wanted = Math.min(form.maxObjects ?? maxResults, maxResults);
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
