// Writes SSTP messages.
import { threeDigits } from '../ascii.js';
import type { SstpHeader, SstpMessage } from './message.js';
import { codeEntry, HEADERS, VERSION, VERSION_PREFIX } from './registry.js';

/** A header name (6.2). */
const NAME = /^[A-Za-z0-9_]+$/;
/**
 * Characters that a value must not have (S-36), or must not begin or end with, because the receiver strips them
 * (S-31).
 */
const BAD_VALUE = /[\0-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$/;

/** The start line of a code without its line end (S-28). A code that is not registered has no symbol. */
export function formatStartLine(code: number): string {
  const symbol = codeEntry(code)?.symbol;
  const phrase = symbol === undefined ? '' : ` ${symbol}`;
  return `${VERSION_PREFIX}${VERSION.major}.${VERSION.minor} ${threeDigits(code)}${phrase}`;
}

/**
 * Formats a message without a body as text: ASCII, except for values that are not.
 * @throws RangeError for a code that is not 0 to 999; TypeError for a header name or value that cannot be sent
 */
export function formatHead({ code, headers }: Pick<SstpMessage, 'code' | 'headers'>): string {
  if (!Number.isInteger(code) || code < 0 || code > 999) throw new RangeError(`not an SSTP code: ${code}`);
  let text = `${formatStartLine(code)}\r\n`;
  for (const [name, value] of headers) {
    if (!NAME.test(name)) throw new TypeError(`not an SSTP header name: ${JSON.stringify(name)}`);
    if (BAD_VALUE.test(value)) throw new TypeError(`${name} cannot be sent: ${JSON.stringify(value)}`);
    text += `${name.toUpperCase()}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}

/**
 * Encodes a message (S-28, S-30, S-31). The length of a body is added when the headers do not have it (S-37).
 * @throws as {@link formatHead}; TypeError when the given length is not the body's
 */
export function encodeSstp(message: SstpMessage): Uint8Array {
  const { code, headers, body } = message;
  const head = Buffer.from(formatHead({ code, headers: withLength(headers, body.length) }), 'utf8');
  return body.length === 0 ? head : Buffer.concat([head, body]);
}

function withLength(headers: readonly SstpHeader[], length: number): readonly SstpHeader[] {
  const given = headers.filter(([name]) => name.toUpperCase() === HEADERS.contentLength.name);
  if (given.length === 0)
    return length === 0 ? headers : [...headers, [HEADERS.contentLength.name, String(length)]];
  if (given.length === 1 && given[0]?.[1] === String(length)) return headers;
  throw new TypeError(`${HEADERS.contentLength.name} is not the length of the body, ${length}`);
}
