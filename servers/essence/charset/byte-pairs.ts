// How improbable a text is in a character set of eight bits and a language: the cost of its pairs of
// neighboring bytes.

import { wordSet } from '../word-tables.js';
import { decodeAs } from './decoders.js';
import { LETTER_MODELS, type LetterModel } from './letter-models.js';

/** The class of a byte in a character set. */
enum Kind {
  /** Space, sign of ASCII, digit: where a word begins and ends. */
  Boundary,
  Lower,
  Upper,
  /** Quotation marks, dashes and other signs of running text. */
  Sign,
  /** Quotation marks that do not follow a letter. */
  Opening,
  Apostrophe,
  /** Currencies, fractions and the like. */
  Rare,
  Symbol,
  /** Lines and blocks of DOS: they stand in rows. */
  Box,
  Unused,
}

/** Costs in bits, beside those of the models. */
const UPPER_AT_START = 1.5;
const UPPER_AFTER_UPPER = 0.5;
const UPPER_AFTER_LOWER = 8;
const LATIN_AFTER_BOUNDARY = 4.5;
const OTHER_SCRIPT_IN_WORD = 12;
const UNKNOWN_LETTER = 13;
const SIGN = 5;
const OPENING_SIGN_IN_WORD = 6;
const APOSTROPHE = 3;
const RARE = 8;
const SYMBOL = 11;
const SYMBOL_IN_WORD = 4;
const BOX = 7;
const SAME_BOX = 1;
const UNUSED = 25;

const SIGNS = new Set('\xa0\xad»”–—…·•°№§©®™´');
const OPENING_SIGNS = new Set('«“„‘‚');
/** Languages with apostrophes between letters. */
const WITH_APOSTROPHES = wordSet('en fr it ca nl uk be');
const RARE_SIGNS = new Set('€£¢¥¿¡ªº½¼¾²³±×');
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The different pairs of bytes of a text, and how often each occurs. */
export interface BytePairs {
  readonly first: Uint8Array;
  readonly second: Uint8Array;
  readonly count: Float64Array;
}

/**
 * Counts the pairs in the words with bytes from 0x80; a word of letters of ASCII, and a sign of ASCII, counts
 * as a space.
 */
export function countPairs(runs: Uint8Array): BytePairs {
  const counts = new Uint32Array(0x10000);
  const found: number[] = [];
  const add = (pair: number) => {
    if (counts[pair] === 0) found.push(pair);
    counts[pair] = counts[pair]! + 1;
  };
  for (let i = 0; i < runs.length; ) {
    let stop = i;
    let high = false;
    while (stop < runs.length && isLetterOrHigh(runs[stop]!)) {
      if (runs[stop]! >= 0x80) high = true;
      stop++;
    }
    if (high) {
      let previous = 0;
      for (; i < stop; i++) {
        const byte = runs[i]!;
        add((previous << 8) | byte);
        previous = byte;
      }
      add(previous << 8);
    }
    i = stop + 1;
  }
  // Frequent pairs first: a bad candidate is then recognized soon.
  found.sort((a, b) => counts[b]! - counts[a]!);
  return {
    first: Uint8Array.from(found, (pair) => pair >> 8),
    second: Uint8Array.from(found, (pair) => pair & 0xff),
    count: Float64Array.from(found, (pair) => counts[pair]!),
  };
}

function isLetterOrHigh(byte: number): boolean {
  return byte >= 0x80 || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a);
}

interface ByteKinds {
  readonly kinds: Uint8Array;
  /** The lower-case letter of each byte; empty for other characters. */
  readonly letters: readonly string[];
}

const kindsByLabel = new Map<string, ByteKinds>();

function byteKinds(label: string): ByteKinds {
  let known = kindsByLabel.get(label);
  if (known === undefined) {
    known = classify(label);
    kindsByLabel.set(label, known);
  }
  return known;
}

function classify(label: string): ByteKinds {
  const kinds = new Uint8Array(256);
  const letters: string[] = [];
  const characters = decodeAs(
    Uint8Array.from({ length: 256 }, (_, byte) => byte),
    label,
  );
  for (let byte = 0; byte < 256; byte++) {
    const character = characters.charAt(byte);
    const lower = character.toLowerCase();
    const isLetter = /^[\p{L}\p{M}]$/u.test(character) && character !== 'ª' && character !== 'º';
    letters.push(isLetter ? lower.charAt(0).replace('ș', 'ş').replace('ț', 'ţ') : '');
    if (isLetter) kinds[byte] = lower === character ? Kind.Lower : Kind.Upper;
    else if (byte < 0x80) kinds[byte] = Kind.Boundary;
    else if (OPENING_SIGNS.has(character)) kinds[byte] = Kind.Opening;
    else if (character === '’') kinds[byte] = Kind.Apostrophe;
    else if (SIGNS.has(character)) kinds[byte] = Kind.Sign;
    else if (RARE_SIGNS.has(character)) kinds[byte] = Kind.Rare;
    else if (/^[\u2500-\u259f]$/.test(character)) kinds[byte] = Kind.Box;
    else if (/^[\p{Cc}\ufffd\uf8ff]$/u.test(character)) kinds[byte] = Kind.Unused;
    else kinds[byte] = Kind.Symbol;
  }
  return { kinds, letters };
}

/** Computes costs in one language and character set. */
class PairCosts {
  readonly #kinds: Uint8Array;
  /** The number of each byte's letter in the model; 0 if it has none. */
  readonly #numbers = new Uint8Array(256);
  /** Letters of ASCII in a language of another script. */
  readonly #foreign = new Uint8Array(256);
  readonly #costs: Float64Array;
  readonly #size: number;
  readonly #apostrophes: boolean;

  constructor(label: string, model: LetterModel) {
    const { kinds, letters } = byteKinds(label);
    this.#kinds = kinds;
    this.#costs = costsOf(model);
    this.#size = model.letters.length + 1;
    this.#apostrophes = WITH_APOSTROPHES.has(model.language);
    const latin = model.letters.includes('a');
    for (let byte = 0; byte < 256; byte++) {
      const letter = letters[byte] ?? '';
      if (letter === '') continue;
      this.#numbers[byte] = model.letters.indexOf(letter) + 1;
      if (!latin && byte < 0x80) this.#foreign[byte] = 1;
    }
  }

  of(pairs: BytePairs, limit: number): number {
    let sum = 0;
    for (let i = 0; i < pairs.count.length && sum < limit; i++)
      sum += pairs.count[i]! * this.#pair(pairs.first[i]!, pairs.second[i]!);
    return sum;
  }

  #pair(first: number, second: number): number {
    const before = this.#kinds[first] as Kind;
    const letterBefore = before === Kind.Lower || before === Kind.Upper;
    const from = this.#numbers[first]!;
    switch (this.#kinds[second] as Kind) {
      case Kind.Boundary:
        return this.#letterCost(from, 0);
      case Kind.Lower:
      case Kind.Upper: {
        const upper = this.#kinds[second] === Kind.Upper ? this.#upperAfter(before) : 0;
        const number = this.#numbers[second]!;
        if (this.#foreign[second] === 1)
          return letterBefore && this.#foreign[first] === 0 ? OTHER_SCRIPT_IN_WORD : LATIN_AFTER_BOUNDARY;
        if (number === 0) return UNKNOWN_LETTER + upper;
        if (this.#foreign[first] === 1) return OTHER_SCRIPT_IN_WORD;
        return this.#letterCost(from, number) + upper;
      }
      case Kind.Sign:
        return SIGN + this.#letterCost(from, 0);
      case Kind.Opening:
        return SIGN + (letterBefore ? OPENING_SIGN_IN_WORD : 0);
      case Kind.Apostrophe:
        return SIGN + (letterBefore && !this.#apostrophes ? APOSTROPHE : 0) + this.#letterCost(from, 0);
      case Kind.Rare:
        return RARE + this.#letterCost(from, 0);
      case Kind.Symbol:
        return SYMBOL + (letterBefore ? SYMBOL_IN_WORD : 0) + this.#letterCost(from, 0);
      case Kind.Box:
        return first === second
          ? SAME_BOX
          : BOX + (letterBefore ? SYMBOL_IN_WORD : 0) + this.#letterCost(from, 0);
      case Kind.Unused:
        return UNUSED;
    }
  }

  /** Nothing is known of what follows a sign: only a letter is a reason to expect one. */
  #letterCost(from: number, to: number): number {
    return from === 0 && to === 0 ? 0 : this.#costs[from * this.#size + to]!;
  }

  #upperAfter(before: Kind): number {
    if (before === Kind.Lower) return UPPER_AFTER_LOWER;
    return before === Kind.Upper ? UPPER_AFTER_UPPER : UPPER_AT_START;
  }
}

const digitValues = new Map([...DIGITS].map((digit, value) => [digit, value]));

const costsByModel = new Map<LetterModel, Float64Array>();

/** The table of a model in bits. */
function costsOf(model: LetterModel): Float64Array {
  const known = costsByModel.get(model);
  if (known !== undefined) return known;
  const costs = Float64Array.from(model.costs, (digit) => (digitValues.get(digit) ?? 63) / 4);
  costsByModel.set(model, costs);
  return costs;
}

const modelsByLanguage = new Map(LETTER_MODELS.map((model) => [model.language, model]));
const costsByName = new Map<string, PairCosts>();

/**
 * The cost of a text in bits, if it is in this language and character set of eight bits. Infinity for a
 * language without a model.
 *
 * @param limit - a cost from which on the exact one does not matter
 */
export function pairCost(pairs: BytePairs, label: string, language: string, limit: number): number {
  const name = `${label} ${language}`;
  let costs = costsByName.get(name);
  if (costs === undefined) {
    const model = modelsByLanguage.get(language);
    if (model === undefined) return Number.POSITIVE_INFINITY;
    costs = new PairCosts(label, model);
    costsByName.set(name, costs);
  }
  return costs.of(pairs, limit);
}
