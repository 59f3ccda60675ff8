// Finds the text that glimpse misses, so that its objects are candidates of every query.

/** glimpseindex indexes no word of more characters than this. */
const MAX_WORD = 64;
/** Within a longer line glimpse may not find two words together; it reads records in blocks of this order. */
const MAX_LINE = 8000;
const LF = 0x0a;

/** What glimpse does not find in an object. */
export interface HardText {
  /** It has a word that is not in the index. */
  readonly words: boolean;
  /** It has a line that queries for several words may miss. */
  readonly lines: boolean;
}

/** Examines the bytes of an object. Costs one pass over them. */
export function hardText(object: Uint8Array): HardText {
  return { words: hasLongWord(object), lines: hasLongLine(object) };
}

function hasLongLine(object: Uint8Array): boolean {
  for (let start = 0; object.length - start > MAX_LINE; ) {
    const end = object.indexOf(LF, start);
    if ((end === -1 ? object.length : end) - start > MAX_LINE) return true;
    if (end === -1) return false;
    start = end + 1;
  }
  return false;
}

/**
 * A word of more than `MAX_WORD` bytes covers one of the positions that are multiples of `MAX_WORD`: only their
 * words are measured.
 */
function hasLongWord(object: Uint8Array): boolean {
  for (let at = MAX_WORD; at < object.length; at += MAX_WORD) {
    if (!isWordByte(object[at]!)) continue;
    let start = at;
    while (start > 0 && at - start <= MAX_WORD && isWordByte(object[start - 1]!)) start--;
    let end = at + 1;
    while (end < object.length && end - start <= MAX_WORD && isWordByte(object[end]!)) end++;
    if (end - start > MAX_WORD) return true;
  }
  return false;
}

/** Letters and digits of ASCII, and `_`; other bytes separate words. */
function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x5f
  );
}
