import type { Expression } from '../../../protocols/broker/index.js';
import type { SoifObject } from '../../../protocols/soif/index.js';
import { attributeTexts, VIEW } from '../object-text.js';
import { parseTerm, unescapeTerm } from '../term-pattern.js';
import { fold, wordsOf } from '../words.js';

/** A word that every object has, so that all of them can be asked for. No word of an object is spelled so. */
const EVERY_OBJECT = 'zzz';

/** The configuration that goes with {@link documentOf}: words are runs of a-z and 0-9, and none is left out. */
export const SWISH_CONFIGURATION = [
  ...['WordCharacters', 'BeginCharacters', 'EndCharacters'].map(
    (name) => `${name} abcdefghijklmnopqrstuvwxyz0123456789`,
  ),
  'MinWordLimit 1',
  'MaxWordLimit 200',
  'IndexReport 0',
  '',
].join('\n');

/** Longest word of the index; of a longer one its beginning stands there. */
const MAX_WORD = 100;
/** Whatever swish-e would take for the end of a word. */
const FOREIGN = /[^a-z0-9]/gu;

/** The object's words as swish-e sees them, cut and folded as the matcher does it (`words.ts`). */
export function documentOf(object: SoifObject): string {
  const words = [EVERY_OBJECT];
  for (const attribute of attributeTexts(object)) {
    for (const { text } of wordsOf(fold(attribute.text(VIEW.raw)))) words.push(spelled(text));
  }
  return words.join(' ');
}

/**
 * The query in swish-e's language: every object that satisfies it is among those found. Words are quoted, so none is
 * an operator; negated parts and attributes are decided on the objects.
 */
export function translate(expression: Expression): string {
  return partOf(expression) ?? quoted(EVERY_OBJECT);
}

/** Undefined: any object. */
function partOf(node: Expression): string | undefined {
  switch (node.kind) {
    case 'not':
      return undefined;
    case 'except':
      return partOf(node.left);
    case 'and': {
      const left = partOf(node.left);
      const right = partOf(node.right);
      return left === undefined || right === undefined ? (left ?? right) : `(${left} and ${right})`;
    }
    case 'or': {
      const left = partOf(node.left);
      const right = partOf(node.right);
      return left === undefined || right === undefined ? undefined : `(${left} or ${right})`;
    }
    case 'term':
      return wordsPart(node.text);
    case 'select':
      if (node.operator === 'contains') return wordsPart(node.value);
      return node.operator === 'exact' ? literalPart(unescapeTerm(node.value)) : undefined;
  }
}

function wordsPart(text: string): string | undefined {
  const term = parseTerm(text);
  return term.kind === 'literal' ? literalPart(term.text) : undefined;
}

function literalPart(text: string): string | undefined {
  const words = new Set(wordsOf(fold(text)).map((word) => quoted(spelled(word.text))));
  if (words.size === 0) return undefined;
  return words.size === 1 ? [...words][0] : `(${[...words].join(' and ')})`;
}

/** Letters beyond a-z by their numbers. Two words that come out equal cost a look at an object, no more. */
function spelled(word: string): string {
  const text = word.replace(FOREIGN, (c) => `z${(c.codePointAt(0) ?? 0).toString(36)}z`);
  return text.length > MAX_WORD ? text.slice(0, MAX_WORD) : text;
}

function quoted(word: string): string {
  return `"${word}"`;
}
