// Guesses from a query alone whether it costs much, before any work shows it.
import type { Expression } from '../../../protocols/broker/index.js';
import { parseTerm } from './term-pattern.js';

/** Terms and operators of a query that may be cheap. */
const FEW_NODES = 8;
/** Characters of a term that is looked at. */
const MAX_TEXT = 256;

/**
 * Whether a query has a few words or phrases only. Others (patterns, spelling errors, comparisons, hundreds of words)
 * take many times longer in most cases: they have no first turn before those that were there already.
 */
export function mayBeCheap(expression: Expression, errors: number): boolean {
  if (errors > 0) return false;
  const open: Expression[] = [expression];
  let count = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (++count > FEW_NODES) return false;
    if (node.kind === 'term' || node.kind === 'select') {
      if (node.kind === 'select' && node.operator !== 'contains') return false;
      const text = node.kind === 'term' ? node.text : node.value;
      if (text.length > MAX_TEXT || parseTerm(text).kind !== 'literal') return false;
    } else if (node.kind === 'not') open.push(node.operand);
    else open.push(node.left, node.right);
  }
  return true;
}
