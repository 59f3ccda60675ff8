// Substitutions in the syntax of sed for matched lines (`MatchedLineSub`, BRK-9.9).
import { RE2JS } from 're2js';
import { messageOf } from '../errors.js';

/** One `s/pattern/replacement/` (BRK-9.9). */
export interface LineRule {
  readonly pattern: RE2JS;
  /** Texts and numbers of groups, 0 for the whole match. */
  readonly replacement: readonly (string | number)[];
  /** The flag `g`: replaces every match, not only the first. */
  readonly everywhere: boolean;
}

/** The rules that were parsed, and the problem that stopped the parser, `line` lines below the first. */
export interface LineRules {
  readonly rules: readonly LineRule[];
  readonly problem?: string;
  readonly line?: number;
}

/** The largest number of rules of one definition, and the largest number of characters in a result. */
const MAX_RULES = 50;
const MAX_RESULT = 65_536;

/**
 * Parses substitutions in the syntax of sed and Perl, with blanks, `;` and `#` comments between them:
 * `s/pattern/replacement/`, with `/` or another delimiter, and the flags `g` and `i`. Patterns are RE2's, so
 * they take linear time. A replacement has `$1` or `\1` for the match of a group and `$&` for the whole match.
 * Any other text stops the parser: it would be program text.
 */
export function parseLineRules(text: string): LineRules {
  const rules: LineRule[] = [];
  let position = 0;
  for (;;) {
    position += /^(?:[\s;]|#[^\n]*)*/.exec(text.slice(position))?.[0].length ?? 0;
    if (position >= text.length) return { rules };
    const stop = (problem: string): LineRules => ({
      rules,
      problem,
      line: text.slice(0, position).split('\n').length,
    });
    if (rules.length >= MAX_RULES) return stop(`more than ${MAX_RULES} substitutions`);
    const delimiter = text[position + 1] ?? '';
    if (text[position] !== 's' || !/[^\w\s\\;]/.test(delimiter)) {
      return stop('only s/pattern/replacement/ is supported; program text is never run');
    }
    const pattern = readDelimited(text, position + 2, delimiter);
    const replacement = pattern && readDelimited(text, pattern.next, delimiter);
    if (pattern === undefined || replacement === undefined)
      return stop(`a substitution lacks its last ${delimiter}`);
    const flags = /^[a-z]*/.exec(text.slice(replacement.next))?.[0] ?? '';
    if (/[^gi]/.test(flags)) return stop(`a substitution has other flags than g and i: ${flags}`);
    let compiled: RE2JS;
    try {
      compiled = RE2JS.compile(pattern.text, flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0);
    } catch (error) {
      return stop(`not a pattern: ${messageOf(error)}`);
    }
    const pieces = readReplacement(replacement.text);
    const group = pieces.find((piece) => typeof piece === 'number' && piece > compiled.groupCount());
    if (group !== undefined) return stop(`the pattern has no group ${group}`);
    rules.push({ pattern: compiled, replacement: pieces, everywhere: flags.includes('g') });
    position = replacement.next + flags.length;
  }
}

/** Applies every rule, in order. */
export function applyLineRules(rules: readonly LineRule[], text: string): string {
  return rules.reduce((line, rule) => applyRule(rule, line), text);
}

function applyRule(rule: LineRule, text: string): string {
  const matcher = rule.pattern.matcher(text);
  let result = '';
  let end = 0;
  while (result.length <= MAX_RESULT && matcher.find()) {
    result += text.slice(end, matcher.start());
    for (const piece of rule.replacement) {
      result += typeof piece === 'string' ? piece : (matcher.group(piece) ?? '');
    }
    end = matcher.end();
    if (!rule.everywhere) break;
  }
  return (result + text.slice(end)).slice(0, MAX_RESULT);
}

/**
 * Reads the text up to the delimiter; `\` before the delimiter makes it literal. Undefined if there is no
 * delimiter.
 */
function readDelimited(
  text: string,
  from: number,
  delimiter: string,
): { readonly text: string; readonly next: number } | undefined {
  let found = '';
  for (let i = from; i < text.length; i++) {
    const c = text[i] ?? '';
    if (c === delimiter) return { text: found, next: i + 1 };
    if (c === '\\' && i + 1 < text.length) {
      const next = text[++i] ?? '';
      found += next === delimiter ? delimiter : `\\${next}`;
    } else {
      found += c;
    }
  }
  return undefined;
}

function readReplacement(text: string): (string | number)[] {
  const pieces: (string | number)[] = [];
  for (const [token] of text.matchAll(/\$&|\$\d|\\\d|\\[\s\S]|[^$\\]+|[\s\S]/g)) {
    if (token === '$&') pieces.push(0);
    else if (/^[$\\]\d$/.test(token)) pieces.push(Number(token[1]));
    else if (token === '\\n') pieces.push('\n');
    else if (token === '\\t') pieces.push('\t');
    else pieces.push(token.length === 2 && token.startsWith('\\') ? token.slice(1) : token);
  }
  return pieces;
}
