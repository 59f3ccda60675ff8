// Compiles one term of a query to a test of an object and to the look-ups by which the word index narrows it.
import { RE2JS } from 're2js';
import type { Expression } from '../../../protocols/broker/index.js';
import { lettersOf, normalize } from '../../../protocols/broker/index.js';
import { messageOf, PeerError } from '../../../protocols/errors.js';
import type { SearchOptions } from '../contract.js';
import { ApproximateMatcher } from './approximate.js';
import { type AttributeText, VIEW, type View, viewOf } from './object-text.js';
import { leastRegexpSize, regexpSteps } from './regexps.js';
import { requiredLiterals } from './required-literals.js';
import { approximateLookup, partLookup, regexpLookup, type TermLookup } from './term-lookup.js';
import { parseTerm, unescapeTerm } from './term-pattern.js';
import { fold, isWordAt, isWordBefore, withoutHyphens, wordsOf } from './words.js';

/** A normalized and folded text that an object must contain; the word index looks it up. */
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

/** A word with spelling errors. */
export interface Approximate {
  /** One word, folded; without accents if the leaf ignores them. */
  readonly text: string;
  /** At least one, and fewer than the word has characters. */
  readonly errors: number;
  readonly matchWord: boolean;
  readonly ignoreCase: boolean;
}

/** One term or structured term of a query, compiled. */
export interface Leaf {
  /** Lower-case name of the attribute to test; all attributes if absent (BRK-2.16). */
  readonly attribute?: string;
  /** Without an attribute: only the content is tested (`scope.ts`), with the parts of its identifiers. */
  readonly contentOnly: boolean;
  /** The texts of the lookup are without accents (`normalize.ts`), as are those that they stand for. */
  readonly ignoreAccents: boolean;
  readonly lookup: Lookup;
  /** Whether the lookup alone decides, so that no object needs to be read. */
  readonly decidedByIndex: boolean;
  /** Decides by single words of the vocabulary, for parts of words and patterns. */
  readonly terms?: TermLookup | undefined;
  /** Set if the leaf is one word with spelling errors. */
  readonly approximate?: Approximate | undefined;
  /** Whole words that make an object a better hit; folded. */
  readonly rankWords: readonly string[];
  readonly test: LeafTest;
}

/** Decides whether a leaf matches. */
export type LeafTest =
  /** Tests text, one line at a time unless `find` is present. A match in one of the views is enough. */
  | {
      readonly scope: 'text';
      readonly views: readonly View[];
      /** Another view, of the parts of identifiers: those of lines without these words need not be looked at. */
      readonly parts?: { readonly view: View; readonly words: readonly [string, ...string[]] } | undefined;
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
/** The options that decide what matches. */
export type Matching = Pick<
  SearchOptions,
  'ignoreCase' | 'ignoreAccents' | 'matchWord' | 'contentOnly' | 'errors'
>;

/** What {@link compileLeaf} adds to a leaf. */
type Compiled = Omit<Leaf, 'attribute' | 'contentOnly' | 'ignoreAccents'>;

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
  requireShort(text, limits);
  const common = {
    contentOnly: expression.kind === 'term' && options.contentOnly === true,
    ignoreAccents: options.ignoreAccents === true,
  };
  if (expression.kind === 'term') {
    if (normalize(text).trim() === '') throw unsupported('empty search words');
    return { ...compileTerm(text, options, limits, warnings, common.contentOnly), ...common };
  }
  const compileValue = (): Compiled => {
    switch (expression.operator) {
      case 'contains':
        return compileTerm(text, options, limits, warnings, false);
      case 'exact':
        return compileExact(unescapeTerm(text), options);
      case 'regexp': {
        const source = plainSource(text, options);
        return compileRegexp(source, requiredLiterals(source), viewFor(options), options, limits);
      }
      case 'less-than':
      case 'greater-than':
        return compileComparison(unescapeTerm(text), expression.operator);
    }
  };
  return { ...compileValue(), ...common, attribute: expression.attribute.toLowerCase() };
}

/** @throws PeerError (111) if a term is too long. */
export function requireShort(text: string, { maxPattern }: PatternLimits): void {
  // A character has one or two units.
  if (text.length <= maxPattern) return;
  if (text.length > 2 * maxPattern || Array.from(text).length > maxPattern)
    throw unsupported(`search words longer than ${maxPattern}`);
}

/** The view for a test that respects blanks. RE2 folds case itself. */
function viewFor({ ignoreAccents }: Matching): View {
  return ignoreAccents === true ? VIEW.letters : VIEW.plain;
}

/** The source of an expression as the text that it is compared with: a hyphen of typography is no range. */
function plainSource(source: string, { ignoreAccents }: Matching): string {
  const plain = source
    .replace(/[^\0-\x7f]+/g, (text) => normalize(text).replaceAll('-', '\\-'))
    .normalize('NFC');
  return ignoreAccents === true ? lettersOf(plain) : plain;
}

/** Returns an error with a text of BRK-4.18. */
export function unsupported(what: string, engine = 'embedded'): PeerError {
  return new PeerError(`ERROR: ${engine} does not support ${what}`, 111);
}

function compileTerm(
  text: string,
  options: Matching,
  limits: PatternLimits,
  warnings: Set<string>,
  withParts: boolean,
): Compiled {
  const pattern = parseTerm(text);
  if (pattern.kind === 'literal') return compileLiteral(pattern.text, options, withParts);
  if (options.errors > 0) warnings.add('Spelling errors do not apply to words with pattern characters.');
  const plain = plainSource(pattern.source, options);
  const source = options.matchWord ? `(?:^|${NON_WORD})(?:${plain})(?:$|${NON_WORD})` : plain;
  const view = viewFor(options) | (pattern.source.includes(' ') ? VIEW.collapsed : 0);
  return compileRegexp(source, pattern.required, view, options, limits);
}

function compileLiteral(text: string, options: Matching, withParts: boolean): Compiled {
  const { ignoreCase, ignoreAccents, matchWord, errors } = options;
  const oneLine = normalize(text.replaceAll('\n', ' '));
  // A query for an accent alone means it.
  const letters = ignoreAccents === true && lettersOf(oneLine).trim() !== '' ? VIEW.letters : 0;
  // A hyphen that stands for a blank, as well as blanks, makes a phrase; one at an end is a character like others.
  const isPhrase = /\s/.test(oneLine) || withoutHyphens(oneLine) !== oneLine;
  const view = (ignoreCase ? VIEW.folded : 0) | (isPhrase ? VIEW.phrase : 0) | letters;
  const pattern = viewOf(oneLine, view);
  const folded = fold(pattern);
  const rankWords = wordsOf(viewOf(oneLine, VIEW.folded | VIEW.phrase)).map((word) => word.text);
  const patterns = isPhrase ? withBlankEnds(pattern) : [pattern];
  const find = (line: string, from: number) => firstOf(patterns, line, from, matchWord);
  const approximate = errors > 0 ? new ApproximateMatcher(pattern, errors, matchWord) : undefined;
  if (approximate !== undefined && approximate.errors > 0) {
    const test = (line: string) => approximate.test(line);
    const lookup = unchangedParts(folded, approximate.errors);
    return {
      lookup,
      decidedByIndex: false,
      terms: letters === 0 ? approximateLookup(folded, approximate.errors, matchWord, ignoreCase) : undefined,
      approximate:
        wordsOf(folded)[0]?.text === folded
          ? { text: folded, errors: approximate.errors, matchWord, ignoreCase }
          : undefined,
      rankWords,
      test: {
        scope: 'text',
        views: [view],
        test,
        steps: (line) => approximate.steps(line),
        longLine: LONG_LINE,
      },
    };
  }
  const words = wordsOf(folded).map((word) => word.text);
  return {
    terms: letters === 0 && ignoreCase && !matchWord ? partLookup(folded) : undefined,
    lookup: { kind: 'each', texts: [{ text: folded, leftBounded: matchWord, rightBounded: matchWord }] },
    decidedByIndex: ignoreCase && matchWord && words.length > 0 && words.join(' ') === folded,
    rankWords,
    // Parts of words are parts of identifiers as they are.
    test: {
      scope: 'text',
      views: [view],
      parts: withParts && matchWord ? partsView(pattern, view) : undefined,
      find,
      test: (line) => find(line, 0) >= 0,
    },
  };
}

/** The view of the parts of identifiers for a pattern, with its words, the longest first. */
function partsView(pattern: string, view: View): (LeafTest & { readonly scope: 'text' })['parts'] {
  const [first, ...others] = wordsOf(pattern)
    .map(({ text }) => text)
    .sort((a, b) => b.length - a.length);
  return first === undefined ? undefined : { view: view | VIEW.parts, words: [first, ...others] };
}

/** A phrase, and itself with blanks in place of hyphens at its ends: in the text they may be between two words. */
function withBlankEnds(pattern: string): readonly string[] {
  const ends = [/^-(?=[\p{L}\p{M}\p{N}_])/u, /(?<=[\p{L}\p{M}\p{N}_])-$/u];
  return ends.reduce<readonly string[]>(
    (all, end) => [...new Set(all.flatMap((text) => [text, text.replace(end, ' ')]))],
    [pattern],
  );
}

/** Offset of the next occurrence of one of the patterns; -1 without a match. */
function firstOf(patterns: readonly string[], line: string, from: number, matchWord: boolean): number {
  let first = -1;
  for (const pattern of patterns) {
    const offset = matchWord ? indexOfWord(line, pattern, from) : line.indexOf(pattern, from);
    if (offset >= 0 && (first < 0 || offset < first)) first = offset;
  }
  return first;
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
  { ignoreCase, ignoreAccents }: Matching,
  limits: PatternLimits,
): Compiled {
  // Compiling cannot be interrupted, so a pattern that is certainly too large is not compiled.
  if (leastRegexpSize(source) > limits.maxRegexpProgram) throw tooLarge(limits);
  let regexp: RE2JS;
  try {
    regexp = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (cause) {
    throw badRegexp(source, cause);
  }
  if (regexp.programSize() > limits.maxRegexpProgram) throw tooLarge(limits);
  const texts = required
    .map((text) => {
      const plain = fold(normalize(text));
      const searched = ignoreAccents === true ? lettersOf(plain) : plain;
      return { text: searched, leftBounded: false, rightBounded: false };
    })
    .filter(({ text }) => wordsOf(text).length > 0);
  // A test cannot be interrupted, and takes the size of the program for each character at most.
  limitStates(regexp, limits.maxRegexpBytes);
  const longLine = Math.floor(limits.maxRegexpSteps / regexp.programSize());
  return {
    lookup: texts.length === 0 ? ALL : { kind: 'each', texts },
    decidedByIndex: false,
    terms:
      ignoreCase && ignoreAccents !== true
        ? regexpLookup(
            source,
            texts.map(({ text }) => text),
            (text) => regexp.test(text),
          )
        : undefined,
    rankWords: [],
    test: {
      scope: 'text',
      views: [view],
      test: (line) => regexp.test(line),
      steps: (line) => regexpSteps(regexp, line),
      longLine,
    },
  };
}

/** BRK-2.19: the words by which a client recognizes a malformed message stand in no other refusal. */
function badRegexp(source: string, cause: unknown): PeerError {
  const reason = messageOf(cause)
    .replace(/^error parsing regexp: |: `.*`$/gs, '')
    .replaceAll('syntax', 'construct');
  const text = `the regular expression ${source}: ${reason}`;
  return unsupported(/malformed|syntax/i.test(text) ? 'this regular expression' : text);
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
function compileExact(text: string, { ignoreCase, ignoreAccents }: Matching): Compiled {
  const view = (ignoreCase ? VIEW.folded : VIEW.plain) | (ignoreAccents === true ? VIEW.letters : 0);
  const expected = viewOf(text, view);
  const folded = fold(expected);
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
        return value === expected || withoutLineEnd(value) === expected;
      },
    },
  };
}

function withoutLineEnd(value: string): string {
  return value.endsWith('\n') ? value.slice(0, -1) : value;
}

const DECIMAL = /^\s*[+-]?\d+(?:\.\d+)?\s*$/;

/** BRK-2.17: as numbers when both sides are decimal numbers, else by the bytes of both texts in UTF-8. */
function compileComparison(text: string, operator: 'less-than' | 'greater-than'): Compiled {
  const sign = operator === 'less-than' ? -1 : 1;
  const bytes = Buffer.from(text);
  const number = DECIMAL.test(text) ? Number(text) : undefined;
  const compare = (attribute: AttributeText): number => {
    const value = attribute.raw;
    if (number !== undefined && DECIMAL.test(value)) return Number(value) - number;
    return Buffer.compare(Buffer.from(withoutLineEnd(value)), bytes);
  };
  return {
    lookup: ALL,
    decidedByIndex: false,
    rankWords: [],
    test: { scope: 'value', test: (attribute) => Math.sign(compare(attribute)) === sign },
  };
}
