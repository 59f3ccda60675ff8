// Words with spelling errors as queries of OpenSearch, beside the matcher: what it finds, they find.
import fc from 'fast-check';
import t from 'tap';
import { nearQuery } from '../../../storage/indexers/opensearch/near-words.js';
import { ApproximateMatcher } from '../../../storage/indexers/query/approximate.js';
import { fold, wordsOf } from '../../../storage/indexers/query/words.js';
import { assertProperty } from '../../helpers/property.js';

/** Insertions, deletions and substitutions. */
function distance(a: readonly string[], b: readonly string[]): number {
  let row = b.map((_, j) => j + 1);
  for (const [i, x] of a.entries()) {
    let before = i;
    let left = i + 1;
    row = b.map((y, j) => {
      const cost = Math.min(before + (x === y ? 0 : 1), left + 1, row[j]! + 1);
      before = row[j]!;
      left = cost;
      return cost;
    });
  }
  return b.length === 0 ? a.length : row.at(-1)!;
}

/** What OpenSearch does with such a query. */
function matches(query: object, words: readonly string[]): boolean {
  const [[kind, value] = []] = Object.entries(query as Record<string, unknown>);
  const only = <T>(part: unknown): T => Object.values(part as Record<string, T>)[0]!;
  switch (kind) {
    case 'bool': {
      const { should, filter } = value as { should?: object[]; filter?: object[] };
      const isOne = should === undefined || should.some((part) => matches(part, words));
      return isOne && (filter ?? []).every((part) => matches(part, words));
    }
    case 'terms':
      return words.some((word) => only<string[]>(value).includes(word));
    case 'fuzzy': {
      const near = only<{ value: string; fuzziness: number }>(value);
      return words.some((word) => distance(Array.from(word), Array.from(near.value)) <= near.fuzziness);
    }
    case 'regexp': {
      const pattern = new RegExp(`^(?:${only<{ value: string }>(value).value})$`, 'su');
      return words.some((word) => pattern.test(word));
    }
    default:
      throw new Error(`an unknown query: ${String(kind)}`);
  }
}

t.test('every line with the word is found, also across words and whatever the case', async (t) => {
  const letter = fc.constantFrom('a', 'b', 'A', 'B', 'İ', '\u{1f600}', 'é');
  const text = fc.string({ unit: letter, minLength: 2, maxLength: 6 });
  const separator = fc.constantFrom(' ', ', ', '-', '  ');
  const lines = fc.array(fc.tuple(fc.string({ unit: letter, maxLength: 5 }), separator), { maxLength: 5 });
  let found = 0;
  assertProperty(
    fc.property(
      text,
      lines,
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      fc.boolean(),
      (raw, parts, most, matchWord, ignoreCase) => {
        const folded = fold(raw);
        if (wordsOf(folded)[0]?.text !== folded) return;
        const errors = Math.min(most, Array.from(folded).length - 1);
        const line = parts.flat().join('');
        const query = nearQuery({ text: folded, errors, matchWord, ignoreCase }, 'all');
        const [searched, pattern] = ignoreCase ? [fold(line), folded] : [line, raw];
        if (query === undefined || !new ApproximateMatcher(pattern, errors, matchWord).test(searched)) return;
        found++;
        t.ok(
          matches(
            query,
            wordsOf(fold(line)).map((word) => word.text),
          ),
          `${raw} in ${line}`,
        );
      },
    ),
    { numRuns: 5000 },
  );
  t.ok(found > 20, `${found} lines have the word`);
});

t.test('short words have few candidates, where that can be', async (t) => {
  const finds = (text: string, errors: number, matchWord: boolean, line: string) => {
    const query = nearQuery({ text, errors, matchWord, ignoreCase: true }, 'all');
    return query === undefined || matches(query, line.split(' '));
  };
  t.notOk(finds('bakx', 1, true, 'bakery bakes a bad ax'), 'a part of a word is no candidate');
  t.ok(finds('bakx', 1, true, 'a bak'));
  t.ok(finds('bakx', 1, true, 'ba kx'));
  t.notOk(finds('bakx', 2, true, 'bakery bread of wheat'));
  t.notOk(finds('bakx', 1, false, 'back ups'));
  t.ok(finds('bakx', 1, false, 'bakery'));
  t.equal(nearQuery({ text: 'bakx', errors: 3, matchWord: true, ignoreCase: true }, 'all'), undefined);
  t.equal(
    nearQuery({ text: 'b'.repeat(80), errors: 2, matchWord: true, ignoreCase: true }, 'all'),
    undefined,
  );
});
