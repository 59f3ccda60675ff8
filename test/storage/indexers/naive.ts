// A second, simple implementation of the matching rules without an index: JavaScript regular expressions with
// Unicode case folding, and a test of every substring for spelling errors.
import type { Expression } from '../../../protocols/broker/index.js';
import type { SoifObject } from '../../../protocols/soif/index.js';

export interface NaiveOptions {
  readonly ignoreCase: boolean;
  readonly matchWord: boolean;
  readonly errors: number;
  readonly ignoreAccents?: true | undefined;
  readonly contentOnly?: true | undefined;
}

export interface NaiveLine {
  readonly attribute: string;
  readonly line: string;
  /** What is searched instead, for content alone: the file name of a URL. */
  readonly content?: string;
}

const WORD = '[\\p{L}\\p{M}\\p{N}_]';
const BOOKKEEPING = /^(?:url|gatherer-.*|update-time|last-modification-time|refresh-rate|time-to-live)$/i;
const decoder = new TextDecoder();

/** Returns the lines that a query matches; undefined if the object does not match. */
export function naiveMatch(
  object: SoifObject,
  expression: Expression,
  options: NaiveOptions,
): NaiveLine[] | undefined {
  const name = decodeURIComponent(object.url.slice(object.url.lastIndexOf('/') + 1));
  const lines: NaiveLine[] = [{ attribute: 'url', line: object.url, content: name }];
  const values: NaiveLine[] = [{ attribute: 'url', line: object.url }];
  for (const { name, value } of object) {
    const text = decoder.decode(value).replace(/\r\n/g, '\n');
    values.push({ attribute: name, line: text });
    for (const line of text.replace(/\n$/, '').split('\n')) lines.push({ attribute: name, line });
  }
  const positive: ((line: NaiveLine) => boolean)[] = [];
  // `isPositive`: the lines that the node matches are lines of the hit; `not` inverts it.
  const holds = (node: Expression, isPositive: boolean): boolean => {
    switch (node.kind) {
      case 'not':
        return !holds(node.operand, !isPositive);
      case 'and': {
        const left = holds(node.left, isPositive);
        return holds(node.right, isPositive) && left;
      }
      case 'or': {
        const left = holds(node.left, isPositive);
        return holds(node.right, isPositive) || left;
      }
      case 'except': {
        const left = holds(node.left, isPositive);
        return !holds(node.right, !isPositive) && left;
      }
      default: {
        const test = leafTest(node, options, values);
        if (isPositive) positive.push(test);
        return lines.some(test);
      }
    }
  };
  if (!holds(expression, true)) return undefined;
  return lines
    .filter((line) => positive.some((test) => test(line)))
    .map(({ attribute, line }) => ({ attribute, line }));
}

/** Returns the test of a line for a node without operands. */
function leafTest(
  node: Extract<Expression, { kind: 'term' | 'select' }>,
  options: NaiveOptions,
  values: readonly NaiveLine[],
): (line: NaiveLine) => boolean {
  const flags = options.ignoreCase ? 'iu' : 'u';
  if (node.kind === 'term') {
    const test = termTest(node.text, options);
    if (options.contentOnly !== true) return ({ line }) => test(line);
    const isOneCharacter = Array.from(plain(node.text, options)).length <= 1;
    const hasParts =
      options.matchWord && (options.errors === 0 || isOneCharacter) && !/[.#*[]/.test(node.text);
    return ({ attribute, line, content }) => {
      if (content === undefined && BOOKKEEPING.test(attribute)) return false;
      const text = content ?? line;
      return test(text) || (hasParts && identifiers(text).some((parts) => test(parts)));
    };
  }
  const named = (line: NaiveLine) => line.attribute.toLowerCase() === node.attribute.toLowerCase();
  if (node.operator === 'contains') {
    const test = termTest(node.value, options);
    return (line) => named(line) && test(line.line);
  }
  if (node.operator === 'regexp') {
    const regexp = new RegExp(plain(node.value, options), flags);
    return (line) => named(line) && regexp.test(plain(line.line, options));
  }
  // All lines of a value that is accepted as a whole.
  const accepted = values.filter((value) => named(value) && acceptsValue(node, value.line, flags, options));
  return (line) =>
    named(line) &&
    accepted.some(
      (v) => v.attribute === line.attribute && v.line.replace(/\n$/, '').split('\n').includes(line.line),
    );
}

function acceptsValue(
  node: Extract<Expression, { kind: 'select' }>,
  value: string,
  flags: string,
  options: NaiveOptions,
): boolean {
  if (node.operator === 'exact') {
    const expected = escaped(plain(node.value, options));
    return new RegExp(`^(?:${expected})\\n?$(?![\\s\\S])`, flags).test(plain(value, options));
  }
  const isNumber = /^\s*[+-]?\d+(\.\d+)?\s*$/;
  const areNumbers = isNumber.test(value) && isNumber.test(node.value);
  const order = areNumbers
    ? Number(value) - Number(node.value)
    : Buffer.compare(Buffer.from(value.replace(/\n$/, '')), Buffer.from(node.value));
  return node.operator === 'less-than' ? order < 0 : order > 0;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** The text in the spelling in which it is compared, character by character. */
function plain(text: string, { ignoreAccents, ignoreCase }: NaiveOptions): string {
  const same = text
    .normalize('NFC')
    .replace(/\u00ad|\u200b|\u200d|\u2060|\ufeff/g, '')
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/[\u2010\u2011]/g, '-')
    .normalize('NFC');
  if (ignoreAccents !== true) return same;
  // Folding first: a capital I with a dot is two characters then.
  return Array.from(ignoreCase ? same.toLowerCase() : same, (c) =>
    /^[\p{L}\p{M}\p{N}]$/u.test(c)
      ? c
          .normalize('NFKD')
          .replace(/[\u0300-\u036f]/g, '')
          .replace('ß', 'ss')
          .normalize('NFC')
      : c,
  )
    .join('')
    .normalize('NFC');
}

/** The parts of each identifier. */
function identifiers(text: string): string[] {
  const words = text
    .normalize('NFC')
    .replace(/\u00ad|\u200b|\u200d|\u2060|\ufeff/g, '')
    .split(/[^\p{L}\p{M}\p{N}_]+/u);
  return words
    .map((word) =>
      word
        .replace(/([\p{L}\p{M}\p{N}])_+(?=[\p{L}\p{M}\p{N}])/gu, '$1 ')
        .replace(/([a-z0-9])(?=[A-Z])/g, '$1 '),
    )
    .map((parts) => parts.replace(/([A-Z])(?=[A-Z][a-z][a-z])/g, '$1 '))
    .filter((parts) => parts.includes(' '));
}

function termTest(text: string, given: NaiveOptions): (line: string) => boolean {
  // A query for an accent alone means it.
  const options = plain(text, given).trim() === '' ? { ...given, ignoreAccents: undefined } : given;
  const { ignoreCase, matchWord, errors } = options;
  const flags = ignoreCase ? 'iu' : 'u';
  const inWord = (source: string) => (matchWord ? `(?<!${WORD})(?:${source})(?!${WORD})` : `(?:${source})`);
  if (/[.#*[]/.test(text)) {
    const source = plain(text, options)
      .replace(/[^\p{L}\p{M}\p{N}.#*[\]\s]/gu, '\\$&')
      .replaceAll('#', '.*')
      .replace(/\s+/g, '\\s+');
    const regexp = new RegExp(inWord(source), `g${flags}`);
    // A pattern that matches nothing at all would be found between the halves of a character, too.
    return (line) => {
      const searched = plain(line, options);
      return [...searched.matchAll(regexp)].some(({ index }) => !isWithinCharacter(searched, index));
    };
  }
  // In a phrase, hyphens between words and blanks are equal.
  const joint = new RegExp(`(?<=${WORD})-(?=${WORD})`, 'gu');
  const oneLine = plain(text, options);
  const isPhrase = /\s/.test(oneLine) || oneLine.search(joint) >= 0;
  const collapse = (part: string) => part.replace(joint, ' ').replace(/\s+/gu, ' ');
  const collapsed = isPhrase ? collapse(oneLine) : oneLine;
  const searched = (line: string) => (isPhrase ? collapse(plain(line, options)) : plain(line, options));
  const allowed = Math.min(errors, Array.from(collapsed).length - 1);
  if (allowed > 0) return (line) => approximately(searched(line), collapsed, allowed, ignoreCase, matchWord);
  const ends = isPhrase
    ? escaped(collapsed)
        .replace(new RegExp(`^-(?=${WORD})`, 'u'), '[- ]')
        .replace(new RegExp(`(?<=${WORD})-$`, 'u'), '[- ]')
    : escaped(collapsed);
  const regexp = new RegExp(inWord(ends), flags);
  return (line) => regexp.test(searched(line));
}

function isWithinCharacter(text: string, index: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, index - 1), index + 1));
}

/**
 * Tells whether a substring of a line differs from the text by at most `errors` insertions, deletions and
 * replacements.
 */
function approximately(
  line: string,
  text: string,
  errors: number,
  ignoreCase: boolean,
  matchWord: boolean,
): boolean {
  const characters = Array.from(line);
  const pattern = Array.from(text);
  const same = (a: string, b: string) => a === b || (ignoreCase && equalIgnoringCase(a, b));
  const word = new RegExp(`^${WORD}$`, 'u');
  for (let from = 0; from <= characters.length; from++) {
    for (let to = from; to <= characters.length && to - from <= pattern.length + errors; to++) {
      const bounded = !word.test(characters[from - 1] ?? '') && !word.test(characters[to] ?? '');
      if (matchWord && !bounded) continue;
      if (distance(characters.slice(from, to), pattern, same) <= errors) return true;
    }
  }
  return false;
}

const knownEqual = new Map<string, boolean>();

function equalIgnoringCase(a: string, b: string): boolean {
  const known = knownEqual.get(`${a}\0${b}`);
  if (known !== undefined) return known;
  const result = new RegExp(`^${escaped(a)}$`, 'iu').test(b);
  knownEqual.set(`${a}\0${b}`, result);
  return result;
}

/** Returns the edit distance. */
function distance(a: string[], b: string[], same: (x: string, y: string) => boolean): number {
  let row = b.map((_, i) => i + 1);
  row.unshift(0);
  for (const [i, x] of a.entries()) {
    const next = [i + 1];
    for (const [j, y] of b.entries()) {
      next.push(Math.min(row[j]! + (same(x, y) ? 0 : 1), row[j + 1]! + 1, next[j]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
