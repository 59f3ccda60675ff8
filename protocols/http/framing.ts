// Determines body length (RFC 9112 6.3), even from malformed headers, and whether there is a head.
import { CR, isBlank, LF, trimBlanks } from '../ascii.js';
import type { HttpHead } from './events.js';
import type { Deviation, HttpField } from './head.js';

/** Where a body ends. */
export type Framing =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'length';
      readonly length: number;
      /** Whether the header names this length alone. Otherwise the end of the connection ends the body, too. */
      readonly isCertain: boolean;
    }
  | { readonly kind: 'close' }
  | {
      readonly kind: 'chunked';
      /** The framing if the body does not begin with the size of a chunk. */
      readonly otherwise: Framing;
    };

/** Transfer codings that a fetcher can undo (RFC 9112 7.2). */
const CODINGS: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br']);

/**
 * Finds the framing of a body by status and header (RFC 9112 6.3).
 *
 * Transfer-Encoding is stronger than Content-Length (rule 3). Of several Content-Lengths the largest is used,
 * and the end of the connection ends the body as well; one that is not a number, or above 2^53, is ignored, so
 * that the body ends with the connection (rule 8). RFC 9112 has such a message dropped (rule 5), because the
 * connection could deliver the rest as the next response: the caller closes it after a deviation.
 */
export function bodyFraming(
  status: number,
  fields: readonly HttpField[],
  note: (deviation: Deviation) => void,
): { readonly framing: Framing; readonly transferCodings: readonly string[] } {
  const lengths = listOf(fields, 'content-length');
  const sent = listOf(fields, 'transfer-encoding');
  const codings = sent.map((coding) =>
    trimBlanks(coding.split(';', 1)[0]!)
      .replace(/^"(.*)"$/, '$1')
      .toLowerCase(),
  );
  const isWithoutBody = (status >= 100 && status < 200) || status === 204 || status === 304;
  if (isWithoutBody) return { framing: { kind: 'none' }, transferCodings: [] };
  const named = codings.filter((coding) => coding !== '' && coding !== 'identity');
  const transferCodings = named.filter((coding) => CODINGS.has(coding));
  const isChunked = named.includes('chunked');
  const isByRule =
    sent.every((coding) => !coding.startsWith('"')) &&
    (codings.length === 0 || (named.length === transferCodings.length + 1 && named.at(-1) === 'chunked'));
  if (!isByRule || (named.length > 0 && lengths.length > 0)) note('transfer-encoding');
  if (isChunked) {
    const otherwise = lengthFraming(lengths, () => undefined);
    return { framing: { kind: 'chunked', otherwise }, transferCodings };
  }
  if (transferCodings.length > 0) return { framing: { kind: 'close' }, transferCodings };
  return { framing: lengthFraming(lengths, note), transferCodings };
}

function lengthFraming(values: readonly string[], note: (deviation: Deviation) => void): Framing {
  const possible = values.flatMap((value) => lengthOf(value) ?? []);
  const isByRule = values.length <= 1 && values.every((value) => /^\d+$/.test(value));
  if (!isByRule || possible.length < values.length) note('content-length');
  if (possible.length === 0) return { kind: 'close' };
  // Not Math.max(...): a header may have any number of them.
  const length = possible.reduce((a, b) => Math.max(a, b));
  const isCertain = possible.length === values.length && possible.every((other) => other === length);
  return { kind: 'length', length, isCertain };
}

/** Reads a length; a sign and quotes leave no doubt about the number. Undefined for anything else. */
function lengthOf(value: string): number | undefined {
  const digits = /^(?:\+?(\d+)|"(\d+)")$/.exec(value);
  const length = Number(digits?.[1] ?? digits?.[2]);
  return Number.isSafeInteger(length) ? length : undefined;
}

/** The members of all fields of a name; an empty member is one. */
function listOf(fields: readonly HttpField[], name: string): string[] {
  const members: string[] = [];
  for (const field of fields) {
    if (field.name.length !== name.length || field.name.toLowerCase() !== name) continue;
    for (const member of field.value.split(',')) members.push(trimBlanks(member));
  }
  return members;
}

/**
 * Whether the header lets the connection carry another response (RFC 9112 9.3). One that announces a body where
 * none may be does not: some servers send it.
 */
export function isPersistent({
  version,
  status,
  fields,
}: Pick<HttpHead, 'version' | 'status' | 'fields'>): boolean {
  const options = listOf(fields, 'connection').map((option) => option.toLowerCase());
  if (options.includes('close')) return false;
  if (version !== '1.1' && (version !== '1.0' || !options.includes('keep-alive'))) return false;
  const isChunked = listOf(fields, 'transfer-encoding').length > 0;
  if (version === '1.0' && isChunked) return false;
  if (status !== 204 && status !== 304) return true;
  return !isChunked && listOf(fields, 'content-length').every((length) => /^0*$/.test(length));
}

/** Blanks and line ends before a status line that are skipped. */
const MAX_BLANK_BYTES = 64;
/**
 * Other bytes before it that are skipped, as in browsers: the rest of a byte order mark or of an earlier body.
 */
const MAX_JUNK_BYTES = 4;

const LESS_THAN = 0x3c;

/** What the first bytes of a response show; `more`: not enough bytes yet. */
type ResponseStart = 'more' | 'head' | 'body' | 'tls' | 'greeting';

/** What servers of SSH, FTP, SMTP, NNTP, POP3, IMAP and VNC say first: not a page of HTTP/0.9. */
const GREETING = /^(?:\d{3}[ -]|SSH-|\+OK|\* OK|RFB )/;
/** Its beginning. */
const GREETING_BEGIN = /^(?:\d{1,3}|S|SS|SSH|\+|\+O|\*|\* |\* O|R|RF|RFB)$/;

/**
 * Recognizes a response by its first bytes. Without `HTTP/` or `ICY` near the beginning it is the body of
 * HTTP/0.9.
 */
export function recognizeStart(bytes: Uint8Array): ResponseStart {
  // A TLS alert: the port is that of https.
  if (bytes[0] === 0x15 && (bytes.length < 2 || bytes[1] === 0x03)) return bytes.length < 2 ? 'more' : 'tls';
  const text = String.fromCharCode(...bytes.subarray(0, 4));
  if (GREETING.test(text)) return 'greeting';
  if (GREETING_BEGIN.test(text)) return 'more';
  let start = 0;
  while (start < Math.min(bytes.length, MAX_BLANK_BYTES) && isBlankOrEnd(bytes[start]!)) start++;
  if (start === bytes.length) return 'more';
  let isOpen = false;
  for (let junk = 0; junk <= MAX_JUNK_BYTES; junk++) {
    const found = beginsHead(bytes, start + junk, junk === 0);
    if (found === 'head') return 'head';
    isOpen ||= found === 'more';
    // A page may mention HTTP near its beginning, as text or in its second line.
    const byte = bytes[start + junk];
    if (byte === LESS_THAN || byte === CR || byte === LF) break;
  }
  return isOpen ? 'more' : 'body';
}

function isBlankOrEnd(byte: number): boolean {
  return isBlank(byte) || byte === CR || byte === LF;
}

/** Compares the bytes with the beginnings of a status line, as far as they have arrived. */
function beginsHead(bytes: Uint8Array, from: number, isFirst: boolean): 'head' | 'more' | 'other' {
  const text = String.fromCharCode(...bytes.subarray(from, from + 6)).toUpperCase();
  if (/^HTTP(?:\/|[ \t]\d)/.test(text) || (isFirst && /^ICY[ \t]/.test(text))) return 'head';
  const isBeginning =
    'HTTP'.startsWith(text) || /^HTTP[ \t]$/.test(text) || (isFirst && 'ICY'.startsWith(text));
  return isBeginning ? 'more' : 'other';
}
