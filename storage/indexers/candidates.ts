import { columnOf } from './index-file.js';
import type { Leaf, LiteralLookup } from './leaf.js';
import type { Plan } from './matcher.js';
import { OidSet } from './oid-set.js';
import type { Pace } from './pace.js';
import type { Postings } from './postings.js';
import type { Place, Vocabulary } from './vocabulary.js';
import { MAX_LOOKUP, type Word, wordsOf } from './words.js';

/** Objects that may satisfy a query; `exact`: they all do. Every object that does is among them. */
export interface Candidates {
  /** Undefined: all objects. */
  readonly set: OidSet | undefined;
  readonly exact: boolean;
}

/** Limits on the use of the index. */
export interface CandidateLimits {
  /** A part of so many words narrows nothing: all objects are candidates then. */
  readonly maxTermsPerPart: number;
}

/** So few candidates are read and decided faster than narrowed further. */
const FEW = 64;
const EVERYTHING: Candidates = { set: undefined, exact: false };

/** Narrows queries by the word index: a superset of the answer, as Glimpse's own index gives. */
export class CandidateFinder {
  readonly #postings: Postings;
  readonly #vocabulary: Vocabulary;
  readonly #limits: CandidateLimits;

  constructor(postings: Postings, vocabulary: Vocabulary, limits: CandidateLimits) {
    this.#postings = postings;
    this.#vocabulary = vocabulary;
    this.#limits = limits;
  }

  async find(plan: Plan, pace: Pace): Promise<Candidates> {
    await pace.rest();
    switch (plan.kind) {
      case 'leaf':
        return this.#leaf(plan.leaf, pace);
      case 'not':
        return this.#complement(await this.find(plan.operand, pace), pace);
      case 'and': {
        const left = await this.find(plan.left, pace);
        if (left.set !== undefined && left.set.size <= FEW)
          return { set: left.set, exact: left.set.size === 0 };
        return intersection(left, await this.find(plan.right, pace));
      }
      case 'or':
        return union(await this.find(plan.left, pace), await this.find(plan.right, pace));
      case 'except': {
        const left = await this.find(plan.left, pace);
        const right = await this.#complement(await this.find(plan.right, pace), pace);
        return intersection(left, right);
      }
    }
  }

  /** What an inexact set leaves out is nothing certain, so its complement may be anything. */
  async #complement({ set, exact }: Candidates, pace: Pace): Promise<Candidates> {
    if (!exact || set === undefined) return EVERYTHING;
    return { set: (await this.#postings.all(pace)).subtract(set), exact: true };
  }

  async #leaf(leaf: Leaf, pace: Pace): Promise<Candidates> {
    const { lookup } = leaf;
    if (lookup.kind === 'all') return EVERYTHING;
    const column = leaf.attribute === undefined ? undefined : columnOf(leaf.attribute);
    let found: OidSet | undefined;
    for (const literal of lookup.texts) {
      const set = await this.#literal(literal, column?.name, pace);
      if (lookup.kind === 'any') {
        if (set === undefined) return EVERYTHING;
        found = found?.unite(set) ?? set;
      } else if (set !== undefined) {
        found = found?.intersect(set) ?? set;
        if (found.size <= FEW) break;
      }
    }
    const exact =
      leaf.decidedByIndex && (column?.alone ?? true) && lookup.texts[0]!.text.length <= MAX_LOOKUP;
    return { set: found, exact: exact && found !== undefined };
  }

  /** The objects with all words of a text; undefined when the words do not narrow. */
  async #literal(
    literal: LiteralLookup,
    column: string | undefined,
    pace: Pace,
  ): Promise<OidSet | undefined> {
    const filter = column === undefined ? '' : `${column} : `;
    const { phrases, parts } = splitLookup(literal);
    let found: OidSet | undefined;
    for (const words of phrases) {
      const match = `${filter}"${words.join(' ')}"`;
      let set = new OidSet();
      if (words.length === 1) await this.#postings.ofWord(match, set, pace);
      else set = await this.#postings.ofPhrase(match, pace);
      found = found?.intersect(set) ?? set;
    }
    for (const { text, place } of parts) {
      if (found !== undefined && found.size <= FEW) break;
      const set = await this.#part(text, place, filter, pace);
      if (set !== undefined) found = found?.intersect(set) ?? set;
    }
    return found;
  }

  async #part(text: string, place: Place, filter: string, pace: Pace): Promise<OidSet | undefined> {
    const result = await this.#vocabulary.find(text, place, this.#limits.maxTermsPerPart, pace);
    if (result === undefined) return undefined;
    const found = result.fresh;
    for (const term of result.terms) {
      await this.#postings.ofWord(`${filter}"${term}"`, found, pace);
      await pace.rest();
    }
    return found;
  }
}

/**
 * Splits a text into runs of whole words, which the object must have one behind the other, and parts of words at
 * its ends. `foo bar baz` is the end of a word, a word and the start of a word.
 */
function splitLookup({ text, leftBounded, rightBounded }: LiteralLookup): {
  phrases: string[][];
  parts: { text: string; place: Place }[];
} {
  const phrases: string[][] = [];
  const parts: { text: string; place: Place }[] = [];
  let phrase: string[] = [];
  const endPhrase = () => {
    if (phrase.length > 0) phrases.push(phrase);
    phrase = [];
  };
  for (const word of wordsOf(text)) {
    const place = openPlace(word, text, leftBounded, rightBounded);
    if (place === undefined) phrase.push(word.text);
    else {
      endPhrase();
      parts.push({ text: shortened(word.text), place });
    }
  }
  endPhrase();
  return { phrases, parts };
}

/** Undefined: the word is a whole word of the object. */
function openPlace(word: Word, text: string, leftBounded: boolean, rightBounded: boolean): Place | undefined {
  // A longer word may be indexed in pieces (words.ts).
  if (word.text.length > MAX_LOOKUP) return 'anywhere';
  const openLeft = word.start === 0 && !leftBounded;
  const openRight = word.end === text.length && !rightBounded;
  if (openLeft) return openRight ? 'anywhere' : 'end';
  return openRight ? 'start' : undefined;
}

function shortened(text: string): string {
  const cut = text.slice(0, MAX_LOOKUP);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

function intersection(a: Candidates, b: Candidates): Candidates {
  const exact = a.exact && b.exact;
  if (a.set === undefined || b.set === undefined) return { set: a.set ?? b.set, exact };
  return { set: a.set.intersect(b.set), exact };
}

function union(a: Candidates, b: Candidates): Candidates {
  const exact = a.exact && b.exact;
  if (a.set === undefined || b.set === undefined) return { set: undefined, exact };
  return { set: a.set.unite(b.set), exact };
}
