// Terms of a query in the spellings of a text.
import fc from 'fast-check';
import t from 'tap';
import { TermFinder } from '../../../clients/broker/query-terms.js';
import { assertProperty } from '../../helpers/property.js';

const WORDS = { ignoreCase: true, matchWord: true } as const;
const LETTERS = { ...WORDS, ignoreAccents: true } as const;
const CONTENT = { ...LETTERS, contentOnly: true } as const;

function found(text: string, term: string, matching: Parameters<typeof TermFinder.of>[1]): string[] {
  const ranges = TermFinder.of([term], matching)?.matches(text) ?? [];
  return Array.from(ranges, ({ start, end }) => text.slice(start, end));
}

t.test('a term is found as the text spells it', (t) => {
  t.same(found('the Cafe\u0301, CAF\u00c9 and cafe', 'caf\u00e9', WORDS), ['Cafe\u0301', 'CAF\u00c9']);
  t.same(found('the Cafe\u0301, CAF\u00c9 and cafe', 'cafe', LETTERS), ['Cafe\u0301', 'CAF\u00c9', 'cafe']);
  t.same(found('soft\u00adware', 'software', WORDS), ['soft\u00adware']);
  t.same(found('a retry\u2010backoff, retry  backoff', 'retry-backoff', WORDS), [
    'retry\u2010backoff',
    'retry  backoff',
  ]);
  t.same(found('StringBuilder of pg_hba', 'builder', CONTENT), ['Builder']);
  t.same(found('StringBuilder of pg_hba', 'string builder', CONTENT), ['StringBuilder']);
  t.same(found('StringBuilder of pg_hba', 'pg hba', CONTENT), ['pg_hba']);
  t.same(found('StringBuilder of pg_hba', 'stringbuilder', CONTENT), ['StringBuilder']);
  t.same(found('StringBuilder of pg_hba', 'builder', LETTERS), [], 'only for content');
  t.end();
});

t.test('property: a match is a part of the text, and the matches are in order', async () => {
  const text = fc
    .array(
      fc.constantFrom(...'aB\u00e9e\u0301\u00df\u00ad\u200b_- \u2019\u05e9\u05c1\ud83d\ude00', 'aB', 'fo_o'),
    )
    .map((parts) => parts.join(''));
  assertProperty(
    fc.property(text, text, fc.constantFrom(WORDS, LETTERS, CONTENT), (whole, term, matching) => {
      let last = 0;
      for (const { start, end } of TermFinder.of([term], matching)?.matches(whole) ?? []) {
        if (start < last || end <= start || end > whole.length) return false;
        last = end;
      }
      return true;
    }),
  );
});
