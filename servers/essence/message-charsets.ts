// Mail and news in other character sets than those that they declare. The parser reads undeclared text as UTF-8
// and knows only the character sets of browsers, so header fields and texts that it would misread are converted
// to UTF-8 before it reads them (E-77).
import { isAscii, isUtf8 } from 'node:buffer';
import { bufferOf } from './bytes.js';
import { decodeBytes } from './charset/decode.js';
import { labelOf } from './charset/decoders.js';

/** Fields that say how a part is read. */
interface PartHead {
  /** Media type; `text/plain` if it is not declared. */
  readonly type: string;
  readonly charset: string | undefined;
  readonly encoding: string;
  readonly attached: boolean;
  readonly boundary: string | undefined;
}

/**
 * Returns a message whose header fields and texts are UTF-8 or in a declared character set that every reader
 * knows; the same bytes if they are that already. Attached files stay as they are.
 */
export function withReadableCharsets(bytes: Uint8Array): Uint8Array {
  const message = bufferOf(bytes);
  const pieces: Uint8Array[] = [];
  const boundaries = new Set<string>();
  let changed = false;
  let likely: string[] = [];
  for (let start = 0; start < message.length; ) {
    const bodyStart = endOfHead(message, start);
    const raw = message.subarray(start, bodyStart);
    const head = parseHead(raw);
    if (head.boundary !== undefined) boundaries.add(head.boundary);
    const declared = head.charset === undefined ? undefined : labelOf(head.charset);
    if (declared !== undefined) likely = [declared];
    const isMessage = head.type === 'message/rfc822' && !/base64|quoted/.test(head.encoding);
    const bodyEnd = isMessage ? bodyStart : nextBoundary(message, bodyStart, boundaries);
    const body = message.subarray(bodyStart, bodyEnd);
    const text =
      head.attached || !head.type.startsWith('text/') ? undefined : rewrittenText(body, head, likely);
    // What a text is in, its header is in too.
    const readable = readableHead(raw, text === undefined ? likely : [...likely, ...text.likely]);
    if (readable !== raw || text !== undefined) changed = true;
    pieces.push(text === undefined ? readable : declaredUtf8(readable), text?.bytes ?? body);
    start = bodyEnd;
    if (start >= message.length || isMessage) continue;
    const line = endOfLine(message, start);
    pieces.push(message.subarray(start, line));
    const closing = message.toString('latin1', start, line).trimEnd().endsWith('--');
    // What follows the last part is no part.
    const next = closing ? nextBoundary(message, line, boundaries) : line;
    pieces.push(message.subarray(line, next));
    start = next;
    if (closing && next < message.length) {
      const end = endOfLine(message, next);
      pieces.push(message.subarray(next, end));
      start = end;
    }
  }
  return changed ? Buffer.concat(pieces) : bytes;
}

/** The offset after the blank line that ends a header. */
function endOfHead(message: Buffer, start: number): number {
  for (let line = start; line < message.length; ) {
    const next = endOfLine(message, line);
    if (next - line === 1 || (next - line === 2 && message[line] === 0x0d)) return next;
    line = next;
  }
  return message.length;
}

function endOfLine(message: Buffer, start: number): number {
  const end = message.indexOf(0x0a, start);
  return end < 0 ? message.length : end + 1;
}

/** The offset of the next line that begins or ends a part; the end of the message after the last one. */
function nextBoundary(message: Buffer, start: number, boundaries: ReadonlySet<string>): number {
  if (boundaries.size === 0) return message.length;
  for (let at = start; at >= 0 && at < message.length; ) {
    if (message[at] === 0x2d && message[at + 1] === 0x2d) {
      const line = message.toString('latin1', at + 2, Math.min(endOfLine(message, at), at + 1000)).trimEnd();
      if (boundaries.has(line) || (line.endsWith('--') && boundaries.has(line.slice(0, -2)))) return at;
    }
    const next = message.indexOf('\n--', at, 'latin1');
    if (next < 0) break;
    at = next + 1;
  }
  return message.length;
}

function parseHead(raw: Buffer): PartHead {
  const text = raw.toString('latin1').replace(/\r?\n[ \t]+/g, ' ');
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(text)?.[1] ?? '';
  const contentType = field('content-type');
  const parameter = (name: string) => {
    const found = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^\\s;"]+))`, 'i').exec(contentType);
    return found?.[1] ?? found?.[2];
  };
  const type = /^[\w.+-]+\/[\w.+-]+/.exec(contentType)?.[0].toLowerCase() ?? 'text/plain';
  return {
    type,
    charset: parameter('charset'),
    encoding: field('content-transfer-encoding').trim().toLowerCase(),
    attached: /^\s*attachment/i.test(field('content-disposition')),
    boundary: type.startsWith('multipart/') ? parameter('boundary')?.trimEnd() : undefined,
  };
}

/** The text of a part as UTF-8, if the parser would misread it. */
function rewrittenText(
  body: Buffer,
  head: PartHead,
  likely: readonly string[],
): { readonly bytes: Uint8Array; readonly likely: readonly string[] } | undefined {
  const declared = head.charset === undefined ? undefined : labelOf(head.charset);
  const content = transferDecoded(body, head.encoding);
  if (declared === undefined || declared === 'utf-8') {
    if (isUtf8(content) && !isSwitching(content)) return undefined;
  } else if (!MISREAD.test(declared)) return undefined;
  const text = decodeBytes(content, {
    html: head.type === 'text/html',
    declared,
    likely,
  });
  return { bytes: Buffer.from(text), likely: declared === undefined ? [] : [declared] };
}

/** Character sets that the parser does not decode, or not rightly. */
const MISREAD = /^(?:ibm(?!866)|x-mac-(?!cyrillic)|iso-8859-16|utf-32|hz-|iso-2022-(?:kr|cn)|windows-1252)/;

/** Whether bytes of seven bits switch to another character set. */
function isSwitching(bytes: Uint8Array): boolean {
  if (!isAscii(bytes)) return false;
  const buffer = bufferOf(bytes);
  return buffer.includes('\x1b$') || buffer.includes('~{');
}

function transferDecoded(body: Buffer, encoding: string): Uint8Array {
  if (encoding.includes('base64')) return Buffer.from(body.toString('latin1'), 'base64');
  if (!encoding.includes('quoted-printable')) return body;
  return Buffer.from(
    body
      .toString('latin1')
      .replace(/=[ \t]*\r?\n/g, '')
      .replace(/=([0-9A-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    'latin1',
  );
}

/** A header in UTF-8. */
function readableHead(raw: Buffer, likely: readonly string[]): Buffer {
  if (isUtf8(raw) && !isSwitching(raw)) return raw;
  return Buffer.from(decodeBytes(raw, { html: false, likely }));
}

/** A header that declares UTF-8, without transfer encoding. */
function declaredUtf8(head: Buffer): Buffer {
  const text = head.toString('utf8').replace(/\r?\n[ \t]+/g, ' ');
  const declared = /^content-type:[^\r\n]*/im.exec(text)?.[0] ?? 'Content-Type: text/plain';
  const type = declared.replace(/;\s*charset\s*=\s*(?:"[^"]*"|[^\s;]*)/gi, '').trimEnd();
  const fields = text
    .split(/\r?\n/)
    .filter((line) => line !== '' && !/^content-(?:type|transfer-encoding):/i.test(line));
  return Buffer.from(
    [...fields, `${type}; charset=utf-8`, 'Content-Transfer-Encoding: 8bit', '', ''].join('\r\n'),
  );
}

// A mail or news message within limits that do not depend on its size: an address or a part of a few bytes
// costs the parser kilobytes (E-45).

/** Maximum number of bytes of one header field. */
const MAX_FIELD_BYTES = 16 * 1024;
/** Maximum number of boundaries of one message: the parser's time grows faster than the number of parts. */
const MAX_BOUNDARIES = 2000;
/** Maximum number of bytes of a boundary that are compared; RFC 2046 allows 70. */
const MAX_BOUNDARY_BYTES = 1000;
const LINE_END = new Uint8Array([0x0a]);

/** The start of a message, and what it contains. */
interface BoundedMessage {
  readonly bytes: Uint8Array;
  /** Bytes of the header. */
  readonly headerBytes: number;
  /** Lines that begin or end a part. */
  readonly boundaries: number;
  /** What was left out, as a sentence for a warning; undefined if nothing. */
  readonly problem?: string;
}

/**
 * Cuts header fields at {@link MAX_FIELD_BYTES}, and the message at {@link MAX_BOUNDARIES} boundaries (E-45).
 */
export function boundedMessage(bytes: Uint8Array): BoundedMessage {
  const message = bufferOf(bytes);
  const { kept, end, shortened } = boundedHeader(message);
  const { boundaries, stop } = boundedBody(message, end);
  const problems = [
    ...(shortened ? [`header fields beyond ${MAX_FIELD_BYTES} bytes`] : []),
    ...(stop < message.length ? [`parts beyond the first ${MAX_BOUNDARIES} boundaries`] : []),
  ];
  const headerBytes = kept.reduce((sum, part) => sum + part.length, 0);
  if (problems.length === 0) return { bytes, headerBytes, boundaries };
  return {
    bytes: Buffer.concat([...kept, message.subarray(end, stop)]),
    headerBytes,
    boundaries,
    problem: `${problems.join(' and ')} left out (E-45)`,
  };
}

/**
 * Returns the lines of the header, each field within its limit, and the offset of the blank line after them.
 */
function boundedHeader(message: Buffer): { kept: Uint8Array[]; end: number; shortened: boolean } {
  const kept: Uint8Array[] = [];
  let field = 0;
  let shortened = false;
  let offset = 0;
  while (offset < message.length) {
    const first = message[offset];
    if (first === 0x0a || (first === 0x0d && message[offset + 1] === 0x0a)) break;
    const next = nextLine(message, offset);
    if (first !== 0x20 && first !== 0x09) field = 0;
    const length = Math.min(next - offset, MAX_FIELD_BYTES - field);
    if (length > 0) kept.push(message.subarray(offset, offset + length));
    if (length < next - offset) {
      if (length > 0) kept.push(LINE_END);
      shortened = true;
    }
    field += length;
    offset = next;
  }
  return { kept, end: offset, shortened };
}

/** Counts the boundaries after the header, and returns the offset of the first one beyond the limit. */
function boundedBody(message: Buffer, start: number): { boundaries: number; stop: number } {
  let known: ReadonlySet<string> | 'any' | undefined;
  let boundaries = 0;
  for (let offset = start; offset < message.length; offset = nextLine(message, offset)) {
    if (message[offset] !== 0x2d || message[offset + 1] !== 0x2d) continue;
    known ??= declaredBoundaries(message);
    if (known !== 'any' && !known.has(boundaryOf(message, offset))) continue;
    if (++boundaries > MAX_BOUNDARIES) return { boundaries: MAX_BOUNDARIES, stop: offset };
  }
  return { boundaries, stop: message.length };
}

function nextLine(message: Buffer, offset: number): number {
  const end = message.indexOf(0x0a, offset);
  return end < 0 ? message.length : end + 1;
}

/** The boundary of a line `--boundary` or `--boundary--`. */
function boundaryOf(message: Buffer, offset: number): string {
  const end = Math.min(nextLine(message, offset), offset + 2 + MAX_BOUNDARY_BYTES);
  return message
    .toString('latin1', offset + 2, end)
    .trimEnd()
    .replace(/--$/, '');
}

/** The boundaries that any part declares; `any` if one is written in a way that only the parser understands. */
function declaredBoundaries(message: Buffer): ReadonlySet<string> | 'any' {
  const found = new Set<string>();
  for (const [, mark, quoted, word] of message
    .toString('latin1')
    .matchAll(/\bboundary(\*)?[^\s=]{0,9}\s*=\s*(?:"([^"\r\n]{0,1000})|([^\s;"]{0,1000}))/gi)) {
    const value = quoted ?? word ?? '';
    if (mark !== undefined || /[\\()]/.test(value)) return 'any';
    found.add(value.trimEnd().replace(/--$/, ''));
  }
  return found;
}
