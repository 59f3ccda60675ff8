// The parts of a query: its words, a query with other words, and how it was understood.
import { conjunctsOf } from '../../../clients/broker/forgiving.js';
import { type Expression, formatQuery, type Query } from '../../../protocols/broker/index.js';
import { type Content, html } from '../../web/html.js';

/** Replaces the texts of words and values. */
export function mapWords(query: Expression, change: (text: string) => string): Expression {
  switch (query.kind) {
    case 'term':
      return { ...query, text: change(query.text) };
    case 'select':
      return query.operator === 'contains' ? { ...query, value: change(query.value) } : query;
    case 'not':
      return { ...query, operand: mapWords(query.operand, change) };
    default:
      return { ...query, left: mapWords(query.left, change), right: mapWords(query.right, change) };
  }
}

/** Writes a query as a user would: words that must all occur need nothing between them. */
export function writeQuery(query: Expression): string {
  const parts = conjunctsOf(query);
  return parts?.every(({ kind }) => kind === 'term') ? parts.map(formatQuery).join(' ') : formatQuery(query);
}

/** Combines expressions; a term keeps its quotes. */
export function combine(kind: 'and' | 'or', parts: readonly Expression[]): string {
  return parts.map((part) => formatQuery(part)).join(` ${kind} `);
}

/** Whether a query has more than words that must all occur: then users want to see how it was understood. */
export function isStructured(query: Query): boolean {
  const parts = conjunctsOf(query);
  return parts === undefined || parts.some(({ kind }) => kind === 'select');
}

/** Says in words how a query was understood. */
export function describeQuery(query: Query): Content {
  switch (query.kind) {
    case 'all':
      return 'every object';
    case 'term':
      return html`${/\s/.test(query.text.trim()) ? 'the phrase' : 'the word'} <q>${query.text.replace(/\\(.)/gu, '$1')}</q>`;
    case 'select': {
      const { attribute, value } = query;
      const name = html`the attribute <em>${attribute}</em>`;
      switch (query.operator) {
        case 'contains':
          return html`<q>${value}</q> in ${name}`;
        case 'exact':
          return html`${name} is exactly <q>${value}</q>`;
        case 'regexp':
          return html`${name} matches the regular expression <q>${value}</q>`;
        case 'less-than':
          return html`${name} is less than <q>${value}</q>`;
        case 'greater-than':
          return html`${name} is greater than <q>${value}</q>`;
      }
      break;
    }
    case 'not':
      return html`not ${inner(query.operand)}`;
    case 'and':
      return html`${inner(query.left, 'and')} and ${inner(query.right, 'and')}`;
    case 'or':
      return html`${inner(query.left, 'or')} or ${inner(query.right, 'or')}`;
    case 'except':
      return html`${inner(query.left)} but not ${inner(query.right)}`;
  }
}

/** Parentheses show what belongs together. */
function inner(query: Expression, within?: Expression['kind']): Content {
  const isSimple = query.kind === 'term' || query.kind === 'select' || query.kind === within;
  return isSimple ? describeQuery(query) : html`(${describeQuery(query)})`;
}
