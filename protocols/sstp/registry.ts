/*
 * The registry of SSTP (section S5 of the specification, S-23): every number and every wire name of the protocol, and nothing
 * else. A better source changes this file only.
 */

/**
 * How much of an entry is recorded. EXACT: name and number. NAME: the name; the number (or wire name) is a
 * choice of this kit. PARTIAL: the number; the name is truncated. HTTP: the number, from HTTP. OURS: neither.
 */
export type RegistryStatus = 'EXACT' | 'NAME' | 'PARTIAL' | 'HTTP' | 'OURS';

/** A request or reply code. */
export interface CodeEntry {
  /** 0..999, three digits on the wire (S-5). */
  readonly number: number;
  /** The text after the number (S-28). */
  readonly symbol: string;
  readonly status: RegistryStatus;
  /** Another published spelling of the same code. */
  readonly alias?: string;
  /** S-37: a request with this code has no body. Default: it may have one. */
  readonly bodyless?: true;
  /** S-39: the server closes after a reply with this code. */
  readonly closes?: true;
}

/** Section S5, the codes. 004, 005 and 009 are not in the published list and are not used (S-7). */
export const CODES = {
  getUrlInfo: { number: 1, symbol: 'REQ_GET_URLINFO', status: 'EXACT' },
  putHostNotFound: { number: 2, symbol: 'REQ_PUT_HOST_NOTFOUND', status: 'EXACT' },
  putHostUnreachable: { number: 3, symbol: 'REQ_PUT_HOST_UNRICHABLE', status: 'EXACT' },
  putData: { number: 6, symbol: 'REQ_PUT_DATA', status: 'EXACT' },
  getMd5: { number: 7, symbol: 'REQ_GET_MD5', status: 'EXACT' },
  urlByName: {
    number: 8,
    symbol: 'REQ_GET_URL_BYNAME',
    status: 'EXACT',
    alias: 'REQ_GET_URLBYNAME',
    bodyless: true,
  },
  urlById: { number: 10, symbol: 'REQ_GET_URL_BYID', status: 'EXACT' },
  getQueueReset: { number: 11, symbol: 'REQ_GET_QUEUERESET', status: 'EXACT' },
  getExclude: { number: 12, symbol: 'REQ_GET_EXCLUDE', status: 'EXACT' },
  getServices: { number: 13, symbol: 'REQ_GET_SERVICES', status: 'EXACT' },
  getMime: { number: 14, symbol: 'REQ_GET_MIME', status: 'EXACT' },
  getArchivers: { number: 15, symbol: 'REQ_GET_ARCHIVERS', status: 'EXACT' },
  getPasswords: { number: 16, symbol: 'REQ_GET_PW', status: 'EXACT' },
  getAllow: { number: 17, symbol: 'REQ_GET_ALLOW', status: 'EXACT' },
  getDomains: { number: 18, symbol: 'REQ_GET_DOMAINS', status: 'EXACT' },
  getRobots: { number: 19, symbol: 'REQ_GET_ROBOTS', status: 'EXACT' },
  putRobots: { number: 20, symbol: 'REQ_PUT_ROBOTS', status: 'EXACT' },
  resetRobots: { number: 21, symbol: 'REQ_RESET_ROBOTS', status: 'EXACT' },
  getSearchers: { number: 22, symbol: 'REQ_GET_SEARCHERS', status: 'PARTIAL' },
  references: { number: 81, symbol: 'REQ_GET_REFERENCES', status: 'NAME', bodyless: true },
  referers: { number: 82, symbol: 'REQ_GET_REFERERS', status: 'NAME', bodyless: true },
  siteReferences: { number: 83, symbol: 'REQ_GET_SITEREFERENCES', status: 'NAME', bodyless: true },
  siteReferers: { number: 84, symbol: 'REQ_GET_SITEREFERERS', status: 'NAME', bodyless: true },
  badRequest: { number: 400, symbol: 'BAD REQUEST', status: 'OURS', closes: true },
  forbidden: { number: 403, symbol: 'FORBIDDEN', status: 'HTTP', closes: true },
  notFound: { number: 404, symbol: 'REQ_PUT_NOT_FOUND', status: 'NAME' },
  internalError: { number: 500, symbol: 'INTERNAL ERROR', status: 'OURS' },
  notImplemented: { number: 501, symbol: 'NOT IMPLEMENTED', status: 'OURS' },
  serviceUnavailable: { number: 503, symbol: 'SERVICE UNAVAILABLE', status: 'OURS', closes: true },
  versionNotSupported: { number: 505, symbol: 'VERSION NOT SUPPORTED', status: 'OURS', closes: true },
} as const satisfies Record<string, CodeEntry>;

export type CodeName = keyof typeof CODES;

/** A header. */
export interface HeaderEntry {
  /** The name on the wire, in capitals (S-31). */
  readonly name: string;
  readonly status: RegistryStatus;
  readonly type: 'u32' | 'port' | 'string';
  /** S-9: occurs any number of times in a link reply. All other headers are single-valued. */
  readonly repeatable?: true;
}

/** Section S5, the headers. */
export const HEADERS = {
  uriId: { name: 'HEADER_URI_ID', status: 'NAME', type: 'u32', repeatable: true },
  url: { name: 'HEADER_URL', status: 'NAME', type: 'string' },
  serverId: { name: 'HEADER_SERVER_ID', status: 'NAME', type: 'u32' },
  numResults: { name: 'HEADER_NUMRESULTS', status: 'NAME', type: 'u32' },
  startResults: { name: 'HEADER_START_RESULTS', status: 'NAME', type: 'u32' },
  numFound: { name: 'HEADER_NUMFOUND', status: 'NAME', type: 'u32' },
  serverProtocol: { name: 'HEADER_SERVER_PROTOCOL', status: 'NAME', type: 'string' },
  serverName: { name: 'HEADER_SERVER_NAME', status: 'NAME', type: 'string' },
  serverPort: { name: 'HEADER_SERVER_PORT', status: 'NAME', type: 'port' },
  uri: { name: 'HEADER_URI', status: 'NAME', type: 'string' },
  uriTime: { name: 'HEADER_URI_TIME', status: 'NAME', type: 'u32' },
  // URL, not URI: spelled as published.
  urlCheckTime: { name: 'HEADER_URL_CHECKTIME', status: 'NAME', type: 'u32' },
  uriLength: { name: 'HEADER_URI_LEN', status: 'NAME', type: 'u32' },
  authorization: { name: 'HEADER_AUTHORIZATION', status: 'OURS', type: 'string' },
  contentLength: { name: 'HEADER_CONTENT_LENGTH', status: 'OURS', type: 'u32' },
  // An extension of this kit: in a link request it asks for the number of the published data, in the reply it
  // is that number.
  generation: { name: 'HEADER_GENERATION', status: 'OURS', type: 'u32' },
} as const satisfies Record<string, HeaderEntry>;

export type HeaderName = keyof typeof HEADERS;

/** The beginning of every start line, and the version after it (S-1, S-28). */
export const VERSION_PREFIX = 'SSTP/';
export const VERSION = { major: 1, minor: 0 } as const;

/** S-15 */
export const DEFAULT_REFERENCES_PORT = 3324;
export const DEFAULT_DISPATCHER_PORT = 3320;

/** the ordinal of the first result. */
export const START_RESULTS_BASE = 0;

/** S-10, S-34 */
export const MAX_U32 = 0xffff_ffff;

const BY_NUMBER: ReadonlyMap<number, CodeEntry> = new Map(
  Object.values(CODES).map((entry): [number, CodeEntry] => [entry.number, entry]),
);

const BY_SPELLING: ReadonlyMap<string, CodeEntry> = new Map(
  Object.values(CODES).flatMap((entry: CodeEntry): [string, CodeEntry][] =>
    [entry.symbol, ...(entry.alias === undefined ? [] : [entry.alias])].map((name) => [name, entry]),
  ),
);

/** The entry of a number; `undefined` if it is not registered. */
export function codeEntry(number: number): CodeEntry | undefined {
  return BY_NUMBER.get(number);
}

/** The entry of a published spelling; request 008 has two (P-22). */
export function codeBySymbol(symbol: string): CodeEntry | undefined {
  return BY_SPELLING.get(symbol);
}
