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
import {
  ABORT_OPTIONS,
  type Check,
  checkArgument,
  checkOptions,
  flag,
  listOf,
  oneOf,
  optional,
  type Shape,
  text,
  whole,
} from '../connection/arguments.js';
import type { AbortOptions } from '../connection/index.js';
import { checkQuery } from './arguments.js';

/**
 * The options of a query: its flags by their properties (`BROKER_FLAGS` of `protocols/broker`), which are checked, and what
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

const OPAQUE_MODE: Check = oneOf('suppress', 'show');

function checkOfFlag(name: (typeof REQUEST_FLAGS)[number]): Check {
  const { max, initial } = BROKER_FLAGS[name];
  if (max !== undefined) return optional(whole(0, max));
  return optional(Array.isArray(initial()) ? listOf(text) : flag);
}

/** The options of a query, and its signal. */
export const QUERY_OPTIONS = {
  ...ABORT_OPTIONS,
  ...Object.fromEntries(REQUEST_FLAGS.map((name) => [name, checkOfFlag(name)])),
  matchedLines: optional(flag),
  indexFlags: optional(listOf(text)),
} as Shape<QueryRequest & AbortOptions>;

/** Returns the flags of a query for a server of that mode. @throws UsageError for a flag that no query has, or its value */
export function requestFlags(request: QueryRequest, mode: OpaqueMode): QueryFlags {
  checkOptions('the flags of a query', request, QUERY_OPTIONS);
  checkArgument('opaqueMode', mode, OPAQUE_MODE);
  const includeLines = request.matchedLines ?? true;
  const opaque = mode === 'suppress' ? !includeLines : includeLines;
  const flags: Record<string, unknown> = {};
  for (const name of REQUEST_FLAGS) {
    const value = request[name] ?? (name === 'desc' ? true : undefined);
    if (value === undefined) continue;
    flags[name] = value;
  }
  return { ...DEFAULT_FLAGS, ...flags, opaque, unknown: request.indexFlags ?? [] };
}

/** A query as text, as a tree, or an object with a tree: a built query, or the result of `parseQuerySource`. */
export type QueryInput = string | Query | { readonly query: Query };

/**
 * The message line of a query. A query given as text is sent as typed (BRK-2.7), its line ends as blanks.
 * @throws UsageError for a flag that no query has, its value, and what is no query
 */
export function queryMessage(query: QueryInput, request: QueryRequest, mode: OpaqueMode): string {
  checkQuery(query);
  const words = typeof query === 'string' ? query.replace(/[\r\n]+/g, ' ') : formatQuery(treeOf(query));
  return formatQueryMessage('user', requestFlags(request, mode), words);
}

function treeOf(query: Exclude<QueryInput, string>): Query {
  return 'query' in query ? query.query : query;
}
