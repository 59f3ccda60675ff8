// The words of a query that an object may lack when a query asks for most of its words (BRK-2.27).
import type { Expression } from '../../../protocols/broker/index.js';
import { parseTerm } from './term-pattern.js';
import { wordsOf } from './words.js';

/** A word of a query, alone or with other words in its place. */
export interface PlainWord {
  /** Without the backslashes of BRK-2.7. */
  readonly text: string;
  readonly expression: Expression;
}

/** A query of words that are combined by `and`. */
export interface PlainWords {
  /** What every object must satisfy. */
  readonly required: readonly Expression[];
  /** At least two; the bits of `Hit.lacks`. */
  readonly words: readonly PlainWord[];
}

/** Words that have a bit. */
const MAX_WORDS = 24;

/** Returns undefined for a query that has fewer than two words of which an object may lack one, or too many. */
export function plainWordsOf(query: Expression): PlainWords | undefined {
  const required: Expression[] = [];
  const words: PlainWord[] = [];
  const open: Expression[] = [query];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === 'and') {
      open.push(node.right, node.left);
      continue;
    }
    const text = wordOf(node);
    if (text === undefined) required.push(node);
    else words.push({ text, expression: node });
  }
  return words.length < 2 || words.length > MAX_WORDS ? undefined : { required, words };
}

/** An expression for the matcher: the objects that are chosen satisfy it. */
export function anyWord({ required, words }: PlainWords): Expression {
  const any = words
    .map(({ expression }) => expression)
    .reduceRight((right, left) => ({ kind: 'or', left, right }));
  return [...required, any].reduceRight((right, left) => ({ kind: 'and', left, right }));
}

/** The text of a term without quotes and patterns, or of the first of several terms that are combined by `or`. */
function wordOf(node: Expression): string | undefined {
  if (node.kind === 'or') return isTerms(node.right) ? wordOf(node.left) : undefined;
  if (node.kind !== 'term' || node.quoted) return undefined;
  const pattern = parseTerm(node.text);
  return pattern.kind === 'literal' && wordsOf(pattern.text).length > 0 ? pattern.text : undefined;
}

function isTerms(node: Expression): boolean {
  const open: Expression[] = [node];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.kind === 'or') open.push(part.left, part.right);
    else if (part.kind !== 'term') return false;
  }
  return true;
}
