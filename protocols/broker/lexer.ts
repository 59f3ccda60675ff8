// Splits a message into tokens (BRK-2.1 to 2.8). Offsets are bytes of the message.
import { BACKSLASH, bufferOf, COLON, isSpace, QUOTE } from '../ascii.js';
import { ProtocolError } from '../errors.js';
import { decodeText } from '../soif/index.js';

/** Position of a token: bytes from the start of the message, `end` after its last byte. */
interface Position {
  readonly offset: number;
  readonly end: number;
}

/** A lexical unit of a message. Keyword names are lower case without the `#`. */
export type Token = Position &
  (
    | { readonly kind: 'word' | 'string'; readonly text: string }
    | { readonly kind: 'keyword'; readonly name: string }
    | { readonly kind: '(' | ')' | ':' | 'end' }
  );

/** An ID of the grammar: a bare word or a quoted string (BRK-2.5). */
export type IdToken = Extract<Token, { readonly text: string }>;

const HASH = 0x23;
const OPEN = 0x28;
const CLOSE = 0x29;

/** BRK-2.8: the bytes that end an unquoted word, each with a 1. */
const ENDS_WORD = Uint8Array.from({ length: 256 }, (_, byte) =>
  isSpace(byte) || [OPEN, CLOSE, QUOTE, COLON].includes(byte) ? 1 : 0,
);

/** Creates the error that all parsers of this folder throw. */
export function malformed(rule: string, offset: number, what: string): ProtocolError {
  return new ProtocolError(what, { protocol: 'broker', rule, offset });
}

/** The tokens and bytes of one step of a parser: a tenth of a millisecond. */
const STEP_TOKENS = 256;
const STEP_BYTES = 4096;

/** A parser that stops after each step, so that its caller can do something else in between. */
export type Steps<T> = Generator<void, T, void>;

/** Runs a parser without stopping. */
export function completed<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Splits a message into tokens, with one token of look-ahead. Works on bytes, because offsets are bytes
 * (BRK-1.10).
 */
export class TokenReader {
  #position = 0;
  #ahead: Token | undefined;
  #takenEnd = 0;
  /** Tokens of the current step, and where it began. */
  #stepTokens = 0;
  #stepFrom = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = bufferOf(bytes);
  }

  /** The next token without taking it. @throws ProtocolError BRK-2.5 when a quote is never closed. */
  peek(): Token {
    this.#ahead ??= this.#scan();
    return this.#ahead;
  }

  /** Takes the next token; at the end always `end`. */
  next(): Token {
    const token = this.peek();
    this.#ahead = undefined;
    this.#takenEnd = token.end;
    this.#stepTokens += 1;
    return token;
  }

  /** Whether the tokens that were taken are a step; then the next one begins. */
  endsStep(): boolean {
    if (this.#stepTokens < STEP_TOKENS && this.#takenEnd - this.#stepFrom < STEP_BYTES) return false;
    this.#stepTokens = 0;
    this.#stepFrom = this.#takenEnd;
    return true;
  }

  /** Offset after the last byte of the token taken last. */
  get takenEnd(): number {
    return this.#takenEnd;
  }

  /** Takes the next token, which must be an ID. @throws ProtocolError that names `what` was expected. */
  takeId(what: string, rule: string): IdToken {
    const token = this.next();
    if (token.kind === 'word' || token.kind === 'string') return token;
    throw malformed(rule, token.offset, `${what} expected, found ${describeToken(token)}`);
  }

  /** Checks that nothing follows. @throws ProtocolError */
  expectEnd(rule: string): void {
    const token = this.next();
    if (token.kind !== 'end') throw malformed(rule, token.offset, `unexpected ${describeToken(token)}`);
  }

  #scan(): Token {
    const bytes = this.#bytes;
    while (isSpace(bytes[this.#position])) this.#position++;
    const offset = this.#position;
    const first = bytes[offset];
    if (first === undefined) return { kind: 'end', offset, end: offset };
    if (first === OPEN || first === CLOSE || first === COLON) {
      this.#position = offset + 1;
      return { kind: first === OPEN ? '(' : first === CLOSE ? ')' : ':', offset, end: offset + 1 };
    }
    if (first === QUOTE) return this.#scanString(offset);
    let end = offset + 1;
    let highest = first;
    for (; end < bytes.length; end++) {
      const byte = bytes[end]!;
      if (ENDS_WORD[byte] === 1) break;
      highest |= byte;
    }
    this.#position = end;
    // BRK-2.1, BRK-2.2: `#` starts a keyword, whose case does not matter.
    if (first === HASH)
      return { kind: 'keyword', name: this.#text(offset + 1, end, highest).toLowerCase(), offset, end };
    return { kind: 'word', text: this.#text(offset, end, highest), offset, end };
  }

  /** The text of a part. @param highest all its bytes, combined by OR */
  #text(start: number, end: number, highest: number): string {
    return highest < 0x80
      ? this.#bytes.toString('latin1', start, end)
      : decodeText(this.#bytes.subarray(start, end));
  }

  #scanString(offset: number): Token {
    const bytes = this.#bytes;
    const start = offset + 1;
    let highest = 0;
    let escapes = 0;
    for (let i = start; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (byte === QUOTE) {
        this.#position = i + 1;
        const text =
          escapes === 0
            ? this.#text(start, i, highest)
            : decodeText(withoutEscapes(bytes.subarray(start, i), escapes));
        return { kind: 'string', text, offset, end: i + 1 };
      }
      highest |= byte;
      if (byte !== BACKSLASH || i + 1 === bytes.length) continue;
      i++;
      if (bytes[i] === QUOTE) escapes++;
      highest |= bytes[i]!;
    }
    throw malformed('BRK-2.5', offset, 'a double quote is never closed');
  }
}

/** BRK-2.7: `\"` is a quote; every other pair goes to the indexer unchanged. @param escapes number of `\"` */
function withoutEscapes(bytes: Uint8Array, escapes: number): Uint8Array {
  const value = new Uint8Array(bytes.length - escapes);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === BACKSLASH && i + 1 < bytes.length) {
      if (bytes[i + 1] !== QUOTE) value[length++] = BACKSLASH;
      i++;
    }
    value[length++] = bytes[i]!;
  }
  return value;
}

/** Describes a token for an error message. */
export function describeToken(token: Token): string {
  switch (token.kind) {
    case 'word':
    case 'string':
      return `"${token.text.length > 40 ? `${token.text.slice(0, 40)}...` : token.text}"`;
    case 'keyword':
      return `#${token.name.slice(0, 40)}`;
    case 'end':
      return 'the end of the message';
    default:
      return `"${token.kind}"`;
  }
}

/** Parses a strict decimal number: digits only, at most `max`; undefined for anything else. */
export function parseDecimal(text: string, max: number): number | undefined {
  if (!/^\d{1,10}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= max ? value : undefined;
}

/** The largest number of a flag: an unsigned 32-bit number. */
export const MAX_NUMBER = 0xffff_ffff;
