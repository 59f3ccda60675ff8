// The other forms of the words of a query for most of its words (BRK-2.27): for a person they are the word.
import { type Expression, lettersOf } from '../../../../protocols/broker/index.js';
import type { Matching } from '../../query/leaf.js';
import type { PlainWord, PlainWords } from '../../query/plain-words.js';
import { fold } from '../../query/words.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { FormFinder } from '../words/form-finder.js';

/** Words of a query and forms of them: an index answers short queries much faster. */
const MAX_TERMS = 28;

/**
 * Adds the other forms of the words of which the query does not name any. Letters with other accents are forms, too, if
 * the query ignores accents.
 */
export async function withForms(
  { required, words }: PlainWords,
  options: Matching,
  forms: Pick<FormFinder, 'read'>,
  slice: TimeSlice,
): Promise<PlainWords> {
  const most = Math.max(0, Math.floor(MAX_TERMS / words.length) - 1);
  const extended: PlainWord[] = [];
  for (const word of words) {
    const mayHave = word.expression.kind === 'term' && options.ignoreCase;
    const folded = fold(word.text);
    const found = mayHave ? (await forms.read(folded, slice)).forms : [];
    const others = found
      .filter((form) => options.ignoreAccents === true || lettersOf(form) !== lettersOf(folded))
      .filter((form) => options.matchWord || !form.includes(folded))
      .slice(0, most)
      .map((text): Expression => ({ kind: 'term', text, quoted: true, offset: 0 }));
    const expression = [word.expression, ...others].reduceRight((right, left) => ({
      kind: 'or',
      left,
      right,
    }));
    extended.push({ ...word, expression });
  }
  return { required, words: extended };
}
