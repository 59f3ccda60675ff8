// The words of a query that can be shown in a text.
import { lettersOf, mayHaveParts, normalize, type Query, withParts } from '../../protocols/broker/index.js';

/** Terms that are marked; queries with more come from programs. */
const MAX_WORDS = 32;

/** Characters with a meaning in patterns (BRK-2.22). Terms with them are not marked. */
const PATTERN = /[.#[\]^$|*()\\]/;

/** Returns the words and phrases of a query that are not patterns. */
export function literalTerms(query: Query): string[] {
  const terms: string[] = [];
  const visit = (node: Query): void => {
    switch (node.kind) {
      case 'term':
        if (!PATTERN.test(node.text.replaceAll('\\.', ''))) terms.push(node.text.replaceAll('\\.', '.'));
        break;
      case 'select':
        if (node.operator === 'contains' && !PATTERN.test(node.value)) terms.push(node.value);
        break;
      case 'and':
      case 'or':
        visit(node.left);
        visit(node.right);
        break;
      case 'except':
        visit(node.left);
        break;
      default:
        // `not` and `#allb` have nothing to mark.
        break;
    }
  };
  visit(query);
  return [...new Set(terms)].filter((term) => term.trim() !== '').slice(0, MAX_WORDS);
}

/** How a query was matched: the flags of its request that decide where its words are in a text. */
export interface TermMatching {
  readonly ignoreCase: boolean;
  readonly matchWord: boolean;
  readonly ignoreAccents?: true | undefined;
  readonly contentOnly?: true | undefined;
}

/** A part of a text, by offsets in UTF-16 units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the terms of a query in texts, in the spellings in which they were matched. A request for content also finds the
 * parts of identifiers.
 */
export class TermFinder {
  readonly #pattern: RegExp;
  readonly #spell: (text: string) => string;
  readonly #hasParts: boolean;

  private constructor(
    terms: readonly string[],
    spell: (text: string) => string,
    { ignoreCase, matchWord, contentOnly }: TermMatching,
  ) {
    this.#spell = spell;
    const longestFirst = terms.toSorted((a, b) => b.length - a.length);
    const any = `(?:${longestFirst.map(literal).join('|')})`;
    const source = matchWord ? `(?<!${WORD_CHARACTER})${any}(?!${WORD_CHARACTER})` : any;
    this.#pattern = new RegExp(source, ignoreCase ? 'giu' : 'gu');
    this.#hasParts = contentOnly === true && matchWord;
  }

  /** Returns undefined without terms that can be seen. */
  static of(terms: readonly string[], matching: TermMatching): TermFinder | undefined {
    const spell = matching.ignoreAccents === true ? (text: string) => lettersOf(normalize(text)) : normalize;
    const spelled = terms.map((term) => spell(term).trim()).filter((term) => term !== '');
    return spelled.length === 0 ? undefined : new TermFinder(spelled, spell, matching);
  }

  /** Where the text has one of the terms, in order, without overlaps. */
  *matches(text: string): Generator<TextRange> {
    const parts = this.#hasParts ? this.#matchesInIdentifiers(text) : NOTHING;
    let part = parts.next();
    let end = 0;
    for (const whole of this.#matchesIn(text)) {
      for (; part.done !== true && part.value.start < whole.end; part = parts.next()) {
        if (part.value.start < end || part.value.end > whole.start) continue;
        yield part.value;
      }
      yield whole;
      end = whole.end;
    }
    for (; part.done !== true; part = parts.next()) if (part.value.start >= end) yield part.value;
  }

  /** Whether the text has one of the terms. */
  isIn(text: string): boolean {
    return this.matches(text).next().done !== true;
  }

  /** The matches in a text, whose characters are spelled one by one. */
  *#matchesIn(text: string): Generator<TextRange> {
    const plain = NOT_ASCII.test(text) ? spelled(text, this.#spell) : { text, offset: (at: number) => at };
    for (const { 0: found, index = 0 } of plain.text.matchAll(this.#pattern))
      yield { start: plain.offset(index), end: plain.offset(index + found.length) };
  }

  *#matchesInIdentifiers(text: string): Generator<TextRange> {
    if (!mayHaveParts(text)) return;
    for (const { 0: word, index } of text.matchAll(WORDS)) {
      if (!mayHaveParts(word)) continue;
      const parts = withParts(word);
      if (parts === word) continue;
      // A blank stands for an underscore, or for nothing.
      const offsets: number[] = [];
      let at = index;
      for (let i = 0; i < parts.length; i++) {
        offsets.push(at);
        if (parts[i] !== ' ' || text[at] === '_') at++;
      }
      offsets.push(at);
      for (const { start, end } of this.#matchesIn(parts))
        yield { start: offsets[start]!, end: offsets[end]! };
    }
  }
}

const NOTHING: Iterator<TextRange, undefined> = { next: () => ({ done: true, value: undefined }) };

const NOT_ASCII = /[^\0-\x7f]/;
const WORD_CHARACTER = '[\\p{L}\\p{M}\\p{N}_]';
const WORDS = new RegExp(`${WORD_CHARACTER}+`, 'gu');
const BLANK = new RegExp(`\\s+|(?<=${WORD_CHARACTER})-(?=${WORD_CHARACTER})`, 'gu');

/** Returns a pattern that matches the text literally, and therefore in linear time. */
function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(BLANK, '(?:\\s+|-)');
}

/** Characters that are spelled as they are, or one with its marks, which together may be another one. */
const CHARACTERS = /[\0-\x7f]+(?!\p{M})|\P{M}\p{M}*|\p{M}+/gsu;

/** A text in another spelling, and the offset in the text of each offset in it. */
function spelled(
  text: string,
  spell: (text: string) => string,
): { readonly text: string; readonly offset: (at: number) => number } {
  let plain = '';
  const offsets: number[] = [];
  for (const { 0: found, index } of text.matchAll(CHARACTERS)) {
    const isAscii = !NOT_ASCII.test(found);
    const same = isAscii ? found : spell(found);
    for (let i = 0; i < same.length; i++) offsets.push(isAscii ? index + i : index);
    plain += same;
  }
  offsets.push(text.length);
  return { text: plain, offset: (at) => offsets[at]! };
}
