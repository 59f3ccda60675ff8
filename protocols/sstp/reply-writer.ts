import { asciiBytes, ZERO } from './ascii.js';
import { formatHead, startLine } from './encoder.js';
import { CODES, codeEntry, HEADERS, START_RESULTS_BASE } from './registry.js';
import { descriptionHeaders, type UrlDescription } from './replies.js';

const START = asciiBytes(`\r\n${HEADERS.startResults.name}: `);
const RETURNED = asciiBytes(`\r\n${HEADERS.numResults.name}: `);
const ID = asciiBytes(`\r\n${HEADERS.uriId.name}: `);
const END = asciiBytes('\r\n\r\n');
const NOT_FOUND = asciiBytes(
  formatHead({ code: CODES.notFound.number, headers: [[HEADERS.numFound.name, '0']] }),
);

/** Start line and name of the first header of a link reply, by code. */
const LINK_HEADS: readonly (Uint8Array | undefined)[] = linkHeads();

function linkHeads(): (Uint8Array | undefined)[] {
  const heads: (Uint8Array | undefined)[] = [];
  for (const { number } of [CODES.references, CODES.referers, CODES.siteReferences, CODES.siteReferers])
    heads[number] = asciiBytes(`${startLine(number)}\r\n${HEADERS.numFound.name}: `);
  return heads;
}

/*
 * Digits are written four at a time. QUADS holds the four digits of 0000 to 9999 as one word; LEADING the same without
 * leading zeros, at the left, with LEADING_LENGTH saying how many count. What stands behind them is overwritten.
 */
const QUADS = new Uint32Array(10_000);
const LEADING = new Uint32Array(10_000);
const LEADING_LENGTH = new Uint8Array(10_000);
for (let value = 0; value < 10_000; value++) {
  const digits = [
    Math.floor(value / 1000),
    Math.floor(value / 100) % 10,
    Math.floor(value / 10) % 10,
    value % 10,
  ];
  const length = value > 999 ? 4 : value > 99 ? 3 : value > 9 ? 2 : 1;
  QUADS[value] = wordOf(digits);
  LEADING[value] = wordOf(digits.slice(4 - length));
  LEADING_LENGTH[value] = length;
}

/** The digits as octets of a big-endian word, the first at the left. */
function wordOf(digits: readonly number[]): number {
  let word = 0;
  for (let i = 0; i < 4; i++) word = word * 256 + ZERO + (digits[i] ?? 0);
  return word;
}

/** The line of an ID up to its digits, in words of four octets; the last one may reach into the digits. */
const ID_WORDS = new Uint32Array(Math.ceil(ID.length / 4));
ID_WORDS.forEach((_, i) => {
  for (let j = 0; j < 4; j++) ID_WORDS[i] = ID_WORDS[i]! * 256 + (ID[i * 4 + j] ?? 0);
});

const SMALLEST = 1024;
/** Octets of the longest line with a number, and what a word may reach beyond it. */
const LINE_ROOM = 64;
/** The next buffer begins as large as the last reply was, up to this. */
const LARGEST_FIRST = 256 * 1024;

/**
 * Writes replies one behind the other into one buffer that grows as needed; {@link take} hands it over. While nothing is
 * written it holds no memory, so that an idle connection costs none.
 */
export class ReplyWriter {
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  #first = SMALLEST;
  #closes = false;

  /** Octets not yet taken. */
  get length(): number {
    return this.#length;
  }

  /** S-39: a reply has been written behind which the connection is closed. */
  get closes(): boolean {
    return this.#closes;
  }

  /**
   * A link reply: `ids` from index `from` up to, not including, `to`.
   * @param start position of the first of them in the whole result, from 0
   */
  links(code: number, found: number, start: number, ids: Uint32Array, from: number, to: number): void {
    const head = LINK_HEADS[code];
    if (head === undefined) throw new RangeError(`no link request has the code ${code}`);
    this.#reserve(head.length + 4 * LINE_ROOM + (to - from) * (ID.length + 10));
    this.#octets(head);
    this.#number(found);
    this.#octets(START);
    this.#number(start + START_RESULTS_BASE);
    this.#octets(RETURNED);
    this.#number(to - from);
    this.#length = writeIds(this.#view, this.#length, ids, from, to);
    this.#octets(END);
  }

  /** 404 with a found-count of 0. */
  notFound(): void {
    this.#reserve(NOT_FOUND.length);
    this.#octets(NOT_FOUND);
  }

  /** The reply to request 008. */
  description(described: UrlDescription): void {
    this.#text(formatHead({ code: CODES.urlByName.number, headers: descriptionHeaders(described) }));
  }

  /** An error: a code of the 4xx or 5xx range and nothing else (S-42). */
  error(code: number): void {
    this.#text(formatHead({ code, headers: [] }));
    if (codeEntry(code)?.closes === true) this.#closes = true;
  }

  /** A reply with a body, as a dispatcher sends its lists (S-52). */
  body(code: number, body: Uint8Array): void {
    this.#text(formatHead({ code, headers: [[HEADERS.contentLength.name, String(body.length)]] }));
    this.#reserve(body.length);
    this.#octets(body);
  }

  /** What was written since the last call; the caller owns it. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#first = Math.min(LARGEST_FIRST, Math.max(SMALLEST, this.#length));
    this.#bytes = new Uint8Array(0);
    this.#view = new DataView(this.#bytes.buffer);
    this.#length = 0;
    return taken;
  }

  #text(text: string): void {
    const octets = Buffer.from(text, 'utf8');
    this.#reserve(octets.length);
    this.#octets(octets);
  }

  #reserve(octets: number): void {
    const needed = this.#length + octets + LINE_ROOM;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2, this.#first));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  #octets(octets: Uint8Array): void {
    this.#bytes.set(octets, this.#length);
    this.#length += octets.length;
  }

  #number(value: number): void {
    this.#length = writeNumber(this.#view, this.#length, value);
  }
}

/** The lines of IDs; returns where they end. */
function writeIds(view: DataView, from: number, ids: Uint32Array, first: number, last: number): number {
  let at = from;
  for (let i = first; i < last; i++) {
    for (let j = 0; j < ID_WORDS.length; j++) view.setUint32(at + 4 * j, ID_WORDS[j]!);
    at = writeNumber(view, at + ID.length, ids[i]!);
  }
  return at;
}

/** Decimal digits of a u32 (S-34); returns where they end. */
function writeNumber(view: DataView, from: number, value: number): number {
  if (value < 10_000) return writeLeading(view, from, value);
  const high = Math.floor(value / 10_000);
  let at = from;
  if (high < 10_000) at = writeLeading(view, at, high);
  else {
    const highest = Math.floor(high / 10_000);
    at = writeLeading(view, at, highest);
    view.setUint32(at, QUADS[high - highest * 10_000]!);
    at += 4;
  }
  view.setUint32(at, QUADS[value - high * 10_000]!);
  return at + 4;
}

function writeLeading(view: DataView, at: number, value: number): number {
  view.setUint32(at, LEADING[value]!);
  return at + LEADING_LENGTH[value]!;
}
