import type { Expression } from '../../../protocols/broker/index.js';
import type { SearchOptions } from '../contract.js';
import { requiredLiterals } from '../required-literals.js';
import { parseTerm, unescapeTerm } from '../term-pattern.js';

/** What glimpse is asked, or that it cannot narrow the query: then every object is a candidate. */
export type GlimpseQuestion =
  | { readonly kind: 'all' }
  | { readonly kind: 'pattern'; readonly pattern: string; readonly flags: readonly string[] };

/** Runs of characters that stand in glimpse's index as words and mean nothing in its pattern syntax. */
const RUNS = /[A-Za-z0-9]+/g;
const PLAIN = /^[A-Za-z0-9]+$/;
/** Words beyond this are not indexed by glimpseindex, so a long word is looked up by a part of it. */
const MAX_WORD = 30;
/** Letters of a part of a misspelled word, at least. */
const LEAST_PART = 2;

/**
 * The question to glimpse that every object of the answer satisfies (BRK-8.10: `;` and, `,` or, `{ }` grouping, `-i`,
 * `-w`). With k errors one of k + 1 parts of the word must occur unchanged: glimpse's own `-k` looks for errors in the
 * words of its index only, and so misses a blank too many.
 *
 * Only letters and digits of ASCII ever reach glimpse, so nothing in a query can be taken for its pattern
 * characters or options. What glimpse decides otherwise than our rules or not at all (attributes: Debian's build has
 * no structured queries; `~`; phrases over line ends; regular expressions beyond 30 characters) is left out here and
 * decided on the objects that it names.
 */
export function translate(
  expression: Expression,
  options: Pick<SearchOptions, 'ignoreCase' | 'matchWord' | 'errors'>,
): GlimpseQuestion {
  const seen = { plain: true };
  const pattern = patternOf(expression, options.errors, seen);
  if (pattern === undefined) return { kind: 'all' };
  // The scope of Booleans is the whole object (BRK-2.21).
  const flags = ['-W'];
  if (options.ignoreCase) flags.push('-i');
  // Whole words only where every pattern is one: glimpse has the flag for all of them or none.
  if (options.matchWord && options.errors === 0 && seen.plain) flags.push('-w');
  return { kind: 'pattern', pattern, flags };
}

/** Undefined: any object. */
function patternOf(node: Expression, errors: number, seen: { plain: boolean }): string | undefined {
  switch (node.kind) {
    case 'not':
      return undefined;
    case 'except':
      return patternOf(node.left, errors, seen);
    case 'and': {
      const left = patternOf(node.left, errors, seen);
      const right = patternOf(node.right, errors, seen);
      return left === undefined || right === undefined ? (left ?? right) : `{${left};${right}}`;
    }
    case 'or': {
      const left = patternOf(node.left, errors, seen);
      const right = patternOf(node.right, errors, seen);
      return left === undefined || right === undefined ? undefined : `{${left},${right}}`;
    }
    case 'term':
      return termPattern(node.text, errors, seen);
    case 'select':
      switch (node.operator) {
        case 'contains':
          return termPattern(node.value, errors, seen);
        case 'exact':
          return textsPattern([unescapeTerm(node.value)], seen);
        case 'regexp':
          seen.plain = false;
          return textsPattern(requiredLiterals(node.value), seen);
        case 'less-than':
        case 'greater-than':
          return undefined;
      }
  }
}

function termPattern(text: string, errors: number, seen: { plain: boolean }): string | undefined {
  const term = parseTerm(text);
  if (term.kind === 'literal')
    return errors > 0 ? partsPattern(term.text, errors) : textsPattern([term.text], seen);
  // BRK-2.23: errors are not for words with pattern characters.
  seen.plain = false;
  return textsPattern(term.required, seen);
}

function textsPattern(texts: readonly string[], seen: { plain: boolean }): string | undefined {
  if (texts.some((text) => !PLAIN.test(text) || text.length > MAX_WORD)) seen.plain = false;
  const words = new Set(texts.flatMap((text) => text.match(RUNS) ?? []).map((run) => run.slice(0, MAX_WORD)));
  const all = [...words];
  return all.length > 1 ? `{${all.join(';')}}` : all[0];
}

/** Undefined when a part is so short that nearly every object has it. */
function partsPattern(text: string, errors: number): string | undefined {
  const characters = Array.from(text);
  const count = Math.min(errors, characters.length - 1) + 1;
  const parts = new Set<string>();
  for (let i = 0; i < count; i++) {
    const from = Math.floor((i * characters.length) / count);
    const to = Math.floor(((i + 1) * characters.length) / count);
    const runs = characters.slice(from, to).join('').match(RUNS) ?? [];
    const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
    if (longest.length < LEAST_PART) return undefined;
    parts.add(longest.slice(0, MAX_WORD));
  }
  const all = [...parts];
  return all.length > 1 ? `{${all.join(',')}}` : all[0];
}
