// The items of a reply (BRK-4): types, encoding, and the replies with a fixed text.
import { threeDigits } from '../ascii.js';
import type { ProtocolError } from '../errors.js';
import { bytesOfUrl } from '../soif/index.js';
import { escapeControls, excerpt, replaceTextControls } from '../visible-text.js';

/**
 * One item of a reply (BRK-4.1). Text is decoded (UTF-8, else windows-1252); a URL has one character a byte,
 * because it is a key (BRK-1.10, protocols/soif/url-bytes.ts); counted values are bytes.
 */
export type ResultItem =
  | { readonly kind: 'message' /* 101 */ | 'error' /* 103 */; readonly text: string }
  | {
      readonly kind: 'fatal' /* 111 */;
      readonly text: string;
      /**
       * What failed, for the number of BP-23; default: the query is not supported. The line does not show it.
       */
      readonly failure?: 'internal';
    }
  | {
      readonly kind: 'match' /* 120 */ | 'object-url' /* 125 */ | 'home-page' /* 126 */;
      readonly url: string;
    }
  | {
      readonly kind: 'opaque' /* 122 */;
      readonly text: string;
      /** Written instead of the text's UTF-8: bytes above 127 pass unchanged (BRK-1.10). */
      readonly bytes?: Uint8Array;
    }
  | { readonly kind: 'description' /* 124 */; readonly value: Uint8Array }
  | { readonly kind: 'attribute' /* 127 */; readonly name: string; readonly value: Uint8Array }
  | { readonly kind: 'object-end' /* 130 */ }
  | { readonly kind: 'version' /* 200 */; readonly text: string }
  | { readonly kind: 'unknown'; readonly code: number; readonly text: string };

/** The codes of a reply to a user query (BRK-4.1); a bulk reply also has 0 and 400. */
export const RESULT_CODE = {
  message: 101,
  error: 103,
  fatal: 111,
  match: 120,
  opaque: 122,
  description: 124,
  'object-url': 125,
  'home-page': 126,
  attribute: 127,
  'object-end': 130,
  version: 200,
} as const;

/** BRK-1.4: the text after `200 - `. Clients recognize a Broker by the word `Broker`. */
export const VERSION_TEXT = 'HARVEST Broker 1.0';

/** BRK-4.2 */
const OBJECT_END_TEXT = 'object end';

/**
 * Encodes one item, LF included. Line ends inside a line's text become blanks.
 * @throws RangeError when the code of an `unknown` item is not 0 to 999; ProtocolError when a URL is text
 *   instead of bytes
 */
export function encodeResult(item: ResultItem): Uint8Array {
  switch (item.kind) {
    case 'match':
    case 'object-url':
    case 'home-page':
      return encodeLineBytes(RESULT_CODE[item.kind], bytesOfUrl(item.url));
    case 'description':
      return encodeCounted(`${item.value.length}`, item.value, RESULT_CODE.description);
    case 'attribute':
      return encodeCounted(`${item.name} ${item.value.length}`, item.value, RESULT_CODE.attribute);
    case 'opaque':
      return item.bytes === undefined
        ? encodeLine(RESULT_CODE.opaque, item.text)
        : encodeLineBytes(RESULT_CODE.opaque, item.bytes);
    case 'object-end':
      return encodeLine(RESULT_CODE['object-end'], OBJECT_END_TEXT);
    case 'unknown':
      if (!Number.isInteger(item.code) || item.code < 0 || item.code > 999) {
        throw new RangeError(`a result code has three digits, not: ${item.code}`);
      }
      return encodeLine(item.code, item.text);
    default:
      return encodeLine(RESULT_CODE[item.kind], item.text);
  }
}

function encodeLine(code: number, text: string): Uint8Array {
  const line = text.replace(/[\r\n]+/g, ' ');
  return new TextEncoder().encode(`${threeDigits(code)} - ${line}\n`);
}

function encodeLineBytes(code: number, text: Uint8Array): Uint8Array {
  const head = encodeLine(code, '');
  const line = new Uint8Array(head.length + text.length);
  line.set(head);
  line.set(
    text.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte)),
    head.length - 1,
  );
  line[line.length - 1] = 0x0a;
  return line;
}

/**
 * Encodes the line before a value of `length` bytes, which is sent apart. The LF of BRK-4.4 follows the value.
 */
export function encodeResultHead(item: ResultItem, length: number): Uint8Array {
  return item.kind === 'attribute'
    ? encodeLine(RESULT_CODE.attribute, `${item.name} ${length}`)
    : encodeLine(RESULT_CODE.description, `${length}`);
}

/** BRK-4.4: the LF after the bytes is not counted. A deployed client loses the next item without it. */
function encodeCounted(text: string, value: Uint8Array, code: number): Uint8Array {
  const head = encodeLine(code, text);
  const bytes = new Uint8Array(head.length + value.length + 1);
  bytes.set(head);
  bytes.set(value, head.length);
  bytes[bytes.length - 1] = 0x0a;
  return bytes;
}

/** The word by which deployed clients recognize errors (BRK-4.14). An engine may begin its errors with it. */
const ERROR_WORD = 'ERROR: ';

/** Returns the sentence of an error without the word before it. */
export function errorSentence(text: string): string {
  return text.replace(/^(?:111 - )?ERROR: /, '');
}

/** Returns the text of an error on the wire, of which the word occurs once. Control characters stay. */
export function errorText(sentence: string): string {
  return `${ERROR_WORD}${errorSentence(sentence)}`;
}

/**
 * BRK-4.14: a fatal item. The sentence may repeat bytes of the message, whose author need not be who sees the
 * reply: control characters are escaped.
 */
export function fatalItem(sentence: string): ResultItem & { readonly kind: 'fatal' } {
  return { kind: 'fatal', text: errorText(visible(sentence)) };
}

/** BRK-4.13, BRK-4.14: an error that does not end the results. */
export function errorItem(sentence: string): ResultItem {
  return { kind: 'error', text: errorText(visible(sentence)) };
}

/** Characters of a sentence; of a longer one the beginning and the end are sent. */
const MAX_SENTENCE = 1000;
const END_OF_SENTENCE = 200;

function visible(sentence: string): string {
  const whole =
    sentence.length > MAX_SENTENCE
      ? `${sentence.slice(0, MAX_SENTENCE - END_OF_SENTENCE)}...${sentence.slice(-END_OF_SENTENCE)}`
      : sentence;
  return replaceTextControls(whole, escapeControls);
}

/** BRK-4.18: replies with a fixed text. */
export const REPLY = {
  nothingMatched: (): ResultItem => ({ kind: 'message', text: 'No objects matched your query.' }),
  malformed: (error: ProtocolError): ResultItem => fatalItem(`Malformed message: ${error.message}`),
  unsupported: (indexer: string, what: string): ResultItem =>
    fatalItem(`${indexer} does not support ${what}`),
  /** The Broker's files cannot be read. */
  unusable: (reason: string): ResultItem => ({
    ...fatalItem(`The Broker cannot answer now: ${reason}`),
    failure: 'internal',
  }),
  busy: (): ResultItem => fatalItem('Broker is too busy, try again later'),
  lifetimeReached: (seconds: number): ResultItem => ({
    kind: 'message',
    text: `Query stopped after ${seconds} seconds; results are incomplete.`,
  }),
  /**
   * An expensive query was stopped: a `103`, because it is the engine's complaint and results may precede it.
   */
  costReached: (): ResultItem =>
    errorItem(
      'The query was too expensive and was stopped; results are incomplete. Use fewer or more selective words',
    ),
  unknownFlag: (flag: string): ResultItem & { readonly kind: 'message' | 'error' } => ({
    kind: 'message',
    text: `Unknown flag #index ${excerpt(flag)} ignored.`,
  }),
  invalidPassword: (): ResultItem => fatalItem('Invalid password'),
  /** Too many wrong passwords came from this address. */
  tooManyPasswords: (seconds: number): ResultItem =>
    fatalItem(`Too many wrong passwords, wait ${Math.ceil(seconds / 60)} minutes`),
} as const;

/** A matched line in the text of a `122` (BRK-4.8). */
export interface MatchedLineText {
  readonly attribute: string;
  readonly text: string;
  /** Whether it is the first line of its attribute, which includes the attribute's name and size. */
  readonly first: boolean;
}

/**
 * Formats the text of a `122` for one matched line (BRK-4.8). `attributeBytes` is the size of the whole value;
 * it is written only before an attribute's first line.
 */
export function formatMatchedLine(line: MatchedLineText, attributeBytes: number): string {
  const head = line.first ? `${line.attribute}{${attributeBytes}}:\t` : '';
  return `Matched line: ${line.attribute}# ${head}${line.text}`;
}

/** A name has no white space, so that the first `# ` ends it, also if the name has a `#`. */
const MATCHED_LINE = /^(?:Matched line: ([^\s{}]+?)|([\w<>-]+))# (?:(?:\1|\2)\{\d+\}:(\t))?(.*)$/s;

/**
 * Parses a `122` text of the form of BRK-4.8; undefined for other forms. Also accepts the form without its
 * `Matched line: `, if the name has no other characters than letters, digits, `_`, `<`, `>` and `-`.
 */
export function parseMatchedLine(opaque: string): MatchedLineText | undefined {
  const match = MATCHED_LINE.exec(opaque);
  if (match === null) return undefined;
  return { attribute: match[1] ?? match[2]!, text: match[4]!, first: match[3] !== undefined };
}
