import { wordSet } from './word-tables.js';

/**
 * E-109: attributes whose words are not keywords: running text, addresses, and the phrases that are keywords
 * already.
 */
const EXCLUDED_ATTRIBUTES = wordSet(
  'full-text body head partial-text main-text navigation url-references link-text canonical-url images owner keywords ' +
    // They do not describe the document's subject.
    'language date creation-date duration identifier message-id contents',
);

const STOP_WORDS = wordSet(
  'a about above after all also an and any are as at be because been before being below between both but by can could did do ' +
    'does doing down during each few for from further had has have having he her here hers him his how i if in into is it its ' +
    'itself just may me more most must my no nor not now of off on once only or other our ours out over own same shall she ' +
    'should so some such than that the their theirs them then there these they this those through to too under until up us use ' +
    'used using very was we were what when where which while who whom why will with would yes yet you your yours',
);

/** Maximum length of a keyword, in characters. */
const MAX_WORD_LENGTH = 64;

/** Characters in which words are searched at a time. */
const PIECE_CHARACTERS = 64 * 1024;

const ASCII_WORD = /[a-z0-9]+(?:['.-][a-z0-9]+)*/g;
const WORD = /[\p{L}\p{N}\p{M}]+(?:['.-][\p{L}\p{N}\p{M}]+)*/gu;

/**
 * Returns the keyword list of an object (E-106, E-109): first the phrases of the summarizer, one per line, then
 * the words of the other attributes, folded, sorted, one per line, without repetitions. At most `limit` bytes,
 * cut at a line end (E-108).
 *
 * @param attributes the attributes of the summarizer, by name
 * @param phrases lines of the `keywords` that the summarizer emitted
 */
export function generateKeywords(
  attributes: Iterable<readonly [name: string, value: string]>,
  phrases: string,
  limit: number,
): string {
  const seen = new Set<string>();
  const lines: string[] = [];
  let remaining = limit;
  const add = (list: string[], line: string, folded: string): boolean => {
    if (seen.has(folded)) return true;
    const bytes = Buffer.byteLength(line) + 1;
    if (bytes > remaining) return false;
    remaining -= bytes;
    seen.add(folded);
    list.push(line);
    return true;
  };
  for (const phrase of phrases.split('\n')) {
    const line = phrase.trim();
    if (line !== '' && !add(lines, line, line.toLowerCase())) break;
  }
  const sources: string[] = [];
  let partial = '';
  for (const [name, value] of attributes) {
    const key = name.toLowerCase();
    if (!EXCLUDED_ATTRIBUTES.has(key)) sources.push(value);
    else if (key === 'partial-text') partial = value;
  }
  const words: string[] = [];
  // Words are taken in the order of the text until the list is full: cutting after sorting would keep only the
  // first letters of the alphabet.
  collect: for (const source of sources.length > 0 ? sources : [partial]) {
    for (const word of wordsOf(source)) {
      if (
        word.length > 1 &&
        word.length <= MAX_WORD_LENGTH &&
        !STOP_WORDS.has(word) &&
        !add(words, word, word)
      )
        break collect;
    }
  }
  return [...lines, ...words.sort()].join('\n');
}

/**
 * Yields the words of a text piece by piece: the expression would exhaust its stack in a word of a million
 * letters.
 */
function* wordsOf(source: string): Iterable<string> {
  for (let start = 0; start < source.length; ) {
    const end = pieceEnd(source, start);
    const text = source.slice(start, end).toLowerCase();
    yield* text.match(/[^\x00-\x7f]/.test(text) ? WORD : ASCII_WORD) ?? [];
    start = end;
  }
}

/**
 * Index after the last line or blank of a piece; a longer word is cut, and its parts are too long for keywords.
 */
function pieceEnd(source: string, start: number): number {
  const end = start + PIECE_CHARACTERS;
  if (end >= source.length) return source.length;
  const piece = source.slice(start, end);
  const blank = Math.max(piece.lastIndexOf(' '), piece.lastIndexOf('\n'));
  return blank > 0 ? start + blank + 1 : end;
}
