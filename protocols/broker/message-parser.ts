// Parses and formats messages of the Broker's protocol. Parsing a formatted one gives the same tree.
import { ProtocolError, UsageError } from '../errors.js';
import { adminSteps, formatAdminCommand } from './admin.js';
import type { AdminCommand } from './admin-commands.js';
import { flagSteps, formatFlags, type QueryFlags } from './flags.js';
import {
  completed,
  describeToken,
  MAX_NUMBER,
  malformed,
  parseDecimal,
  type Steps,
  TokenReader,
} from './lexer.js';
import type { Expression, Query } from './message-content.js';
import {
  exactId,
  type QueryLimits,
  querySteps,
  quoteId,
  quoteString,
  splitStructured,
} from './query-parser.js';

/** One message a Broker understands (BRK-2). */
export type BrokerMessage =
  | { readonly kind: 'user'; readonly flags: QueryFlags; readonly query: Query }
  | { readonly kind: 'bulk'; readonly flags: QueryFlags; readonly query: Query }
  | {
      readonly kind: 'admin';
      /** Empty when the message has no password: such a command is always refused (BRK-5.2). */
      readonly password: string;
      readonly command: AdminCommand;
    };

/**
 * Parses one message line, without its line end (BRK-2).
 * @throws ProtocolError whose `offset` is that of the offending byte in `line`
 */
export function parseMessage(line: Uint8Array, limits: QueryLimits = {}): BrokerMessage {
  return completed(messageSteps(line, limits));
}

/**
 * Parses one message line as {@link parseMessage} does, in steps of a tenth of a millisecond: a server does
 * something else in between.
 */
export function* messageSteps(line: Uint8Array, limits: QueryLimits = {}): Steps<BrokerMessage> {
  const tokens = new TokenReader(line);
  const first = tokens.next();
  if (first.kind === 'keyword') {
    switch (first.name) {
      case 'user':
      case 'bulk': {
        const flags = yield* flagSteps(tokens);
        return { kind: first.name, flags, query: yield* querySteps(tokens, limits) };
      }
      case 'admin':
        return { kind: 'admin', ...(yield* adminSteps(tokens, limits)) };
    }
  }
  throw malformed(
    'BRK-2.1',
    first.offset,
    `a message begins with #USER, #BULK or #ADMIN, found ${describeToken(first)}`,
  );
}

/**
 * The interface that a message requests (BP-29), also if {@link parseMessage} refuses it: the last `#interface`
 * of its flags, as far as they can be read. The refusal goes to the peer in this interface.
 */
export function requestedInterface(line: Uint8Array): 1 | 2 {
  return completed(interfaceSteps(line));
}

/** Finds it in steps, as {@link messageSteps} parses. */
export function* interfaceSteps(line: Uint8Array): Steps<1 | 2> {
  let requested: 1 | 2 = 1;
  try {
    const tokens = new TokenReader(line);
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      if (tokens.endsStep()) yield;
      if (token.kind !== 'keyword') continue;
      if (token.name === 'end' || token.name === 'admin') break;
      if (token.name !== 'interface') continue;
      const value = tokens.peek();
      if ('text' in value) requested = parseDecimal(value.text, MAX_NUMBER) === 2 ? 2 : 1;
    }
  } catch (error) {
    // A quote that is never closed ends what can be read.
    if (!(error instanceof ProtocolError)) throw error;
  }
  return requested;
}

/**
 * Parses the part after `#END`; offsets are bytes of the text's UTF-8.
 * @throws ProtocolError
 */
export function parseQuery(text: string, limits: QueryLimits = {}): Query {
  return completed(querySteps(new TokenReader(new TextEncoder().encode(text)), limits));
}

/** Nested parentheses of a formatted query; a tree that needs more was not made by `parseQuery`. */
const MAX_FORMAT_DEPTH = 1000;

/**
 * Formats a query so that parsing it gives the same tree, except for `offset`.
 * @throws UsageError when the tree needs more than 1000 nested parentheses
 */
export function formatQuery(query: Query): string {
  return query.kind === 'all' ? '#allb' : formatExpression(query, 0);
}

function formatExpression(expression: Expression, depth: number): string {
  if (depth > MAX_FORMAT_DEPTH) throw new UsageError('the query is nested too deeply to be written');
  const parts: string[] = [];
  // BRK-2.12: operators group to the right, so the right spine needs no parentheses.
  let rest = expression;
  while (rest.kind === 'and' || rest.kind === 'or' || rest.kind === 'except') {
    parts.push(formatOperand(rest.left, depth), rest.kind);
    rest = rest.right;
  }
  parts.push(formatOperand(rest, depth));
  return parts.join(' ');
}

function formatOperand(expression: Expression, depth: number): string {
  switch (expression.kind) {
    case 'term':
      return formatTerm(expression);
    case 'select': {
      const operator = expression.operator === 'contains' ? ':' : expression.operator;
      return `${quoteId(expression.attribute)} ${operator} ${quoteId(expression.value)}`;
    }
    case 'not':
      // BRK-2.13: `not` reaches as far as the next primary.
      return expression.operand.kind === 'not'
        ? `not (${formatExpression(expression.operand, depth + 1)})`
        : `not ${formatOperand(expression.operand, depth)}`;
    default:
      return `(${formatExpression(expression, depth + 1)})`;
  }
}

function formatTerm(term: Extract<Expression, { kind: 'term' }>): string {
  if (!term.quoted && quoteId(term.text) === term.text) return term.text;
  // Escapes a term that looks like `attribute=value` (BRK-2.15), so that it stays a term.
  const structured = splitStructured(term.text);
  return quoteString(structured === undefined ? term.text : term.text.replace('=', '\\='));
}

/**
 * Formats a message as one line of text, without the line end. @throws UsageError as `formatFlags` and
 * `formatQuery`, and for a password or parameter that no ID stands for (BRK-2.7)
 */
export function formatMessage(message: BrokerMessage): string {
  if (message.kind === 'admin') {
    return `#ADMIN #password ${exactId('the password', message.password)} ${formatAdminCommand(message.command, formatQuery)}`;
  }
  return formatQueryMessage(message.kind, message.flags, formatQuery(message.query));
}

/** Formats a `#USER` or `#BULK` message around a query that is already text. */
export function formatQueryMessage(kind: 'user' | 'bulk', flags: QueryFlags, query: string): string {
  const words = [kind === 'user' ? '#USER' : '#BULK', formatFlags(flags, kind), '#END', query];
  return words.filter((word) => word !== '').join(' ');
}
