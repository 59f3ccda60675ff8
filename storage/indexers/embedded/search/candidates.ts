// Computes the candidates of a query from the word index: objects that may match, and objects that do.
import { OidSet } from '../../../broker/oid-set.js';
import { columnOf } from '../../columns/columns.js';
import type { Leaf, LiteralLookup } from '../../query/leaf.js';
import { splitLookup, type WordPosition } from '../../query/lookup-words.js';
import type { Plan } from '../../query/matcher.js';
import type { TermLookup } from '../../query/term-lookup.js';
import { BREAK, MAX_LOOKUP } from '../../query/words.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { IndexVersion } from '../index/index-cache.js';
import type { Postings } from '../index/postings.js';
import type { Spellings } from '../index/spellings.js';
import type { Vocabulary } from '../words/vocabulary.js';
import { filterOf, knownSpellings, phrasesOf } from './index-expression.js';

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
  readonly #spellings: Spellings;
  readonly #limits: CandidateLimits;
  readonly #version: IndexVersion;
  /** All objects, at an epoch of the version. */
  #all: { readonly epoch: number; readonly objects: OidSet } | undefined;

  constructor(
    postings: Postings,
    vocabulary: Vocabulary,
    spellings: Spellings,
    version: IndexVersion,
    limits: CandidateLimits,
  ) {
    this.#postings = postings;
    this.#vocabulary = vocabulary;
    this.#spellings = spellings;
    this.#version = version;
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
  async findCertain(leaf: Leaf, slice: TimeSlice): Promise<OidSet> {
    const { terms, attribute } = leaf;
    const found = new OidSet();
    const column = attribute === undefined ? undefined : columnOf(attribute);
    if (terms === undefined || column?.hasOneAttribute === false) return found;
    const { certain } = await this.#vocabulary.classify(terms, this.#limits.maxTermsPerPart, slice);
    await this.#postings.ofTerms(certain, filterOf(leaf), found, slice);
    return found;
  }

  /** All objects, for the caller to change: hundreds of negations read them once. */
  async #everything(slice: TimeSlice): Promise<OidSet> {
    const { epoch } = this.#version;
    if (this.#all?.epoch !== epoch) this.#all = { epoch, objects: await this.#postings.all(slice) };
    return this.#all.objects.clone();
  }

  /** The complement of the possible objects is certain, that of the certain objects is possible. */
  async #complement({ certain, possible }: Candidates, slice: TimeSlice): Promise<Candidates> {
    const all = await this.#everything(slice);
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
    const bounds =
      leaf.terms === undefined ? undefined : await this.#bounds(leaf.terms, filterOf(leaf), slice);
    // In a column of several attributes the word may occur in another one.
    const certain = isExactColumn && bounds !== undefined ? bounds.certain : new OidSet();
    if (bounds?.possible !== undefined) {
      return { certain: isExactColumn ? bounds.certain : new OidSet(), possible: bounds.possible };
    }
    const possible = await this.#lookUp(leaf, slice);
    if (possible === undefined) return { certain, possible };
    const exact = leaf.decidedByIndex && isExactColumn && isShort(leaf);
    return exact ? { certain: possible, possible } : { certain, possible: possible.unite(certain) };
  }

  /** The bounds from the words of the vocabulary; one set for both if they decide every object. */
  async #bounds(terms: TermLookup, filter: string, slice: TimeSlice): Promise<Candidates> {
    const verdicts = await this.#vocabulary.classify(terms, this.#limits.maxTermsPerPart, slice);
    const certain = new OidSet();
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
  async #lookUp(leaf: Leaf, slice: TimeSlice): Promise<OidSet | undefined> {
    const { lookup } = leaf;
    if (lookup.kind === 'all') return undefined;
    let found: OidSet | undefined;
    for (const literal of lookup.texts) {
      const set = await this.#literal(literal, leaf, slice);
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
  async #literal(literal: LiteralLookup, leaf: Leaf, slice: TimeSlice): Promise<OidSet | undefined> {
    const { phrases, parts } = splitLookup(literal);
    let found: OidSet | undefined;
    for (const words of phrases) {
      const set = await this.#phrase(words, leaf, slice);
      found = found?.intersect(set) ?? set;
    }
    for (const { text, position } of parts) {
      if (found !== undefined && found.size <= MAX_UNNARROWED) break;
      const set = await this.#part(text, position, leaf, slice);
      if (set !== undefined) found = found?.intersect(set) ?? set;
    }
    return found;
  }

  /** The objects with words that follow each other, in any of their spellings; a superset if these are many. */
  async #phrase(words: readonly string[], leaf: Leaf, slice: TimeSlice): Promise<OidSet> {
    const filter = filterOf(leaf);
    const terms = leaf.ignoreAccents ? words.filter((word) => word !== BREAK) : [];
    const readings = phrasesOf(words, leaf, await knownSpellings(terms, this.#spellings, slice));
    const found = new OidSet();
    if (readings !== undefined) {
      for (const reading of readings) {
        const match = `${filter}"${reading}"`;
        if (reading.includes(' ')) found.unite(await this.#postings.ofPhrase(match, slice));
        else await this.#postings.ofWord(match, found, slice);
      }
      return found;
    }
    let every: OidSet | undefined;
    for (const word of words.filter((term) => term !== BREAK)) {
      const set = new OidSet();
      const { maxTermsPerPart } = this.#limits;
      await this.#postings.ofTerms(this.#spellings.of(word, maxTermsPerPart), filter, set, slice);
      every = every?.intersect(set) ?? set;
    }
    return every ?? found;
  }

  async #part(
    text: string,
    position: WordPosition,
    leaf: Leaf,
    slice: TimeSlice,
  ): Promise<OidSet | undefined> {
    const { maxTermsPerPart } = this.#limits;
    const result = await this.#vocabulary.find(text, position, maxTermsPerPart, slice);
    if (result === undefined) return undefined;
    const terms = [...result.terms];
    if (leaf.ignoreAccents) {
      const spelled = this.#spellings.containing(text, maxTermsPerPart + 1);
      if (spelled.length > maxTermsPerPart) return undefined;
      terms.push(...spelled);
    }
    const found = result.changed;
    await this.#postings.ofTerms(terms, filterOf(leaf), found, slice);
    return found;
  }
}

/** Whether no text is longer than a lookup; a longer word is looked up by its start only. */
function isShort({ lookup }: Leaf): boolean {
  return lookup.kind !== 'all' && lookup.texts.every(({ text }) => text.length <= MAX_LOOKUP);
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
