// Typed and checked replies: links and descriptions of documents.
import { threeDigits } from '../ascii.js';
import { PeerError } from '../errors.js';
import { numberHeader, parseU32, singleHeader, sstpError } from './header-values.js';
import { IdListMessage, type SstpHeader, type SstpMessage } from './message.js';
import { CODES, codeEntry, HEADERS, MAX_U32, START_RESULTS_BASE } from './registry.js';

/** The reply to a link request. `ids` is empty for both forms of an empty result (S-41). */
export interface LinkReply {
  /** The total number of results. */
  readonly found: number;
  /** Position of the first of {@link ids}, from 0. */
  readonly start: number;
  /** In the server's order (S-21). */
  readonly ids: Uint32Array;
  /** false when the server does not know the document or site. */
  readonly known: boolean;
  /**
   * The number of the server's data, if it was requested and the server knows `HEADER_GENERATION`. Equal
   * numbers mean equal data.
   */
  readonly generation?: number | undefined;
}

/** The description of a document; times are seconds since 1970 UTC, 0 when unknown. */
export interface UrlDescription {
  readonly id: number;
  readonly serverId: number;
  /** URL scheme in lower case. */
  readonly protocol: string;
  readonly host: string;
  /** 1..65535 */
  readonly port: number;
  /** Path and query, begins with `/`. */
  readonly uri: string;
  readonly time: number;
  readonly checkTime: number;
  /** Bytes; 0 when unknown. */
  readonly length: number;
}

/**
 * Parses the reply to a link request.
 * @throws PeerError when the server refused (S-42); ProtocolError rule R-24, S-33 or S-34
 */
export function parseLinkReply(message: SstpMessage, requestCode: number): LinkReply {
  if (isNotFound(message, requestCode)) {
    const nothing = { found: 0, start: START_RESULTS_BASE, ids: new Uint32Array(0), known: false };
    return { ...nothing, generation: numberHeader(message.headers, HEADERS.generation.name) };
  }
  const { others, ids } = idsOf(message);
  const number = (name: string) => numberHeader(others, name);
  const found = number(HEADERS.numFound.name);
  if (found === undefined) throw sstpError('R-24', `${HEADERS.numFound.name} is missing`);
  const returned = number(HEADERS.numResults.name);
  if (returned !== undefined && returned !== ids.length)
    throw sstpError('R-24', `${HEADERS.numResults.name} is ${returned} where ${ids.length} IDs are given`);
  if (ids.length > found) throw sstpError('R-24', 'more IDs than were found');
  if (ids.includes(0)) throw sstpError('R-24', `${HEADERS.uriId.name} is 0, which is no ID`);
  const start = number(HEADERS.startResults.name) ?? START_RESULTS_BASE;
  const generation = number(HEADERS.generation.name);
  return { found, start: Math.max(0, start - START_RESULTS_BASE), ids, known: true, generation };
}

/**
 * Parses the reply to request 008; `undefined` when the URL is not known. @throws as
 * {@link parseLinkReply}
 */
export function parseUrlDescription(message: SstpMessage): UrlDescription | undefined {
  if (isNotFound(message, CODES.urlByName.number)) return undefined;
  const text = (name: string) => {
    const value = singleHeader(message.headers, name);
    if (value === undefined) throw sstpError('R-33', `${name} is missing`);
    return value;
  };
  const number = (name: string) => parseU32(text(name), name);
  const port = number(HEADERS.serverPort.name);
  if (port < 1 || port > 65_535) throw sstpError('R-33', `${HEADERS.serverPort.name} is not a port`);
  return {
    id: number(HEADERS.uriId.name),
    serverId: number(HEADERS.serverId.name),
    protocol: text(HEADERS.serverProtocol.name),
    host: text(HEADERS.serverName.name),
    port,
    uri: text(HEADERS.uri.name),
    time: number(HEADERS.uriTime.name),
    checkTime: number(HEADERS.urlCheckTime.name),
    length: number(HEADERS.uriLength.name),
  };
}

/**
 * the headers of a description, in the order of the specification. A number beyond a u32 is sent as
 * unknown (S-34).
 */
export function descriptionHeaders(described: UrlDescription): SstpHeader[] {
  return [
    [HEADERS.uriId.name, String(described.id)],
    [HEADERS.serverId.name, String(described.serverId)],
    [HEADERS.serverProtocol.name, described.protocol],
    [HEADERS.serverName.name, described.host],
    [HEADERS.serverPort.name, String(described.port)],
    [HEADERS.uri.name, described.uri],
    [HEADERS.uriTime.name, numberOrUnknown(described.time)],
    [HEADERS.urlCheckTime.name, numberOrUnknown(described.checkTime)],
    [HEADERS.uriLength.name, numberOrUnknown(described.length)],
  ];
}

function numberOrUnknown(value: number): string {
  return String(value <= MAX_U32 ? value : 0);
}

/**
 * Whether the reply says that nothing was found (S-41).
 * @throws PeerError for any code that is neither the request's code nor 404 (S-42)
 */
export function isNotFound({ code }: SstpMessage, requestCode: number): boolean {
  if (code === CODES.notFound.number) return true;
  if (code === requestCode) return false;
  throw replyError(code);
}

/** Turns an error reply of the server into an error; its `status` is the reply's code (S-42). */
export function replyError(code: number): PeerError {
  const phrase = codeEntry(code)?.symbol.toLowerCase() ?? 'an unexpected code';
  return new PeerError(`the server answered ${threeDigits(code)}: ${phrase}`, code);
}

function idsOf(message: SstpMessage): { readonly others: readonly SstpHeader[]; readonly ids: Uint32Array } {
  const name = HEADERS.uriId.name;
  if (message instanceof IdListMessage && !message.others.some(([key]) => key === name))
    return { others: message.others, ids: message.ids };
  const texts = message.headers.filter(([key]) => key === name);
  const ids = Uint32Array.from(texts, ([, value]) => parseU32(value, name));
  return { others: message.headers.filter(([key]) => key !== name), ids };
}
