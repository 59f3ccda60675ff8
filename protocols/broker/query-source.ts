// A query text with the positions of its nodes, tokens and errors. All ranges count characters, as `slice`
// does.
import { ProtocolError } from '../errors.js';
import { completed, TokenReader } from './lexer.js';
import type { Expression, Query } from './message-content.js';
import { isOperatorWord, type QueryLimits, querySteps, type SourceRange } from './query-parser.js';

/** The kind of a token. `unclosed` is a string whose quote is never closed: it extends to the end. */
export type QueryTokenKind = 'word' | 'string' | 'operator' | 'keyword' | '(' | ')' | ':' | 'unclosed';

/** A token of a query text. */
export interface QueryToken extends SourceRange {
  readonly kind: QueryTokenKind;
}

/** A query parsed from text, with the ranges of its nodes. */
export interface QuerySource {
  readonly text: string;
  readonly query: Query;
  /**
   * The range of a node of {@link query}, without the parentheses around it. Undefined for a node of another
   * tree, and for `#allb`.
   */
  rangeOf(node: Expression): SourceRange | undefined;
}

/** An error in a query text, for display: its range in characters, the message without rule and offset. */
export interface QueryFault extends SourceRange {
  readonly message: string;
  readonly rule: string;
}

/**
 * Parses the part after `#END` as `parseQuery` does and keeps the range of each node.
 * @throws ProtocolError; {@link locateQueryFault} turns it into a range of the text
 */
export function parseQuerySource(text: string, limits: QueryLimits = {}): QuerySource {
  const ranges = new Map<Expression, SourceRange>();
  const tokens = new TokenReader(new TextEncoder().encode(text));
  const query = completed(querySteps(tokens, limits, (node, range) => ranges.set(node, range)));
  const characters = characterOffsets(text);
  return {
    text,
    query,
    rangeOf: (node) => {
      const range = ranges.get(node);
      return range && { start: characters(range.start), end: characters(range.end) };
    },
  };
}

/** Splits a query text into its tokens, even if it is malformed. The text between tokens is blank. */
export function scanQuery(text: string): QueryToken[] {
  const reader = new TokenReader(new TextEncoder().encode(text));
  const characters = characterOffsets(text);
  const found: QueryToken[] = [];
  try {
    for (let token = reader.next(); token.kind !== 'end'; token = reader.next()) {
      const kind = token.kind === 'word' && isOperatorWord(token.text) ? 'operator' : token.kind;
      found.push({ kind, start: characters(token.offset), end: characters(token.end) });
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    found.push({ kind: 'unclosed', start: characters(error.offset), end: text.length });
  }
  return found;
}

/**
 * Locates an error that `parseQuery(text)` threw: the range of the offending token, empty at the end of the
 * text.
 */
export function locateQueryFault(text: string, error: ProtocolError): QueryFault {
  const start = characterOffsets(text)(error.offset);
  const token = scanQuery(text).find((candidate) => candidate.start === start);
  return { start, end: token?.end ?? start, message: error.problem, rule: error.rule };
}

/** Turns offsets in the text's UTF-8 into offsets in the text. */
function characterOffsets(text: string): (bytes: number) => number {
  // In ASCII, the case of most queries, both are the same.
  if (/^[\0-\x7f]*$/.test(text)) return (bytes) => bytes;
  const table: number[] = [];
  let index = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    // A lone surrogate is encoded as U+FFFD, three bytes like its neighbors.
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let i = 0; i < bytes; i++) table.push(index);
    index += character.length;
  }
  return (bytes) => table[bytes] ?? text.length;
}
