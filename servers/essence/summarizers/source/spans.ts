// Finds the comments and strings of a program, by the table of its language.

/** A kind of comment or string. */
export interface SpanRule {
  /** Regular expression of its beginning, without groups. */
  readonly open: string;
  readonly kind: 'comment' | 'doc' | 'string';
  /** Its end: a text, the end of the line, or a text that depends on the beginning. */
  readonly close: string | 'line' | ((open: string) => string);
  /** A backslash protects the next character. */
  readonly hasEscapes?: boolean;
  /** It may contain others of its kind. */
  readonly isNested?: boolean;
  /** It ends with the line at the latest. */
  readonly isInLine?: boolean;
}

/** A comment, or a string that is documentation. */
export interface Comment {
  /** As written, with its marks. */
  readonly text: string;
  readonly isDoc: boolean;
  /** Index after it. */
  readonly end: number;
}

/**
 * A program without its comments and without strings of several lines; other strings are kept, because imports
 * are strings.
 */
export interface SplitProgram {
  readonly code: string;
  readonly comments: readonly Comment[];
}

/**
 * Number of beginnings without an end, of kinds whose end depends on the beginning, after which these are no
 * longer searched.
 */
const MAX_UNENDED = 50;

/** Maximum number of comments of one program. */
const MAX_COMMENTS = 50_000;

/**
 * Finds the spans of a language; each search for an end either finds it or consumes the rest, so that the time
 * is linear.
 */
export class SpanReader {
  readonly #rules: readonly SpanRule[];
  readonly #opening: RegExp;

  constructor(rules: readonly SpanRule[]) {
    this.#rules = rules;
    this.#opening = new RegExp(rules.map(({ open }) => `(${open})`).join('|'), 'gm');
  }

  split(source: string): SplitProgram {
    const comments: Comment[] = [];
    const code: string[] = [];
    const opening = new RegExp(this.#opening);
    let unended = 0;
    let last = 0;
    for (let found = opening.exec(source); found !== null; found = opening.exec(source)) {
      const open = found[0];
      const { index } = found;
      const rule = this.#rules[found.slice(1).findIndex((group) => group !== undefined)]!;
      const isDependent = typeof rule.close === 'function';
      if (isDependent && unended > MAX_UNENDED) continue;
      const end = endOf(source, index + open.length, rule, open);
      if (end < 0) {
        unended++;
        continue;
      }
      opening.lastIndex = end;
      const text = source.slice(index, end);
      if (rule.kind === 'string' && !text.includes('\n')) continue;
      code.push(
        source.slice(last, index),
        rule.kind === 'string' ? '""' : ' ',
        rule.close === 'line' ? '' : linesOf(text),
      );
      last = end;
      if (rule.kind !== 'string' && comments.length < MAX_COMMENTS) {
        comments.push({ text, isDoc: rule.kind === 'doc', end });
      }
    }
    code.push(source.slice(last));
    return { code: code.join(''), comments };
  }
}

/** The index after the span; negative if its end depends on its beginning and is missing. */
function endOf(source: string, from: number, rule: SpanRule, open: string): number {
  const { close } = rule;
  if (close === 'line') {
    const end = source.indexOf('\n', from);
    return end < 0 ? source.length : end;
  }
  if (typeof close === 'function') {
    const text = close(open);
    const end = source.indexOf(text, from);
    return end < 0 ? -1 : end + text.length;
  }
  if (rule.isNested === true) return nestedEnd(source, from, open, close);
  for (let index = from; index < source.length; index++) {
    const character = source[index]!;
    if (rule.isInLine === true && character === '\n') return index;
    if (rule.hasEscapes === true && character === '\\') index++;
    else if (character === close[0] && source.startsWith(close, index)) return index + close.length;
  }
  return source.length;
}

function nestedEnd(source: string, from: number, open: string, close: string): number {
  let depth = 1;
  for (let index = from; index < source.length; index++) {
    if (source[index] === close[0] && source.startsWith(close, index)) {
      index += close.length - 1;
      if (--depth === 0) return index + 1;
    } else if (source[index] === open[0] && source.startsWith('/*', index)) {
      index++;
      depth++;
    }
  }
  return source.length;
}

function linesOf(text: string): string {
  let count = 0;
  for (let index = text.indexOf('\n'); index >= 0; index = text.indexOf('\n', index + 1)) count++;
  return '\n'.repeat(count);
}
