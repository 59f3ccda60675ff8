// Translates a query to that of OpenSearch, which finds every object that satisfies it, and others.
import type { Leaf, LiteralLookup } from '../query/leaf.js';
import { splitLookup, type WordPosition } from '../query/lookup-words.js';
import type { Plan } from '../query/matcher.js';
import { BREAK, PART } from '../query/words.js';
import { ALL, lettersField, NAME, OWN_FIELDS } from './documents.js';
import type { IndexQuery } from './index-query.js';
import { nearQuery } from './near-words.js';

/** What OpenSearch can say of a part of a query. */
interface Bound {
  /** Finds every object that satisfies the part; undefined for all objects. */
  readonly query: IndexQuery | undefined;
  /** Whether it finds no other object. */
  readonly isExact: boolean;
  /** Levels of nesting below this one. */
  readonly depth: number;
  /** Words, and parts of words, in it. */
  readonly clauses: number;
}

/** Everything that is not narrowed. */
const ANYTHING: Bound = { query: undefined, isExact: false, depth: 0, clauses: 0 };

/** OpenSearch refuses queries of more than 20 levels, which each level of ours may take two of. */
const MAX_DEPTH = 15;
/** OpenSearch refuses queries of more than 1024 clauses. */
const MAX_CLAUSES = 900;
/** Clauses of a word with errors. */
const MAX_NEAR_CLAUSES = 24;
/** The shortest part of a word that is looked up: shorter ones are in nearly every object. */
const MIN_PART = 2;

/** Returns the query for the candidates; undefined if all objects are. */
export function translate(plan: Plan): IndexQuery | undefined {
  return bound(plan).query;
}

function bound(plan: Plan): Bound {
  switch (plan.kind) {
    case 'leaf':
      return limited(leafBound(plan.leaf));
    case 'not':
      return complement(bound(plan.operand));
    case 'and':
    case 'or':
      return combine(plan.kind, operands(plan, plan.kind).map(bound));
    case 'except':
      return combine('and', [bound(plan.left), complement(bound(plan.right))]);
  }
}

/** The operands of a chain of the same operator, without recursion along the chain. */
function operands(plan: Plan, kind: 'and' | 'or'): Plan[] {
  const found: Plan[] = [];
  const open: Plan[] = [plan];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === kind) open.push(node.right, node.left);
    else found.push(node);
  }
  return found;
}

/** Only an exact bound says what an object without it is. */
function complement({ query, isExact, depth, clauses }: Bound): Bound {
  if (!isExact || query === undefined) return ANYTHING;
  return limited({ query: { bool: { must_not: [query] } }, isExact, depth: depth + 1, clauses });
}

function combine(kind: 'and' | 'or', parts: readonly Bound[]): Bound {
  const known = parts.filter((part) => part.query !== undefined);
  if (kind === 'or' && known.length < parts.length) return ANYTHING;
  if (known.length === 0) return ANYTHING;
  const isExact = parts.every((part) => part.isExact);
  const queries = known.flatMap(({ query }): IndexQuery[] => (query === undefined ? [] : [query]));
  const merged = kind === 'or' ? anyOf(queries) : allOf(queries);
  const depth = 1 + Math.max(...known.map((part) => part.depth));
  const clauses = kind === 'or' ? countTerms(merged, known) : sumOf(known);
  return limited({ query: merged, isExact, depth, clauses });
}

function sumOf(parts: readonly Bound[]): number {
  return parts.reduce((sum, { clauses }) => sum + clauses, 0);
}

/** Words that were merged are one clause. */
function countTerms(merged: IndexQuery, parts: readonly Bound[]): number {
  return 'terms' in merged
    ? 1
    : sumOf(parts.filter(({ query }) => !(query !== undefined && 'terms' in query))) + 4;
}

/** A query that OpenSearch would refuse excludes nothing. */
function limited(found: Bound): Bound {
  return found.depth > MAX_DEPTH || found.clauses > MAX_CLAUSES ? ANYTHING : found;
}

function allOf(queries: readonly IndexQuery[]): IndexQuery {
  return queries.length === 1 ? queries[0]! : { bool: { filter: queries } };
}

/** Any of some queries. Single words of one field are one clause, however many they are. */
function anyOf(queries: readonly IndexQuery[]): IndexQuery {
  const words = new Map<string, Set<string>>();
  const others: IndexQuery[] = [];
  for (const query of queries) {
    const terms = query.terms as Readonly<Record<string, readonly string[]>> | undefined;
    if (terms === undefined) others.push(query);
    for (const [field, list] of Object.entries(terms ?? {})) {
      const known = words.get(field) ?? new Set();
      for (const word of list) known.add(word);
      words.set(field, known);
    }
  }
  const merged = [...words].map(([field, list]): IndexQuery => ({ terms: { [field]: [...list] } }));
  const all = [...merged, ...others];
  return all.length === 1 ? all[0]! : { bool: { should: all, minimum_should_match: 1 } };
}

function leafBound(leaf: Leaf): Bound {
  const { lookup, attribute, contentOnly, approximate } = leaf;
  const near = approximate && fieldsOf(leaf).map((field) => nearQuery(approximate, field));
  const known = near?.filter((query) => query !== undefined) ?? [];
  if (near !== undefined && known.length === near.length)
    return { query: anyOf(known), isExact: false, depth: 3, clauses: MAX_NEAR_CLAUSES * near.length };
  if (lookup.kind === 'all') return ANYTHING;
  const literals = lookup.texts.map((literal) => literalBound(literal, leaf));
  const found = combine(lookup.kind === 'any' ? 'or' : 'and', literals);
  // The field of all words has other attributes too, and what is not content.
  const isOwn = attribute === undefined ? !contentOnly : OWN_FIELDS.has(attribute);
  return { ...found, isExact: found.query !== undefined && leaf.decidedByIndex && isOwn };
}

/** The objects with all words of a text. */
function literalBound(literal: LiteralLookup, leaf: Leaf): Bound {
  const { phrases, parts } = splitLookup(literal);
  const fields = fieldsOf(leaf);
  const found: Bound[] = [];
  for (const words of phrases) found.push(phraseBound(words, fields, leaf));
  for (const { text, position } of parts) {
    if (Array.from(text).length < MIN_PART) continue;
    const queries = fields.map((field) => partQuery(field, text, position));
    found.push({ query: anyOf(queries), isExact: false, depth: 1, clauses: queries.length });
  }
  return combine('and', found);
}

/** The fields that have the words that a leaf searches. */
function fieldsOf({ attribute, contentOnly, ignoreAccents }: Leaf): string[] {
  const fields =
    attribute === undefined
      ? contentOnly
        ? [ALL, NAME]
        : [ALL]
      : [OWN_FIELDS.has(attribute) ? attribute : ALL];
  return ignoreAccents ? fields.flatMap((field) => [field, lettersField(field)]) : fields;
}

/** Words that follow each other; for content also as the parts of an identifier. */
function phraseBound(words: readonly string[], fields: readonly string[], leaf: Leaf): Bound {
  const readings = [words];
  if (leaf.contentOnly && leaf.attribute === undefined && !words.includes(BREAK))
    readings.push(words.map((word) => `${PART}${word}`));
  const queries = fields.flatMap((field) => readings.map((reading) => phraseQuery(field, reading)));
  return { query: anyOf(queries), isExact: true, depth: 1, clauses: queries.length * words.length };
}

function phraseQuery(field: string, words: readonly string[]): IndexQuery {
  return words.length === 1
    ? { terms: { [field]: words } }
    : { match_phrase: { [field]: { query: words.join(' ') } } };
}

/** Words consist of letters, digits and `_`, so nothing in them has a meaning in a pattern. */
function partQuery(field: string, text: string, position: WordPosition): IndexQuery {
  if (position === 'start') return { prefix: { [field]: { value: text } } };
  return { wildcard: { [field]: { value: position === 'end' ? `*${text}` : `*${text}*` } } };
}
