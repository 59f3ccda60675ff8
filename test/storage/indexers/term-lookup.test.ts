// The look-up of words for queries with spelling errors and patterns, and the first hits of a query with a
// limit.
import fc from 'fast-check';
import t from 'tap';
import { ApproximateMatcher } from '../../../storage/indexers/query/approximate.js';
import { approximateLookup, partLookup, regexpLookup } from '../../../storage/indexers/query/term-lookup.js';
import { pluck } from '../../helpers/pluck.js';
import { assertProperty } from '../../helpers/property.js';
import { EmbeddedFixture } from './embedded-fixture.js';

t.test('BRK-2.23 with one error, the look-up finds a word of every match', (t) => {
  const letters = fc.constantFrom('a', 'b', 'c');
  const word = (minLength: number, maxLength: number) =>
    fc.array(letters, { minLength, maxLength }).map((all) => all.join(''));
  assertProperty(
    fc.property(
      word(5, 8),
      fc.array(word(1, 9), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (pattern, words, whole) => {
        const line = words.join(' ');
        const lookup = approximateLookup(pattern, 1, whole, true)!;
        const verdicts = words.map((term) =>
          lookup.containing.some((text) => term.includes(text)) ? lookup.verdict(term) : undefined,
        );
        const matches = new ApproximateMatcher(pattern, 1, whole).test(line);
        if (matches)
          t.ok(
            verdicts.some((verdict) => verdict !== undefined),
            `${pattern} in ${line}`,
          );
        if (verdicts.includes('certain')) t.ok(matches, `${pattern} in ${line}`);
      },
    ),
    { numRuns: 2000 },
  );
  t.equal(approximateLookup('ab', 1, false, true), undefined, 'the pattern is too short to look up');
  t.equal(approximateLookup('two words', 1, false, true), undefined, 'the pattern is more than a word');
  t.end();
});

t.test('BRK-2.20, 2.22 single words decide about parts of words and patterns', (t) => {
  t.equal(partLookup('etwor')?.verdict('networks'), 'certain');
  t.equal(partLookup('a-b'), undefined, 'a word of the index has no hyphen');
  const test = (text: string) => /n.twork/.test(text);
  t.equal(regexpLookup('n.twork', ['n', 'twork'], test)?.verdict('networks'), 'certain');
  t.equal(regexpLookup('n.twork', ['n', 'twork'], test)?.verdict('artwork'), undefined);
  t.same(regexpLookup('n.twork', ['n', 'twork'], test)?.containing, ['twork']);
  t.equal(
    regexpLookup('^n.twork', ['n', 'twork'], test),
    undefined,
    'a word does not know where its line begins',
  );
  t.end();
});

t.test('BRK-8.11 a limit returns the first of all hits, each once', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(
    ...Array.from({ length: 300 }, (_, i) => ({
      // Rarer words weigh the same, shorter texts more.
      Title: i % 7 === 0 ? 'apple pie' : 'plum',
      Body: `${'filler '.repeat(i % 50)} apple networking ${i % 3 === 0 ? 'apple tree' : 'tree'} color of zzz${i}`,
    })),
  );
  for (const [query, options] of [
    ['apple', { matchWord: true }],
    ['apple and plum', { matchWord: true }],
    ['tree and not pie', { matchWord: true }],
    ['"apple tree"', { matchWord: true }],
    ['etwork', {}],
    ['netwxrking', { errors: 1 }],
    ['netw.rk', {}],
    ['title : apple', { matchWord: true }],
  ] as const) {
    for (const wantLines of [false, true]) {
      const all = await fixture.searchAll(query, { ...options, ignoreCase: true, wantLines });
      const few = await fixture.searchAll(query, { ...options, ignoreCase: true, wantLines, maxFiles: 10 });
      t.equal(all.outcome.complete, true);
      t.ok(all.hits.length > 10, query);
      t.equal(new Set(all.hits.map(({ oid }) => oid)).size, all.hits.length);
      t.same(few.hits, all.hits.slice(0, 10), query);
      t.same(few.outcome, { complete: false, reason: 'limit', warnings: [] });
      const exactly = await fixture.searchAll(query, {
        ...options,
        ignoreCase: true,
        wantLines,
        maxFiles: all.hits.length + 1,
      });
      t.same(exactly.hits, all.hits, 'a limit that is not reached has no effect');
      t.equal(exactly.outcome.complete, true);
    }
  }
});

t.test('BRK-2.23 matches across two words come after those within one word', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(
    { Body: 'con currency' },
    { Body: 'concurrency' },
    { Body: 'concurrency' },
    { Body: 'nothing' },
  );
  const options = { ignoreCase: true, errors: 1, wantLines: false };
  t.same(await fixture.oids('concurrency', options), [1, 2, 3]);
  const few = await fixture.search('concurrency', { ...options, maxFiles: 2 });
  t.same(pluck(few, 'oid'), [2, 3]);
  const three = await fixture.search('concurrency', { ...options, maxFiles: 3 });
  t.same(pluck(three, 'oid'), [2, 3, 1]);
});
