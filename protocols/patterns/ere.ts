import { ProtocolError } from '../errors.js';

/**
 * A POSIX extended regular expression as a tree (E-9, G-43). The tree answers three questions: may a backtracking engine
 * run the pattern, does it match only a few strings, how is it written for each engine. Characters are code points.
 */
export type EreNode =
  | { readonly kind: 'chars'; readonly ranges: readonly CharRange[]; readonly negated: boolean }
  | { readonly kind: 'any' | 'start' | 'end' | 'word-border' | 'no-word-border' }
  | { readonly kind: 'group'; readonly of: EreNode }
  | { readonly kind: 'repeat'; readonly of: EreNode; readonly min: number; readonly max: number }
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
 * @throws ProtocolError (`config`, G-43) with the offset in the pattern; its message continues "the expression ..."
 */
export function parseEre(source: string): EreNode {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw patternProblem(`is longer than ${MAX_PATTERN_LENGTH} characters`, MAX_PATTERN_LENGTH);
  }
  const half = source.search(/\p{Cs}/u);
  if (half >= 0) throw patternProblem('has half a character (a lone surrogate)', half);
  const node = new EreParser(source).parse();
  if (sizeOf(node) > MAX_SIZE) {
    throw patternProblem(`is longer than ${MAX_SIZE} characters when its {m,n} are written out`, 0);
  }
  return node;
}

class EreParser {
  #at = 0;
  #depth = 0;
  constructor(readonly source: string) {}

  parse(): EreNode {
    const node = this.#alternatives();
    if (this.#at < this.source.length) throw patternProblem('has a `)` without its `(`', this.#at);
    return node;
  }

  #alternatives(): EreNode {
    const parts = [this.#sequence()];
    while (this.source[this.#at] === '|') {
      this.#at++;
      parts.push(this.#sequence());
    }
    return parts.length === 1 ? parts[0]! : { kind: 'alternatives', parts };
  }

  #sequence(): EreNode {
    const parts: EreNode[] = [];
    for (;;) {
      const c = this.source[this.#at];
      if (c === undefined || c === '|' || c === ')') break;
      const start = this.#at;
      let node = this.#atom(c);
      for (let bounds = this.#bounds(); bounds !== undefined; bounds = this.#bounds()) {
        // `^*` is a shell glob's star after an anchor, not a repeated anchor (G-43).
        if (c === '^') throw nothingToRepeat(this.source[start + 1]!, start + 1);
        node = repeat(node, ...bounds);
        if (copiesOf(node) > MAX_COPIES) throw patternProblem(`repeats more than ${MAX_COPIES} times`, start);
      }
      parts.push(node);
    }
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
  }

  #atom(c: string): EreNode {
    switch (c) {
      case '^':
        this.#at++;
        return { kind: 'start' };
      case '$':
        this.#at++;
        return { kind: 'end' };
      case '.':
        this.#at++;
        return { kind: 'any' };
      case '(':
        return this.#group();
      case '[':
        return this.#bracket();
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw nothingToRepeat(c, this.#at);
      default:
        if (c === '{' && this.#interval() !== undefined) throw nothingToRepeat(c, this.#at);
        return literal(this.#codePoint());
    }
  }

  #codePoint(): number {
    const code = this.source.codePointAt(this.#at)!;
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #group(): EreNode {
    const start = this.#at++;
    if (this.source[this.#at] === '?') {
      throw patternProblem('has `(?`, which POSIX does not know: no look-around, no flags', start);
    }
    if (++this.#depth > MAX_DEPTH) throw patternProblem(`nests deeper than ${MAX_DEPTH} parentheses`, start);
    const of = this.#alternatives();
    if (this.source[this.#at] !== ')') throw patternProblem('has a `(` without its `)`', start);
    this.#at++;
    this.#depth--;
    return { kind: 'group', of };
  }

  #escape(): EreNode {
    const start = this.#at++;
    const escaped = this.source[this.#at];
    if (escaped === undefined) throw patternProblem('ends with a backslash', start);
    if (/[0-9]/.test(escaped)) {
      throw patternProblem('has a back reference, which cannot be matched in linear time', start);
    }
    const known = ESCAPES.get(escaped);
    // E-144: in POSIX, `\d` is a literal d, which is not what its author means.
    if (known === undefined && /[A-Za-z]/.test(escaped)) {
      const problem = `has \`\\${escaped}\`, which POSIX does not know: use [[:digit:]] and the like`;
      throw patternProblem(problem, start);
    }
    const code = this.#codePoint();
    return known ?? literal(code);
  }

  #bounds(): readonly [min: number, max: number] | undefined {
    switch (this.source[this.#at]) {
      case '*':
        this.#at++;
        return [0, Number.POSITIVE_INFINITY];
      case '+':
        this.#at++;
        return [1, Number.POSITIVE_INFINITY];
      case '?':
        this.#at++;
        return [0, 1];
      case '{': {
        const interval = this.#interval();
        if (interval === undefined) return undefined;
        const { min, max, length } = interval;
        if (min > max) throw patternProblem('has bounds in the wrong order', this.#at);
        this.#at += length;
        return [min, max];
      }
      default:
        return undefined;
    }
  }

  /** `{n}`, `{n,}`, `{n,m}`, `{,m}`; any other brace is literal. */
  #interval(): { readonly min: number; readonly max: number; readonly length: number } | undefined {
    const found = /^\{(\d*)(?:(,)(\d*))?\}/.exec(this.source.slice(this.#at, this.#at + 32));
    if (found === null) return undefined;
    const [whole, low = '', comma, high = ''] = found;
    if (low === '' && high === '') return undefined;
    const max = comma === undefined ? Number(low) : high === '' ? Number.POSITIVE_INFINITY : Number(high);
    return { min: Number(low), max, length: whole.length };
  }

  /** A `]` right after the opening (or after `^`) is literal, and so is a backslash anywhere. */
  #bracket(): EreNode {
    const start = this.#at++;
    const ranges: CharRange[] = [];
    const negated = this.source[this.#at] === '^';
    if (negated) this.#at++;
    for (const first = this.#at; ; ) {
      if (this.source[this.#at] === ']' && this.#at > first) break;
      const at = this.#at;
      const low = this.#bracketElement(start);
      // A minus between two characters makes a range; first or last it is literal.
      if (this.source[this.#at] === '-' && this.source[this.#at + 1] !== ']' && typeof low === 'number') {
        this.#at++;
        const high = this.#bracketElement(start);
        if (typeof high !== 'number' || high < low) {
          throw patternProblem('has a range that does not go upwards', at);
        }
        ranges.push([low, high]);
      } else if (typeof low === 'number') ranges.push([low, low]);
      else ranges.push(...low);
    }
    this.#at++;
    return { kind: 'chars', ranges, negated };
  }

  /** One character, `[.x.]` or `[=x=]`: its code; `[:class:]`: its ranges. */
  #bracketElement(start: number): number | readonly CharRange[] {
    if (this.#at >= this.source.length) throw patternProblem('has a `[` without its `]`', start);
    const special = /^\[([:.=])(.+?)\1\]/s.exec(this.source.slice(this.#at, this.#at + 24));
    if (special === null) return this.#codePoint();
    const [whole, kind, name] = special;
    if (kind === ':') {
      const known = CLASSES.get(name!);
      if (known === undefined) throw patternProblem(`has the unknown class [:${name}:]`, this.#at);
      this.#at += whole.length;
      return known;
    }
    const code = name!.codePointAt(0)!;
    if (String.fromCodePoint(code) !== name) {
      throw patternProblem('has a collating element of more than one character', this.#at);
    }
    this.#at += whole.length;
    return code;
  }
}

function literal(code: number): EreNode {
  return { kind: 'chars', ranges: [[code, code]], negated: false };
}

/** Collapses `a**` and similar forms into one repetition; engines would read the second sign differently. */
function repeat(of: EreNode, min: number, max: number): EreNode {
  const isSimple = (low: number, high: number) =>
    low <= 1 && (high === 1 || high === Number.POSITIVE_INFINITY);
  if (of.kind === 'repeat' && isSimple(min, max) && isSimple(of.min, of.max)) {
    return { kind: 'repeat', of: of.of, min: min * of.min, max: max * of.max };
  }
  return { kind: 'repeat', of, min, max };
}

/** How often the innermost part is repeated when nested `{m,n}` are expanded; 1 without any. */
function copiesOf(node: EreNode): number {
  switch (node.kind) {
    case 'group':
      return copiesOf(node.of);
    case 'repeat': {
      const own = node.max === Number.POSITIVE_INFINITY ? node.min : node.max;
      return Math.max(1, own) * copiesOf(node.of);
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
      return sizeOf(node.of);
    case 'repeat':
      return Math.max(1, node.max === Number.POSITIVE_INFINITY ? node.min : node.max) * sizeOf(node.of);
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
      return `${open}${formatEre(node.of, open)})`;
    case 'repeat': {
      const isAtom = node.of.kind === 'chars' || node.of.kind === 'any' || node.of.kind === 'group';
      const inner = formatEre(node.of, open);
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
