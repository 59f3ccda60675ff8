// Compiles one term of a query to a test of an object and to the look-ups by which the word index narrows it.
import { RE2JS } from 're2js';
import type { Expression } from '../../../protocols/broker/index.js';
import { messageOf, PeerError } from '../../../protocols/errors.js';
import type { SearchOptions } from '../contract.js';
import { ApproximateMatcher } from './approximate.js';
import { type AttributeText, VIEW, type View, viewOf } from './object-text.js';
import { leastRegexpSize, regexpSteps } from './regexps.js';
import { requiredLiterals } from './required-literals.js';
import { approximateLookup, partLookup, regexpLookup, type TermLookup } from './term-lookup.js';
import { parseTerm, unescapeTerm } from './term-pattern.js';
import { fold, isWordAt, isWordBefore, wordsOf } from './words.js';

/** A folded text that an object must contain; the word index looks it up. */
export interface LiteralLookup {
  readonly text: string;
  /**
   * Whether a word boundary is required on this side, so that the outermost word is a whole word of the object.
   */
  readonly leftBounded: boolean;
  readonly rightBounded: boolean;
}

/** How the word index can narrow a leaf: objects with all of the texts, with any of them, or all objects. */
type Lookup =
  | { readonly kind: 'all' }
  | { readonly kind: 'each' | 'any'; readonly texts: readonly LiteralLookup[] };

/** One term or structured term of a query, compiled. */
export interface Leaf {
  /** Lower-case name of the attribute to test; all attributes if absent (BRK-2.16). */
  readonly attribute?: string;
  readonly lookup: Lookup;
  /** Whether the lookup alone decides, so that no object needs to be read. */
  readonly decidedByIndex: boolean;
  /** Decides by single words of the vocabulary, for parts of words and patterns. */
  readonly terms?: TermLookup | undefined;
  /** Whole words that make an object a better hit; folded. */
  readonly rankWords: readonly string[];
  readonly test: LeafTest;
}

/** Decides whether a leaf matches. */
export type LeafTest =
  /** Tests text, one line at a time unless `find` is present. */
  | {
      readonly scope: 'text';
      readonly view: View;
      /**
       * Offset of the next match in a whole value from an offset on; -1 without a match. No match crosses a
       * line end.
       */
      readonly find?: (text: string, from: number) => number;
      test(text: string): boolean;
      /**
       * Like `test`, for long lines: pauses now and then. Absent if `test` takes no longer than a piece of work
       * that is not interrupted.
       */
      readonly steps?: (text: string) => Generator<void, boolean>;
      /** Characters of a line above which it is tested with `steps`. */
      readonly longLine?: number;
    }
  /** Tests the value of one attribute as a whole; either all of its lines match or none. */
  | { readonly scope: 'value'; test(attribute: AttributeText): boolean };

/** Limits of one pattern of a query. */
export interface PatternLimits {
  /**
   * Maximum size of a compiled regular expression, in instructions: matching takes at most this many steps per
   * character.
   */
  readonly maxRegexpProgram: number;
  /**
   * Steps of a regular expression, its instructions times the characters of a line, that are done without a
   * pause. A line that needs more is matched by a slower way that pauses, so that it does not block other
   * queries.
   */
  readonly maxRegexpSteps: number;
  /** Bytes for the states that all regular expressions of a query keep while they match. */
  readonly maxRegexpBytes: number;
  /** Maximum length of a search word, in characters. */
  readonly maxPattern: number;
}

type LeafExpression = Extract<Expression, { kind: 'term' | 'select' }>;
type Matching = Pick<SearchOptions, 'ignoreCase' | 'matchWord' | 'errors'>;
const NON_WORD = '[^\\p{L}\\p{M}\\p{N}_]';
/** Characters of a line above which spelling errors are found with pauses. */
const LONG_LINE = 4_096;
const ALL: Lookup = { kind: 'all' };

/**
 * Compiles a term.
 * @param warnings receives sentences for the user about settings that do not apply
 * @throws PeerError (111) if the term cannot be answered (BRK-2.19)
 */
export function compileLeaf(
  expression: LeafExpression,
  options: Matching,
  limits: PatternLimits,
  warnings: Set<string>,
): Leaf {
  const text = expression.kind === 'term' ? expression.text : expression.value;
  if (Array.from(text).length > limits.maxPattern)
    throw unsupported(`search words longer than ${limits.maxPattern}`);
  if (expression.kind === 'term') {
    if (text.trim() === '') throw unsupported('empty search words');
    return compileTerm(text, options, limits, warnings);
  }
  const attribute = expression.attribute.toLowerCase();
  switch (expression.operator) {
    case 'contains':
      return { ...compileTerm(text, options, limits, warnings), attribute };
    case 'exact':
      return { ...compileExact(unescapeTerm(text), options), attribute };
    case 'regexp':
      return { ...compileRegexp(text, requiredLiterals(text), VIEW.raw, options, limits), attribute };
    case 'less-than':
    case 'greater-than':
      return { ...compileComparison(unescapeTerm(text), expression.operator), attribute };
  }
}

/** Returns an error with a text of BRK-4.18. */
export function unsupported(what: string, engine = 'embedded'): PeerError {
  return new PeerError(`ERROR: ${engine} does not support ${what}`, 111);
}

function compileTerm(text: string, options: Matching, limits: PatternLimits, warnings: Set<string>): Leaf {
  const pattern = parseTerm(text);
  if (pattern.kind === 'literal') return compileLiteral(pattern.text, options);
  if (options.errors > 0) warnings.add('Spelling errors do not apply to words with pattern characters.');
  const source = options.matchWord
    ? `(?:^|${NON_WORD})(?:${pattern.source})(?:$|${NON_WORD})`
    : pattern.source;
  const view = pattern.source.includes(' ') ? VIEW.collapsed : VIEW.raw;
  return compileRegexp(source, pattern.required, view, options, limits);
}

function compileLiteral(text: string, { ignoreCase, matchWord, errors }: Matching): Leaf {
  const blanks = /\s/.test(text);
  const view = ((ignoreCase ? VIEW.folded : 0) | (blanks ? VIEW.collapsed : 0)) as View;
  const pattern = viewOf(text.replaceAll('\n', ' '), view);
  const folded = fold(pattern);
  const words = wordsOf(folded);
  const rankWords = words.map((word) => word.text);
  const find = (line: string, from: number) =>
    matchWord ? indexOfWord(line, pattern, from) : line.indexOf(pattern, from);
  const approximate = errors > 0 ? new ApproximateMatcher(pattern, errors, matchWord) : undefined;
  if (approximate !== undefined && approximate.errors > 0) {
    const test = (line: string) => approximate.test(line);
    const lookup = unchangedParts(folded, approximate.errors);
    return {
      lookup,
      decidedByIndex: false,
      terms: approximateLookup(folded, approximate.errors, matchWord, ignoreCase),
      rankWords,
      test: { scope: 'text', view, test, steps: (line) => approximate.steps(line), longLine: LONG_LINE },
    };
  }
  return {
    terms: ignoreCase && !matchWord ? partLookup(folded) : undefined,
    lookup: { kind: 'each', texts: [{ text: folded, leftBounded: matchWord, rightBounded: matchWord }] },
    decidedByIndex: ignoreCase && matchWord && rankWords.length > 0 && rankWords.join(' ') === folded,
    rankWords,
    test: { scope: 'text', view, find, test: (line) => find(line, 0) >= 0 },
  };
}

/** Offset of the next occurrence of the text that is not adjacent to word characters; -1 without a match. */
function indexOfWord(text: string, word: string, from: number): number {
  for (let offset = text.indexOf(word, from); offset >= 0; offset = text.indexOf(word, offset + 1)) {
    if (!isWordBefore(text, offset) && !isWordAt(text, offset + word.length)) return offset;
  }
  return -1;
}

/** Looks up the parts of a misspelled text: with k errors, one of k + 1 parts occurs unchanged. */
function unchangedParts(folded: string, errors: number): Lookup {
  const characters = Array.from(folded);
  const parts = errors + 1;
  const texts: LiteralLookup[] = [];
  for (let i = 0; i < parts; i++) {
    const from = Math.floor((i * characters.length) / parts);
    const to = Math.floor(((i + 1) * characters.length) / parts);
    const text = characters.slice(from, to).join('');
    // Nearly every object contains a part of one letter: a lookup costs more than it saves.
    if (!wordsOf(text).some((word) => word.text.length > 1)) return ALL;
    texts.push({ text, leftBounded: false, rightBounded: false });
  }
  return { kind: 'any', texts };
}

function compileRegexp(
  source: string,
  required: readonly string[],
  view: View,
  { ignoreCase }: Matching,
  limits: PatternLimits,
): Leaf {
  // Compiling cannot be interrupted, so a pattern that is certainly too large is not compiled.
  if (leastRegexpSize(source) > limits.maxRegexpProgram) throw tooLarge(limits);
  let regexp: RE2JS;
  try {
    regexp = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (cause) {
    throw unsupported(`the regular expression ${source}: ${messageOf(cause)}`);
  }
  if (regexp.programSize() > limits.maxRegexpProgram) throw tooLarge(limits);
  const texts = required
    .map((text) => ({ text: fold(text), leftBounded: false, rightBounded: false }))
    .filter(({ text }) => wordsOf(text).length > 0);
  // A test cannot be interrupted, and takes the size of the program for each character at most.
  limitStates(regexp, limits.maxRegexpBytes);
  const longLine = Math.floor(limits.maxRegexpSteps / regexp.programSize());
  return {
    lookup: texts.length === 0 ? ALL : { kind: 'each', texts },
    decidedByIndex: false,
    terms: ignoreCase
      ? regexpLookup(
          source,
          texts.map(({ text }) => text),
          (text) => regexp.test(text),
        )
      : undefined,
    rankWords: [],
    test: {
      scope: 'text',
      view,
      test: (line) => regexp.test(line),
      steps: (line) => regexpSteps(regexp, line),
      longLine,
    },
  };
}

/** An expression that needs more states drops them, or is matched without. By itself it would keep 8 MiB. */
function limitStates(regexp: RE2JS, bytes: number): void {
  const { dfa } = regexp.re2Input;
  dfa.maxMem = bytes;
  dfa.stateBudget = bytes;
  dfa.memBudget = bytes;
}

function tooLarge({ maxRegexpProgram }: PatternLimits): PeerError {
  return unsupported(`a regular expression of more than ${maxRegexpProgram} instructions`);
}

/** BRK-2.17 `exact`: the whole value; a final newline does not count. */
function compileExact(text: string, { ignoreCase }: Matching): Leaf {
  const view = ignoreCase ? VIEW.folded : VIEW.raw;
  const expected = viewOf(text, view);
  const folded = fold(text);
  return {
    lookup:
      wordsOf(folded).length === 0
        ? ALL
        : { kind: 'each', texts: [{ text: folded, leftBounded: true, rightBounded: true }] },
    decidedByIndex: false,
    rankWords: wordsOf(folded).map((word) => word.text),
    test: {
      scope: 'value',
      test(attribute) {
        const value = attribute.text(view);
        return value === expected || (value.endsWith('\n') && value.slice(0, -1) === expected);
      },
    },
  };
}

const DECIMAL = /^\s*[+-]?\d+(?:\.\d+)?\s*$/;

/** BRK-2.17: as numbers when both sides are decimal numbers, else as byte strings. */
function compileComparison(text: string, operator: 'less-than' | 'greater-than'): Leaf {
  const sign = operator === 'less-than' ? -1 : 1;
  const bytes = Buffer.from(text);
  const number = DECIMAL.test(text) ? Number(text) : undefined;
  const compare = (attribute: AttributeText): number => {
    const value = attribute.text(VIEW.raw);
    if (number !== undefined && DECIMAL.test(value)) return Number(value) - number;
    const end = attribute.value.at(-1) === 0x0a ? attribute.value.length - 1 : attribute.value.length;
    return Buffer.compare(attribute.value.subarray(0, end), bytes);
  };
  return {
    lookup: ALL,
    decidedByIndex: false,
    rankWords: [],
    test: { scope: 'value', test: (attribute) => Math.sign(compare(attribute)) === sign },
  };
}
