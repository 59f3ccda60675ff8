import { isAscii, isUtf8 } from 'node:buffer';
import { bufferOf } from '../../../protocols/ascii.js';
import { findIdentifiers, normalize } from '../../../protocols/broker/index.js';
import { decodeText } from '../../../protocols/soif/index.js';
import { largeBuffer } from '../../files/large-buffer.js';
import { BREAK, fold, indexText, isBlank, isWordAt, MAX_TERM, PART } from '../query/words.js';

/**
 * Kinds of characters: part of a word, white space within a line, any other character, which ends a phrase, and a
 * hyphen, which ends it unless it is alone between two words.
 */
const WORD = 0;
const BLANK = 1;
const END = 2;
const HYPHEN = 3;
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => kindOf(String.fromCharCode(code)));
const SPACE = 0x20;
const LINE_FEED = 0x0a;
const BREAK_CODE = BREAK.charCodeAt(0);
/** Bytes of a value that are taken at once. */
const SEGMENT_BYTES = 16 * 1024;
/** Longer buffers are allocated for themselves. */
const MAX_SLAB = 64 * 1024;
/** How much more than needed is reserved at most, in bytes. */
const MAX_SPARE = 3 << 20;
/** Maximum growth of a UTF-8 character by folding: U+0390 and similar characters fold to three. */
const MAX_GROWTH = 3;
/** Bytes that the words of a segment can take: at worst a blank, a break and a blank replace one separator. */
const roomFor = (bytes: number) => MAX_GROWTH * bytes + 4;

/**
 * Where each segment is read and written. The text itself may be in a resizable buffer, which the system frees
 * at once; but a loop that has once seen the bytes of a resizable buffer is ten times slower from then on, also
 * with others.
 */
const SEGMENT_IN = new Uint8Array(2 * SEGMENT_BYTES);
const SEGMENT_OUT = new Uint8Array(roomFor(2 * SEGMENT_BYTES));

/**
 * Builds the text of one column of the index from attribute values. It works on bytes, because strings and
 * regular expressions ({@link indexText}) take longer than the indexing itself.
 */
export class ColumnText {
  #buffer = Buffer.alloc(0);
  #length = 0;
  /** The kind of separator before the next word. */
  #gap = WORD;
  /** The parts of its identifiers, each once. */
  readonly #identifiers: Set<string> | undefined;

  /** @param hasParts whether the parts of identifiers are terms of their own, after the words */
  constructor(hasParts = false) {
    if (hasParts) this.#identifiers = new Set();
  }

  /** Appends a value; indexed phrases do not cross values. */
  add(value: Uint8Array): void {
    if (value.length === 0) return;
    const utf8 = isUtf8(value) ? value : Buffer.from(decodeText(value)); // SOIF-7.4
    this.#gap = this.#length === 0 ? WORD : END;
    this.#reserve(utf8.length + (utf8.length >> 2));
    for (let start = 0; start < utf8.length; ) {
      const end = segmentEnd(utf8, start);
      const segment = normalized(utf8.subarray(start, end));
      const identifiers = this.#identifiers;
      if (identifiers !== undefined) findIdentifiers(bufferOf(segment), (parts) => identifiers.add(parts));
      if (!this.#append(segment, MAX_TERM))
        this.#append(Buffer.from(indexText(decodeText(segment))), Number.POSITIVE_INFINITY);
      start = end;
    }
  }

  /** Returns the text of the column for the tokenizer, and forgets it: nothing can be added afterwards. */
  take(): string {
    let text = this.#buffer.toString('utf8', 0, this.#length);
    this.#buffer = Buffer.alloc(0);
    for (const parts of this.#identifiers ?? [])
      text += ` ${BREAK} ${PART}${fold(parts).replaceAll(' ', ` ${PART}`)}`;
    return text;
  }

  /**
   * Returns false and appends nothing if a word has more bytes than `maxWordBytes`, because it may have to be
   * cut.
   */
  #append(value: Uint8Array, maxWordBytes: number): boolean {
    const bytes = value.length;
    const isUsual = bytes <= SEGMENT_IN.length;
    const read = isUsual ? SEGMENT_IN : new Uint8Array(bytes);
    const out = isUsual ? SEGMENT_OUT : new Uint8Array(roomFor(bytes));
    read.set(value);
    let length = 0;
    let gap = this.#gap;
    let wordStart = 0;
    for (let i = 0; i < bytes; ) {
      const code = read[i]!;
      const size = code < 0x80 ? 1 : code < 0xe0 ? 2 : code < 0xf0 ? 3 : 4;
      const found = size === 1 ? ASCII[code]! : beyondAscii(read, i, size);
      if (found === BLANK || found === END || found === HYPHEN) {
        gap = gapAfter(gap, found);
        if (i - wordStart > maxWordBytes) return false;
        i += size;
        wordStart = i;
        continue;
      }
      if (gap !== WORD) {
        out[length++] = SPACE;
        if (gap === END) {
          out[length++] = BREAK_CODE;
          out[length++] = SPACE;
        }
        gap = WORD;
      }
      if (typeof found === 'number') {
        for (const end = i + size; i < end; i++) out[length++] = read[i]!;
      } else {
        for (const byte of found) out[length++] = byte;
        i += size;
      }
      for (; i < bytes; i++) {
        const next = read[i]!;
        if (next >= 0x80 || ASCII[next] !== WORD) break;
        out[length++] = next;
      }
    }
    if (bytes - wordStart > maxWordBytes) return false;
    this.#reserve(length);
    this.#buffer.set(out.subarray(0, length), this.#length);
    this.#length += length;
    this.#gap = gap;
    return true;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const growth = Math.min(this.#buffer.length, MAX_SPARE);
    const length = Math.max(this.#buffer.length + growth, this.#length + bytes);
    const larger = length < MAX_SLAB ? Buffer.allocUnsafe(length) : Buffer.from(largeBuffer(length).buffer);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** What separates two words so far, with the next character of it: a hyphen alone is as good as a blank. */
function gapAfter(gap: number, kind: number): number {
  if (gap === WORD) return kind;
  return gap === BLANK && kind === BLANK ? BLANK : END;
}

function normalized(segment: Uint8Array): Uint8Array {
  if (isAscii(segment)) return segment;
  const text = decodeText(segment);
  const plain = normalize(text);
  return plain === text ? segment : Buffer.from(plain);
}

/** The end of a segment that begins at `start`: after a blank, or the end of the value if it has no blank. */
function segmentEnd(value: Uint8Array, start: number): number {
  if (value.length - start <= SEGMENT_BYTES) return value.length;
  let end = start + SEGMENT_BYTES;
  while (end < value.length && value[end - 1] !== SPACE && value[end - 1] !== LINE_FEED) end++;
  return end;
}

/** Cache of characters beyond ASCII, by code point: a kind, or the bytes of the folded letter. */
const CACHE = new Map<number, number | Uint8Array>();

/** The kind of the character of `size` bytes at `offset`, or the bytes of its folded letter. */
function beyondAscii(value: Uint8Array, offset: number, size: number): number | Uint8Array {
  let code = value[offset]! & (0xff >> (size + 1));
  for (let i = 1; i < size; i++) code = (code << 6) | (value[offset + i]! & 0x3f);
  let known = CACHE.get(code);
  if (known === undefined) {
    const character = String.fromCodePoint(code);
    const folded = fold(character);
    const kind = kindOf(folded);
    known = kind === WORD && folded !== character ? Buffer.from(folded) : kind;
    CACHE.set(code, known);
  }
  return known;
}

function kindOf(character: string): number {
  if (isWordAt(character, 0)) return WORD;
  if (character === '-') return HYPHEN;
  return isBlank(character) ? BLANK : END;
}
