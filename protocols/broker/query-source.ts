import { ProtocolError } from '../errors.js';
import { TokenReader } from './lexer.js';
import type { Expression, Query } from './messages.js';
import { isOperatorWord, parseQueryTokens, type QueryLimits, type SourceRange } from './query-parser.js';

/** What a piece of a query text is. `unclosed` is a string whose quote is never closed: it reaches to the end. */
export type QueryTokenKind = 'word' | 'string' | 'operator' | 'keyword' | '(' | ')' | ':' | 'unclosed';

/** A piece of a query text; ranges of this file count characters of the text, as `slice` does. */
export interface QueryToken extends SourceRange {
  readonly kind: QueryTokenKind;
}

/** A query that was read from text, and where its parts stand there. */
export interface QuerySource {
  readonly text: string;
  readonly query: Query;
  /**
   * Characters of the text that make up a node of {@link query}; parentheses around the node are left out.
   * Undefined for a node of another tree, and for `#allb`.
   */
  rangeOf(node: Expression): SourceRange | undefined;
}

/** Why a query text cannot be read, for people: the place in characters, the sentence without rule and offset. */
export interface QueryFault extends SourceRange {
  readonly message: string;
  readonly rule: string;
}

/**
 * Parses the part after `#END` as `parseQuery` does and keeps where each node stands.
 * @throws ProtocolError; {@link queryFault} turns it into a place of the text
 */
export function parseQuerySource(text: string, limits: QueryLimits = {}): QuerySource {
  const places = new Map<Expression, SourceRange>();
  const tokens = new TokenReader(new TextEncoder().encode(text));
  const query = parseQueryTokens(tokens, limits, (node, range) => places.set(node, range));
  const characters = characterOffsets(text);
  return {
    text,
    query,
    rangeOf: (node) => {
      const range = places.get(node);
      return range && { start: characters(range.start), end: characters(range.end) };
    },
  };
}

/** Cuts a query text into its tokens, of a broken query too; what lies between them is blank. */
export function scanQuery(text: string): QueryToken[] {
  const reader = new TokenReader(new TextEncoder().encode(text));
  const characters = characterOffsets(text);
  const found: QueryToken[] = [];
  try {
    for (let token = reader.next(); token.kind !== 'end'; token = reader.next()) {
      const kind = token.kind === 'word' && isOperatorWord(token.text) ? 'operator' : token.kind;
      found.push({ kind, start: characters(token.at), end: characters(token.end) });
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    found.push({ kind: 'unclosed', start: characters(error.offset), end: text.length });
  }
  return found;
}

/** The place of an error that `parseQuery(text)` threw: the token where it went wrong, empty at the text's end. */
export function queryFault(text: string, error: ProtocolError): QueryFault {
  const start = characterOffsets(text)(error.offset);
  const token = scanQuery(text).find((candidate) => candidate.start === start);
  // The sentence alone: rule and byte offset are for protocol people.
  const message = error.message.replace(/ \([^()]*, offset \d+\)$/, '');
  return { start, end: token?.end ?? start, message, rule: error.rule };
}

/** Turns offsets in the text's UTF-8 into offsets in the text. */
function characterOffsets(text: string): (bytes: number) => number {
  // Most queries are ASCII: then both are the same.
  if (/^[\0-\x7f]*$/.test(text)) return (bytes) => bytes;
  const table: number[] = [];
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    // A surrogate without its partner is written as U+FFFD, three bytes like its neighbors.
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let i = 0; i < bytes; i++) table.push(at);
    at += character.length;
  }
  return (bytes) => table[bytes] ?? text.length;
}
