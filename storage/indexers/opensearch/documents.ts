// Objects as documents of OpenSearch: words that this kit separates and folds, in a few fields.
import { lettersOf } from '../../../protocols/broker/index.js';
import type { SoifObject } from '../../../protocols/soif/index.js';
import { COLUMN_WEIGHTS, columnTexts } from '../columns/columns.js';
import { linkKeysOf, linkLinesOf } from '../embedded/index/link-texts.js';
import { BREAK, fold, MAX_TERM, PART } from '../query/words.js';

/** The number of these rules; an index by others is built anew. */
export const INDEX_RULES = 2;

/** The field with the words of all columns but `name`. */
export const ALL = 'all';
/** The field with the words of the file name, which only requests for content search. */
export const NAME = 'name';
/** The field with the words that are more than their letters: the letters, {@link SPELLED_AS}, the word. */
export const SPELLED = 'spelled';
export const SPELLED_AS = '=';
/** The field with the names of the links of an object, and of their texts. */
export const LINKS = 'links';
/** Longer words are their only spelling, in characters. */
const MAX_SPELLED = 64;
/** Columns that are fields of their own too. Each has one attribute: a query for it need not look at others. */
export const OWN_FIELDS: ReadonlySet<string> = new Set([
  'title',
  'keywords',
  'description',
  'url',
  'author',
  'headings',
]);

/** The field with the letters of a field's words, in documents where these are not the words themselves. */
export function lettersField(field: string): string {
  return `${field}_letters`;
}

const NOT_ASCII = /[^\0-\x7f]/;

/** Words are cut by this kit. A longer term than any of its own is one whose compatibility forms are longer. */
const MAX_TOKEN = 2 * MAX_TERM;

const WORDS = { type: 'text', analyzer: 'words' } as const;
const TEXT_FIELDS = [SPELLED, ...[ALL, NAME, ...OWN_FIELDS].flatMap((field) => [field, lettersField(field)])];

/** What an index is made with, besides `_meta`. */
export const INDEX_DEFINITION = {
  settings: {
    // One copy in a cluster of several nodes; a single node is not yellow for lack of another one.
    auto_expand_replicas: '0-1',
    refresh_interval: '-1',
    'translog.durability': 'request',
    analysis: {
      analyzer: { words: { type: 'custom', tokenizer: 'words' } },
      tokenizer: { words: { type: 'whitespace', max_token_length: MAX_TOKEN } },
    },
  },
  mappings: {
    dynamic: false,
    _source: { enabled: false },
    properties: {
      oid: { type: 'long' },
      [LINKS]: { type: 'keyword' },
      ...Object.fromEntries(TEXT_FIELDS.map((field) => [field, WORDS])),
    },
  },
} as const;

/** The value of a field. */
type IndexedValue = string | number | readonly string[];

/** The document of an object. */
export function documentOf(oid: number, object: SoifObject): Readonly<Record<string, IndexedValue>> {
  // The tokenizer of the embedded index folds ASCII, that of OpenSearch does not.
  const texts = columnTexts(object).map(fold);
  const all: string[] = [];
  const document: Record<string, IndexedValue> = { oid };
  const add = (field: string, text: string) => {
    if (text === '') return;
    document[field] = text;
    const letters = lettersOf(text);
    if (letters !== text) document[lettersField(field)] = letters;
  };
  for (const [i, { name }] of COLUMN_WEIGHTS.entries()) {
    const text = texts[i] ?? '';
    if (name === NAME || OWN_FIELDS.has(name)) add(name, text);
    if (name !== NAME && text !== '') all.push(text);
  }
  add(ALL, all.join(` ${BREAK} `));
  const spelled = spelledWords(texts);
  if (spelled !== '') document[SPELLED] = spelled;
  const links = linkKeysOf(linkLinesOf(object));
  if (links.length > 0) document[LINKS] = links.map(String);
  return document;
}

/** The words of an object that are more than their letters, each once. */
function spelledWords(texts: readonly string[]): string {
  const found = new Set<string>();
  for (const text of texts) {
    if (!NOT_ASCII.test(text)) continue;
    for (const term of text.split(' ')) {
      if (!NOT_ASCII.test(term)) continue;
      const word = term.startsWith(PART) ? term.slice(1) : term;
      const letters = word.length > MAX_SPELLED ? word : lettersOf(word);
      if (letters !== word) found.add(`${letters}${SPELLED_AS}${word}`);
    }
  }
  return [...found].join(' ');
}
