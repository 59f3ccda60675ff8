// Makes text of others safe for a terminal.
import { bytesOfUrl } from '../../../protocols/soif/url-bytes.js';
import {
  escapeJsonControls,
  redactLogins,
  replaceControls,
  replaceTextControls,
} from '../../../protocols/visible-text.js';

/**
 * Makes untrusted text safe for one line of a terminal: line ends, control characters and marks of writing
 * direction, which could move the cursor or reorder the output, become blanks.
 */
export function printable(text: string): string {
  return replaceControls(text, ' ');
}

/**
 * Encodes a value as JSON that is safe on a terminal: the controls that JSON allows in a string are written as
 * `\u009b`.
 */
export function printableJson(value: unknown): string {
  return escapeJsonControls(JSON.stringify(value));
}

/**
 * Writes one message of a program to standard error, as one line: text of others in it neither moves the cursor
 * nor begins a line.
 */
export function writeMessage(text: string): void {
  process.stderr.write(`${printable(redactLogins(text))}\n`);
}

/**
 * The bytes of a URL, which has one character a byte, for one line of an output: control characters of ASCII
 * become blanks. Bytes beyond ASCII stay as they are; `StandardOutput` makes them safe for a terminal.
 */
export function printableUrl(url: string): Uint8Array {
  return bytesOfUrl(url.replace(/[\0-\x1f\x7f]/g, ' '));
}

/** Makes each line of a message safe, without logins of URLs; the line ends stay. */
export function messageLines(text: string): string {
  return redactLogins(text).split('\n').map(printable).join('\n');
}

/**
 * Makes a stream of bytes visible on a terminal: UTF-8 text, tabs and line ends stay; control characters are
 * written as `^[` (escape) or `<U+009B>`, bytes that are not UTF-8 as U+FFFD. A terminal would obey some of
 * them: a document could change its title, its colors, or what its keys send.
 */
export class TerminalText {
  readonly #decoder = new TextDecoder();

  /** Returns the text of a piece; a character that its end cuts off comes with the next piece. */
  push(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true });
    return replaceTextControls(text.replace(/\r(?=\n|$)/g, ''), visible);
  }
}

/** The caret notation of ASCII control characters; the number of others. */
function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x80) return `^${String.fromCharCode(code ^ 0x40)}`;
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** Bytes as mebibytes with one decimal. */
export function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
