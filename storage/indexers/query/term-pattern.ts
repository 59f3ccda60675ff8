// Parses a search word as Glimpse does and translates it to an RE2 expression (BRK-2.22).
import { RE2JS } from 're2js';
import { collapse } from './object-text.js';

/** A parsed search word (BRK-2.22). */
export type TermPattern =
  | { readonly kind: 'literal'; readonly text: string }
  | {
      readonly kind: 'pattern';
      /** RE2 syntax; a blank matches the collapsed run of blanks of a line. */
      readonly source: string;
      /** Texts that every match contains; empty if none is known. */
      readonly required: readonly string[];
    };

type Token =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'any' | 'run' | 'start' | 'end' | 'or' | 'star' | 'open' | 'close' }
  | { readonly kind: 'class'; readonly source: string };

/**
 * Parses a search word as Glimpse does: `.` matches one character, `#` any run of characters, `[...]` a class,
 * `^` and `$` the ends of the line; `|`, `*` and `( )` are operators; a backslash escapes the next character.
 * `^` and `$` are literal except at the ends of an alternative, so that `US$ 100` can be found. A word that is
 * not a well-formed pattern, such as `f(x` and `f()`, is literal.
 */
export function parseTerm(term: string): TermPattern {
  const tokens = tokenize(term);
  if (tokens === undefined || !isWellFormed(tokens)) return { kind: 'literal', text: unescapeTerm(term) };
  if (tokens.every((token) => token.kind === 'literal')) {
    return { kind: 'literal', text: tokens.map((token) => token.text).join('') };
  }
  const source = tokens.map(sourceOf).join('');
  return isRegexp(source)
    ? { kind: 'pattern', source, required: requiredTexts(tokens) }
    : { kind: 'literal', text: unescapeTerm(term) };
}

/** The text with every backslash pair replaced by its second character (BRK-2.7). */
export function unescapeTerm(text: string): string {
  return text.replace(/\\(.)/gsu, '$1');
}

function tokenize(term: string): Token[] | undefined {
  const tokens: Token[] = [];
  const characters = Array.from(collapse(term.replaceAll('\n', ' ')));
  for (let i = 0; i < characters.length; i++) {
    const c = characters[i]!;
    if (c === '\\' && i + 1 < characters.length) {
      tokens.push({ kind: 'literal', text: characters[++i]! });
    } else if (c === '[') {
      const end = classEnd(characters, i);
      if (end === undefined) return undefined;
      tokens.push({ kind: 'class', source: classSource(characters.slice(i + 1, end)) });
      i = end;
    } else {
      tokens.push(SPECIAL.get(c) ?? { kind: 'literal', text: c });
    }
  }
  return tokens
    .map((token, i) => (isAnchorInside(tokens, token, i) ? literalAnchor(token) : token))
    .filter((token, i, all) => !(isBlank(token) && isBlank(all[i - 1])));
}

const SPECIAL: ReadonlyMap<string, Token> = new Map<string, Token>([
  ['.', { kind: 'any' }],
  ['#', { kind: 'run' }],
  ['^', { kind: 'start' }],
  ['$', { kind: 'end' }],
  ['|', { kind: 'or' }],
  ['*', { kind: 'star' }],
  ['(', { kind: 'open' }],
  [')', { kind: 'close' }],
]);

/** Index of the bracket that closes the class at `open`; a bracket right after the opening one is a member. */
function classEnd(characters: readonly string[], open: number): number | undefined {
  let i = open + 1;
  if (characters[i] === '^') i++;
  for (let first = true; i < characters.length; i++, first = false) {
    if (characters[i] === '\\') i++;
    else if (characters[i] === ']' && !first) return i;
  }
  return undefined;
}

/**
 * The members of a class in RE2 syntax: all characters are literal except a leading `^` and the hyphens of
 * ranges.
 */
function classSource(members: readonly string[]): string {
  const negated = members[0] === '^';
  let source = '';
  for (let i = negated ? 1 : 0; i < members.length; i++) {
    const c = members[i]!;
    if (c === '\\' && i + 1 < members.length) source += quoteMember(members[++i]!);
    else if (c === '-') source += i === members.length - 1 || source === '' ? '\\-' : '-';
    else source += quoteMember(c);
  }
  return `[${negated ? '^\\n' : ''}${source}]`;
}

function quoteMember(c: string): string {
  return /[\\\][^\-&~:]/.test(c) ? `\\${c}` : c;
}

function isAnchorInside(tokens: readonly Token[], token: Token, i: number): boolean {
  const before = tokens[i - 1]?.kind;
  const after = tokens[i + 1]?.kind;
  if (token.kind === 'start') return before !== undefined && before !== 'or' && before !== 'open';
  return token.kind === 'end' && after !== undefined && after !== 'or' && after !== 'close';
}

function literalAnchor(token: Token): Token {
  return { kind: 'literal', text: token.kind === 'start' ? '^' : '$' };
}

function isBlank(token: Token | undefined): boolean {
  return token?.kind === 'literal' && token.text === ' ';
}

/** Whether parentheses match, every `*` has its character or group, and no alternative and group is empty. */
function isWellFormed(tokens: readonly Token[]): boolean {
  let depth = 0;
  let before: Token['kind'] | undefined;
  for (const { kind } of tokens) {
    const isEmpty = before === undefined || before === 'open' || before === 'or';
    if (kind === 'star' && (isEmpty || before === 'star' || before === 'start')) return false;
    if ((kind === 'or' || kind === 'close') && isEmpty) return false;
    if (kind === 'open') depth++;
    else if (kind === 'close' && --depth < 0) return false;
    before = kind;
  }
  return depth === 0 && before !== 'or';
}

function sourceOf(token: Token): string {
  switch (token.kind) {
    case 'literal':
      return RE2JS.quote(token.text);
    case 'class':
      return token.source;
    case 'any':
      return '.';
    case 'run':
      return '.*';
    case 'start':
      return '^';
    case 'end':
      return '$';
    case 'or':
      return '|';
    case 'star':
      return '*';
    case 'open':
      return '(?:';
    case 'close':
      return ')';
  }
}

function isRegexp(source: string): boolean {
  try {
    RE2JS.compile(source);
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs of literals outside parentheses that no `*` makes optional; empty if the pattern has alternatives at the
 * top level.
 */
function requiredTexts(tokens: readonly Token[]): string[] {
  const texts: string[] = [];
  let run = '';
  let depth = 0;
  const endRun = () => {
    if (run !== '') texts.push(run);
    run = '';
  };
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'or' && depth === 0) return [];
    if (token.kind === 'open') depth++;
    if (token.kind === 'close') depth--;
    if (depth === 0 && token.kind === 'literal' && tokens[i + 1]?.kind !== 'star') run += token.text;
    else endRun();
  }
  endRun();
  return texts;
}
