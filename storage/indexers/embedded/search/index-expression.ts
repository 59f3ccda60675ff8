// Translates a query to the language of FTS5, as far as FTS5 can express it.

import { columnOf } from '../../columns/columns.js';
import type { Leaf } from '../../query/leaf.js';
import type { Plan } from '../../query/matcher.js';
import { BREAK, MAX_LOOKUP, PART, phraseOf, wordsOf } from '../../query/words.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { CONTENT_FILTER } from '../index/index-file.js';
import type { Spellings } from '../index/spellings.js';

/** A query, or the part of it that FTS5 can express, in the language of FTS5. */
export interface IndexExpression {
  /** Every object that satisfies the query matches. */
  readonly match: string;
  /** Whether every object that matches satisfies the query, so that no object needs to be read. */
  readonly exact: boolean;
  /** Its words and phrases, each with its column. */
  readonly phrases: readonly string[];
  /** Number of terms and operators; the spellings of a term are one. */
  readonly nodes: number;
}

/** Maximum number of nodes: the parser of FTS5 has a stack of fixed size. */
const MAX_NODES = 64;
/** Maximum number of words, each with its spellings: a statement looks for all of them at once. */
const MAX_WORDS = 256;
/** Spellings of a word, and of a phrase, in an expression; a phrase of more is looked up by its words. */
const MAX_SPELLINGS = 32;

/**
 * Translates a query for whole words into one FTS5 expression. Returns undefined for parts of words, patterns
 * and a lone `not`.
 */
export function indexExpression(plan: Plan, spellings: SpellingsOf): IndexExpression | undefined {
  const expression = translate(plan, spellings);
  if (expression === undefined || expression.nodes > MAX_NODES) return undefined;
  return countWords(expression.phrases) > MAX_WORDS ? undefined : expression;
}

/** The number of words in phrases of the index, which are between double quotes. */
export function countWords(phrases: readonly string[]): number {
  const quoted = phrases.flatMap((phrase) => phrase.split('"').filter((_, i) => i % 2 === 1));
  return quoted.reduce((sum, text) => sum + text.split(' ').length, 0);
}

/** Finds the spellings of words. */
type SpellingsOf = Pick<Spellings, 'of'>;

/** Translates as {@link indexExpression} does, in time slices: each word is looked up by a statement. */
export async function indexExpressionInSlices(
  plan: Plan,
  spellings: SpellingsOf,
  slice: TimeSlice,
): Promise<IndexExpression | undefined> {
  const words = new Set<string>();
  const open: Plan[] = [plan];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === 'not') open.push(node.operand);
    else if (node.kind !== 'leaf') open.push(node.right, node.left);
    else if (node.leaf.ignoreAccents && node.leaf.lookup.kind === 'each')
      for (const { text } of node.leaf.lookup.texts) for (const word of wordsOf(text)) words.add(word.text);
  }
  return indexExpression(plan, await knownSpellings(words, spellings, slice));
}

/** Looks up the spellings of words in time slices. */
export async function knownSpellings(
  words: Iterable<string>,
  spellings: SpellingsOf,
  slice: TimeSlice,
): Promise<SpellingsOf> {
  const known = new Map<string, string[]>();
  for (const word of words) {
    known.set(word, spellings.of(word, MAX_SPELLINGS + 1));
    const pause = slice.yield();
    if (pause !== undefined) await pause;
  }
  return { of: (letters, limit) => known.get(letters)?.slice(0, limit) ?? spellings.of(letters, limit) };
}

/** The filter of FTS5 for the columns that a leaf searches; empty for all columns. */
export function filterOf({ attribute, contentOnly }: Leaf): string {
  if (attribute !== undefined) return `${columnOf(attribute).name} : `;
  return contentOnly ? CONTENT_FILTER : '';
}

/**
 * What the index has for words that follow each other: themselves, in all their spellings if accents do not count, and
 * the parts of an identifier if the leaf is for content. Undefined if these are too many.
 *
 * @param terms words with `BREAK`s
 */
export function phrasesOf(
  terms: readonly string[],
  { contentOnly, ignoreAccents, attribute }: Leaf,
  spellings: SpellingsOf,
): string[] | undefined {
  let phrases: (readonly string[])[] = [[]];
  for (const term of terms) {
    const words = ignoreAccents && term !== BREAK ? spellings.of(term, MAX_SPELLINGS + 1) : [term];
    phrases = phrases.flatMap((phrase) => words.map((word) => [...phrase, word]));
    if (phrases.length > MAX_SPELLINGS) return undefined;
  }
  const found = phrases.map((phrase) => phrase.join(' '));
  if (!contentOnly || attribute !== undefined || terms.includes(BREAK)) return found;
  return [...found, ...phrases.map((phrase) => phrase.map((word) => `${PART}${word}`).join(' '))];
}

function translate(plan: Plan, spellings: SpellingsOf): IndexExpression | undefined {
  switch (plan.kind) {
    case 'leaf':
      return translateLeaf(plan.leaf, spellings);
    case 'not':
      return undefined;
    case 'or': {
      const left = translate(plan.left, spellings);
      const right = translate(plan.right, spellings);
      return left === undefined || right === undefined ? undefined : joined(left, 'OR', right);
    }
    case 'except':
      return exclude(translate(plan.left, spellings), plan.right, spellings);
    case 'and': {
      if (plan.right.kind === 'not')
        return exclude(translate(plan.left, spellings), plan.right.operand, spellings);
      if (plan.left.kind === 'not')
        return exclude(translate(plan.right, spellings), plan.left.operand, spellings);
      const left = translate(plan.left, spellings);
      const right = translate(plan.right, spellings);
      if (left !== undefined && right !== undefined) return joined(left, 'AND', right);
      return inexact(left ?? right);
    }
  }
}

/**
 * Excludes matches of an exact expression only: an inexact one would exclude objects that satisfy the query.
 */
function exclude(
  kept: IndexExpression | undefined,
  removed: Plan,
  spellings: SpellingsOf,
): IndexExpression | undefined {
  if (kept === undefined) return undefined;
  const right = translate(removed, spellings);
  return right?.exact === true ? joined(kept, 'NOT', right) : inexact(kept);
}

function joined(
  left: IndexExpression,
  operator: 'AND' | 'OR' | 'NOT',
  right: IndexExpression,
): IndexExpression {
  return {
    match: `(${left.match}) ${operator} (${right.match})`,
    exact: left.exact && right.exact,
    phrases: [...left.phrases, ...right.phrases],
    nodes: left.nodes + right.nodes + 1,
  };
}

function inexact(expression: IndexExpression | undefined): IndexExpression | undefined {
  return expression === undefined ? undefined : { ...expression, exact: false };
}

function translateLeaf(leaf: Leaf, spellings: SpellingsOf): IndexExpression | undefined {
  const { lookup, attribute, decidedByIndex } = leaf;
  if (lookup.kind !== 'each') return undefined;
  const column = attribute === undefined ? undefined : columnOf(attribute);
  const filter = filterOf(leaf);
  const phrases: string[] = [];
  for (const { text, leftBounded, rightBounded } of lookup.texts) {
    const words = wordsOf(text);
    if (!leftBounded || !rightBounded || words.length === 0) return undefined;
    if (words.some((word) => word.text.length > MAX_LOOKUP)) return undefined;
    const readings = phrasesOf(phraseOf(text, words), leaf, spellings);
    if (readings === undefined) return undefined;
    const any = readings.map((reading) => `"${reading}"`);
    phrases.push(any.length === 1 ? `${filter}${any[0]}` : `${filter}(${any.join(' OR ')})`);
  }
  return {
    match: phrases.join(' AND '),
    exact: decidedByIndex && (column?.hasOneAttribute ?? true),
    phrases,
    nodes: phrases.length,
  };
}
