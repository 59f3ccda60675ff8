// Words with spelling errors as queries of OpenSearch, which compares them with the words of the index. Errors may also be
// between words: `sea shell` is `seashell` with one error.
import type { Approximate } from '../query/leaf.js';
import type { IndexQuery } from './index-query.js';

/** Errors above which words are looked up by their unchanged parts. */
const MAX_ERRORS = 2;
/** Longest word of which parts of words are compared, in characters: there is a pattern for each place. */
const MAX_PART = 12;
/** OpenSearch refuses longer patterns. */
const MAX_PATTERN = 1_000;
/** What a letter that folds to two may be written with: an error in the text is two in the index. */
const TWO_LETTERS = '\u0307';

/**
 * Returns a query that finds every object that has a word with errors in a field, and others; undefined if nearly all objects
 * may have it, or it is looked up in another way.
 */
export function nearQuery(
  { text, errors, matchWord, ignoreCase }: Approximate,
  field: string,
): IndexQuery | undefined {
  const characters = Array.from(text);
  if (errors > MAX_ERRORS || (!ignoreCase && text.includes(TWO_LETTERS))) return undefined;
  const found = matchWord ? wholeWords(characters, errors, field) : partsOfWords(characters, errors, field);
  if (found === undefined || found.some(isTooLong)) return undefined;
  if (!ignoreCase) found.push(pattern(field, `.*${TWO_LETTERS}.*`));
  return { bool: { should: found, minimum_should_match: 1 } };
}

/**
 * A word of the index, or several with one error between each two: then the first one is like a beginning of the text, and the
 * last one like an end of it, and one of them has the other errors.
 */
function wholeWords(characters: readonly string[], errors: number, field: string): IndexQuery[] {
  const value = characters.join('');
  const near = { value, fuzziness: errors, transpositions: false, rewrite: 'constant_score' };
  const places = characters.slice(1).map((_, i) => i + 1);
  const starts = places.map((place) => characters.slice(0, place));
  const ends = places.map((place) => characters.slice(place));
  const exactly = (parts: readonly (readonly string[])[]): IndexQuery => ({
    terms: { [field]: parts.map((part) => part.join('')) },
  });
  const nearly = (parts: readonly (readonly string[])[]) =>
    pattern(field, parts.flatMap(withOneError).join('|'));
  const both = (first: IndexQuery, last: IndexQuery): IndexQuery => ({ bool: { filter: [first, last] } });
  const split =
    places.length === 0
      ? []
      : errors === 1
        ? [both(exactly(starts), exactly(ends))]
        : [both(nearly(starts), exactly(ends)), both(exactly(starts), nearly(ends))];
  return [{ fuzzy: { [field]: near } }, ...split];
}

/** A part of a word, or with one error between two words the end of one and the beginning of the other. */
function partsOfWords(
  characters: readonly string[],
  errors: number,
  field: string,
): IndexQuery[] | undefined {
  if (errors > 1 || characters.length > MAX_PART) return undefined;
  const text = (from: number, to?: number) => characters.slice(from, to).join('');
  const inside = pattern(field, `.*(${withOneError(characters).join('|')}).*`);
  const split = characters.slice(1).map((_, i): IndexQuery => {
    const end = pattern(field, `.*${text(0, i + 1)}`);
    // Without the last character it is inside of a word.
    const rest = [text(i + 1), text(i + 2)].filter((part) => part !== '');
    return { bool: { filter: [end, pattern(field, `(${rest.join('|')}).*`)] } };
  });
  return [inside, ...split];
}

/** Patterns of a text with at most one error: at each place none, one or two characters instead of one. */
function withOneError(characters: readonly string[]): string[] {
  return characters.map(
    (_, i) => `${characters.slice(0, i).join('')}.{0,2}${characters.slice(i + 1).join('')}`,
  );
}

/** Words consist of letters, digits and `_`, which have no meaning in a pattern. */
function pattern(field: string, value: string): IndexQuery {
  return { regexp: { [field]: { value, rewrite: 'constant_score', max_determinized_states: 20_000 } } };
}

function isTooLong(query: IndexQuery): boolean {
  const patterns = JSON.stringify(query).matchAll(/"value":"([^"]*)"/g);
  return [...patterns].some(([, value = '']) => value.length > MAX_PATTERN);
}
