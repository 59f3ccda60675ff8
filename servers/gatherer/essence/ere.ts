import { UsageError } from '../../../protocols/errors.js';

/**
 * POSIX extended regular expressions as a tree (E-9, E-144). The tree exists because three questions are asked of
 * every pattern of the type tables: is it safe for a backtracking engine, does it match only finitely many strings,
 * and how is it written for another engine.
 */
export type EreNode =
  | {
      readonly kind: 'chars';
      readonly ranges: readonly (readonly [low: number, high: number])[];
      readonly negated: boolean;
    }
  | { readonly kind: 'any' | 'start' | 'end' | 'word-border' }
  | { readonly kind: 'group' | 'repeat'; readonly of: EreNode; readonly min: number; readonly max: number }
  | { readonly kind: 'sequence' | 'alternatives'; readonly parts: readonly EreNode[] };

/** Largest `{m,n}` bound; POSIX's RE_DUP_MAX. */
const MAX_BOUND = 255;

const CLASSES: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  alpha: [
    [0x41, 0x5a],
    [0x61, 0x7a],
  ],
  digit: [[0x30, 0x39]],
  alnum: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x61, 0x7a],
  ],
  upper: [[0x41, 0x5a]],
  lower: [[0x61, 0x7a]],
  space: [
    [0x09, 0x0d],
    [0x20, 0x20],
  ],
  blank: [
    [0x09, 0x09],
    [0x20, 0x20],
  ],
  punct: [
    [0x21, 0x2f],
    [0x3a, 0x40],
    [0x5b, 0x60],
    [0x7b, 0x7e],
  ],
  print: [[0x20, 0x7e]],
  graph: [[0x21, 0x7e]],
  cntrl: [
    [0x00, 0x1f],
    [0x7f, 0x7f],
  ],
  xdigit: [
    [0x30, 0x39],
    [0x41, 0x46],
    [0x61, 0x66],
  ],
};

/** Parses one expression. @throws UsageError with a sentence that names the problem. */
export function parseEre(source: string): EreNode {
  return new EreParser(source).parse();
}

class EreParser {
  #at = 0;
  constructor(readonly source: string) {}

  parse(): EreNode {
    const node = this.#alternatives();
    if (this.#at < this.source.length) throw new UsageError(`unmatched ) in ${this.source}`);
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
      let node = this.#atom(c);
      for (let bounds = this.#bounds(); bounds !== undefined; bounds = this.#bounds()) {
        node = { kind: 'repeat', of: node, min: bounds[0], max: bounds[1] };
      }
      parts.push(node);
    }
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
  }

  #atom(c: string): EreNode {
    this.#at++;
    switch (c) {
      case '^':
        return { kind: 'start' };
      case '$':
        return { kind: 'end' };
      case '.':
        return { kind: 'any' };
      case '(': {
        const of = this.#alternatives();
        if (this.source[this.#at] !== ')') throw new UsageError(`unmatched ( in ${this.source}`);
        this.#at++;
        return { kind: 'group', of, min: 1, max: 1 };
      }
      case '[':
        return this.#bracket();
      case '*':
      case '+':
      case '?':
        throw new UsageError(`nothing to repeat before ${c} in ${this.source}`);
      case '\\': {
        const escaped = this.source[this.#at++];
        if (escaped === undefined) throw new UsageError(`a backslash ends ${this.source}`);
        if (escaped === '<' || escaped === '>') return { kind: 'word-border' };
        return literal(escaped);
      }
      default:
        return literal(c);
    }
  }

  #bounds(): readonly [number, number] | undefined {
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
        const found = /^\{(\d{1,3})(,(\d{0,3}))?\}/.exec(this.source.slice(this.#at, this.#at + 10));
        if (found === null) return undefined;
        const min = Number(found[1]);
        const max =
          found[2] === undefined ? min : found[3] === '' ? Number.POSITIVE_INFINITY : Number(found[3]);
        if (min > max || min > MAX_BOUND || (max > MAX_BOUND && max !== Number.POSITIVE_INFINITY)) {
          throw new UsageError(`bad bounds ${found[0]} in ${this.source}`);
        }
        this.#at += found[0].length;
        return [min, max];
      }
      default:
        return undefined;
    }
  }

  /** After `[`. A `]` right after the opening (or after `^`) is a literal; a backslash is a literal too (POSIX). */
  #bracket(): EreNode {
    const ranges: (readonly [number, number])[] = [];
    const negated = this.source[this.#at] === '^';
    if (negated) this.#at++;
    for (let first = true; ; first = false) {
      const c = this.source[this.#at];
      if (c === undefined) throw new UsageError(`unmatched [ in ${this.source}`);
      if (c === ']' && !first) break;
      const name = /^\[:([a-z]+):\]/.exec(this.source.slice(this.#at, this.#at + 12));
      if (name !== null) {
        const known = CLASSES[name[1]!];
        if (known === undefined) throw new UsageError(`unknown class ${name[0]} in ${this.source}`);
        ranges.push(...known);
        this.#at += name[0].length;
        continue;
      }
      // Written `[\.]` by everybody who learned expressions elsewhere: the backslash of an escaped punctuation
      // character inside brackets only adds a backslash to the set, so it is kept as POSIX says.
      const low = c.charCodeAt(0);
      this.#at++;
      if (
        this.source[this.#at] === '-' &&
        this.source[this.#at + 1] !== ']' &&
        this.#at + 1 < this.source.length
      ) {
        const high = this.source.charCodeAt(this.#at + 1);
        if (high < low) throw new UsageError(`reversed range in ${this.source}`);
        ranges.push([low, high]);
        this.#at += 2;
      } else {
        ranges.push([low, low]);
      }
    }
    this.#at++;
    return { kind: 'chars', ranges, negated };
  }
}

function literal(c: string): EreNode {
  const code = c.charCodeAt(0);
  return { kind: 'chars', ranges: [[code, code]], negated: false };
}

/** The expression in the syntax that JavaScript's and RE2's engines share. */
export function formatEre(node: EreNode): string {
  switch (node.kind) {
    case 'any':
      return '.';
    case 'start':
      return '^';
    case 'end':
      return '$';
    case 'word-border':
      return '\\b';
    case 'chars': {
      const [only] = node.ranges;
      if (!node.negated && node.ranges.length === 1 && only![0] === only![1]) return escapeCode(only![0]);
      const ranges = node.ranges.map(([low, high]) =>
        low === high ? escapeCode(low) : `${escapeCode(low)}-${escapeCode(high)}`,
      );
      return `[${node.negated ? '^' : ''}${ranges.join('')}]`;
    }
    case 'group':
      return `(${formatEre(node.of)})`;
    case 'repeat': {
      const inner = node.of.kind === 'repeat' ? `(?:${formatEre(node.of)})` : formatEre(node.of);
      return inner + formatBounds(node.min, node.max);
    }
    case 'sequence':
      return node.parts
        .map((part) => (part.kind === 'alternatives' ? `(?:${formatEre(part)})` : formatEre(part)))
        .join('');
    case 'alternatives':
      return node.parts.map(formatEre).join('|');
  }
}

function formatBounds(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function escapeCode(code: number): string {
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  const c = String.fromCharCode(code);
  return code < 0x80 && !/[0-9A-Za-z ]/.test(c) ? `\\${c}` : c;
}

/** All strings the expression matches, when they are at most `limit`; undefined when they are more or context matters. */
export function finiteLanguage(node: EreNode, limit: number): readonly string[] | undefined {
  switch (node.kind) {
    case 'chars': {
      if (node.negated) return undefined;
      const strings: string[] = [];
      for (const [low, high] of node.ranges) {
        if (strings.length + high - low >= limit) return undefined;
        for (let code = low; code <= high; code++) strings.push(String.fromCharCode(code));
      }
      return strings;
    }
    case 'group':
      return finiteLanguage(node.of, limit);
    case 'repeat': {
      const inner = node.max <= 1 ? finiteLanguage(node.of, limit) : undefined;
      return inner === undefined ? undefined : node.min === 0 ? ['', ...inner] : inner;
    }
    case 'alternatives': {
      const strings: string[] = [];
      for (const part of node.parts) {
        const more = finiteLanguage(part, limit - strings.length);
        if (more === undefined) return undefined;
        strings.push(...more);
      }
      return strings.length <= limit ? strings : undefined;
    }
    case 'sequence': {
      let strings: readonly string[] = [''];
      for (const part of node.parts) {
        const more = finiteLanguage(part, limit);
        if (more === undefined || more.length * strings.length > limit) return undefined;
        strings = strings.flatMap((head) => more.map((tail) => head + tail));
      }
      return strings;
    }
    default:
      return undefined;
  }
}

/**
 * Whether a backtracking engine answers in at most quadratic time: every unbounded repetition is of a single character
 * class, there are at most two of them (one when the expression may begin anywhere), and few optional parts.
 */
export function isCheap(node: EreNode): boolean {
  const count = { unbounded: 0, optional: 0 };
  if (!countRepeats(node, count)) return false;
  return count.unbounded + (isAnchored(node) ? 0 : 1) <= 2 && count.optional <= 4;
}

function countRepeats(node: EreNode, count: { unbounded: number; optional: number }): boolean {
  switch (node.kind) {
    case 'group':
      return countRepeats(node.of, count);
    case 'repeat':
      if (node.max <= 1) {
        count.optional++;
        return countRepeats(node.of, count);
      }
      if (node.max === Number.POSITIVE_INFINITY) count.unbounded++;
      else count.optional += node.max;
      return node.of.kind === 'chars' || node.of.kind === 'any';
    case 'sequence':
    case 'alternatives':
      return node.parts.every((part) => countRepeats(part, count));
    default:
      return true;
  }
}

function isAnchored(node: EreNode): boolean {
  if (node.kind === 'start') return true;
  if (node.kind === 'alternatives') return node.parts.every(isAnchored);
  if (node.kind === 'group') return isAnchored(node.of);
  return node.kind === 'sequence' && node.parts[0] !== undefined && isAnchored(node.parts[0]);
}
