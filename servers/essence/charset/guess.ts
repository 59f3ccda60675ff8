// The character set of a text that does not declare it.
import { countPairs, pairCost } from './byte-pairs.js';
import { CHARACTER_MODELS } from './character-models.js';

/** Bits by which a likely character set is preferred: what one or two words say. */
const HINT_BITS = 12;
/** The least ratio of valid to invalid sequences of UTF-8 in a damaged text. */
const MIN_VALID_RATIO = 10;
/** Bytes in which sequences of UTF-8 are counted. */
const UTF8_WINDOW_BYTES = 64 * 1024;

/**
 * Groups of languages, and the character sets in which they are written, with their handicap in bits: rare ones
 * need evidence.
 */
const EIGHT_BIT: readonly (readonly [languages: string, labels: Readonly<Record<string, number>>])[] = [
  [
    'en de fr es pt it nl sv da nb fi is ca sq',
    { 'windows-1252': 0, 'iso-8859-15': 4, macintosh: 7, ibm850: 7, ibm437: 8, ibm865: 11 },
  ],
  [
    'ru uk be bg sr mk',
    {
      'windows-1251': 1,
      'koi8-r': 2,
      'koi8-u': 3,
      ibm866: 4,
      'iso-8859-5': 6,
      'x-mac-cyrillic': 7,
      ibm855: 9,
    },
  ],
  [
    'pl cs sk hu ro hr sl',
    { 'windows-1250': 2, 'iso-8859-2': 3, ibm852: 7, 'x-mac-ce': 9, 'iso-8859-16': 10 },
  ],
  ['lt lv et', { 'windows-1257': 3, 'iso-8859-13': 4, 'iso-8859-4': 6, ibm775: 8 }],
  ['tr', { 'windows-1254': 3, ibm857: 8, 'x-mac-turkish': 9 }],
  ['eo', { 'iso-8859-3': 8 }],
  ['vi', { 'windows-1258': 5 }],
  ['el', { 'windows-1253': 2, 'iso-8859-7': 3, ibm737: 6, 'x-mac-greek': 9 }],
  ['he', { 'windows-1255': 2, 'iso-8859-8': 4, ibm862: 6 }],
  ['ar fa', { 'windows-1256': 2, 'iso-8859-6': 4 }],
  ['th', { 'windows-874': 3 }],
];
const MULTI_BYTE: readonly (readonly [language: string, label: string])[] = [
  ['ja', 'shift_jis'],
  ['ja', 'euc-jp'],
  ['zh-CN', 'gb18030'],
  ['zh-TW', 'big5'],
  ['ko', 'euc-kr'],
];

/** The known facts besides the bytes. */
export interface GuessHints {
  /** Character sets of other texts of the same origin. */
  readonly likely?: readonly string[] | undefined;
}

/** A guess, and what it was made by. */
export interface Guess {
  readonly label: string;
  /** Bytes of the words, with a line end after each. */
  readonly evidence: number;
  /** Bits of these words in the likeliest language and character set. */
  readonly cost: number;
}

/**
 * Guesses the character set of a text that is neither ASCII nor valid UTF-8: the one in which its words with
 * bytes from 0x80 are most probable, by the letters of 38 languages that follow one another and the characters
 * of four that are frequent. Linear, within a window.
 */
export function guessCharset(bytes: Uint8Array, hints: GuessHints = {}): Guess {
  if (isDamagedUtf8(bytes)) return { label: 'utf-8', evidence: 0, cost: 0 };
  const runs = highRuns(bytes);
  const pairs = countPairs(runs);
  let best = 'windows-1252';
  let least = Number.POSITIVE_INFINITY;
  const compare = (label: string, handicap: number, costOf: (limit: number) => number) => {
    const extra = handicap - (hints.likely?.includes(label) === true ? HINT_BITS : 0);
    const cost = extra + costOf(least - extra);
    if (cost >= least) return;
    best = label;
    least = cost;
  };
  for (const [languages, labels] of EIGHT_BIT) {
    for (const language of languages.split(' ')) {
      for (const [label, handicap] of Object.entries(labels)) {
        compare(label, handicap, (limit) => pairCost(pairs, label, language, limit));
      }
    }
  }
  for (const [language, label] of MULTI_BYTE)
    compare(label, 0, (limit) => characterCost(runs, label, language, limit));
  return { label: best, evidence: runs.length, cost: least };
}

/** Whether a text is UTF-8 with a few bytes that are not: it was cut, or another text was put into it. */
function isDamagedUtf8(bytes: Uint8Array): boolean {
  const end = Math.min(bytes.length, UTF8_WINDOW_BYTES);
  let valid = 0;
  let invalid = 0;
  for (let i = 0; i < end; i++) {
    const byte = bytes[i]!;
    if (byte < 0x80) continue;
    const following = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    let found = 0;
    if (byte >= 0xc2 && byte < 0xf5)
      while (found < following && ((bytes[i + 1 + found] ?? 0) & 0xc0) === 0x80) found++;
    if (found === following && byte >= 0xc2) valid++;
    else invalid++;
    i += found;
  }
  return valid > 0 && valid >= invalid * MIN_VALID_RATIO;
}

/** Bytes after the first one from 0x80 that are searched, and bytes of words that are collected. */
const SEARCH_BYTES = 512 * 1024;
const MAX_RUN_BYTES = 16 * 1024;

/**
 * Returns the words that contain bytes from 0x80, each followed by a line end. A word consists of bytes from
 * 0x40, as the second bytes of Shift_JIS and Big5 do. Markup, numbers and words of ASCII say nothing about the
 * character set, and would hide what the others say.
 */
function highRuns(bytes: Uint8Array): Uint8Array {
  const runs = new Uint8Array(MAX_RUN_BYTES);
  let length = 0;
  const first = bytes.findIndex((byte) => byte >= 0x80);
  if (first < 0) return runs.subarray(0, 0);
  const end = Math.min(bytes.length, first + SEARCH_BYTES);
  for (let i = first; i < end && length < MAX_RUN_BYTES - 1; i++) {
    if (bytes[i]! < 0x80) continue;
    let start = i;
    // A run of signs in ASCII is no word.
    while (start > 0 && i - start < 40 && isWordByte(bytes[start - 1]!)) start--;
    let stop = i + 1;
    while (stop < end && stop - start < MAX_RUN_BYTES && isWordByte(bytes[stop]!)) stop++;
    // The last word is cut, with room for its line end.
    stop = Math.min(stop, start + MAX_RUN_BYTES - 1 - length);
    runs.set(bytes.subarray(start, stop), length);
    length += stop - start;
    runs[length++] = 0x0a;
    i = Math.max(i, stop);
  }
  return runs.subarray(0, length);
}

function isWordByte(byte: number): boolean {
  return byte >= 0x40 && byte !== 0x7f;
}

/**
 * The least number, and share of the letters, of letters from U+00C0 to U+00FF. No text in a Latin script has
 * as many.
 */
const MIN_LETTERS = 4;
const MIN_SHARE = 0.5;
const MAX_LENGTH = 16 * 1024;

/**
 * Whether a text consists of the bytes of windows-1251, each of which became a character of Latin. T2A has the
 * letters of Russian there too.
 */
export function isMisreadCyrillic(text: string): boolean {
  const start = text.slice(0, MAX_LENGTH);
  const high = start.match(/[\u00c0-\u00ff]/g)?.length ?? 0;
  if (high < MIN_LETTERS || high < MIN_SHARE * (start.match(/\p{L}/gu)?.length ?? 0)) return false;
  const bytes = Buffer.from(start.replace(/[^\0-\xff]/g, ' '), 'latin1');
  return guessCharset(bytes).label === 'windows-1251';
}

// How improbable a text is in a character set of Chinese, Japanese or Korean: the cost of its characters.

/** Costs in bits, beside those of the models. */
const UNKNOWN_CHARACTER = 17;
const HALF_WIDTH = 13;
const SYMBOL = 20;
const INVALID = 25;
const ASCII_LETTER = 4.5;
const ASCII_LETTER_IN_WORD = 5;
const END = 2;

const costsByLanguage = new Map<string, Map<string, number>>();

function characterCosts(language: string): Map<string, number> {
  let costs = costsByLanguage.get(language);
  if (costs === undefined) {
    costs = new Map();
    const model = CHARACTER_MODELS.find((candidate) => candidate.language === language);
    for (const [cost, characters] of (model?.byCost ?? []).entries())
      for (const character of characters) costs.set(character, cost);
    costsByLanguage.set(language, costs);
  }
  return costs;
}

/**
 * The cost of words (of {@link highRuns}) in bits, if they are in this language and character set of several
 * bytes.
 *
 * @param limit - a cost from which on the exact one does not matter
 */
function characterCost(runs: Uint8Array, label: string, language: string, limit: number): number {
  const costs = characterCosts(language);
  const text = new TextDecoder(label).decode(runs);
  let sum = 0;
  let previous = '\n';
  for (const character of text) {
    sum += costs.get(character) ?? otherCost(character, previous);
    if (sum > limit) break;
    previous = character;
  }
  return sum;
}

function otherCost(character: string, previous: string): number {
  const code = character.charCodeAt(0);
  if (code < 0x80) {
    if (character === '\n') return END;
    if (!/[A-Za-z]/.test(character)) return 0;
    return ASCII_LETTER + (previous.charCodeAt(0) > 0x7f ? ASCII_LETTER_IN_WORD : 0);
  }
  if (code === 0xfffd || (code >= 0xe000 && code < 0xf900) || code < 0xa0) return INVALID;
  if ((code >= 0x2e80 && code < 0xd800) || (code >= 0xff00 && code < 0xff60)) return UNKNOWN_CHARACTER;
  if (code >= 0xff61 && code < 0xffa0) return HALF_WIDTH;
  return SYMBOL;
}
