// Reads a query as a person means it: where an operator, a quote or a parenthesis has no meaning, its words are
// searched for.
import { type Expression, parseQuery, type Query, scanQuery } from '../../protocols/broker/index.js';
import { quoteId, quoteString } from '../../protocols/broker/query-parser.js';
import { ProtocolError } from '../../protocols/errors.js';

/** A part of a sentence; the words of a user are marked, so that each reader can quote them in its way. */
export type SentencePart = string | { readonly word: string };

/** A query, and what was changed to read it. */
export interface ForgivingText {
  readonly query: Query;
  /** A query that parses to it. */
  readonly text: string;
  /** Operators and quotes that are searched for as words. */
  readonly asWords: readonly string[];
  /** Parts that say nothing where they stand. */
  readonly leftOut: readonly string[];
  /** A quote was never closed: its words are searched for one by one. */
  readonly openQuote: boolean;
}

/** A letter, a digit or another character that a word consists of. */
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;
/** Nothing but blanks and characters that are not seen, such as a space of no width. */
const INVISIBLE = /^[\s\p{Default_Ignorable_Code_Point}\p{Cc}]*$/u;
/** Characters without letters that are all the same, such as `&`, `--` or `...`: they say nothing. */
const FILLER = /^(.)\1*$/u;
/** What a sentence has after its words, which no word has; and a letter with a sign that is no pattern. */
const WORD_END = /^(?<word>.*[\p{L}\p{M}\p{N}_].*?)[.,;!?\u2026]+$/u;
const LETTER_AND_SHARP = /^\p{L}#$/u;
/** Double quotes of typography, which a text that was copied has. */
const TYPOGRAPHIC_QUOTES = /[\u201c-\u201f\u00ab\u00bb\u301d-\u301f\uff02]/gu;
/** A name that an attribute may have, before the colon of BRK-2.14. */
const ATTRIBUTE = /^[A-Za-z][\w.<>-]*$/;

type ItemKind = 'id' | 'operand' | 'logical' | 'not' | 'select' | 'colon' | 'open' | 'close';

/** A piece of the query that is built. */
interface Item {
  readonly kind: ItemKind;
  /** As the query language has it. */
  readonly text: string;
  /** As the user typed it. */
  readonly typed: string;
}

interface Changes {
  readonly asWords: string[];
  readonly leftOut: string[];
  openQuote: boolean;
  /** Something else is written in another way, which needs no mention. */
  isRewritten: boolean;
}

/**
 * Reads a query. A query of the language (BRK-2) is read by its rules, but for signs without letters, which say
 * nothing among words, and for the comma or question mark after a word. Any other text is read as the query most
 * like it: an operator that has nothing to combine is left out, or is a word if there is no other; so is a
 * parenthesis or a colon without its counterpart; a quote that is not closed is ignored. Signs alone are searched
 * for as they are.
 *
 * @returns undefined for a text in which nothing is seen
 * @throws ProtocolError if the query is larger than a Broker reads: 1000 terms, 64 nested parentheses
 */
export function readForgiving(typed: string): ForgivingText | undefined {
  const text = typed.replace(TYPOGRAPHIC_QUOTES, '"');
  const changes: Changes = { asWords: [], leftOut: [], openQuote: false, isRewritten: text !== typed };
  const items = itemsOf(text, changes);
  if (items === 'every object' || (!hasChanged(changes) && isQuery(text))) return readingOf(text, changes);
  const read = grouped(combined(withoutLoneParentheses(items, changes), changes), changes);
  if (read.some(({ kind }) => kind === 'operand')) return readingOf(written(read), changes);
  const operators = operatorsAsWords(items, changes);
  if (operators.length > 0) return readingOf(written(operators), changes);
  const signs = text.trim();
  if (INVISIBLE.test(signs)) return undefined;
  return readingOf(quotedItem(signs, signs).text, { asWords: [signs], leftOut: [], openQuote: false });
}

function readingOf(text: string, changes: Omit<Changes, 'isRewritten'>): ForgivingText {
  const { asWords, leftOut, openQuote } = changes;
  return { query: parseQuery(text), text, asWords, leftOut, openQuote };
}

function written(items: readonly Item[]): string {
  return items.map(({ text }) => text).join(' ');
}

function hasChanged({ asWords, leftOut, openQuote, isRewritten }: Changes): boolean {
  return asWords.length > 0 || leftOut.length > 0 || openQuote || isRewritten;
}

function isQuery(text: string): boolean {
  try {
    parseQuery(text);
    return true;
  } catch (error) {
    if (error instanceof ProtocolError) return false;
    throw error;
  }
}

/** Splits a text into items, without what cannot be part of a query wherever it stands. */
function itemsOf(text: string, changes: Changes): readonly Item[] | 'every object' {
  const items: Item[] = [];
  const tokens = scanQuery(text);
  const typedOf = (i: number) => text.slice(tokens[i]!.start, tokens[i]!.end);
  if (tokens.length === 1 && typedOf(0).toLowerCase() === '#allb') return 'every object';
  for (let i = 0; i < tokens.length; i++) {
    const { kind } = tokens[i]!;
    const typed = typedOf(i);
    const address = addressAt(text, tokens, i);
    if (address !== undefined) {
      items.push(quotedItem(address.text, address.text));
      changes.asWords.push(address.text);
      i = address.last;
    } else if (kind === 'unclosed') {
      changes.openQuote = true;
      for (const word of typed.split(/(?:(?!\ufeff)[\s"\\():])+/))
        if (WORD_CHARACTER.test(word)) items.push(quotedItem(word, word));
    } else {
      const item = itemOf(kind, typed);
      if (INVISIBLE.test(typed)) changes.isRewritten = true;
      else if (item === undefined) changes.leftOut.push(typed);
      else items.push(item);
      if (kind === 'word' && item?.text !== typed) changes.isRewritten = true;
    }
  }
  return items;
}

/** `http://a.test/` and `12:30` are texts, not values of an attribute. */
function addressAt(
  text: string,
  tokens: ReturnType<typeof scanQuery>,
  first: number,
): { readonly text: string; readonly last: number } | undefined {
  const isPart = (i: number) => tokens[i]?.kind === 'word' || tokens[i]?.kind === ':';
  const touches = (i: number) => tokens[i - 1]?.end === tokens[i]?.start;
  if (tokens[first]?.kind !== 'word' || tokens[first + 1]?.kind !== ':' || !touches(first + 1))
    return undefined;
  const { start, end } = tokens[first]!;
  const isAddress = text.startsWith('://', end) || !ATTRIBUTE.test(text.slice(start, end));
  if (!isAddress || !isPart(first + 2) || !touches(first + 2)) return undefined;
  let last = first + 2;
  while (isPart(last + 1) && touches(last + 1)) last++;
  return { text: text.slice(start, tokens[last]!.end), last };
}

function itemOf(kind: ReturnType<typeof scanQuery>[number]['kind'], typed: string): Item | undefined {
  switch (kind) {
    case '(':
      return { kind: 'open', text: '(', typed };
    case ')':
      return { kind: 'close', text: ')', typed };
    case ':':
      return { kind: 'colon', text: ':', typed };
    case 'string':
      return typed.slice(1, -1).trim() === '' ? undefined : { kind: 'id', text: typed, typed };
    case 'keyword': {
      const word = typed.replace(/^#+/, '');
      return WORD_CHARACTER.test(word) ? quotedItem(word, typed) : undefined;
    }
    case 'operator': {
      const name = typed.toLowerCase();
      const isLogical = name === 'and' || name === 'or' || name === 'except';
      return { kind: isLogical ? 'logical' : name === 'not' ? 'not' : 'select', text: typed, typed };
    }
    default:
      return wordItem(typed);
  }
}

function wordItem(typed: string): Item | undefined {
  if (LETTER_AND_SHARP.test(typed)) return quotedItem(typed, typed);
  if (WORD_CHARACTER.test(typed)) {
    // A backslash before it makes the sign a part of the word, and one at the end has nothing to quote.
    const word = (typed.includes('\\') ? undefined : WORD_END.exec(typed)?.groups?.word) ?? typed;
    const text = word.replace(/(?<!\\)\\$/, '');
    return { kind: 'id', text: text === typed ? text : quoteId(text), typed };
  }
  return FILLER.test(typed) ? undefined : quotedItem(typed, typed);
}

/** A text whose characters have no meaning for the search engine (BRK-2.22). */
function quotedItem(text: string, typed: string): Item {
  return { kind: 'id', text: quoteString(text.replace(/[.#[\]^$|*()=\\]/g, '\\$&')), typed };
}

/** Joins attributes, their comparison and their value to operands; parts without the others are words. */
function combined(items: readonly Item[], changes: Changes): Item[] {
  const result: Item[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    const [operator, value] = [items[i + 1], items[i + 2]];
    if (item.kind === 'id') {
      const hasValue = operator?.kind === 'colon' || operator?.kind === 'select';
      if (hasValue && value?.kind === 'id') {
        result.push({ ...item, kind: 'operand', text: `${item.text} ${operator.text} ${value.text}` });
        i += 2;
      } else if (operator?.kind === 'colon' && value?.kind === 'open') {
        result.push({ ...value, text: `${item.text} : (` });
        i += 2;
      } else result.push({ ...item, kind: 'operand' });
    } else if (item.kind === 'colon') changes.leftOut.push(item.typed);
    else if (item.kind === 'select') {
      changes.asWords.push(item.typed);
      result.push({ ...quotedItem(item.typed, item.typed), kind: 'operand' });
    } else result.push(item);
  }
  return result;
}

/** Leaves out operators without operands, and parentheses without content. */
function grouped(items: readonly Item[], changes: Changes): Item[] {
  const result: Item[] = [];
  const kindOfLast = () => result.at(-1)?.kind;
  const drop = (item: Item | undefined) => {
    if (item !== undefined) changes.leftOut.push(item.typed);
  };
  const dropOperators = () => {
    while (kindOfLast() === 'logical' || kindOfLast() === 'not') drop(result.pop());
  };
  for (const item of items) {
    const last = kindOfLast();
    switch (item.kind) {
      case 'logical':
        if (last === 'operand' || last === 'close') result.push(item);
        else drop(item);
        break;
      case 'not':
        if (last === 'not') drop(item);
        else result.push(item);
        break;
      case 'close':
        dropOperators();
        if (kindOfLast() === 'open') drop({ ...item, typed: `${result.pop()!.typed}${item.typed}` });
        else result.push(item);
        break;
      default:
        result.push(item);
    }
  }
  dropOperators();
  return result;
}

function withoutLoneParentheses(items: readonly Item[], changes: Changes): readonly Item[] {
  const matching = matchingParentheses(items);
  return items.filter((item, i) => {
    const stays = (item.kind !== 'open' && item.kind !== 'close') || matching.has(i);
    if (!stays) changes.leftOut.push(item.typed);
    return stays;
  });
}

/** The indexes of parentheses that have a counterpart. */
function matchingParentheses(items: readonly Item[]): ReadonlySet<number> {
  const open: number[] = [];
  const matching = new Set<number>();
  for (const [i, { kind }] of items.entries()) {
    if (kind === 'open') open.push(i);
    if (kind !== 'close') continue;
    const start = open.pop();
    if (start !== undefined) matching.add(start).add(i);
  }
  return matching;
}

/** In a text of nothing but operators, they are the words. */
function operatorsAsWords(items: readonly Item[], changes: Changes): Item[] {
  const words = items.filter(({ kind }) => kind === 'logical' || kind === 'not' || kind === 'select');
  const typed = new Set(words.map((word) => word.typed));
  changes.leftOut.splice(0, changes.leftOut.length, ...changes.leftOut.filter((text) => !typed.has(text)));
  changes.asWords.splice(0, changes.asWords.length, ...typed);
  return [...typed].map((word) => quotedItem(word, word));
}

/** Says in a sentence what was changed to read a query; empty if nothing was. */
export function forgivenSentence({ asWords, leftOut, openQuote }: ForgivingText): readonly SentencePart[] {
  const clauses: SentencePart[][] = [];
  if (openQuote) clauses.push(['a quote is not closed, so its words are searched for one by one']);
  if (asWords.length > 0) clauses.push([...listed(asWords), ' searched for as text']);
  if (leftOut.length > 0) clauses.push([...listed(leftOut), ' left out, having no meaning there']);
  const parts = clauses.flatMap((clause, i) => (i === 0 ? clause : ['; ', ...clause]));
  if (parts.length === 0) return [];
  const [first] = parts;
  const begun =
    typeof first === 'string'
      ? [`${first.slice(0, 1).toUpperCase()}${first.slice(1)}`, ...parts.slice(1)]
      : parts;
  return [...begun, '.'];
}

function listed(words: readonly string[]): SentencePart[] {
  const distinct = [...new Set(words)];
  const verb = distinct.length === 1 ? ' is' : ' are';
  return [...distinct.flatMap((word, i): SentencePart[] => (i === 0 ? [{ word }] : [', ', { word }])), verb];
}

/** Writes a sentence as plain text, with the words of the user in quotes. */
export function sentenceText(parts: readonly SentencePart[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : `“${part.word}”`)).join('');
}

/** The operands of a query that combines nothing but `and`; undefined for any other. */
export function conjunctsOf(query: Query): readonly Expression[] | undefined {
  switch (query.kind) {
    case 'and': {
      const left = conjunctsOf(query.left);
      const right = conjunctsOf(query.right);
      return left === undefined || right === undefined ? undefined : [...left, ...right];
    }
    case 'term':
    case 'select':
      return [query];
    default:
      return undefined;
  }
}

/** BRK-2.12: operators group to the right. */
export function joined(kind: 'and' | 'or', parts: readonly Expression[]): Expression {
  return parts.reduceRight((right, left) => ({ kind, left, right }));
}

/** Terms of a query for most of the words: an index answers short queries much faster. */
const MAX_TERMS = 160;

/**
 * Queries for objects with fewer and fewer of these parts: all but one, all but two, ... any one. Those that
 * would be too long are missing; the last one never is.
 *
 * @param parts of a query for all of them
 */
export function fewerOf(
  parts: readonly Expression[],
): readonly { readonly least: number; readonly query: Expression }[] {
  const queries: { readonly least: number; readonly query: Expression }[] = [];
  for (let least = parts.length - 1; least > 1; least--) {
    if (termsOfAtLeast(parts.length, least) > MAX_TERMS) continue;
    queries.push({ least, query: atLeast(parts, least) });
  }
  return parts.length < 2 ? [] : [...queries, { least: 1, query: joined('or', parts) }];
}

/** An expression for objects that have at least so many of the parts. */
function atLeast(parts: readonly Expression[], least: number): Expression {
  const [first, ...rest] = parts as readonly [Expression, ...Expression[]];
  if (least === parts.length) return joined('and', parts);
  if (least === 1) return joined('or', parts);
  return {
    kind: 'or',
    left: { kind: 'and', left: first, right: atLeast(rest, least - 1) },
    right: atLeast(rest, least),
  };
}

function termsOfAtLeast(parts: number, least: number): number {
  if (least === parts || least === 1) return parts;
  return 1 + termsOfAtLeast(parts - 1, least - 1) + termsOfAtLeast(parts - 1, least);
}
