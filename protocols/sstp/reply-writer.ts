// Writes replies into one growing buffer. It is the hot path of a References Server.
import { asciiBytes, ZERO } from '../ascii.js';
import { formatHead, formatStartLine } from './codec.js';
import { CODES, codeEntry, HEADERS, START_RESULTS_BASE } from './registry.js';
import { descriptionHeaders, type UrlDescription } from './replies.js';

const WORD = 8;

/**
 * Octets that are written eight at a time, which is faster than a copy of so few. The words are doubles,
 * because V8 does not allocate for them; ASCII never has the bit pattern of a NaN. The last word may extend
 * beyond the octets: the next write overwrites the excess.
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
const GENERATION = literal(`\r\n${HEADERS.generation.name}: `);
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
    heads[number] = literal(`${formatStartLine(number)}\r\n${HEADERS.numFound.name}: `);
  return heads;
}

/*
 * Digits are written four at a time. QUADS has the four digits of 0000 to 9999 as one word. LEADING has them
 * without leading zeros, at the left, and LEADING_LENGTH their number; the next write overwrites the excess.
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

/** Octets of the longest line with a number, plus the excess of a word. */
const LINE_ROOM = 64;

const NOTHING = new Uint8Array(0);
const EMPTY_VIEW = new DataView(NOTHING.buffer);

/**
 * Writes replies into one buffer that grows as needed; {@link take} hands it over. An empty writer holds no
 * memory, so an idle connection costs no memory.
 */
export class ReplyWriter {
  readonly #buffers: ReplyBuffers;
  #bytes: Uint8Array<ArrayBuffer> = NOTHING;
  #view = EMPTY_VIEW;
  #length = 0;
  #closes = false;

  /** @param buffers source of memory; several writers may share it. Default: new memory for every take */
  constructor(buffers: ReplyBuffers = new ReplyBuffers()) {
    this.#buffers = buffers;
  }

  /** Octets not yet taken. */
  get length(): number {
    return this.#length;
  }

  /** S-39: whether a reply was written that closes the connection. */
  get closes(): boolean {
    return this.#closes;
  }

  /**
   * Writes a link reply with the `ids` from index `from` up to, not including, `to`.
   * @param start position of the first of them in the whole result, from 0
   * @param generation the number of the data, if the request has `HEADER_GENERATION`
   */
  writeLinks(
    code: number,
    found: number,
    start: number,
    ids: Uint32Array,
    from: number,
    to: number,
    generation?: number,
  ): void {
    const head = LINK_HEADS[code];
    if (head === undefined) throw new RangeError(`no link request has the code ${code}`);
    this.#reserve(head.length + 5 * LINE_ROOM + (to - from) * (ID.length + 10));
    const view = this.#view;
    let at = writeLiteral(view, this.#length, head);
    at = writeNumber(view, at, found);
    at = writeLiteral(view, at, START);
    at = writeNumber(view, at, start + START_RESULTS_BASE);
    at = writeLiteral(view, at, RETURNED);
    at = writeNumber(view, at, to - from);
    if (generation !== undefined) at = writeNumber(view, writeLiteral(view, at, GENERATION), generation);
    for (let i = from; i < to; i++) at = writeNumber(view, writeLiteral(view, at, ID), ids[i]!);
    this.#length = writeLiteral(view, at, END);
  }

  /**
   * Writes a 404 with a found-count of 0.
   * @param generation the number of the data, if the request has `HEADER_GENERATION`
   */
  writeNotFound(generation?: number): void {
    if (generation !== undefined) {
      const headers = [
        [HEADERS.numFound.name, '0'],
        [HEADERS.generation.name, String(generation)],
      ] as const;
      this.#writeText(formatHead({ code: CODES.notFound.number, headers }));
      return;
    }
    this.#reserve(NOT_FOUND.length);
    this.#length = writeLiteral(this.#view, this.#length, NOT_FOUND);
  }

  /** Writes the reply to request 008. */
  writeDescription(described: UrlDescription): void {
    this.#writeText(formatHead({ code: CODES.urlByName.number, headers: descriptionHeaders(described) }));
  }

  /** Writes an error: only a code of the 4xx or 5xx range (S-42). */
  writeError(code: number): void {
    this.#writeText(formatHead({ code, headers: [] }));
    if (codeEntry(code)?.closes === true) this.#closes = true;
  }

  /** Writes a reply with a body, as a dispatcher sends its lists (S-52). */
  writeBody(code: number, body: Uint8Array): void {
    this.#writeText(formatHead({ code, headers: [[HEADERS.contentLength.name, String(body.length)]] }));
    this.#reserve(body.length);
    this.#writeOctets(body);
  }

  /** Takes the octets written since the last call; the caller owns them. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = NOTHING;
    this.#view = EMPTY_VIEW;
    this.#length = 0;
    return taken;
  }

  #writeText(text: string): void {
    const octets = Buffer.from(text, 'utf8');
    this.#reserve(octets.length);
    this.#writeOctets(octets);
  }

  #reserve(octets: number): void {
    const needed = this.#length + octets + LINE_ROOM;
    if (needed <= this.#bytes.length) return;
    const grown = this.#buffers.get(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  #writeOctets(octets: Uint8Array): void {
    this.#bytes.set(octets, this.#length);
    this.#length += octets.length;
  }
}

/** @returns the index after it */
function writeLiteral(view: DataView, at: number, { words, length }: Literal): number {
  for (let i = 0; i < words.length; i++) view.setFloat64(at + WORD * i, words[i]!, true);
  return at + length;
}

/** Writes the decimal digits of a u32 (S-34); returns the index after them. */
function writeNumber(view: DataView, from: number, value: number): number {
  if (value < 10_000) return writeLeading(view, from, value);
  // `>>> 0` keeps the quotient an integer, without floating-point arithmetic.
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

const MIN_BYTES = 1024;
/** Larger buffers are not kept. */
const MAX_KEPT_BYTES = 512 * 1024;

/**
 * Memory for replies. One buffer is kept for the next writer: when the octets of a writer are sent, their owner
 * gives the buffer back. Connections that write one after the other then share the same few pages of memory.
 */
export class ReplyBuffers {
  #spare: Uint8Array<ArrayBuffer> | undefined;

  /** Returns a buffer of at least `octets` octets with arbitrary contents. */
  get(octets: number): Uint8Array<ArrayBuffer> {
    const spare = this.#spare;
    if (spare === undefined || spare.length < octets) return new Uint8Array(Math.max(octets, MIN_BYTES));
    this.#spare = undefined;
    return spare;
  }

  /** @param taken octets of a writer; nothing may use them, or other octets of their memory, after this call */
  giveBack(taken: Uint8Array<ArrayBuffer>): void {
    const whole = new Uint8Array(taken.buffer);
    if (whole.length <= MAX_KEPT_BYTES && whole.length > (this.#spare?.length ?? 0)) this.#spare = whole;
  }
}
