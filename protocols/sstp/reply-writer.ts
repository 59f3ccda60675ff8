import { asciiBytes, ZERO } from '../ascii.js';
import { formatHead, startLine } from './encoder.js';
import { CODES, codeEntry, HEADERS, START_RESULTS_BASE } from './registry.js';
import { descriptionHeaders, type UrlDescription } from './replies.js';
import { ReplyBuffers } from './reply-buffers.js';

const WORD = 8;

/**
 * Octets that are written eight at a time, which is quicker than a copy for so few. The words are doubles because those need no
 * memory of their own; ASCII is none of the patterns that are not numbers. The last word may reach beyond the octets: what
 * stands after them is overwritten.
 */
interface Literal {
  readonly length: number;
  readonly words: Float64Array;
}

function literal(text: string): Literal {
  const octets = new Uint8Array(Math.ceil(text.length / WORD) * WORD);
  octets.set(asciiBytes(text));
  const view = new DataView(octets.buffer);
  const words = Float64Array.from({ length: octets.length / WORD }, (_, i) =>
    view.getFloat64(i * WORD, true),
  );
  return { length: text.length, words };
}

const START = literal(`\r\n${HEADERS.startResults.name}: `);
const RETURNED = literal(`\r\n${HEADERS.numResults.name}: `);
const ID = literal(`\r\n${HEADERS.uriId.name}: `);
const END = literal('\r\n\r\n');
const NOT_FOUND = literal(
  formatHead({ code: CODES.notFound.number, headers: [[HEADERS.numFound.name, '0']] }),
);

/** Start line and name of the first header of a link reply, by code. */
const LINK_HEADS: readonly (Literal | undefined)[] = linkHeads();

function linkHeads(): (Literal | undefined)[] {
  const heads: (Literal | undefined)[] = [];
  for (const { number } of [CODES.references, CODES.referers, CODES.siteReferences, CODES.siteReferers])
    heads[number] = literal(`${startLine(number)}\r\n${HEADERS.numFound.name}: `);
  return heads;
}

/*
 * Digits are written four at a time. QUADS holds the four digits of 0000 to 9999 as one word; LEADING the same without
 * leading zeros, at the left, with LEADING_LENGTH saying how many count. What stands after them is overwritten.
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

/** The digits as octets of a little-endian word, the first at the left. */
function wordOf(digits: readonly number[]): number {
  let word = 0;
  for (let i = 3; i >= 0; i--) word = word * 256 + ZERO + (digits[i] ?? 0);
  return word;
}

/** Octets of the longest line with a number, and what a word may reach beyond it. */
const LINE_ROOM = 64;

const NOTHING = new Uint8Array(0);
const NOWHERE = new DataView(NOTHING.buffer);

/**
 * Writes replies one after the other into one buffer that grows as needed; {@link take} hands it over. While nothing is
 * written it holds no memory, so that an idle connection costs none.
 */
export class ReplyWriter {
  readonly #buffers: ReplyBuffers;
  #bytes: Uint8Array<ArrayBuffer> = NOTHING;
  #view = NOWHERE;
  #length = 0;
  #closes = false;

  /** @param buffers where memory comes from; several writers may share them. Default: new memory for every take */
  constructor(buffers: ReplyBuffers = new ReplyBuffers()) {
    this.#buffers = buffers;
  }

  /** Octets not yet taken. */
  get length(): number {
    return this.#length;
  }

  /** S-39: a reply has been written after which the connection is closed. */
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
    const view = this.#view;
    let at = writeLiteral(view, this.#length, head);
    at = writeNumber(view, at, found);
    at = writeLiteral(view, at, START);
    at = writeNumber(view, at, start + START_RESULTS_BASE);
    at = writeLiteral(view, at, RETURNED);
    at = writeNumber(view, at, to - from);
    for (let i = from; i < to; i++) at = writeNumber(view, writeLiteral(view, at, ID), ids[i]!);
    this.#length = writeLiteral(view, at, END);
  }

  /** 404 with a found-count of 0. */
  notFound(): void {
    this.#reserve(NOT_FOUND.length);
    this.#length = writeLiteral(this.#view, this.#length, NOT_FOUND);
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
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = NOTHING;
    this.#view = NOWHERE;
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
    const grown = this.#buffers.get(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  #octets(octets: Uint8Array): void {
    this.#bytes.set(octets, this.#length);
    this.#length += octets.length;
  }
}

/** @returns where it ends */
function writeLiteral(view: DataView, at: number, { words, length }: Literal): number {
  for (let i = 0; i < words.length; i++) view.setFloat64(at + WORD * i, words[i]!, true);
  return at + length;
}

/** Decimal digits of a u32 (S-34); returns where they end. */
function writeNumber(view: DataView, from: number, value: number): number {
  if (value < 10_000) return writeLeading(view, from, value);
  // A whole quotient of u32, which needs no floating point.
  const high = (value / 10_000) >>> 0;
  let at = from;
  if (high < 10_000) at = writeLeading(view, at, high);
  else {
    const highest = (high / 10_000) >>> 0;
    at = writeLeading(view, at, highest);
    view.setUint32(at, QUADS[high - highest * 10_000]!, true);
    at += 4;
  }
  view.setUint32(at, QUADS[value - high * 10_000]!, true);
  return at + 4;
}

function writeLeading(view: DataView, at: number, value: number): number {
  view.setUint32(at, LEADING[value]!, true);
  return at + LEADING_LENGTH[value]!;
}
