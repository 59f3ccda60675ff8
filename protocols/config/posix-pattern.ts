import { RE2JS } from 're2js';
import { ProtocolError } from '../errors.js';

/** A compiled pattern; `test` says whether it matches anywhere in the text, in time linear in the text. */
export interface Pattern {
  test(text: string): boolean;
}

/** Characters of one pattern. */
export const MAX_PATTERN_LENGTH = 4096;

/**
 * Compiles a POSIX extended regular expression (G-43, E-9, E-144): unanchored, case-sensitive, with the bracket
 * classes `[[:alpha:]]` and the usual `\<`, `\>`, `\b`, `\w`, `\s`. Patterns come from people, so matching never
 * backtracks; back references, look-around and `\d`, which POSIX does not have, are refused.
 *
 * @throws ProtocolError (G-43) with the offset in the pattern
 */
export function compilePosixPattern(
  pattern: string,
  options: { readonly ignoreCase?: boolean } = {},
): Pattern {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw problem(`is longer than ${MAX_PATTERN_LENGTH} characters`, 0);
  const flags = RE2JS.DOTALL | (options.ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0);
  const translated = translatePosixPattern(pattern);
  try {
    return RE2JS.compile(translated, flags);
  } catch (error) {
    const reason =
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'not understood';
    throw problem(`is no regular expression: ${reason}`, 0, error);
  }
}

/** The same expression in RE2's syntax. @throws ProtocolError (G-43) with the offset in the pattern */
export function translatePosixPattern(pattern: string): string {
  let output = '';
  let at = 0;
  let canRepeat = false;
  while (at < pattern.length) {
    const character = pattern[at]!;
    let piece: Piece;
    if (character === '\\') piece = translateEscape(pattern, at);
    else if (character === '[') piece = translateBracket(pattern, at);
    else if (character === '{') piece = translateInterval(pattern, at, canRepeat);
    else if ('*+?'.includes(character)) {
      // G-43: the usual mistake is a shell glob.
      if (!canRepeat) throw problem(`has nothing before \`${character}\` to repeat: write .${character}`, at);
      piece = { text: character, end: at + 1, repeatable: false };
    } else
      piece = {
        text: character === '}' ? '\\}' : character,
        end: at + 1,
        repeatable: !'(|^'.includes(character),
      };
    output += piece.text;
    at = piece.end;
    canRepeat = piece.repeatable;
  }
  return output;
}

interface Piece {
  readonly text: string;
  /** Index behind the piece in the pattern. */
  readonly end: number;
  readonly repeatable: boolean;
}

/** GNU's letters after a backslash, and what RE2 calls them. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['<', '\\b'],
  ['>', '\\b'],
  ['b', '\\b'],
  ['B', '\\B'],
  ['w', '\\w'],
  ['W', '\\W'],
  ['s', '\\s'],
  ['S', '\\S'],
  ['`', '\\A'],
  ["'", '\\z'],
]);

function translateEscape(pattern: string, at: number): Piece {
  const next = pattern[at + 1];
  if (next === undefined) throw problem('ends with a backslash', at);
  const known = ESCAPES.get(next);
  if (known !== undefined) return { text: known, end: at + 2, repeatable: true };
  if (/[0-9]/.test(next)) throw problem('has a back reference, which cannot be matched in linear time', at);
  // E-144: `\d` would be a plain d in POSIX; who writes it means something else.
  if (/[A-Za-z]/.test(next)) {
    throw problem(`has \`\\${next}\`, which POSIX does not know: use [[:digit:]] and the like`, at);
  }
  return { text: escapeLiteral(next), end: at + 2, repeatable: true };
}

/** `{n}`, `{n,}`, `{n,m}`, `{,m}`; any other brace is a plain character. */
function translateInterval(pattern: string, at: number, canRepeat: boolean): Piece {
  const interval = /^\{(\d*)(,?)(\d*)\}/.exec(pattern.slice(at, at + 16));
  const isInterval = interval !== null && (interval[1] !== '' || (interval[2] === ',' && interval[3] !== ''));
  if (!isInterval) return { text: '\\{', end: at + 1, repeatable: true };
  if (!canRepeat) throw problem('has nothing before `{` to repeat', at);
  const [whole, minimum, comma, maximum] = interval;
  return {
    text: `{${minimum === '' ? '0' : minimum}${comma}${maximum}}`,
    end: at + whole.length,
    repeatable: false,
  };
}

/** A bracket expression: `]` first is plain, a backslash is plain, `[:class:]`, `[.x.]` and `[=x=]` are known. */
function translateBracket(pattern: string, start: number): Piece {
  let at = start + 1;
  let output = '[';
  if (pattern[at] === '^') {
    output += '^';
    at += 1;
  }
  const first = at;
  for (;;) {
    const character = pattern[at];
    if (character === undefined) throw problem('has a `[` without its `]`', start);
    if (character === ']' && at > first) return { text: `${output}]`, end: at + 1, repeatable: true };
    const special = character === '[' ? /^\[([:.=])(.+?)\1\]/s.exec(pattern.slice(at, at + 24)) : null;
    if (special !== null) {
      output += translateBracketClass(special[1]!, special[2]!, at);
      at += special[0].length;
    } else {
      // A minus between two characters makes a range; first or last it is plain, which RE2 reads the same way.
      const isRange = character === '-' && at > first && pattern[at + 1] !== ']';
      output += isRange ? '-' : escapeLiteral(character);
      at += 1;
    }
  }
}

const CLASS_NAMES = [
  'alnum',
  'alpha',
  'blank',
  'cntrl',
  'digit',
  'graph',
  'lower',
  'print',
  'punct',
  'space',
  'upper',
  'xdigit',
];

function translateBracketClass(kind: string, name: string, at: number): string {
  if (kind === ':') {
    if (!CLASS_NAMES.includes(name)) throw problem(`has the unknown class [:${name}:]`, at);
    return `[:${name}:]`;
  }
  if ([...name].length !== 1) throw problem('has a collating element of more than one character', at);
  return escapeLiteral(name);
}

function escapeLiteral(character: string): string {
  return /[A-Za-z0-9_\s]|[^\0-\x7f]/.test(character) ? character : `\\${character}`;
}

function problem(text: string, offset: number, cause?: unknown): ProtocolError {
  return new ProtocolError(text, { protocol: 'config', rule: 'G-43', offset, cause });
}
