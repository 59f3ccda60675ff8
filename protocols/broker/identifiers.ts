/**
 * The parts of identifiers: `StringBuilder` has `String` and `Builder`, `pg_hba` has `pg` and `hba`, `XMLHttpRequest` has
 * `XML`, `Http` and `Request`. Programmers search for them by either.
 */
const BORDERS =
  /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<=[\p{L}\p{M}\p{N}])_+(?=[\p{L}\p{M}\p{N}])/gu;
const WORDS = /[\p{L}\p{M}\p{N}_]+/gu;

/** What every word with parts has, and few others: found in a tenth of the time. */
const MAY_HAVE_PARTS = /[\w\x80-\uffff]_|[a-z0-9\x80-\uffff][A-Z]|[A-Z]{2}[a-z]/;

/** Longer identifiers have no parts, in characters: a query rarely has them. */
const MAX_IDENTIFIER = 128;

/** Whether a text may have identifiers with parts; most do not. */
export function mayHaveParts(text: string): boolean {
  return MAY_HAVE_PARTS.test(text);
}

/** The parts of a word in its case, separated by blanks; undefined if it has none. */
function partsOf(word: string): string | undefined {
  if (word.length > MAX_IDENTIFIER || !MAY_HAVE_PARTS.test(word)) return undefined;
  const parts = word.replace(BORDERS, ' ');
  return parts === word ? undefined : parts;
}

/** Puts blanks between the parts of the identifiers of a text, whose case must be kept. */
export function withParts(text: string): string {
  return text.replace(WORDS, (word) => partsOf(word) ?? word);
}

/** What a byte of UTF-8 is in an identifier. */
const NONE = 0;
const LOWER = 1;
const UPPER = 2;
const UNDERSCORE = 3;
/** A digit or a part of a letter beyond ASCII. */
const OTHER = 4;
const KIND = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return OTHER;
  const character = String.fromCharCode(byte);
  if (character === '_') return UNDERSCORE;
  if (/[a-z]/.test(character)) return LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  return /[0-9]/.test(character) ? OTHER : NONE;
});

/** Whether the character at an offset is of a word, or beyond ASCII. */
function isOfRun(text: string, offset: number): boolean {
  const code = text.charCodeAt(offset);
  return code >= 0x80 || KIND[code] !== NONE;
}

/**
 * The identifiers of a text as their parts, and nothing else of it but line ends. Its case must be kept.
 *
 * @param end follows each
 */
export function onlyParts(text: string, end: string): string {
  let found = '';
  let lineStart = 0;
  let next = 0;
  const endLinesBefore = (offset: number): void => {
    for (let at = text.indexOf('\n', lineStart); at >= 0 && at < offset; at = text.indexOf('\n', lineStart)) {
      found += '\n';
      lineStart = at + 1;
    }
  };
  const border = new RegExp(MAY_HAVE_PARTS, 'g');
  for (let at = border.exec(text); at !== null; at = border.exec(text)) {
    let start = at.index;
    while (start > next && isOfRun(text, start - 1)) start--;
    next = at.index + at[0].length;
    while (next < text.length && isOfRun(text, next)) next++;
    border.lastIndex = next;
    endLinesBefore(start);
    for (const [word] of text.slice(start, next).matchAll(WORDS)) {
      const parts = partsOf(word);
      if (parts !== undefined) found += `${parts}${end}`;
    }
  }
  endLinesBefore(text.length);
  return found;
}

/**
 * Finds the words of a text that have parts, by their bytes: most words have none, and are not decoded.
 *
 * @param found receives the parts of each, separated by blanks, in their case
 */
export function findIdentifiers(text: Buffer, found: (parts: string) => void): void {
  let start = 0;
  let mayHaveParts = false;
  let before = NONE;
  for (let i = 0; i <= text.length; i++) {
    const kind = i < text.length ? KIND[text[i]!]! : NONE;
    if (kind === NONE) {
      if (mayHaveParts) {
        for (const [word] of text.toString('utf8', start, i).matchAll(WORDS)) {
          const parts = partsOf(word);
          if (parts !== undefined) found(parts);
        }
      }
      start = i + 1;
      mayHaveParts = false;
    } else if (kind === UNDERSCORE) mayHaveParts ||= i > start;
    else if (kind === UPPER) mayHaveParts ||= before === LOWER || before === OTHER;
    else if (kind === LOWER) mayHaveParts ||= before === UPPER && i - start > 1;
    before = kind;
  }
}
