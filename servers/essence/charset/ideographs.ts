// How improbable a text is in a character set of Chinese, Japanese or Korean: the cost of its characters.
import { CHARACTER_MODELS } from './character-models.js';

/** Costs in bits, beside those of the models. */
const UNKNOWN_CHARACTER = 17;
const HALF_WIDTH = 13;
const SYMBOL = 20;
const INVALID = 25;
const ASCII_LETTER = 4.5;
const ASCII_LETTER_IN_WORD = 5;
const END = 2;

const costsByLanguage = new Map<string, Map<string, number>>();

function characterCosts(language: string): Map<string, number> {
  let costs = costsByLanguage.get(language);
  if (costs === undefined) {
    costs = new Map();
    const model = CHARACTER_MODELS.find((candidate) => candidate.language === language);
    for (const [cost, characters] of (model?.byCost ?? []).entries())
      for (const character of characters) costs.set(character, cost);
    costsByLanguage.set(language, costs);
  }
  return costs;
}

/**
 * The cost of words (of {@link highRuns}) in bits, if they are in this language and character set of several
 * bytes.
 *
 * @param limit - a cost from which on the exact one does not matter
 */
export function characterCost(runs: Uint8Array, label: string, language: string, limit: number): number {
  const costs = characterCosts(language);
  const text = new TextDecoder(label).decode(runs);
  let sum = 0;
  let previous = '\n';
  for (const character of text) {
    sum += costs.get(character) ?? otherCost(character, previous);
    if (sum > limit) break;
    previous = character;
  }
  return sum;
}

function otherCost(character: string, previous: string): number {
  const code = character.charCodeAt(0);
  if (code < 0x80) {
    if (character === '\n') return END;
    if (!/[A-Za-z]/.test(character)) return 0;
    return ASCII_LETTER + (previous.charCodeAt(0) > 0x7f ? ASCII_LETTER_IN_WORD : 0);
  }
  if (code === 0xfffd || (code >= 0xe000 && code < 0xf900) || code < 0xa0) return INVALID;
  if ((code >= 0x2e80 && code < 0xd800) || (code >= 0xff00 && code < 0xff60)) return UNKNOWN_CHARACTER;
  if (code >= 0xff61 && code < 0xffa0) return HALF_WIDTH;
  return SYMBOL;
}
