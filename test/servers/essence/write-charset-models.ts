/**
 * Writes the models of `servers/essence/charset/`: how often one letter follows another in a language, and how
 * often an ideograph or a syllable occurs. They are counted in the translations of programs
 * (`LC_MESSAGES/*.mo`), which are below DIRECTORY.
 *
 *     node dist/test/servers/essence/write-charset-models.js [DIRECTORY]     (default: /usr/share/locale)
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogMessages } from '../../helpers/message-catalogs.js';

/** Languages by the alphabet of the letters that count. */
const ALPHABETS: readonly (readonly [languages: string, letters: RegExp])[] = [
  ['ru uk be bg sr mk', /^\p{Script=Cyrillic}$/u],
  ['el', /^\p{Script=Greek}$/u],
  ['he', /^\p{Script=Hebrew}$/u],
  ['ar fa', /^(?:\p{Script=Arabic}|\p{Script=Inherited})$/u],
  ['th', /^\p{Script=Thai}$/u],
  [
    'en de fr es pt it nl sv da nb fi is ca pl cs sk hu ro hr sl sq tr lt lv et eo vi',
    /^(?:\p{Script=Latin}|\p{Script=Inherited})$/u,
  ],
];
const IDEOGRAPHIC: readonly string[] = ['ja', 'zh_CN', 'zh_TW', 'ko'];
/** The least share of a letter of a language. */
const MIN_SHARE = 6e-5;
/** Costs are quarters of a bit; the largest is 63. */
const STEPS_PER_BIT = 4;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** Characters of an ideographic language that are counted. */
const MAX_CHARACTERS = 3000;
const TARGET = join('servers', 'essence', 'charset');
const HEAD = '// Written by test/servers/essence/write-charset-models.ts: do not edit.\n';

/** Their texts are those of test/peers/essence-charsets.ts. */
const TEST_CATALOGS = new Set(['gnome-control-center-2.0.mo', 'gnome-control-center-2.0-timezones.mo']);

const directory = process.argv[2] ?? '/usr/share/locale';

/** Pairs of original and translation of all catalogs of a language. */
function* translations(language: string): Generator<readonly [original: string, translation: string]> {
  const messages = join(directory, language, 'LC_MESSAGES');
  for (const name of readdirSync(messages).sort()) {
    if (!name.endsWith('.mo') || TEST_CATALOGS.has(name)) continue;
    yield* catalogMessages(readFileSync(join(messages, name)));
  }
}

/**
 * Letters as the character sets have them: Vietnamese tones are apart in windows-1258, Romanian letters have
 * cedillas.
 */
function folded(text: string, language: string): string {
  const lower = text.toLowerCase().normalize('NFC');
  if (language === 'ro') return lower.replaceAll('ș', 'ş').replaceAll('ț', 'ţ');
  if (language !== 'vi') return lower;
  return lower
    .normalize('NFD')
    .replace(/([aeo])([\u0323]?)\u0302/g, '$1\u0302$2')
    .replace(/(a)([\u0323]?)\u0306/g, '$1\u0306$2')
    .replace(/([aeo]\u0302|a\u0306|[ou]\u031b)/g, (letter) => letter.normalize('NFC'));
}

function letterModel(language: string, alphabet: RegExp): string {
  const words = new Map<string, number>();
  const latin = alphabet.test('a');
  const source =
    language === 'en'
      ? ['de', 'fr', 'ru'].flatMap((other) => [...translations(other)].map(([original]) => original))
      : [...translations(language)].map(([, translation]) => translation);
  for (const text of source) {
    for (const word of folded(text, language).match(/[\p{L}\p{M}]+/gu) ?? []) {
      const letters = [...word];
      if (!letters.every((letter) => alphabet.test(letter))) continue;
      // Only words with other letters than ASCII's are looked at. English has nearly none.
      if (latin && language !== 'en' && /^[a-z]+$/.test(word)) continue;
      words.set(word, (words.get(word) ?? 0) + 1);
    }
  }
  // A word that a few programs use all the time is not that frequent in a text.
  const weighted = [...words].map(([word, count]) => [[...word], Math.sqrt(count)] as const);
  const singles = new Map<string, number>();
  let total = 0;
  for (const [letters, weight] of weighted) {
    total += letters.length * weight;
    for (const letter of letters) singles.set(letter, (singles.get(letter) ?? 0) + weight);
  }
  const letters = [...singles.keys()]
    .filter((letter) => (singles.get(letter) ?? 0) / total >= MIN_SHARE)
    .sort();
  const size = letters.length + 1;
  const index = new Map(letters.map((letter, i) => [letter, i + 1]));
  const pairs = new Float64Array(size * size);
  for (const [word, weight] of weighted) {
    let previous = 0;
    for (const letter of [...word, '']) {
      const next = index.get(letter) ?? 0;
      const at = previous * size + next;
      pairs[at] = (pairs[at] ?? 0) + weight;
      previous = next;
    }
  }
  const columns = Array.from({ length: size }, (_, next) =>
    Array.from({ length: size }, (_, row) => pairs[row * size + next] ?? 0).reduce((a, b) => a + b, 0),
  );
  const all = columns.reduce((a, b) => a + b, 0);
  let costs = '';
  for (let row = 0; row < size; row++) {
    const sum = pairs.subarray(row * size, (row + 1) * size).reduce((a, b) => a + b, 0);
    for (let next = 0; next < size; next++) {
      const smoothed = ((pairs[row * size + next] ?? 0) + (8 * (columns[next] ?? 0)) / all) / (sum + 8);
      costs += DIGITS[Math.max(0, Math.min(63, Math.round(-Math.log2(smoothed) * STEPS_PER_BIT)))];
    }
  }
  return `  {\n    language: '${language}',\n    letters: '${letters.join('')}',\n    costs:\n      '${costs}',\n  },\n`;
}

function characterModel(language: string): string {
  const counts = new Map<string, number>();
  let total = 0;
  for (const [, text] of translations(language)) {
    for (const character of text.normalize('NFC').match(/[\u2e80-\u9fff\uac00-\ud7a3\uf900-\uffef]/g) ?? []) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
      total++;
    }
  }
  const order = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MAX_CHARACTERS);
  const byCost: string[] = [];
  for (const [character, count] of order) {
    if (count < 2) break;
    const cost = Math.min(16, Math.round(-Math.log2(count / total)));
    byCost[cost] = `${byCost[cost] ?? ''}${character}`;
  }
  const lines = Array.from(byCost, (characters) => `      '${characters ?? ''}',\n`);
  return `  {\n    language: '${language.replace('_', '-')}',\n    byCost: [\n${lines.join('')}    ],\n  },\n`;
}

const letterModels = ALPHABETS.flatMap(([languages, letters]) =>
  languages.split(' ').map((language) => letterModel(language, letters)),
);
writeFileSync(
  join(TARGET, 'letter-models.ts'),
  `${HEAD}
/** How probable it is in a language that one letter follows another. */
export interface LetterModel {
  readonly language: string;
  /** Its letters; the start and the end of a word precede them as number 0. */
  readonly letters: string;
  /** Rows by first letter, columns by second: a base64 digit, the cost in quarters of a bit. */
  readonly costs: string;
}

export const LETTER_MODELS: readonly LetterModel[] = [
${letterModels.join('')}];
`,
);
writeFileSync(
  join(TARGET, 'character-models.ts'),
  `${HEAD}
/** How probable the characters of a language are. */
export interface CharacterModel {
  readonly language: string;
  /** Characters by their cost in bits. */
  readonly byCost: readonly string[];
}

export const CHARACTER_MODELS: readonly CharacterModel[] = [
${IDEOGRAPHIC.map(characterModel).join('')}];
`,
);
