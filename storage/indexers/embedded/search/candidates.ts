// Computes the candidates of a query from the word index: objects that may match, and objects that do.
import { OidSet } from '../../../broker/oid-set.js';
import type { Leaf, LiteralLookup } from '../../query/leaf.js';
import type { Plan } from '../../query/matcher.js';
import type { TermLookup } from '../../query/term-lookup.js';
import { MAX_LOOKUP, phraseOf, type Word, wordsOf } from '../../query/words.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { columnOf } from '../index/index-file.js';
import type { Postings } from '../index/postings.js';
import type { Vocabulary, WordPosition } from '../words/vocabulary.js';

/**
 * What the index knows about the answer to a query: a subset and a superset of it. They are equal if the index
 * alone decides.
 */
export interface Candidates {
  /** Objects that satisfy the query; others may satisfy it too. */
  readonly certain: OidSet;
  /** A superset of the objects that satisfy the query; undefined for all objects. */
  readonly possible: OidSet | undefined;
}

/** Limits on the use of the index. */
export interface CandidateLimits {
  /**
   * Maximum number of words with a searched part of a word. A part that occurs in more words excludes no
   * object.
   */
  readonly maxTermsPerPart: number;
}

/** Up to this many candidates, matching is faster than narrowing. */
const MAX_UNNARROWED = 64;

/** Narrows queries by the word index to a superset of the answer, as Glimpse's own index does. */
export class CandidateFinder {
  readonly #postings: Postings;
  readonly #vocabulary: Vocabulary;
  readonly #limits: CandidateLimits;

  constructor(postings: Postings, vocabulary: Vocabulary, limits: CandidateLimits) {
    this.#postings = postings;
    this.#vocabulary = vocabulary;
    this.#limits = limits;
  }

  async find(plan: Plan, slice: TimeSlice): Promise<Candidates> {
    await slice.yield();
    switch (plan.kind) {
      case 'leaf':
        return this.#leaf(plan.leaf, slice);
      case 'not':
        return this.#complement(await this.find(plan.operand, slice), slice);
      case 'and': {
        const left = await this.find(plan.left, slice);
        if (left.possible !== undefined && left.possible.size <= MAX_UNNARROWED)
          return { certain: new OidSet(), possible: left.possible };
        return intersection(left, await this.find(plan.right, slice));
      }
      case 'or':
        return union(await this.find(plan.left, slice), await this.find(plan.right, slice));
      case 'except': {
        const left = await this.find(plan.left, slice);
        return intersection(left, await this.#complement(await this.find(plan.right, slice), slice));
      }
    }
  }

  /**
   * Returns objects that satisfy a leaf because of a single word. This is faster than {@link find}, which
   * returns all candidates, and serves the first hits of a query. The set is empty if no single word proves a
   * match.
   */
  async findCertain({ terms, attribute }: Leaf, slice: TimeSlice): Promise<OidSet> {
    const found = new OidSet();
    const column = attribute === undefined ? undefined : columnOf(attribute);
    if (terms === undefined || column?.hasOneAttribute === false) return found;
    const { certain } = await this.#vocabulary.classify(terms, this.#limits.maxTermsPerPart, slice);
    await this.#postings.ofTerms(certain, filterOf(column?.name), found, slice);
    return found;
  }

  /** The complement of the possible objects is certain, that of the certain objects is possible. */
  async #complement({ certain, possible }: Candidates, slice: TimeSlice): Promise<Candidates> {
    const all = await this.#postings.all(slice);
    if (possible === certain) {
      all.subtract(certain);
      return { certain: all, possible: all };
    }
    const others = possible === undefined ? new OidSet() : all.clone().subtract(possible);
    return { certain: others, possible: all.subtract(certain) };
  }

  async #leaf(leaf: Leaf, slice: TimeSlice): Promise<Candidates> {
    const column = leaf.attribute === undefined ? undefined : columnOf(leaf.attribute);
    const isExactColumn = column?.hasOneAttribute ?? true;
    const bounds = leaf.terms === undefined ? undefined : await this.#bounds(leaf.terms, column?.name, slice);
    // In a column of several attributes the word may occur in another one.
    const certain = isExactColumn && bounds !== undefined ? bounds.certain : new OidSet();
    if (bounds?.possible !== undefined) {
      return { certain: isExactColumn ? bounds.certain : new OidSet(), possible: bounds.possible };
    }
    const possible = await this.#lookUp(leaf, column?.name, slice);
    if (possible === undefined) return { certain, possible };
    const exact = leaf.decidedByIndex && isExactColumn && isShort(leaf);
    return exact ? { certain: possible, possible } : { certain, possible: possible.unite(certain) };
  }

  /** The bounds from the words of the vocabulary; one set for both if they decide every object. */
  async #bounds(terms: TermLookup, column: string | undefined, slice: TimeSlice): Promise<Candidates> {
    const verdicts = await this.#vocabulary.classify(terms, this.#limits.maxTermsPerPart, slice);
    const certain = new OidSet();
    const filter = filterOf(column);
    await this.#postings.ofTerms(verdicts.certain, filter, certain, slice);
    if (!verdicts.all || !terms.complete) return { certain, possible: undefined };
    // Objects that changed after the vocabulary was read may have words that it lacks.
    const { changed } = verdicts;
    if (verdicts.possible.length === 0 && changed.isEmpty) return { certain, possible: certain };
    const possible = changed.unite(certain);
    await this.#postings.ofTerms(verdicts.possible, filter, possible, slice);
    return { certain, possible };
  }

  /** The objects that contain the required texts of the leaf; undefined means all objects. */
  async #lookUp({ lookup }: Leaf, column: string | undefined, slice: TimeSlice): Promise<OidSet | undefined> {
    if (lookup.kind === 'all') return undefined;
    let found: OidSet | undefined;
    for (const literal of lookup.texts) {
      const set = await this.#literal(literal, column, slice);
      if (lookup.kind === 'any') {
        if (set === undefined) return undefined;
        found = found?.unite(set) ?? set;
      } else if (set !== undefined) {
        found = found?.intersect(set) ?? set;
        if (found.size <= MAX_UNNARROWED) break;
      }
    }
    return found;
  }

  /** The objects with all words of a text; undefined if the words exclude no object. */
  async #literal(
    literal: LiteralLookup,
    column: string | undefined,
    slice: TimeSlice,
  ): Promise<OidSet | undefined> {
    const filter = filterOf(column);
    const { phrases, parts } = splitLookup(literal);
    let found: OidSet | undefined;
    for (const words of phrases) {
      const match = `${filter}"${words.join(' ')}"`;
      let set = new OidSet();
      if (words.length === 1) await this.#postings.ofWord(match, set, slice);
      else set = await this.#postings.ofPhrase(match, slice);
      found = found?.intersect(set) ?? set;
    }
    for (const { text, position } of parts) {
      if (found !== undefined && found.size <= MAX_UNNARROWED) break;
      const set = await this.#part(text, position, filter, slice);
      if (set !== undefined) found = found?.intersect(set) ?? set;
    }
    return found;
  }

  async #part(
    text: string,
    position: WordPosition,
    filter: string,
    slice: TimeSlice,
  ): Promise<OidSet | undefined> {
    const result = await this.#vocabulary.find(text, position, this.#limits.maxTermsPerPart, slice);
    if (result === undefined) return undefined;
    const found = result.changed;
    await this.#postings.ofTerms([...result.terms], filter, found, slice);
    return found;
  }
}

/**
 * Splits a text into runs of consecutive whole words and parts of words at its ends. `foo bar baz` is the end
 * of a word, a word and the start of a word.
 */
function splitLookup({ text, leftBounded, rightBounded }: LiteralLookup): {
  phrases: string[][];
  parts: { text: string; position: WordPosition }[];
} {
  const phrases: string[][] = [];
  const parts: { text: string; position: WordPosition }[] = [];
  let phrase: Word[] = [];
  const endPhrase = () => {
    if (phrase.length > 0) phrases.push(phraseOf(text, phrase));
    phrase = [];
  };
  for (const word of wordsOf(text)) {
    const position = openPosition(word, text, leftBounded, rightBounded);
    if (position === undefined) phrase.push(word);
    else {
      endPhrase();
      parts.push({ text: truncated(word.text), position });
    }
  }
  endPhrase();
  return { phrases, parts };
}

/** Where the text is in a word of the object; undefined if it is the whole word. */
function openPosition(
  word: Word,
  text: string,
  leftBounded: boolean,
  rightBounded: boolean,
): WordPosition | undefined {
  // A longer word may be indexed in pieces (words.ts).
  if (word.text.length > MAX_LOOKUP) return 'anywhere';
  const openLeft = word.start === 0 && !leftBounded;
  const openRight = word.end === text.length && !rightBounded;
  if (openLeft) return openRight ? 'anywhere' : 'end';
  return openRight ? 'start' : undefined;
}

function truncated(text: string): string {
  const cut = text.slice(0, MAX_LOOKUP);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** Whether no text is longer than a lookup; a longer word is looked up by its start only. */
function isShort({ lookup }: Leaf): boolean {
  return lookup.kind !== 'all' && lookup.texts.every(({ text }) => text.length <= MAX_LOOKUP);
}

/** The FTS5 column filter of one column; empty for all columns. */
function filterOf(column: string | undefined): string {
  return column === undefined ? '' : `${column} : `;
}

/** Consumes both operands, whose sets are reused; both sets of an operand may be the same object. */
function intersection(a: Candidates, b: Candidates): Candidates {
  if (a.possible === a.certain && b.possible === b.certain) {
    const both = a.certain.intersect(b.certain);
    return { certain: both, possible: both };
  }
  const certain = a.certain.clone().intersect(b.certain);
  if (a.possible === undefined || b.possible === undefined)
    return { certain, possible: a.possible ?? b.possible };
  return { certain, possible: a.possible.intersect(b.possible) };
}

function union(a: Candidates, b: Candidates): Candidates {
  if (a.possible === a.certain && b.possible === b.certain) {
    const either = a.certain.unite(b.certain);
    return { certain: either, possible: either };
  }
  const certain = a.certain.clone().unite(b.certain);
  if (a.possible === undefined || b.possible === undefined) return { certain, possible: undefined };
  return { certain, possible: a.possible.unite(b.possible) };
}
