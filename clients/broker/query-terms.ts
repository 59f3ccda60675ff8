// The words of a query that can be shown in a text.
import { lettersOf, normalize, type Query, withParts } from '../../protocols/broker/index.js';

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

/**
 * Returns a pattern, with the flag `g`, that `matchAll` finds in the spellings of a text that match the query; undefined
 * without terms.
 */
export function termPattern(terms: readonly string[], matching: TermMatching): RegExp | undefined {
  if (terms.length === 0) return undefined;
  const spell = spellingOf(matching);
  const longestFirst = terms.map((term) => spell(term.trim())).sort((a, b) => b.length - a.length);
  const any = `(?:${longestFirst.map(literal).join('|')})`;
  const source = matching.matchWord ? `(?<![\\p{L}\\p{N}_])${any}(?![\\p{L}\\p{N}_])` : any;
  return new TermPattern(source, matching);
}

function spellingOf({ ignoreAccents }: TermMatching): (text: string) => string {
  return ignoreAccents === true ? (text) => lettersOf(normalize(text)) : normalize;
}

/** Returns a pattern that matches the text literally, and therefore in linear time. */
function literal(text: string): string {
  return text
    .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    .replace(/\s+|(?<=[\p{L}\p{M}\p{N}_])-(?=[\p{L}\p{M}\p{N}_])/gu, '(?:\\s+|-)');
}

const NOT_ASCII = /[^\0-\x7f]/;
/** A character with its marks, which together may be another one. */
const CHARACTERS = /\P{M}\p{M}*|\p{M}+/gsu;

/**
 * Finds terms in the spelling in which they were matched, and returns the text as it is written there. With the flags of a
 * request for content, also the parts of identifiers.
 */
class TermPattern extends RegExp {
  readonly #spell: (text: string) => string;
  readonly #hasParts: boolean;

  constructor(source: string, matching: TermMatching) {
    super(source, matching.ignoreCase ? 'giu' : 'gu');
    this.#spell = spellingOf(matching);
    this.#hasParts = matching.contentOnly === true && matching.matchWord;
  }

  static override get [Symbol.species](): RegExpConstructor {
    return RegExp;
  }

  override *[Symbol.matchAll](text: string): RegExpStringIterator<RegExpExecArray> {
    const found = [...this.#matches(text, this.#spell)];
    if (this.#hasParts && withParts(text) !== text) {
      const whole = [...found];
      for (const part of this.#partsOf(text))
        if (!whole.some(({ start, end }) => part.start < end && start < part.end)) found.push(part);
      found.sort((a, b) => a.start - b.start);
    }
    for (const { start, end } of found)
      yield Object.assign([text.slice(start, end)] as [string], { index: start, input: text });
    return undefined;
  }

  /** The matches in a text whose characters are spelled one by one. */
  *#matches(text: string, spell: (text: string) => string): Generator<Match> {
    const plain = NOT_ASCII.test(text) ? spelled(text, spell) : { text, offset: (at: number) => at };
    for (const { 0: found, index = 0 } of super[Symbol.matchAll](plain.text))
      yield { start: plain.offset(index), end: plain.offset(index + found.length) };
  }

  /** The matches within identifiers. */
  *#partsOf(text: string): Generator<Match> {
    for (const word of text.matchAll(/[\p{L}\p{M}\p{N}_]+/gu)) {
      const parts = withParts(word[0]);
      if (parts === word[0]) continue;
      // A blank stands for an underscore, or for nothing.
      const offsets: number[] = [];
      let at = word.index;
      for (const character of parts) {
        offsets.push(at);
        if (character !== ' ' || text[at] === '_') at += character.length;
      }
      offsets.push(at);
      for (const { start, end } of this.#matches(parts, this.#spell))
        yield { start: offsets[start]!, end: offsets[end]! };
    }
  }
}

interface Match {
  readonly start: number;
  readonly end: number;
}

/** A text in another spelling, and the offset in the text of each offset in it. */
function spelled(
  text: string,
  spell: (text: string) => string,
): { readonly text: string; readonly offset: (at: number) => number } {
  let plain = '';
  const offsets: number[] = [];
  for (const match of text.matchAll(CHARACTERS)) {
    const character = spell(match[0]);
    for (let i = 0; i < character.length; i++) offsets.push(match.index);
    plain += character;
  }
  offsets.push(text.length);
  return { text: plain, offset: (at) => offsets[at]! };
}
