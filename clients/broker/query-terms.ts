// The words of a query that can be shown in a text.
import type { Query } from '../../protocols/broker/index.js';

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

/** Returns a pattern, with the flag `g`, that matches the terms; undefined without terms. */
export function termPattern(
  terms: readonly string[],
  options: { readonly ignoreCase: boolean; readonly matchWord: boolean },
): RegExp | undefined {
  if (terms.length === 0) return undefined;
  const longestFirst = [...terms].sort((a, b) => b.length - a.length);
  const any = `(?:${longestFirst.map(literal).join('|')})`;
  const source = options.matchWord ? `(?<![\\p{L}\\p{N}_])${any}(?![\\p{L}\\p{N}_])` : any;
  return new RegExp(source, options.ignoreCase ? 'giu' : 'gu');
}

/** Returns a pattern that matches the text literally, and therefore in linear time. */
function literal(text: string): string {
  return text
    .trim()
    .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    .replace(/\s+/g, '\\s+');
}
