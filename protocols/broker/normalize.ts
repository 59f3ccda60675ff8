/**
 * What counts as the same text, whatever code points spell it: the one step before words are separated and compared, in
 * the index, in the matcher and in queries.
 *
 * - {@link normalize} always: canonical equivalence; characters that cannot be seen; the apostrophes and hyphens of
 *   typography.
 * - {@link lettersOf} for requests that ask for it, and for ranking: accents, vowel points, compatibility forms,
 *   ligatures and letters such as `ß` (`ss`).
 *
 * Neither adds or removes line ends.
 */

const NOT_ASCII = /[^\0-\x7f]/;
/**
 * The ranges beyond ASCII with letters, marks or other characters that canonical equivalence changes: not those of quotes
 * and dashes, which are all that most texts of English have.
 */
const FOREIGN = /[\xaa-\u2001\u2070-\uffff]/;

/** Characters that leave no trace: soft hyphens, joiners, marks of direction, selectors of glyphs. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

const APOSTROPHES = '\u00b4\u02b9\u02bb\u02bc\u02bd\u05f3\u1ffd\u2018\u2019\u201b\u2032\ua78c\uff07';
const HYPHENS = '\u058a\u05be\u1806\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d';

const TYPOGRAPHY = new RegExp(`${INVISIBLE.source}|([${APOSTROPHES}])|[${HYPHENS}]`, 'gu');

/** The text in one spelling: see above. A text of ASCII is returned as it is. */
export function normalize(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  return composed(text.replace(TYPOGRAPHY, plainOf));
}

/** More marks than any letter has: so many at a time are put in order, which takes the square of their number. */
const MANY_MARKS = /\p{M}{30}/gu;
/** The ranges of the basic plane with marks, and halves of characters beyond it: found ten times faster than `\p{M}`. */
const MARKS =
  '\u0300-\u036f\u0483-\u0489\u0591-\u1fff\u20d0-\u20ff\u2cef-\u30ff\ua66f-\uabff\ud800-\udfff\ufb1e-\ufe2f';
const MAY_BE_MARK = new RegExp(`[${MARKS}]`);
/** Keeps marks on both sides of it apart, and cannot be seen. */
const JOINER = '\u034f';

/** The text with each letter and its marks as one code point, where there is one. */
function composed(text: string): string {
  if (!FOREIGN.test(text)) return text;
  const safe = MAY_BE_MARK.test(text) ? text.replace(MANY_MARKS, `$&${JOINER}`) : text;
  return safe === text ? text.normalize('NFC') : safe.normalize('NFC').replaceAll(JOINER, '');
}

function plainOf(character: string, apostrophe: string | undefined): string {
  if (apostrophe !== undefined) return "'";
  return INVISIBLE.test(character) ? '' : '-';
}

/**
 * Accents, and the vowel points of Semitic scripts, which texts have or lack. Marks that make another letter or carry the
 * vowel of a syllable are letters here: the breve of `й`, the voicing marks of Japanese, the signs of Indian scripts.
 */
const MARK =
  /(?![\u3099\u309a])(?=[\p{Script=Inherited}\p{Script=Arabic}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Nko}\p{Script=Syriac}])\p{M}|\u0640/gu;

/** Letters that are no other letter with a mark, though readers take them for one. */
const LETTERS = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ħ', 'h'],
  ['ı', 'i'],
  ['ł', 'l'],
  ['ŧ', 't'],
  ['ς', 'σ'],
]);

const KNOWN = new Map<string, string>();
const ONLY_WORD = /^[\p{L}\p{M}\p{N}_]*$/u;
/** Each character of {@link FOREIGN}; with the flag `u` it would take twice the time. */
const MAY_BE_LETTER =
  /[\xaa-\u2001\u2070-\ud7ff\ue000-\uffff]|[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g;

/**
 * The letters of a text that {@link normalize} and case folding have made: without accents and vowel points, and with
 * plain letters in place of compatibility forms. `café`, `cafe` and `ＣＡＦＥ` are one.
 */
export function lettersOf(folded: string): string {
  return FOREIGN.test(folded) ? composed(folded.replace(MAY_BE_LETTER, letterOf)) : folded;
}

function letterOf(character: string): string {
  let known = KNOWN.get(character);
  if (known === undefined) {
    known = readLetter(character);
    KNOWN.set(character, known);
  }
  return known;
}

function readLetter(character: string): string {
  // Another letter than и, and what separates words stays as it is.
  if (character === 'й' || character === 'Й' || !ONLY_WORD.test(character)) return character;
  const plain = character.normalize('NFKD').replace(MARK, '').normalize('NFC');
  const letters = Array.from(plain, plainLetter).join('');
  return ONLY_WORD.test(letters) ? letters : character;
}

function plainLetter(letter: string): string {
  const lower = letter.toLowerCase();
  const plain = LETTERS.get(lower);
  if (plain === undefined) return letter;
  return letter === lower ? plain : plain.toUpperCase();
}
