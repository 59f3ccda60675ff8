// Removes binary data from objects and shortens their `Keywords` (G-133, G-134).
import { CR, isBlank, isSpace, LF, SP } from '../ascii.js';
import { assemble, type SoifObject } from './object.js';

/** G-133: a value is dropped when more than this share of its bytes is binary. */
const BINARY_SHARE = 0.3;
/**
 * Text of an 8-bit character set has no control bytes. Where more than this share of a value is control bytes,
 * its bytes beyond ASCII are binary too. Of random bytes one in eight is a control.
 */
const CONTROL_SHARE = 1 / 16;

const DELETE = 0x7f;
const ESCAPE = 0x1b;

/**
 * Removes binary data from an object (G-133). In values that are mostly UTF-8, invalid UTF-8 and control
 * characters except white space are binary. In other values (an 8-bit character set, SOIF-7.2) control bytes
 * are binary, and with many of these everything beyond ASCII. A value with more than 30 % of binary bytes is
 * dropped, and so is one that becomes empty (SOIF-3.2).
 * @returns the same object when there is nothing to remove.
 */
export function withoutBinary(object: SoifObject): SoifObject {
  const kept: [name: string, value: Uint8Array][] = [];
  let changed = false;
  for (const { name, value } of object) {
    const text = withoutBinaryBytes(value);
    if (text !== value) changed = true;
    if (text === value || text.length > 0) kept.push([name, text]);
  }
  return changed ? assemble(object.type, object.urlBytes, kept) : object;
}

/** Returns the text in a value: `value` itself when all of it is text, no bytes when it is mostly binary. */
function withoutBinaryBytes(value: Uint8Array): Uint8Array {
  const marked = value.some((byte) => byte >= DELETE || byte < SP) ? binaryBytes(value) : undefined;
  const count = marked?.reduce((sum, mark) => sum + mark, 0) ?? 0;
  if (marked === undefined || count === 0) return value;
  if (count > value.length * BINARY_SHARE) return new Uint8Array(0);
  return value.filter((_, i) => marked[i] === 0);
}

/** For each byte 1 when it is binary, else 0. */
function binaryBytes(value: Uint8Array): Uint8Array {
  const marks = new Uint8Array(value.length);
  let controls = 0;
  let multibyte = 0;
  const invalid: number[] = [];
  for (let i = 0; i < value.length; ) {
    const length = characterLength(value, i);
    if (length === 0) {
      invalid.push(i);
      i++;
      continue;
    }
    if (isControl(value, i)) {
      controls += length;
      marks.fill(1, i, i + length);
    } else if (length > 1) {
      multibyte += length;
    }
    i += length;
  }
  if (invalid.length > 0 && invalid.length < multibyte) {
    for (const i of invalid) marks[i] = 1;
  } else if (invalid.length > 0 && controls > value.length * CONTROL_SHARE) {
    value.forEach((byte, i) => {
      if (byte >= DELETE) marks[i] = 1;
    });
  } else if (invalid.length > 0) {
    // In an 8-bit set, the two bytes of a C1 control in UTF-8 are two letters.
    value.forEach((byte, i) => {
      if (byte > DELETE) marks[i] = 0;
    });
  }
  return marks;
}

/** Whether the character at `i` is a control other than white space and the escapes of ISO 2022 text. */
function isControl(bytes: Uint8Array, i: number): boolean {
  const byte = bytes[i]!;
  if (byte < SP) return !isSpace(byte) && !(byte === ESCAPE && isShift(bytes[i + 1]));
  return byte === DELETE || (byte === 0xc2 && bytes[i + 1]! < 0xa0);
}

/** `(` or `$`: after ESC they select a character set, as in ISO-2022-JP. */
function isShift(byte: number | undefined): boolean {
  return byte === 0x28 || byte === 0x24;
}

/** Bytes of the UTF-8 character that begins at `i`; 0 when the bytes are not valid. */
function characterLength(bytes: Uint8Array, i: number): number {
  const lead = bytes[i]!;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const second = bytes[i + 1] ?? 0;
  // Rejects overlong forms, surrogates and anything beyond U+10FFFF.
  if (lead === 0xe0 ? second < 0xa0 : lead === 0xf0 && second < 0x90) return 0;
  if (lead === 0xed ? second > 0x9f : lead === 0xf4 && second > 0x8f) return 0;
  for (let k = 1; k < length; k++) if (((bytes[i + k] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

/** G-134: the 8 kilobytes of `cleandb -truncate`. */
const KEYWORDS_BYTES = 8192;

/**
 * Cuts the `Keywords` of an object to at most `bytes` (G-134): after the last line that fits; where that loses
 * more than half, after the last word; within a longer word, between two characters.
 * @returns the same object when they are short enough.
 */
export function truncateKeywords(object: SoifObject, bytes: number = KEYWORDS_BYTES): SoifObject {
  const keywords = object.get('Keywords');
  if (keywords === undefined || keywords.length <= bytes) return object;
  return object.with([['Keywords', keywords.subarray(0, endOfKeywords(keywords, bytes))]]);
}

function endOfKeywords(value: Uint8Array, limit: number): number {
  const line = value.subarray(0, limit).lastIndexOf(LF) + 1;
  if (line > limit / 2) return line;
  let word = limit;
  while (word > 0 && !endsWord(value[word]!)) word--;
  while (word > 0 && endsWord(value[word - 1]!)) word--;
  if (word > 0) return word;
  let character = limit;
  while (character > Math.max(0, limit - 3) && (value[character]! & 0xc0) === 0x80) character--;
  return character;
}

function endsWord(byte: number): boolean {
  return isBlank(byte) || byte === LF || byte === CR;
}
