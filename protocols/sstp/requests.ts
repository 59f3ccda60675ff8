// Typed and checked requests: links and descriptions of documents.
import { canonicalDocumentUrl, formatServerName, serverNameOf } from '../urls/server-name.js';
import { parseU32, singleHeader, sstpError } from './header-values.js';
import type { SstpHeader, SstpMessage } from './message.js';
import { CODES, codeEntry, HEADERS, MAX_U32, START_RESULTS_BASE } from './registry.js';

/** The four link requests: of a document, and of a site. */
export type LinkKind = 'references' | 'referers' | 'site-references' | 'site-referers';

/** A link request, read and checked. */
export interface LinkRequest {
  readonly kind: LinkKind;
  /**
   * ID of the document, of the server in a site request; 0 when the request gives {@link name} instead (S-35).
   */
  readonly id: number;
  /**
   * The document's canonical URL, or the server's `host:port` in a site request; '' when {@link id} is given
   * (R-22).
   */
  readonly name: string;
  /** Position of the first requested result, from 0. */
  readonly start: number;
  /** Number of requested results; `undefined`: as many as the server sends in one reply. */
  readonly count: number | undefined;
  /** The request has `HEADER_GENERATION`, so the reply has it, too. */
  readonly generation?: true;
}

/** Request 008: the description of a document. */
export interface UrlByNameRequest {
  readonly kind: 'url-by-name';
  /** Canonical. */
  readonly url: string;
}

/** A well-formed request with a code that a References Server does not serve; the reply is 501. */
export interface UnservedRequest {
  readonly kind: 'unserved';
  readonly code: number;
}

export type SstpRequest = LinkRequest | UrlByNameRequest | UnservedRequest;

/** S-38: octets of a URL. */
export const MAX_URL_BYTES = 4096;

const CODE_OF_KIND: Readonly<Record<LinkKind, number>> = {
  references: CODES.references.number,
  referers: CODES.referers.number,
  'site-references': CODES.siteReferences.number,
  'site-referers': CODES.siteReferers.number,
};

const KIND_OF_CODE: ReadonlyMap<number, LinkKind> = new Map(
  Object.entries(CODE_OF_KIND).map(([kind, code]) => [code, kind as LinkKind]),
);

/** The code of a kind of link request. */
export function codeOfKind(kind: LinkKind): number {
  return CODE_OF_KIND[kind];
}

/** The kind of link request of a code. */
export function kindOfCode(code: number): LinkKind | undefined {
  return KIND_OF_CODE.get(code);
}

/** Whether the request is about a site, not a document. */
export function isSiteKind(kind: LinkKind): boolean {
  return kind === 'site-references' || kind === 'site-referers';
}

/**
 * Parses a request. Headers that are not parameters of this kind of request are ignored (S-33, R-34, R-37).
 * @throws ProtocolError (the reply is 400) rule S-33, S-34, S-37, S-38, R-21, R-23, R-33 or R-41
 */
export function parseRequest(message: SstpMessage): SstpRequest {
  const { code, headers, body } = message;
  if (body.length > 0 && codeEntry(code)?.bodyless === true)
    throw sstpError('S-37', 'a request of this code has no body');
  const kind = kindOfCode(code);
  if (kind !== undefined) return parseLinkRequest(kind, headers);
  if (code !== CODES.urlByName.number) return { kind: 'unserved', code };
  const url = singleHeader(headers, HEADERS.url.name);
  if (url === undefined) throw sstpError('R-33', `${HEADERS.url.name} is missing`);
  return { kind: 'url-by-name', url: documentName(url) };
}

function parseLinkRequest(kind: LinkKind, headers: readonly SstpHeader[]): LinkRequest {
  const site = isSiteKind(kind);
  const idHeader = site ? HEADERS.serverId.name : HEADERS.uriId.name;
  const idText = singleHeader(headers, idHeader);
  const url = singleHeader(headers, HEADERS.url.name);
  const startText = singleHeader(headers, HEADERS.startResults.name);
  const countText = singleHeader(headers, HEADERS.numResults.name);
  const id = idText === undefined ? 0 : parseU32(idText, idHeader);
  const start = startText === undefined ? START_RESULTS_BASE : parseU32(startText, HEADERS.startResults.name);
  const count = countText === undefined ? undefined : parseU32(countText, HEADERS.numResults.name);
  const generationText = singleHeader(headers, HEADERS.generation.name);
  if (generationText !== undefined) parseU32(generationText, HEADERS.generation.name);
  // with an ID, the URL is ignored; S-35: 0 is not an ID.
  if (id === 0 && url === undefined)
    throw sstpError('R-21', `neither ${idHeader} nor ${HEADERS.url.name} is given`);
  const name = id !== 0 || url === undefined ? '' : requestedName(kind, url);
  const request = { kind, id, name, start: Math.max(0, start - START_RESULTS_BASE), count };
  return generationText === undefined ? request : { ...request, generation: true };
}

/**
 * The name in the URL of a link request: the canonical URL of a document, or a site's `host:port`
 * (R-40).
 * @throws ProtocolError rule S-38, R-23, R-39 or R-41
 */
export function requestedName(kind: LinkKind, url: string): string {
  return isSiteKind(kind) ? formatServerName(serverNameOf(checkLength(url))) : documentName(url);
}

function documentName(url: string): string {
  return canonicalDocumentUrl(checkLength(url));
}

/** S-38: refuses a URL that is too long. */
function checkLength(url: string): string {
  if (url.length > MAX_URL_BYTES || Buffer.byteLength(url) > MAX_URL_BYTES)
    throw sstpError('S-38', `a URL of more than ${MAX_URL_BYTES} octets`);
  return url;
}

/**
 * The fields of a link request to send: an ID (1..4294967295) or a URL, and the requested part of the result.
 */
export interface LinkRequestFields {
  readonly kind: LinkKind;
  /** Has priority over {@link url}. */
  readonly id?: number | undefined;
  /** A document's URL; in a site request any URL of the site, or `HOST[:PORT]`. Sent by {@link sentUrl}. */
  readonly url?: string | undefined;
  /** Position of the first requested result. Default 0. */
  readonly start?: number | undefined;
  /** Default: as many as the server sends in one reply. 0 requests only the total. */
  readonly count?: number | undefined;
  /**
   * Requests the number of the data: that of an earlier reply, or 0. Servers that do not know the header ignore
   * it (S-33).
   */
  readonly generation?: number | undefined;
}

/**
 * Writes a URL in visible ASCII (S-36), of which a server makes the same canonical form: blanks and controls
 * at the ends, tabs and line ends go; what else is not visible ASCII is percent-encoded. The rest is unchanged.
 */
export function sentUrl(url: string): string {
  return url
    .replace(/^[\0- ]+|[\0- ]+$|[\t\r\n]/g, '')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[\0- \x7f]|[^\0-\x7f]+/g, encodeURIComponent);
}

/** Builds the message of a link request, its headers in the order of the first example of S6. */
export function linkRequestMessage(fields: LinkRequestFields): Omit<SstpMessage, 'body'> {
  const { kind, id, url, start, count, generation } = fields;
  const headers: SstpHeader[] = [];
  const idHeader = isSiteKind(kind) ? HEADERS.serverId.name : HEADERS.uriId.name;
  if (id !== undefined) headers.push([idHeader, String(id)]);
  else if (url !== undefined) headers.push([HEADERS.url.name, sentUrl(url)]);
  if (count !== undefined) headers.push([HEADERS.numResults.name, String(count)]);
  if (start !== undefined)
    headers.push([HEADERS.startResults.name, String(Math.min(MAX_U32, start + START_RESULTS_BASE))]);
  if (generation !== undefined) headers.push([HEADERS.generation.name, String(generation)]);
  return { code: codeOfKind(kind), headers };
}
