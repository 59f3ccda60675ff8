// Turns the options of a query into flags and a message line.
import {
  DEFAULT_FLAGS,
  formatQuery,
  formatQueryMessage,
  MAX_SPELLING_ERRORS,
  type Query,
  type QueryFlags,
} from '../../protocols/broker/index.js';
import { UsageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';

/** The options of a query. The defaults are those of the shipped query pages (BRK-8.6). */
export interface QueryRequest {
  /** Descriptions. Default true. */
  readonly desc?: boolean;
  /** Matched lines. Default true. The flag for them depends on the server: see {@link OpaqueMode}. */
  readonly matchedLines?: boolean;
  /** Default true. */
  readonly ignoreCase?: boolean;
  /** Match whole words only. Default false. */
  readonly matchWord?: boolean;
  /** Spelling errors, 0 to 8. Default 0. */
  readonly errors?: number;
  /** Maximum number of matched lines in total. Default: the server's own limit. */
  readonly maxResults?: number | undefined;
  /** Maximum number of objects. Default: the server's own limit. */
  readonly maxFiles?: number;
  /** Maximum number of matched lines of one object. Default: the server's own limit. */
  readonly maxLines?: number | undefined;
  /** Seconds the server may spend, at least 10; the server may lower them to its own maximum (BRK-8.14). */
  readonly lifetime?: number | undefined;
  /** Attributes of each object to return, at most 256 names; a Broker sends each once (BRK-2.16). */
  readonly attributes?: readonly string[];
  /** Only objects changed after this time. */
  readonly since?: UnixSeconds | undefined;
  /** More `#index` flags for the Broker's search engine, each `NAME` or `NAME VALUE`; an engine ignores unknown ones (BRK-3.5). */
  readonly indexFlags?: readonly string[];
}

/** Whether the server reads `#opaque` as "no matched lines" (the default) or as "matched lines" (BRK-3.2). */
export type OpaqueMode = 'suppress' | 'show';

/** Returns the flags of a query for a server of that mode. @throws UsageError for a number out of range */
export function requestFlags(request: QueryRequest, mode: OpaqueMode): QueryFlags {
  const includeLines = request.matchedLines ?? true;
  return {
    ...DEFAULT_FLAGS,
    desc: request.desc ?? true,
    opaque: mode === 'suppress' ? !includeLines : includeLines,
    ignoreCase: request.ignoreCase ?? true,
    matchWord: request.matchWord ?? false,
    errors: checkCount('errors', request.errors ?? 0, MAX_SPELLING_ERRORS),
    attributes: request.attributes ?? [],
    unknown: request.indexFlags ?? [],
    ...counts(request, ['maxResults', 'maxFiles', 'maxLines', 'lifetime', 'since']),
  };
}

type CountName = 'maxResults' | 'maxFiles' | 'maxLines' | 'lifetime' | 'since';

function counts(request: QueryRequest, names: readonly CountName[]): Partial<Record<CountName, number>> {
  const found: Partial<Record<CountName, number>> = {};
  for (const name of names) {
    const value = request[name];
    if (value !== undefined) found[name] = checkCount(name, value, 0xffff_ffff);
  }
  return found;
}

function checkCount(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= max) return value;
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
