// Builds queries by method calls that the compiler checks.
import {
  type Expression,
  formatQuery,
  frameMessage,
  parseQuery,
  type Query,
  quoteId,
  type SelectOperator,
} from '../../protocols/broker/index.js';
import { ProtocolError, UsageError } from '../../protocols/errors.js';
import { type Check, checkArgument, text as isText } from '../connection/arguments.js';
import { type OpaqueMode, type QueryRequest, queryMessage } from './request.js';

type Blank = ' ' | '\t' | '\n' | '\r';

/** Makes the compiler refuse a literal that is empty or more than one word. */
export type OneWord<T extends string> = T extends '' | `${string}${Blank}${string}` ? never : T;

/** An immutable query made with {@link q}: its tree, its text, its message. */
export abstract class BuiltQuery {
  /** The tree; a term that was not parsed from text has offset 0. */
  abstract readonly query: Query;

  /**
   * The query as it is written after `#END`; parsing it gives the same tree.
   * @throws UsageError if it is larger than a Broker reads: 1000 terms, 64 nested parentheses
   */
  toString(): string {
    const text = formatQuery(this.query);
    try {
      parseQuery(text);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      throw new UsageError(`no Broker reads this query: ${error.message}`, { cause: error });
    }
    return text;
  }

  /**
   * The bytes of the whole `#USER` message, CR LF included (BRK-1.9).
   * @throws UsageError as {@link toString}, and for a number out of range
   */
  toMessage(request: QueryRequest = {}, mode: OpaqueMode = 'suppress'): Uint8Array {
    this.toString();
    return frameMessage(queryMessage(this.query, request, mode));
  }
}

/** BRK-2.11 `#allb`: every object. It cannot be combined with anything. */
export class EveryObject extends BuiltQuery {
  readonly query: { readonly kind: 'all' } = { kind: 'all' };
}

/**
 * A condition on objects. A chain of calls groups to the left: `a.and(b).or(c)` is `(a and b) or c`. The query
 * language groups to the right (BRK-2.12), so parentheses are written where they are needed.
 */
export class QueryExpression extends BuiltQuery {
  readonly query: Expression;

  constructor(expression: Expression) {
    super();
    checkArgument('the expression', expression, isTree);
    this.query = expression;
  }

  /** Objects that match both. */
  and(other: QueryExpression): QueryExpression {
    return new QueryExpression(chain('and', this.query, treeOf(other)));
  }

  /** Objects that match either. */
  or(other: QueryExpression): QueryExpression {
    return new QueryExpression(chain('or', this.query, treeOf(other)));
  }

  /** BRK-2.13: objects that match this and not the other. */
  except(other: QueryExpression): QueryExpression {
    return new QueryExpression({ kind: 'except', left: this.query, right: treeOf(other) });
  }

  /** Objects that do not match. */
  not(): QueryExpression {
    return new QueryExpression({ kind: 'not', operand: this.query });
  }
}

/** An attribute without its condition yet; names are compared without regard to case (BRK-2.16). */
export class AttributeCondition {
  readonly #attribute: string;

  constructor(attribute: string) {
    this.#attribute = checkName(attribute);
  }

  /** BRK-2.14: the text occurs in the value. Its characters are literal. */
  contains(text: string): QueryExpression {
    return this.#select('contains', escapePattern(checkText(text)));
  }

  /**
   * BRK-2.14, BRK-2.22: the pattern occurs in the value. @throws UsageError if it ends in a single backslash
   */
  matches(pattern: string): QueryExpression {
    return this.#select('contains', checkPattern(pattern));
  }

  /** BRK-2.17: the whole value is this text. */
  exact(value: string): QueryExpression {
    return this.#select('exact', escapeBackslash(checkText(value)));
  }

  /** BRK-2.17: the value matches the regular expression. @throws UsageError if it ends in a single backslash */
  regexp(source: string): QueryExpression {
    return this.#select('regexp', checkPattern(source));
  }

  /** BRK-2.17: as numbers when both sides are decimal numbers, else as byte strings. */
  lessThan(value: number | string): QueryExpression {
    return this.#select('less-than', comparable(value));
  }

  /** BRK-2.17: as numbers when both sides are decimal numbers, else as byte strings. */
  greaterThan(value: number | string): QueryExpression {
    return this.#select('greater-than', comparable(value));
  }

  #select(operator: SelectOperator, value: string): QueryExpression {
    return new QueryExpression({ kind: 'select', attribute: this.#attribute, operator, value, offset: 0 });
  }
}

/**
 * Builds queries: `q.word('wheat').and(q.attribute('title').contains('rye')).except(q.phrase('bread
 * recipe'))`. Wrong combinations do not compile: `#allb` has no operators, an attribute without a condition is
 * not an expression. Every method throws UsageError for a text that is blank or not well-formed Unicode.
 */
export const q = {
  /** BRK-2.11: every object. */
  all: (): EveryObject => new EveryObject(),

  /** One word or a part of one; its characters are literal. */
  word: <T extends string>(text: T & OneWord<T>): QueryExpression => term(escapePattern(checkText(text))),

  /** BRK-2.5: words in this order; their characters are literal. */
  phrase: (text: string): QueryExpression => term(escapePattern(checkText(text))),

  /**
   * BRK-2.22: `.` is any character, `#` any run of them, `[...]` a class, `^` and `$` line ends, `|`, `*`,
   * `( )`; a backslash makes the next character literal. @throws UsageError if the pattern ends in a single
   * backslash
   */
  pattern: (pattern: string): QueryExpression => term(escapeEqualsSign(checkPattern(pattern))),

  /** BRK-2.14: a condition on one attribute; `url` is one (BRK-2.18). */
  attribute: (name: string): AttributeCondition => new AttributeCondition(name),

  /** Negates. */
  not: (expression: QueryExpression): QueryExpression =>
    new QueryExpression({ kind: 'not', operand: treeOf(expression) }),

  /** Objects that match all of them. */
  every: (first: QueryExpression, ...others: readonly QueryExpression[]): QueryExpression =>
    others.reduce((left, right) => left.and(right), checked(first)),

  /** Objects that match any of them. */
  some: (first: QueryExpression, ...others: readonly QueryExpression[]): QueryExpression =>
    others.reduce((left, right) => left.or(right), checked(first)),

  /**
   * A query that a user typed; check `instanceof QueryExpression` before combining it.
   * @throws ProtocolError with the offset of the first error
   */
  parse: (text: string): QueryExpression | EveryObject => {
    checkArgument('the query', text, isText);
    const query = parseQuery(text);
    return query.kind === 'all' ? new EveryObject() : new QueryExpression(query);
  },
} as const;

const isTree: Check = (value, name) =>
  typeof value === 'object' && value !== null && 'kind' in value ? undefined : `${name} must be a tree`;

const isExpression: Check = (value, name) =>
  value instanceof QueryExpression
    ? undefined
    : `${name} must be an expression of q, and q.all() cannot be combined with others`;

function checked(expression: QueryExpression): QueryExpression {
  checkArgument('the query to combine', expression, isExpression);
  return expression;
}

function treeOf(expression: QueryExpression): Expression {
  return checked(expression).query;
}

function term(text: string): QueryExpression {
  return new QueryExpression({ kind: 'term', text, quoted: quoteId(text) !== text, offset: 0 });
}

/** `and` and `or` are associative: a chain becomes one list to the right, which needs no parentheses. */
function chain(kind: 'and' | 'or', left: Expression, right: Expression): Expression {
  const operands: Expression[] = [];
  let rest = left;
  while (rest.kind === kind) {
    operands.push(rest.left);
    rest = rest.right;
  }
  operands.push(rest);
  return operands.reduceRight((tail, operand): Expression => ({ kind, left: operand, right: tail }), right);
}

/** Puts a backslash before the characters that have a meaning for the search engine (BRK-2.22, BRK-2.15). */
function escapePattern(text: string): string {
  return text.replace(/[.#[\]^$|*()=\\]/g, '\\$&');
}

/** Keeps a term from becoming `attribute=value` (BRK-2.15). */
function escapeEqualsSign(pattern: string): string {
  return pattern.replace(/\\[\s\S]|=/g, (found) => (found === '=' ? '\\=' : found));
}

function escapeBackslash(text: string): string {
  return text.replaceAll('\\', '\\\\');
}

function checkText(text: string): string {
  checkArgument('the text', text, isText);
  if (text.trim() === '') throw new UsageError('a blank text cannot be searched for');
  if (/\p{Surrogate}/u.test(text)) throw new UsageError('the text contains a lone surrogate');
  return text;
}

/** A backslash makes the next character literal (BRK-2.7); before a quote it is dropped. */
function checkPattern(pattern: string): string {
  checkText(pattern);
  return pattern.replace(/\\([\s\S]?)/g, (pair, after: string) => {
    if (after === '') throw new UsageError('a pattern cannot end in a single backslash');
    return after === '"' ? '"' : pair;
  });
}

function checkName(name: string): string {
  checkText(name);
  if (/[\s"\\{}]/.test(name)) throw new UsageError(`not an attribute name: ${name}`);
  return name;
}

function comparable(value: number | string): string {
  if (typeof value === 'string') return escapeBackslash(checkText(value));
  const digits = typeof value === 'number' ? String(value) : typeof value;
  if (!/^-?\d+(?:\.\d+)?$/.test(digits)) throw new UsageError(`not a decimal number: ${digits}`);
  return digits;
}
