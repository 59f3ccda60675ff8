// Codes and lines of gatherd (GATHERD-1 and 3): parsing and encoding.
import { threeDigits } from '../ascii.js';

/** Numbers of status lines (GATHERD-3.1, 3.2, 3.3, 3.9). The specification's table has their sources. */
export const GATHERD_CODES = {
  /** `000 - HELLO <version> <hostname>`: greeting. */
  greeting: 0,
  /** `098`, in place of the greeting: all places are taken (GATHERD-3.14). */
  busy: 98,
  /** `099`: end of a Broker's bulk transfer; ends an update just like 499 (GATHERD-3.3). */
  bulkEnd: 99,
  hello: 100,
  help: 200,
  objectStart: 300,
  objectEnd: 399,
  updateStart: 400,
  updateEnd: 499,
  set: 500,
  info: 600,
  infoEnd: 699,
  error: 900,
  bye: 999,
} as const;

/** GATHERD-3.13: whether a number answers `SET`: one of its hundred, or a refusal. */
export function isSetAnswer(code: number): boolean {
  return (code >= GATHERD_CODES.set && code < GATHERD_CODES.info) || code >= GATHERD_CODES.error;
}

/** GATHERD-1.2: default port of a Gatherer. */
export const GATHERD_PORT = 8500;
/** GATHERD-3.5: the default version in the greeting. */
export const GATHERD_VERSION = '1.8';
/** GATHERD-2.4: bytes of the longest command line, without its terminator. */
export const MAX_LINE_BYTES = 8192;

/** A status line: GATHERD-1.6. */
export interface StatusLine {
  readonly code: number;
  readonly text: string;
}

/** Parses `NNN - text`; undefined for any other line, which a client ignores (GATHERD-1.7). */
export function parseStatusLine(line: string): StatusLine | undefined {
  const found = /^(\d{3}) -(?: (.*))?$/su.exec(line);
  return found === null ? undefined : { code: Number(found[1]), text: found[2] ?? '' };
}

/** Encodes `NNN - text` LF (GATHERD-1.5, 1.6). Line ends inside the text become blanks. */
export function encodeStatusLine(code: number, text: string): Uint8Array {
  return encodeStatusLines(code, [text]);
}

/** Encodes several status lines with the same number. */
export function encodeStatusLines(code: number, texts: readonly string[]): Uint8Array {
  const number = threeDigits(code);
  return encodeBytes(texts.map((text) => `${number} - ${text.replace(/[\r\n]+/g, ' ')}\n`).join(''));
}

/**
 * One character a byte, as lines are read: a line may repeat what the peer sent (GATHERD-5.1). Other text is
 * UTF-8.
 */
function encodeBytes(text: string): Uint8Array {
  return Buffer.from(text, /[^\0-\xff]/.test(text) ? 'utf8' : 'latin1');
}

/** GATHERD-3.14: what a client receives that a server has no place for, in place of the greeting. */
export const BUSY_LINE = encodeStatusLine(GATHERD_CODES.busy, 'Too many connections, try again later');

/** GATHERD-3.14: what an idle client receives that must make room for another. */
export const MAKE_ROOM_LINE = encodeStatusLine(GATHERD_CODES.bye, 'Too many connections, this one was idle');

/** Encodes one line with its LF. */
export function encodeLine(text: string): Uint8Array {
  return encodeBytes(`${text.replace(/[\r\n]+/g, ' ')}\n`);
}
