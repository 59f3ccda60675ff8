// Translates a query to the language of FTS5, as far as FTS5 can express it.

import type { Leaf } from '../../query/leaf.js';
import type { Plan } from '../../query/matcher.js';
import { MAX_LOOKUP, phraseOf, wordsOf } from '../../query/words.js';
import { columnOf } from '../index/index-file.js';

/** A query, or the part of it that FTS5 can express, in the language of FTS5. */
export interface IndexExpression {
  /** Every object that satisfies the query matches. */
  readonly match: string;
  /** Whether every object that matches satisfies the query, so that no object needs to be read. */
  readonly exact: boolean;
  /** Its words and phrases, each with its column. */
  readonly phrases: readonly string[];
  /** Number of terms and operators. */
  readonly nodes: number;
}

/** Maximum number of nodes: the parser of FTS5 has a stack of fixed size. */
const MAX_NODES = 64;

/**
 * Translates a query for whole words into one FTS5 expression. Returns undefined for parts of words, patterns
 * and a lone `not`.
 */
export function indexExpression(plan: Plan): IndexExpression | undefined {
  const expression = translate(plan);
  return expression === undefined || expression.nodes > MAX_NODES ? undefined : expression;
}

function translate(plan: Plan): IndexExpression | undefined {
  switch (plan.kind) {
    case 'leaf':
      return translateLeaf(plan.leaf);
    case 'not':
      return undefined;
    case 'or': {
      const left = translate(plan.left);
      const right = translate(plan.right);
      return left === undefined || right === undefined ? undefined : joined(left, 'OR', right);
    }
    case 'except':
      return exclude(translate(plan.left), plan.right);
    case 'and': {
      if (plan.right.kind === 'not') return exclude(translate(plan.left), plan.right.operand);
      if (plan.left.kind === 'not') return exclude(translate(plan.right), plan.left.operand);
      const left = translate(plan.left);
      const right = translate(plan.right);
      if (left !== undefined && right !== undefined) return joined(left, 'AND', right);
      return inexact(left ?? right);
    }
  }
}

/**
 * Excludes matches of an exact expression only: an inexact one would exclude objects that satisfy the query.
 */
function exclude(kept: IndexExpression | undefined, removed: Plan): IndexExpression | undefined {
  if (kept === undefined) return undefined;
  const right = translate(removed);
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

function translateLeaf({ lookup, attribute, decidedByIndex }: Leaf): IndexExpression | undefined {
  if (lookup.kind !== 'each') return undefined;
  const column = attribute === undefined ? undefined : columnOf(attribute);
  const filter = column === undefined ? '' : `${column.name} : `;
  const phrases: string[] = [];
  for (const { text, leftBounded, rightBounded } of lookup.texts) {
    const words = wordsOf(text);
    if (!leftBounded || !rightBounded || words.length === 0) return undefined;
    if (words.some((word) => word.text.length > MAX_LOOKUP)) return undefined;
    phrases.push(`${filter}"${phraseOf(text, words).join(' ')}"`);
  }
  return {
    match: phrases.join(' AND '),
    exact: decidedByIndex && (column?.hasOneAttribute ?? true),
    phrases,
    nodes: phrases.length,
  };
}
