import { describeToken, MAX_NUMBER, malformed, parseDecimal, type TokenReader } from './lexer.js';
import {
  DEFAULT_FLAGS,
  EMPTY_PREFIX,
  MAX_ATTRIBUTES,
  MAX_SPELLING_ERRORS,
  type QueryFlags,
} from './messages.js';
import { quoteId } from './quoting.js';

type MutableFlags = { -readonly [K in keyof QueryFlags]: QueryFlags[K] };

/**
 * Parses FLAGS up to and including `#END` (BRK-2.9), in any order. A later flag overrides an earlier one of its kind;
 * only `#attribute` accumulates (BRK-3.6).
 * @param forPeer the flags are meant for another program, which may know more short flags: unknown ones and their values are skipped
 * @throws ProtocolError
 */
export function parseFlags(tokens: TokenReader, forPeer = false): QueryFlags {
  const flags: MutableFlags = { ...DEFAULT_FLAGS };
  const attributes: string[] = [];
  const unknown: string[] = [];
  for (;;) {
    const token = tokens.next();
    if (token.kind === 'end') throw malformed('BRK-2.9', token.offset, '#END is missing');
    if (token.kind !== 'keyword') {
      throw malformed('BRK-2.9', token.offset, `a flag or #END expected, found ${describeToken(token)}`);
    }
    switch (token.name) {
      case 'end':
        return { ...flags, attributes, unknown };
      case 'interface':
        takeInterface(tokens, flags);
        break;
      case 'compress':
        flags.compress = true;
        break;
      case 'digest':
        flags.digest = takePrefix(tokens);
        break;
      case 'desc':
        flags.desc = true;
        break;
      case 'opaque':
        flags.opaque = true;
        break;
      case 'attribute':
        if (attributes.length === MAX_ATTRIBUTES) {
          throw malformed('BRK-3.6', token.offset, `more than ${MAX_ATTRIBUTES} #attribute flags`);
        }
        attributes.push(tokens.takeId('an attribute name', 'BRK-3.6').text);
        break;
      case 'since':
        flags.since = takeNumber(tokens, '#since', MAX_NUMBER);
        break;
      case 'index':
        parseIndexFlag(tokens, flags, unknown);
        break;
      default:
        if (forPeer) {
          while (tokens.peek().kind === 'word' || tokens.peek().kind === 'string') tokens.next();
          break;
        }
        // BRK-3.5: short flags belong to the query manager, so an unknown one is an error.
        throw malformed('BRK-3.5', token.offset, `unknown flag ${describeToken(token)}`);
    }
  }
}

function parseIndexFlag(tokens: TokenReader, flags: MutableFlags, unknown: string[]): void {
  const name = tokens.takeId('the name of an #index flag', 'BRK-3.5');
  switch (name.text.toLowerCase()) {
    case 'case': {
      const value = tokens.takeId('"sensitive" or "insensitive"', 'BRK-3.1');
      const word = value.text.toLowerCase();
      // BRK-3.1: the developer notes spell it without the second `i`.
      if (word === 'insensitive' || word === 'insenstive') flags.ignoreCase = true;
      else if (word === 'sensitive') flags.ignoreCase = false;
      else unknown.push(`${quoteId(name.text)} ${quoteId(value.text)}`);
      return;
    }
    case 'matchword':
      flags.matchWord = true;
      return;
    case 'error':
      flags.errors = takeNumber(tokens, '#index error', MAX_SPELLING_ERRORS);
      return;
    case 'maxresult':
      takeLimit(tokens, flags, 'maxResults', '#index maxresult');
      return;
    case 'maxfiles':
      takeLimit(tokens, flags, 'maxFiles', '#index maxfiles');
      return;
    case 'maxlines':
      takeLimit(tokens, flags, 'maxLines', '#index maxlines');
      return;
    case 'lifetime':
      flags.lifetime = takeNumber(tokens, '#index lifetime', MAX_NUMBER);
      return;
    default: {
      // BRK-3.5: kept for the `101` notice, then ignored.
      const next = tokens.peek();
      const hasValue = next.kind === 'word' || next.kind === 'string';
      if (hasValue) tokens.next();
      unknown.push(hasValue ? `${quoteId(name.text)} ${quoteId(next.text)}` : quoteId(name.text));
    }
  }
}

/** BRK-8.11: 0 means no limit, and cancels an earlier one (BRK-3.6). */
function takeLimit(
  tokens: TokenReader,
  flags: MutableFlags,
  key: 'maxResults' | 'maxFiles' | 'maxLines',
  flag: string,
): void {
  const value = takeNumber(tokens, flag, MAX_NUMBER);
  if (value === 0) delete flags[key];
  else flags[key] = value;
}

/** BP-29: 1 is the shipped interface, the default. */
function takeInterface(tokens: TokenReader, flags: MutableFlags): void {
  const token = tokens.takeId('1 or 2 after #interface', 'BP-29');
  const value = parseDecimal(token.text, MAX_NUMBER);
  if (value === 2) flags.interface = 2;
  else if (value === 1) delete flags.interface;
  else throw malformed('BP-29', token.offset, `#interface takes 1 or 2, not ${describeToken(token)}`);
}

/** An extension of this kit: a prefix of a digest in hex digits, `-` for the empty prefix. */
function takePrefix(tokens: TokenReader): string {
  const token = tokens.takeId('a prefix after #digest', 'BP-24');
  if (/^(?:-|[\da-f]{1,16})$/.test(token.text)) return token.text === EMPTY_PREFIX ? '' : token.text;
  throw malformed(
    'BP-24',
    token.offset,
    `#digest takes 1 to 16 hex digits or "-", not ${describeToken(token)}`,
  );
}

function takeNumber(tokens: TokenReader, flag: string, max: number): number {
  const token = tokens.takeId(`a number after ${flag}`, 'BRK-3.6');
  const value = parseDecimal(token.text, max);
  if (value !== undefined) return value;
  const rule = max === MAX_SPELLING_ERRORS ? 'BRK-2.23' : 'BRK-3.6';
  throw malformed(rule, token.offset, `${flag} takes a number from 0 to ${max}, not ${describeToken(token)}`);
}
