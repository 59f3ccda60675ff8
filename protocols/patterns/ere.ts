import { ProtocolError } from '../errors.js';

/**
 * A POSIX extended regular expression as a tree (E-9, G-43). The tree answers three questions: may a
 * backtracking engine run the pattern, does it match only a few strings, how is it written for each engine.
 * Characters are code points.
 */
export type EreNode =
  | { readonly kind: 'chars'; readonly ranges: readonly CharRange[]; readonly negated: boolean }
  | { readonly kind: 'any' | 'start' | 'end' | 'word-border' | 'no-word-border' }
  | { readonly kind: 'group'; readonly child: EreNode }
  | { readonly kind: 'repeat'; readonly child: EreNode; readonly min: number; readonly max: number }
  | { readonly kind: 'sequence' | 'alternatives'; readonly parts: readonly EreNode[] };

/** Code points, both ends included. */
export type CharRange = readonly [low: number, high: number];

/** Characters (UTF-16 units) of one pattern. */
export const MAX_PATTERN_LENGTH = 4096;
/** Largest bound of `{m,n}`, and of the product of nested ones; RE2 has the same limit. */
const MAX_COPIES = 1000;
/** Nested parentheses. */
const MAX_DEPTH = 100;
/** Single characters of the pattern when all its `{m,n}` are written out. */
const MAX_SIZE = 10_000;

const CLASSES: ReadonlyMap<string, readonly CharRange[]> = new Map(
  Object.entries({
    alpha: 'AZaz',
    digit: '09',
    alnum: '09AZaz',
    upper: 'AZ',
    lower: 'az',
    space: '\t\r  ',
    blank: '\t\t  ',
    punct: '!/:@[`{~',
    print: ' ~',
    graph: '!~',
    cntrl: '\0\x1f\x7f\x7f',
    xdigit: '09AFaf',
  }).map(([name, ends]) => [name, rangesOf(ends)]),
);

const WORD = rangesOf('09AZ__az');

/** `AZaz` is A to Z and a to z. */
function rangesOf(ends: string): CharRange[] {
  return [...ends.matchAll(/../gs)].map(([pair]) => [pair.charCodeAt(0), pair.charCodeAt(1)]);
}

/** The signs that repeat what is before them. */
const BOUNDS: ReadonlyMap<string | undefined, readonly [min: number, max: number]> = new Map([
  ['*', [0, Number.POSITIVE_INFINITY]],
  ['+', [1, Number.POSITIVE_INFINITY]],
  ['?', [0, 1]],
]);

/** GNU's letters after a backslash; other letters and digits are refused. */
const ESCAPES: ReadonlyMap<string, EreNode> = new Map<string, EreNode>([
  ['<', { kind: 'word-border' }],
  ['>', { kind: 'word-border' }],
  ['b', { kind: 'word-border' }],
  ['B', { kind: 'no-word-border' }],
  ['w', { kind: 'chars', ranges: WORD, negated: false }],
  ['W', { kind: 'chars', ranges: WORD, negated: true }],
  ['s', { kind: 'chars', ranges: CLASSES.get('space')!, negated: false }],
  ['S', { kind: 'chars', ranges: CLASSES.get('space')!, negated: true }],
  ['`', { kind: 'start' }],
  ["'", { kind: 'end' }],
]);

/**
 * Parses one expression.
 * @throws ProtocolError (`config`, G-43) with the offset in the pattern; its message continues "the expression
 *   ..."
 */
export function parseEre(source: string): EreNode {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw patternProblem(`is longer than ${MAX_PATTERN_LENGTH} characters`, MAX_PATTERN_LENGTH);
  }
  const surrogate = source.search(/\p{Cs}/u);
  if (surrogate >= 0) throw patternProblem('has a lone surrogate', surrogate);
  const node = new EreParser(source).parse();
  if (sizeOf(node) > MAX_SIZE) {
    throw patternProblem(`is longer than ${MAX_SIZE} characters when its {m,n} are written out`, 0);
  }
  return node;
}

class EreParser {
  readonly #source: string;
  #position = 0;
  #depth = 0;
  constructor(source: string) {
    this.#source = source;
  }

  parse(): EreNode {
    const node = this.#parseAlternatives();
    if (this.#position < this.#source.length)
      throw patternProblem('has a `)` without its `(`', this.#position);
    return node;
  }

  #parseAlternatives(): EreNode {
    const parts = [this.#parseSequence()];
    while (this.#source[this.#position] === '|') {
      this.#position++;
      parts.push(this.#parseSequence());
    }
    return parts.length === 1 ? parts[0]! : { kind: 'alternatives', parts };
  }

  #parseSequence(): EreNode {
    const parts: EreNode[] = [];
    for (;;) {
      const c = this.#source[this.#position];
      if (c === undefined || c === '|' || c === ')') break;
      const start = this.#position;
      let node = this.#parseAtom(c);
      for (let bounds = this.#parseBounds(); bounds !== undefined; bounds = this.#parseBounds()) {
        // `^*` is a shell glob's star after an anchor, not a repeated anchor (G-43).
        if (c === '^') throw nothingToRepeat(this.#source[start + 1]!, start + 1);
        node = makeRepeat(node, ...bounds);
        if (copiesOf(node) > MAX_COPIES) throw patternProblem(`repeats more than ${MAX_COPIES} times`, start);
      }
      parts.push(node);
    }
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
  }

  #parseAtom(c: string): EreNode {
    switch (c) {
      case '^':
        this.#position++;
        return { kind: 'start' };
      case '$':
        this.#position++;
        return { kind: 'end' };
      case '.':
        this.#position++;
        return { kind: 'any' };
      case '(':
        return this.#parseGroup();
      case '[':
        return this.#parseBracket();
      case '\\':
        return this.#parseEscape();
      case '*':
      case '+':
      case '?':
        throw nothingToRepeat(c, this.#position);
      default:
        if (c === '{' && this.#matchInterval() !== undefined) throw nothingToRepeat(c, this.#position);
        return literal(this.#takeCodePoint());
    }
  }

  #takeCodePoint(): number {
    const code = this.#source.codePointAt(this.#position)!;
    this.#position += code > 0xffff ? 2 : 1;
    return code;
  }

  #parseGroup(): EreNode {
    const start = this.#position++;
    if (this.#source[this.#position] === '?') {
      throw patternProblem('has `(?`, which POSIX does not have: no look-around, no flags', start);
    }
    if (++this.#depth > MAX_DEPTH) throw patternProblem(`nests deeper than ${MAX_DEPTH} parentheses`, start);
    const child = this.#parseAlternatives();
    if (this.#source[this.#position] !== ')') throw patternProblem('has a `(` without its `)`', start);
    this.#position++;
    this.#depth--;
    return { kind: 'group', child };
  }

  #parseEscape(): EreNode {
    const start = this.#position++;
    const escaped = this.#source[this.#position];
    if (escaped === undefined) throw patternProblem('ends with a backslash', start);
    if (/[0-9]/.test(escaped)) {
      throw patternProblem('has a back reference, which cannot be matched in linear time', start);
    }
    const known = ESCAPES.get(escaped);
    // E-144: in POSIX, `\d` is a literal d, which is not what its author means.
    if (known === undefined && /[A-Za-z]/.test(escaped)) {
      const problem = `has \`\\${escaped}\`, which POSIX does not have: use [[:digit:]] and the like`;
      throw patternProblem(problem, start);
    }
    const code = this.#takeCodePoint();
    return known ?? literal(code);
  }

  #parseBounds(): readonly [min: number, max: number] | undefined {
    const sign = BOUNDS.get(this.#source[this.#position]);
    if (sign !== undefined) {
      this.#position++;
      return sign;
    }
    const interval = this.#matchInterval();
    if (interval === undefined) return undefined;
    const { min, max, length } = interval;
    if (min > max) throw patternProblem('has bounds in the wrong order', this.#position);
    this.#position += length;
    return [min, max];
  }

  /** `{n}`, `{n,}`, `{n,m}`, `{,m}`; any other brace is literal. */
  #matchInterval(): { readonly min: number; readonly max: number; readonly length: number } | undefined {
    const found = /^\{(\d*)(?:(,)(\d*))?\}/.exec(this.#source.slice(this.#position, this.#position + 32));
    if (found === null) return undefined;
    const [whole, low = '', comma, high = ''] = found;
    if (low === '' && high === '') return undefined;
    const max = comma === undefined ? Number(low) : high === '' ? Number.POSITIVE_INFINITY : Number(high);
    return { min: Number(low), max, length: whole.length };
  }

  /** A `]` right after the opening (or after `^`) is literal, and so is a backslash anywhere. */
  #parseBracket(): EreNode {
    const start = this.#position++;
    const ranges: CharRange[] = [];
    const negated = this.#source[this.#position] === '^';
    if (negated) this.#position++;
    for (const first = this.#position; ; ) {
      if (this.#source[this.#position] === ']' && this.#position > first) break;
      const rangeStart = this.#position;
      const low = this.#parseBracketElement(start);
      // A minus between two characters makes a range; first or last it is literal.
      if (
        this.#source[this.#position] === '-' &&
        this.#source[this.#position + 1] !== ']' &&
        typeof low === 'number'
      ) {
        this.#position++;
        const high = this.#parseBracketElement(start);
        if (typeof high !== 'number' || high < low) {
          throw patternProblem('has a range in descending order', rangeStart);
        }
        ranges.push([low, high]);
      } else if (typeof low === 'number') ranges.push([low, low]);
      else ranges.push(...low);
    }
    this.#position++;
    return { kind: 'chars', ranges, negated };
  }

  /** One character, `[.x.]` or `[=x=]`: its code; `[:class:]`: its ranges. */
  #parseBracketElement(start: number): number | readonly CharRange[] {
    if (this.#position >= this.#source.length) throw patternProblem('has a `[` without its `]`', start);
    const special = /^\[([:.=])(.+?)\1\]/s.exec(this.#source.slice(this.#position, this.#position + 24));
    if (special === null) return this.#takeCodePoint();
    const [whole, kind, name] = special;
    if (kind === ':') {
      const known = CLASSES.get(name!);
      if (known === undefined) throw patternProblem(`has the unknown class [:${name}:]`, this.#position);
      this.#position += whole.length;
      return known;
    }
    const code = name!.codePointAt(0)!;
    if (String.fromCodePoint(code) !== name) {
      throw patternProblem('has a collating element of more than one character', this.#position);
    }
    this.#position += whole.length;
    return code;
  }
}

function literal(code: number): EreNode {
  return { kind: 'chars', ranges: [[code, code]], negated: false };
}

/** Collapses `a**` and similar forms into one repetition; engines would read the second sign differently. */
function makeRepeat(child: EreNode, min: number, max: number): EreNode {
  const isSimple = (low: number, high: number) =>
    low <= 1 && (high === 1 || high === Number.POSITIVE_INFINITY);
  if (child.kind === 'repeat' && isSimple(min, max) && isSimple(child.min, child.max)) {
    return { kind: 'repeat', child: child.child, min: min * child.min, max: max * child.max };
  }
  return { kind: 'repeat', child, min, max };
}

/** How often the innermost part is repeated when nested `{m,n}` are expanded; 1 without any. */
function copiesOf(node: EreNode): number {
  switch (node.kind) {
    case 'group':
      return copiesOf(node.child);
    case 'repeat': {
      const own = node.max === Number.POSITIVE_INFINITY ? node.min : node.max;
      return Math.max(1, own) * copiesOf(node.child);
    }
    case 'sequence':
    case 'alternatives':
      return Math.max(1, ...node.parts.map(copiesOf));
    default:
      return 1;
  }
}

/** Single characters when all `{m,n}` are written out. */
function sizeOf(node: EreNode): number {
  switch (node.kind) {
    case 'group':
      return sizeOf(node.child);
    case 'repeat':
      return Math.max(1, node.max === Number.POSITIVE_INFINITY ? node.min : node.max) * sizeOf(node.child);
    case 'sequence':
    case 'alternatives':
      return node.parts.reduce((sum, part) => sum + sizeOf(part), 0);
    default:
      return 1;
  }
}

/**
 * The expression as JavaScript (flags `su`) and RE2 (DOTALL) both read it.
 * @param open what a group begins with: `(` keeps what it matched, `(?:` does not
 */
export function formatEre(node: EreNode, open: '(' | '(?:' = '('): string {
  switch (node.kind) {
    case 'any':
      return '.';
    case 'start':
      return '^';
    case 'end':
      return '$';
    case 'word-border':
      return '\\b';
    case 'no-word-border':
      return '\\B';
    case 'chars':
      return formatChars(node.ranges, node.negated);
    case 'group':
      return `${open}${formatEre(node.child, open)})`;
    case 'repeat': {
      const isAtom = node.child.kind === 'chars' || node.child.kind === 'any' || node.child.kind === 'group';
      const inner = formatEre(node.child, open);
      return (isAtom ? inner : `(?:${inner})`) + formatBounds(node.min, node.max);
    }
    case 'sequence':
      return node.parts.map((part) => formatEre(part, open)).join('');
    case 'alternatives':
      return node.parts.map((part) => formatEre(part, open)).join('|');
  }
}

function formatChars(ranges: readonly CharRange[], negated: boolean): string {
  const [[low, high] = [0, 0], ...others] = ranges;
  if (!negated && others.length === 0 && low === high) return formatCode(low);
  const inner = ranges.map(([from, to]) =>
    from === to ? formatCode(from) : `${formatCode(from)}-${formatCode(to)}`,
  );
  return `[${negated ? '^' : ''}${inner.join('')}]`;
}

function formatCode(code: number): string {
  const c = String.fromCodePoint(code);
  return code >= 0x80 || /[0-9A-Za-z]/.test(c) ? c : `\\x${code.toString(16).padStart(2, '0')}`;
}

function formatBounds(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function nothingToRepeat(sign: string, offset: number): ProtocolError {
  const hint = sign === '{' ? '' : `: write .${sign}`;
  return patternProblem(`has nothing before \`${sign}\` to repeat${hint}`, offset);
}

/** The error for a refused pattern. Its message continues "the expression ...". */
export function patternProblem(text: string, offset: number, cause?: unknown): ProtocolError {
  return new ProtocolError(text, { protocol: 'config', rule: 'G-43', offset, cause });
}
