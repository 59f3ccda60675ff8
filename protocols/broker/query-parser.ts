// Parses the query of a message into a tree (BRK-2.11 to 2.17).
import { UsageError } from '../errors.js';
import { describeToken, type IdToken, malformed, type Steps, type Token, TokenReader } from './lexer.js';
import type { Expression, Query, SelectOperator } from './message-content.js';

/** Limits of one query. They make recursion over the tree safe. */
export interface QueryLimits {
  /** Nested parentheses. Default 64. */
  readonly maxDepth?: number;
  /** Terms of one query; a chain of operators is as deep as it has terms (BRK-2.12). Default 1000. */
  readonly maxTerms?: number;
}

export const DEFAULT_MAX_DEPTH = 64;
export const DEFAULT_MAX_TERMS = 1000;

/** A range of a message (bytes) or of a query text (characters); `end` is exclusive. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Receives the range of each node of the tree, in bytes of the message, without the parentheses around the
 * node.
 */
export type RangeSink = (node: Expression, range: SourceRange) => void;

type LogicalOperator = 'and' | 'or' | 'except';

/** An operand and its range, including the parentheses around it. */
interface Operand extends SourceRange {
  readonly node: Expression;
}

/** An open parenthesis: the operands and operators read so far, which are grouped when it closes. */
interface Level {
  readonly operands: Operand[];
  readonly operators: LogicalOperator[];
  /** Offset of the `not` before this parenthesis, which negates the group. */
  readonly notAt: number | undefined;
  readonly offset: number;
  /** Start of the group: its tag if it has one, or else its parenthesis. */
  readonly start: number;
  /** BRK-2.14: the attribute of each term of the group, from `tag : ( ... )`. */
  readonly tag: string | undefined;
}

const NO_SINK: RangeSink = () => {};

/**
 * Parses what follows `#END` (or `#rem-object-query`), up to the end of the message, in steps.
 * Parentheses are on an explicit stack, so no input can exhaust the call stack.
 * @throws ProtocolError with the rule and the byte offset.
 */
export function* querySteps(
  tokens: TokenReader,
  limits: QueryLimits = {},
  ranges: RangeSink = NO_SINK,
): Steps<Query> {
  const first = tokens.peek();
  if (first.kind === 'keyword' && first.name === 'allb') {
    tokens.next();
    tokens.expectEnd('BRK-2.11');
    return { kind: 'all' };
  }
  return yield* expressionSteps(tokens, limits, ranges);
}

function* expressionSteps(tokens: TokenReader, limits: QueryLimits, ranges: RangeSink): Steps<Expression> {
  const maxDepth = limits.maxDepth ?? DEFAULT_MAX_DEPTH;
  const maxTerms = limits.maxTerms ?? DEFAULT_MAX_TERMS;
  const outer: Level[] = [];
  let level: Level = {
    operands: [],
    operators: [],
    notAt: undefined,
    offset: 0,
    start: 0,
    tag: undefined,
  };
  let terms = 0;
  /** Takes an opening parenthesis and begins a new level. */
  const open = (start: number, notAt: number | undefined, tag: string | undefined) => {
    const { offset } = tokens.next();
    if (outer.length >= maxDepth) {
      throw malformed('BRK-2.24', offset, `more than ${maxDepth} nested parentheses`);
    }
    outer.push(level);
    level = { operands: [], operators: [], notAt, offset, start, tag };
  };

  for (;;) {
    if (tokens.endsStep()) yield;
    // An operand: [not] clause, or [not] and a parenthesis that opens a new level, which may have a tag.
    const notAt = isWord(tokens.peek(), 'not') ? tokens.next().offset : undefined;
    const token = tokens.peek();
    if (token.kind === '(') {
      open(token.offset, notAt, level.tag);
      continue;
    }
    const follows = level.operands.length > 0 || notAt !== undefined;
    const id = takeId(tokens, follows ? 'BRK-2.3' : outer.length > 0 ? 'BRK-2.4' : 'BRK-2.9');
    const operator = takeSelectOperator(tokens);
    if (operator === 'contains' && tokens.peek().kind === '(') {
      open(id.offset, notAt, id.text);
      continue;
    }
    if (++terms > maxTerms)
      throw malformed('BRK-2.24', token.offset, `more than ${maxTerms} terms in one query`);
    const clause = parseClause(tokens, id, operator, level.tag);
    ranges(clause, { start: token.offset, end: tokens.takenEnd });
    level.operands.push(makeOperand(clause, token.offset, tokens.takenEnd, notAt, ranges));

    // After an operand: closing parentheses, the end, or an operator (which is optional).
    let after = tokens.peek();
    while (after.kind === ')') {
      const parent = outer.pop();
      if (parent === undefined) throw malformed('BRK-2.4', after.offset, 'a ")" without its "("');
      tokens.next();
      const { node } = groupToTheRight(level, ranges);
      parent.operands.push(makeOperand(node, level.start, after.end, level.notAt, ranges));
      level = parent;
      after = tokens.peek();
    }
    if (after.kind === 'end') {
      if (outer.length > 0) throw malformed('BRK-2.4', level.offset, 'a "(" is never closed');
      return groupToTheRight(level, ranges).node;
    }
    level.operators.push(takeLogicalOperator(tokens, after));
  }
}

/** Makes the operand from `start` to `end`, negated when a `not` precedes it. */
function makeOperand(
  node: Expression,
  start: number,
  end: number,
  notAt: number | undefined,
  ranges: RangeSink,
): Operand {
  if (notAt === undefined) return { node, start, end };
  const negation: Operand = { node: { kind: 'not', operand: node }, start: notAt, end };
  ranges(negation.node, negation);
  return negation;
}

/** BRK-2.12: no precedence, `a and b or c` is `a and (b or c)`. */
function groupToTheRight(level: Level, ranges: RangeSink): Operand {
  let right = level.operands.at(-1);
  if (right === undefined) throw malformed('BRK-2.4', level.offset, 'an empty pair of parentheses');
  for (let i = level.operators.length - 1; i >= 0; i--) {
    const left: Operand = level.operands[i]!;
    const node: Expression = { kind: level.operators[i]!, left: left.node, right: right.node };
    right = { node, start: left.start, end: right.end };
    ranges(node, right);
  }
  return right;
}

function takeLogicalOperator(tokens: TokenReader, token: Token): LogicalOperator {
  for (const operator of ['and', 'or', 'except'] as const) {
    if (isWord(token, operator)) {
      tokens.next();
      return operator;
    }
  }
  // BRK-2.13a: `a b` and `a not b` mean `a and b` and `a and not b`.
  return 'and';
}

/**
 * Parses the rest of a clause.
 * @param tag the attribute of the group around the clause; a clause with its own attribute keeps that
 *   (BRK-2.14)
 */
function parseClause(
  tokens: TokenReader,
  id: IdToken,
  operator: SelectOperator | undefined,
  tag: string | undefined,
): Expression {
  if (operator !== undefined) {
    const value = takeId(tokens, operator === 'contains' ? 'BRK-2.14' : 'BRK-2.17');
    return { kind: 'select', attribute: id.text, operator, value: value.text, offset: id.offset };
  }
  if (id.kind === 'string') {
    const structured = splitStructured(id.text);
    if (structured !== undefined)
      return { kind: 'select', operator: 'contains', ...structured, offset: id.offset };
  }
  if (tag !== undefined)
    return { kind: 'select', attribute: tag, operator: 'contains', value: id.text, offset: id.offset };
  return { kind: 'term', text: id.text, quoted: id.kind === 'string', offset: id.offset };
}

/**
 * BRK-2.15: splits a quoted `attribute=value`; undefined when the text before `=` cannot be an attribute name.
 */
export function splitStructured(text: string): { attribute: string; value: string } | undefined {
  const match = /^([A-Za-z][\w.<>-]*)=(.+)$/s.exec(text);
  return match === null ? undefined : { attribute: match[1]!, value: match[2]! };
}

function takeSelectOperator(tokens: TokenReader): SelectOperator | undefined {
  const token = tokens.peek();
  if (token.kind === ':') {
    tokens.next();
    return 'contains'; // BRK-2.14
  }
  for (const operator of ['exact', 'regexp', 'less-than', 'greater-than'] as const) {
    if (isWord(token, operator)) {
      tokens.next();
      return operator;
    }
  }
  return undefined;
}

/** @param ruleAtEnd the rule that a message breaks which ends here */
function takeId(tokens: TokenReader, ruleAtEnd: string): IdToken {
  const token = tokens.next();
  if (token.kind === 'string') {
    if (token.text === '') throw malformed('BRK-2.5', token.offset, 'an empty string cannot be searched for');
    return token;
  }
  if (token.kind === 'word') {
    if (!isOperatorWord(token.text)) return token;
    // BRK-2.3, BRK-2.6
    throw malformed(
      'BRK-2.3',
      token.offset,
      `a term expected, found the operator "${token.text}" (in double quotes it is a term)`,
    );
  }
  const hint = token.kind === ':' ? ' (a value that contains a colon is quoted)' : '';
  throw malformed(
    token.kind === 'end' ? ruleAtEnd : RULE_BY_TOKEN_KIND[token.kind],
    token.offset,
    `a term expected, found ${describeToken(token)}${hint}`,
  );
}

const RULE_BY_TOKEN_KIND = {
  keyword: 'BRK-2.6',
  ':': 'BRK-2.8',
  '(': 'BRK-2.4',
  ')': 'BRK-2.4',
} as const;

const OPERATOR_WORDS = new Set([
  'and',
  'or',
  'not',
  'except',
  'exact',
  'regexp',
  'less-than',
  'greater-than',
]);

const LONGEST_OPERATOR = Math.max(...Array.from(OPERATOR_WORDS, ({ length }) => length));

/** BRK-2.3: operator words have no `#` and any case. */
export function isOperatorWord(text: string): boolean {
  return text.length <= LONGEST_OPERATOR && OPERATOR_WORDS.has(text.toLowerCase());
}

function isWord(token: Token, word: string): boolean {
  return (
    token.kind === 'word' &&
    token.text.length === word.length &&
    (token.text === word || token.text.toLowerCase() === word)
  );
}

/** A word that the lexer reads back as itself (BRK-2.6, BRK-2.8); only ASCII blanks end a word. */
function isBareWord(text: string): boolean {
  return /^[^\t-\r ()":#][^\t-\r ()":]*$/.test(text) && !isOperatorWord(text);
}

/** Writes an ID: bare if possible, otherwise in double quotes. */
export function quoteId(text: string): string {
  return isBareWord(text) ? text : quoteString(text);
}

/**
 * Writes an ID that a server compares byte by byte: a password, the name of an attribute, a parameter.
 * @throws UsageError for a text that no ID stands for (BRK-2.7); the message does not repeat it
 */
export function exactId(what: string, text: string): string {
  const written = quoteId(text);
  if (written === text) return written;
  const read = new TokenReader(new TextEncoder().encode(written)).next();
  if ('text' in read && read.text === text) return written;
  throw new UsageError(
    `${what} cannot be written in a message: a backslash is before a double quote or the end (BRK-2.7)`,
  );
}

/**
 * Writes an ID in double quotes (BRK-2.5). Backslash pairs stay (BRK-2.7). A single backslash at the end would
 * escape the closing quote, so it becomes a pair, which means the same to the indexer.
 */
export function quoteString(text: string): string {
  const escaped = text.replace(/\\([\s\S]?)|"/g, (found, after: string | undefined) => {
    if (found === '"') return '\\"';
    return after === '' ? '\\\\' : found;
  });
  return `"${escaped}"`;
}
