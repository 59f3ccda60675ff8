// Writes messages of the Broker's protocol. Parsing them gives the same tree.
import { UsageError } from '../errors.js';
import { formatAdminCommand } from './admin.js';
import { formatFlags, type QueryFlags } from './flags.js';
import type { BrokerMessage } from './message-parser.js';
import type { Expression, Query } from './messages.js';
import { splitStructured } from './query-parser.js';
import { quoteId, quoteString } from './quoting.js';

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
 * `formatQuery`
 */
export function formatMessage(message: BrokerMessage): string {
  if (message.kind === 'admin') {
    return `#ADMIN #password ${quoteId(message.password)} ${formatAdminCommand(message.command, formatQuery)}`;
  }
  return formatQueryMessage(message.kind, message.flags, formatQuery(message.query));
}

/** Formats a `#USER` or `#BULK` message around a query that is already text. */
export function formatQueryMessage(kind: 'user' | 'bulk', flags: QueryFlags, query: string): string {
  const words = [kind === 'user' ? '#USER' : '#BULK', formatFlags(flags, kind), '#END', query];
  return words.filter((word) => word !== '').join(' ');
}
