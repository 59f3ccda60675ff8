// Turns the options of a query into flags and a message line.
import {
  BROKER_FLAGS,
  DEFAULT_FLAGS,
  formatQuery,
  formatQueryMessage,
  type Query,
  type QueryFlags,
  REQUEST_FLAGS,
  type RequestFlag,
} from '../../protocols/broker/index.js';
import { UsageError } from '../../protocols/errors.js';

/**
 * The options of a query: its flags by their properties ({@link BROKER_FLAGS}), which are checked, and what
 * depends on the server. The defaults are those of the shipped query pages (BRK-8.6): descriptions, matched
 * lines, no case, the server's own limits.
 */
export type QueryRequest = { readonly [K in RequestFlag]?: QueryFlags[K] | undefined } & {
  /** Matched lines. Default true. The flag for them depends on the server: see {@link OpaqueMode}. */
  readonly matchedLines?: boolean | undefined;
  /**
   * More `#index` flags for the Broker's search engine, each `NAME` or `NAME VALUE`; an engine ignores unknown
   * ones (BRK-3.5).
   */
  readonly indexFlags?: readonly string[] | undefined;
};

/** Whether the server reads `#opaque` as "no matched lines" (the default) or as "matched lines" (BRK-3.2). */
export type OpaqueMode = 'suppress' | 'show';

/** Returns the flags of a query for a server of that mode. @throws UsageError for a number out of range */
export function requestFlags(request: QueryRequest, mode: OpaqueMode): QueryFlags {
  const includeLines = request.matchedLines ?? true;
  const opaque = mode === 'suppress' ? !includeLines : includeLines;
  const flags: Record<string, unknown> = {};
  for (const name of REQUEST_FLAGS) {
    const value = request[name] ?? (name === 'desc' ? true : undefined);
    if (value === undefined) continue;
    checkRange(name, value, BROKER_FLAGS[name].max);
    flags[name] = value;
  }
  return { ...DEFAULT_FLAGS, ...flags, opaque, unknown: request.indexFlags ?? [] };
}

function checkRange(name: string, value: unknown, max: number | undefined): void {
  if (max === undefined) return;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return;
  throw new UsageError(`${name} is a whole number from 0 to ${max}, not ${value}`);
}

/** A query as text, as a tree, or an object with a tree: a built query, or the result of `parseQuerySource`. */
export type QueryInput = string | Query | { readonly query: Query };

/**
 * The message line of a query. A query given as text is sent as typed (BRK-2.7), its line ends as blanks.
 * @throws UsageError for a number out of range
 */
export function queryMessage(query: QueryInput, request: QueryRequest, mode: OpaqueMode): string {
  const text = typeof query === 'string' ? query.replace(/[\r\n]+/g, ' ') : formatQuery(treeOf(query));
  return formatQueryMessage('user', requestFlags(request, mode), text);
}

function treeOf(query: Exclude<QueryInput, string>): Query {
  return 'query' in query ? query.query : query;
}
