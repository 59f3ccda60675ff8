import type { Expression } from '../../../protocols/broker/index.js';
import type { SoifObject } from '../../../protocols/soif/index.js';
import { attributeTexts, VIEW, viewOf } from '../query/object-text.js';
import { parseTerm, unescapeTerm } from '../query/term-pattern.js';
import { wordsOf } from '../query/words.js';

/** A word that every object has, so that a query can match all of them. No word of an object equals it. */
const EVERY_OBJECT = 'zzz';

/**
 * The swish-e configuration for {@link documentOf}: words are runs of a-z and 0-9, and every word is indexed.
 */
export const SWISH_CONFIGURATION = [
  ...['WordCharacters', 'BeginCharacters', 'EndCharacters'].map(
    (name) => `${name} abcdefghijklmnopqrstuvwxyz0123456789`,
  ),
  'MinWordLimit 1',
  'MaxWordLimit 200',
  'IndexReport 0',
  '',
].join('\n');

/** How the index has words. */
const WORDS = VIEW.folded | VIEW.letters;
/** Maximum length of a word of the index; a longer one is truncated. */
const MAX_WORD = 100;
/** Characters that swish-e treats as the end of a word. */
const FOREIGN = /[^a-z0-9]/gu;

/**
 * Returns the words of an object for swish-e, separated as the matcher does it (`words.ts`), by their letters, and with the
 * parts of identifiers: so it finds a superset for requests of every kind.
 */
export function documentOf(object: SoifObject): string {
  const words = [EVERY_OBJECT];
  const add = (text: string) => words.push(encodeWord(text));
  for (const attribute of attributeTexts(object)) {
    const plain = attribute.text(WORDS);
    for (const { text } of wordsOf(plain)) add(text);
    const parts = attribute.text(WORDS | VIEW.parts);
    if (parts !== plain) for (const { text } of wordsOf(parts)) add(text);
  }
  return words.join(' ');
}

/**
 * Translates a query to the language of swish-e, which then finds a superset of the answer. Words are quoted,
 * so that they are not operators. Negations and attributes are omitted here and tested on the objects.
 */
export function translate(expression: Expression): string {
  return queryOf(expression) ?? quote(EVERY_OBJECT);
}

/** The query of a node; undefined if it matches any object. */
function queryOf(node: Expression): string | undefined {
  switch (node.kind) {
    case 'not':
      return undefined;
    case 'except':
      return queryOf(node.left);
    case 'and': {
      const left = queryOf(node.left);
      const right = queryOf(node.right);
      return left === undefined || right === undefined ? (left ?? right) : `(${left} and ${right})`;
    }
    case 'or': {
      const left = queryOf(node.left);
      const right = queryOf(node.right);
      return left === undefined || right === undefined ? undefined : `(${left} or ${right})`;
    }
    case 'term':
      return termQuery(node.text);
    case 'select':
      if (node.operator === 'contains') return termQuery(node.value);
      return node.operator === 'exact' ? literalQuery(unescapeTerm(node.value)) : undefined;
  }
}

function termQuery(text: string): string | undefined {
  const term = parseTerm(text);
  return term.kind === 'literal' ? literalQuery(term.text) : undefined;
}

function literalQuery(text: string): string | undefined {
  const words = new Set(wordsOf(viewOf(text, WORDS)).map((word) => quote(encodeWord(word.text))));
  if (words.size === 0) return undefined;
  return words.size === 1 ? [...words][0] : `(${[...words].join(' and ')})`;
}

/** Encodes letters beyond a-z by their code points. A collision of two words only costs reading an object. */
function encodeWord(word: string): string {
  const text = word.replace(FOREIGN, (c) => `z${(c.codePointAt(0) ?? 0).toString(36)}z`);
  return text.length > MAX_WORD ? text.slice(0, MAX_WORD) : text;
}

function quote(word: string): string {
  return `"${word}"`;
}
