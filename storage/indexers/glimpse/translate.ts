import type { Expression } from '../../../protocols/broker/index.js';
import { normalize } from '../../../protocols/broker/index.js';
import type { SearchOptions } from '../contract.js';
import { requiredLiterals } from '../query/required-literals.js';
import { parseTerm, unescapeTerm } from '../query/term-pattern.js';

/** The query for glimpse; `all` if glimpse cannot narrow the query, so that every object is a candidate. */
export type GlimpseQuery =
  | { readonly kind: 'all' }
  | { readonly kind: 'pattern'; readonly pattern: string; readonly flags: readonly string[] };

/** Runs of characters that are words in the index of glimpse and are literal in its pattern syntax. */
const RUNS = /[A-Za-z0-9]+/g;
const PLAIN = /^[A-Za-z0-9]+$/;
/** Longest word of a query; glimpseindex does not index long words whole, so a part of them is looked up. */
const MAX_WORD = 30;
/**
 * Limits of a pattern: glimpse ends with a buffer overflow at some hundred bytes, and its expressions have a
 * fixed number of words.
 */
const MAX_PATTERN = 240;
const MAX_PATTERN_WORDS = 30;
/** Minimum length of a part of a misspelled word, in letters. */
const MIN_PART = 2;

/**
 * Translates a query to one of glimpse that every object of the answer satisfies (BRK-8.10: `;` means "and",
 * `,` means "or", `{ }` groups; `-i`, `-w`). With k errors one of k + 1 parts of the word must occur unchanged:
 * `-k` of glimpse finds errors only within the words of its index and misses an inserted blank.
 *
 * Only ASCII letters and digits reach glimpse, so no text of a query is interpreted as a pattern or an option.
 * Conditions that glimpse does not support or treats differently (attributes, as Debian's build has no
 * structured queries; `~`; phrases across line ends; regular expressions beyond 30 characters) are omitted
 * here; they are tested later on the objects that glimpse finds.
 */
export function translate(
  expression: Expression,
  options: Pick<SearchOptions, 'ignoreCase' | 'matchWord' | 'contentOnly' | 'errors'>,
): GlimpseQuery {
  const seen = { plain: true };
  const pattern = patternOf(expression, options.errors, seen);
  if (pattern === undefined) return { kind: 'all' };
  // The scope of Booleans is the whole object (BRK-2.21).
  const flags = ['-W'];
  if (options.ignoreCase) flags.push('-i');
  // `-w` applies to all patterns, so it is used only if each of them is a whole word.
  // Requests for content find words also as parts of identifiers.
  const isWhole = options.matchWord && options.contentOnly !== true && options.errors === 0;
  if (isWhole && seen.plain) flags.push('-w');
  return { kind: 'pattern', pattern, flags };
}

/** The pattern of a node; undefined if it matches any object. */
function patternOf(node: Expression, errors: number, seen: { plain: boolean }): string | undefined {
  switch (node.kind) {
    case 'not':
      return undefined;
    case 'except':
      return patternOf(node.left, errors, seen);
    case 'and': {
      const left = patternOf(node.left, errors, seen);
      const right = patternOf(node.right, errors, seen);
      // One operand is enough: the objects that it finds include those of the whole.
      return left === undefined || right === undefined ? (left ?? right) : (joined(left, ';', right) ?? left);
    }
    case 'or': {
      const left = patternOf(node.left, errors, seen);
      const right = patternOf(node.right, errors, seen);
      return left === undefined || right === undefined ? undefined : joined(left, ',', right);
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
  // BRK-2.23: words with pattern characters allow no errors.
  seen.plain = false;
  return textsPattern(term.required, seen);
}

function textsPattern(written: readonly string[], seen: { plain: boolean }): string | undefined {
  const texts = written.map(normalize);
  if (texts.some((text) => !PLAIN.test(text) || text.length > MAX_WORD)) seen.plain = false;
  const words = new Set(texts.flatMap((text) => text.match(RUNS) ?? []).map((run) => run.slice(0, MAX_WORD)));
  const all = [...words];
  // Words that are left out are tested on the objects.
  for (let count = all.length; count > 1; count--) {
    const pattern = `{${all.slice(0, count).join(';')}}`;
    if (isShort(pattern)) return pattern;
  }
  return all[0];
}

/** The pattern of two operands; undefined if it is too long for glimpse. */
function joined(left: string, operator: ';' | ',', right: string): string | undefined {
  const pattern = `{${left}${operator}${right}}`;
  return isShort(pattern) ? pattern : undefined;
}

function isShort(pattern: string): boolean {
  return pattern.length <= MAX_PATTERN && (pattern.match(/[;,]/g)?.length ?? 0) < MAX_PATTERN_WORDS;
}

/** The pattern of a misspelled word; undefined if a part is so short that nearly every object contains it. */
function partsPattern(text: string, errors: number): string | undefined {
  const characters = Array.from(normalize(text));
  const count = Math.min(errors, characters.length - 1) + 1;
  const parts = new Set<string>();
  for (let i = 0; i < count; i++) {
    const from = Math.floor((i * characters.length) / count);
    const to = Math.floor(((i + 1) * characters.length) / count);
    const runs = characters.slice(from, to).join('').match(RUNS) ?? [];
    const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
    if (longest.length < MIN_PART) return undefined;
    parts.add(longest.slice(0, MAX_WORD));
  }
  const all = [...parts];
  if (all.length < 2) return all[0];
  const pattern = `{${all.join(',')}}`;
  return isShort(pattern) ? pattern : undefined;
}
