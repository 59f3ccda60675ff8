// Reads the head of an HTTP response as browsers and archiving crawlers do: what breaks the grammar is
// interpreted or ignored.
import { bufferOf, CR, isBlank, LF, trimBlanks, trimSpace } from '../ascii.js';
import { ProtocolError } from '../errors.js';

/** How a message deviates from RFC 9112. */
export type Deviation =
  /** A response without a head. */
  | 'http-0.9'
  /** Bytes before the status line (2.2). */
  | 'leading-bytes'
  /** The status line is not by the grammar (4). */
  | 'status-line'
  /** A line ends in LF without CR (2.2). */
  | 'bare-lf'
  /** A CR that does not end a line (2.2). */
  | 'bare-cr'
  /** NUL or another control character (RFC 9110 5.5). */
  | 'control'
  /** A field value in several lines (5.2), or a blank at the beginning of the first field (2.2). */
  | 'folded'
  /** A line without a colon; it is ignored. */
  | 'no-colon'
  /** A blank between the name of a field and its colon (5.1). */
  | 'blank-before-colon'
  /** A name that is not a token (RFC 9110 5.1); the field is ignored. */
  | 'field-name'
  /** The connection ended within the header or the trailer section (8). */
  | 'cut-header'
  /** Content-Length is repeated, contradicts itself, or is not a number (6.3 rule 5). */
  | 'content-length'
  /**
   * Transfer-Encoding is not by the grammar, is unknown, stands beside Content-Length, or the body does not
   * have it (6.1, 6.3 rule 3).
   */
  | 'transfer-encoding'
  /** The size of a chunk, or the line ends around it, are not by the grammar (7.1). */
  | 'chunk-size'
  /** The body ended before its announced end (8). */
  | 'cut-body';

/** A field of a header or a trailer section. */
export interface HttpField {
  /** As it was sent, in upper and lower case. */
  readonly name: string;
  /** Each byte is a character; in one line, without blanks at its ends, with SP for each control character. */
  readonly value: string;
}

/** A control character other than HT. */
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Parses a status line without white space at its ends: `HTTP/1.1 200 OK`. Without a number the status is 200, as in browsers; the version may be absent; `ICY 200 OK` is
 * accepted as well.
 * @param offset of the line, for the error
 * @throws ProtocolError for a status that is not 100 to 999
 */
export function parseStatusLine(
  line: string,
  offset: number,
  note: (deviation: Deviation) => void,
): { readonly version: string; readonly status: number; readonly reason: string } {
  const strict = /^HTTP\/(\d\.\d) ([1-9]\d\d)(?: (.*))?$/s.exec(line);
  if (strict !== null)
    return { version: strict[1]!, status: Number(strict[2]), reason: printable(strict[3] ?? '') };
  note('status-line');
  const text = printable(line);
  const start = text.search(/HTTP/i);
  const rest = start < 0 ? text.replace(/^\s*ICY/i, '') : text.slice(start + 4);
  const version =
    /^\s*\/\s*(\d{1,2}(?:\.\d{1,2})?)(?=[ \t]|$)/.exec(rest) ?? /^\s*\/\s*(\d\.\d|\d(?=\d{3}))/.exec(rest);
  const answer = (version === null ? rest : rest.slice(version[0].length)).replace(/^[\s/]+/, '');
  const number = /^\d+/.exec(answer)?.[0];
  const status = number === undefined ? 200 : Number(number);
  if (status < 100 || status > 999)
    throw new ProtocolError(`${JSON.stringify(answer.slice(0, 40))} is not a status`, {
      protocol: 'http',
      rule: 'RFC 9112 4',
      offset,
    });
  const reason = number === undefined ? answer : answer.slice(number.length);
  return { version: version?.[1] ?? '1.0', status, reason: trimBlanks(reason) };
}

/**
 * Parses the lines of a header or a trailer section. A folded value becomes one line (5.2); a blank before the colon is removed (5.1); a line
 * without a colon or with a name that is not a token is ignored, as is what continues it.
 * @param bytes lines with their line ends; the last line may lack it
 * @param note called for each deviation
 * @throws ProtocolError for more fields than `maxFields`
 */
export function parseFields(
  bytes: Uint8Array,
  { maxFields, offset }: { readonly maxFields: number; readonly offset: number },
  note: (deviation: Deviation) => void,
): HttpField[] {
  const fields: HttpField[] = [];
  // One text for all: a head has many short lines, and a view of each costs more than its bytes.
  const text = bufferOf(bytes).toString('latin1');
  const take = (start: number, end: number): void => {
    const colon = text.indexOf(':', start);
    if (colon < 0 || colon >= end) {
      note('no-colon');
      return;
    }
    const name = trimBlanks(text.slice(start, colon));
    if (!TOKEN.test(name)) {
      note('field-name');
      return;
    }
    if (name.length !== colon - start) note('blank-before-colon');
    if (fields.length === maxFields)
      throw new ProtocolError(`the header has more than ${maxFields} fields`, {
        protocol: 'http',
        rule: 'RFC 9110 5.4',
        offset: offset + start,
      });
    fields.push({ name, value: fieldValue(text.slice(colon + 1, end), note) });
  };
  let start = -1;
  for (let at = 0; at < text.length; ) {
    const lf = text.indexOf('\n', at);
    const end = lf < 0 ? text.length : lf + 1;
    if (lf >= 0 && text.charCodeAt(lf - 1) !== CR) note('bare-lf');
    if (isBlank(text.charCodeAt(at))) note('folded');
    else {
      if (start >= 0) take(start, at);
      start = isEmptyText(text, at, end) ? -1 : at;
    }
    at = end;
  }
  if (start >= 0) take(start, text.length);
  return fields;
}

/** Whether a part of a text has line ends alone. */
function isEmptyText(text: string, start: number, end: number): boolean {
  let at = start;
  while (at < end && isLineEnd(text.charCodeAt(at))) at++;
  return at === end;
}

/** Joins the lines of a value with a blank (5.2), and replaces control characters with blanks (RFC 9110 5.5). */
function fieldValue(text: string, note: (deviation: Deviation) => void): string {
  const whole = trimSpace(text);
  if (!CONTROL.test(whole)) return whole;
  const parts = text.split('\n').map((part) => {
    const line = trimSpace(part);
    if (!CONTROL.test(line)) return line;
    note(line.includes('\r') ? 'bare-cr' : 'control');
    return trimBlanks(printable(line));
  });
  return parts.filter((part) => part !== '').join(' ');
}

/** Whether a line has no other bytes than those of line ends. */
export function isEmptyLine(line: Uint8Array): boolean {
  return line.every(isLineEnd);
}

function isLineEnd(byte: number): boolean {
  return byte === CR || byte === LF;
}

function printable(text: string): string {
  return text.replace(/[\0-\x08\x0a-\x1f\x7f]/g, ' ');
}
