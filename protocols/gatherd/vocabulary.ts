// Codes, commands and status lines of gatherd (GATHERD-1 to 3): parsing and encoding.

import { threeDigits, trimBlanks } from '../ascii.js';
import { isHttpLine } from '../http-line.js';

/** Numbers of status lines (GATHERD-3.1, 3.2, 3.3, 3.9). The specification's table has their sources. */
export const GATHERD_CODES = {
  /** `000 - HELLO <version> <hostname>`: greeting. */
  greeting: 0,
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

/** GATHERD-1.2: default port of a Gatherer. */
export const GATHERD_PORT = 8500;
/** GATHERD-3.5: the default version in the greeting. */
export const GATHERD_VERSION = '1.8';
/** GATHERD-2.4: bytes of the longest command line, without its terminator. */
export const MAX_LINE_BYTES = 8192;

/** What `SET` can turn on. `line-end` and `changes` are extensions of this kit (GATHERD-6.3, 6.11). */
export type SessionSetting = 'compression' | 'changes' | 'line-end';

/** The commands as `HELP` lists them (GATHERD-2.1, 2.2, 6.3, 6.11): spelling, then meaning. */
export const GATHERD_COMMANDS: readonly (readonly [usage: string, meaning: string])[] = [
  ['HELLO <hostname>', 'friendly greeting'],
  ['HELP', 'this list'],
  ['INFO', 'send a description of the database'],
  ['SEND-OBJECT <oid>', 'send one object'],
  ['SEND-UPDATE <timestamp>', 'send all objects created or changed since the time stamp'],
  ['SET compression', 'compress the transfers that follow'],
  ['SET changes', 'use the sections for deleted and refreshed objects'],
  ['SET line-end', 'send a line end between compressed data and its end line'],
  ['QUIT', 'close the session'],
];

/** A command of a client. */
export type GatherdCommand =
  | { readonly kind: 'hello'; readonly name: string }
  | { readonly kind: 'help' }
  | { readonly kind: 'info' }
  /** The identifier is the URL, one character a byte (GATHERD-5.1). */
  | { readonly kind: 'object'; readonly oid: string }
  | { readonly kind: 'update'; readonly since: number }
  | { readonly kind: 'set'; readonly option: SessionSetting }
  | { readonly kind: 'quit' }
  | { readonly kind: 'bad-timestamp' }
  | { readonly kind: 'bad-argument'; readonly text: string }
  | { readonly kind: 'unknown'; readonly verb: string }
  /** A line of an HTTP request: a browser sends what a page of another site has chosen. */
  | { readonly kind: 'http'; readonly verb: string };

/**
 * Parses one client line, one character a byte, without its terminator; undefined for an empty one (GATHERD-2.4). Verbs and keywords
 * match without regard to case (GATHERD-2.3). Never throws: a wrong command has its own kind.
 */
export function parseCommand(line: string): GatherdCommand | undefined {
  const words = trimBlanks(line);
  if (words === '') return undefined;
  const blank = words.search(/[ \t]/);
  const verb = blank < 0 ? words : words.slice(0, blank);
  const argument = blank < 0 ? '' : trimBlanks(words.slice(blank));
  if (isHttpLine(words)) return { kind: 'http', verb };
  switch (verb.toUpperCase()) {
    case 'HELLO':
      return { kind: 'hello', name: argument }; // may be empty, GATHERD-2.6
    case 'HELP':
      return { kind: 'help' };
    case 'INFO':
      return { kind: 'info' };
    case 'QUIT':
      return { kind: 'quit' };
    case 'SEND-OBJECT':
      return argument === '' ? { kind: 'bad-argument', text: verb } : { kind: 'object', oid: argument };
    case 'SEND-UPDATE': {
      const since = parseTimestamp(argument);
      return since === undefined ? { kind: 'bad-timestamp' } : { kind: 'update', since };
    }
    case 'SET': {
      const option = argument.toLowerCase();
      if (option === 'compression' || option === 'changes' || option === 'line-end') {
        return { kind: 'set', option };
      }
      return { kind: 'bad-argument', text: argument === '' ? verb : argument };
    }
    default:
      return { kind: 'unknown', verb };
  }
}

/** Parses decimal seconds (GATHERD-4.1): digits only, at most `MAX_SAFE_INTEGER`. */
export function parseTimestamp(text: string): number | undefined {
  if (!/^\d{1,16}$/.test(text)) return undefined;
  const since = Number(text);
  return Number.isSafeInteger(since) ? since : undefined;
}

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

/** One character a byte, as lines are read: a line may repeat what the peer sent (GATHERD-5.1). Other text is UTF-8. */
function encodeBytes(text: string): Uint8Array {
  return Buffer.from(text, /[^\0-\xff]/.test(text) ? 'utf8' : 'latin1');
}

/** Encodes one line with its LF. */
function encodeLine(text: string): Uint8Array {
  return encodeBytes(`${text.replace(/[\r\n]+/g, ' ')}\n`);
}

/** The client lines of GATHERD-2.1, 2.2 and 6.11, in the spelling of the specification (GATHERD-2.3). */
export const COMMAND_LINE = {
  hello: (name: string) => encodeLine(`HELLO ${name}`),
  info: () => encodeLine('INFO'),
  object: (oid: string) => encodeLine(`SEND-OBJECT ${oid}`),
  update: (since: number) => encodeLine(`SEND-UPDATE ${since}`),
  compression: () => encodeLine('SET compression'),
  changes: () => encodeLine('SET changes'),
  quit: () => encodeLine('QUIT'),
} as const;
