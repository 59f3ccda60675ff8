// Words of the index for suggestions.
import fc from 'fast-check';
import t from 'tap';
import { editDistance } from '../../../protocols/edit-distance.js';
import type { WordRequest } from '../../../storage/indexers/index.js';
import { assertProperty } from '../../helpers/property.js';
import { EmbeddedFixture } from './embedded-fixture.js';

/** The definition: insertions, deletions, substitutions and exchanges of neighbors. */
function plainDistance(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length + b.length;
  const [x, ...restA] = a;
  const [y, ...restB] = b;
  const options = [
    plainDistance(restA, restB) + (x === y ? 0 : 1),
    plainDistance(restA, b) + 1,
    plainDistance(a, restB) + 1,
  ];
  if (a.length > 1 && b.length > 1 && x === b[1] && a[1] === y)
    options.push(plainDistance(a.slice(2), b.slice(2)) + 1);
  return Math.min(...options);
}

t.test('the distance of two words, up to a maximum', async (t) => {
  const word = fc.array(fc.constantFrom('a', 'b', 'c', '\u{1f600}'), { maxLength: 5 });
  assertProperty(
    fc.property(word, word, fc.nat(4), (a, b, max) => {
      t.equal(editDistance(a, b, max), Math.min(plainDistance(a, b), max + 1));
    }),
    { numRuns: 300 },
  );
});

/** The words for a request, without a limit of time that a slow machine reaches. */
async function wordsFor(
  { indexer }: EmbeddedFixture,
  kind: WordRequest['kind'],
  text: string,
  limit = 10,
): Promise<string[]> {
  const words = await indexer.words?.({ kind, text, limit, lifetimeMs: 60_000 });
  return (words ?? []).map(({ word, objects }) => `${word} ${objects}`);
}

t.test('completions: the most frequent words first', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(
    { Title: 'Replication', Body: 'replicas of a replica, Реплика, Café, Écologie' },
    { Title: 'replication slots', Body: 'a word' },
    { Title: 'replicas', Body: 'replication' },
  );
  t.same(await wordsFor(fixture, 'completions', 'REPL'), ['replication 3', 'replicas 2', 'replica 1']);
  t.same(await wordsFor(fixture, 'completions', 'repl', 1), ['replication 3']);
  t.same(await wordsFor(fixture, 'completions', 'реп'), ['реплика 1']);
  t.same(await wordsFor(fixture, 'completions', 'caf'), ['café 1'], 'whatever their accents');
  t.same(await wordsFor(fixture, 'completions', 'cafe'), ['café 1']);
  t.same(await wordsFor(fixture, 'completions', 'ecol'), ['écologie 1']);
  t.same(await wordsFor(fixture, 'completions', 'r'), [], 'one letter is no beginning');
  t.same(await wordsFor(fixture, 'completions', 'zz'), []);
});

t.test('neighbors: words that differ in one place, in two if they are long', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(
    { Title: 'vacuum', Body: 'postgres the search' },
    { Title: 'the vacuum', Body: 'serach' },
    { Title: 'the server search', Body: '' },
    { Title: 'search', Body: 'starch' },
  );
  t.same(await wordsFor(fixture, 'neighbors', 'vaccum'), ['vacuum 2']);
  t.same(await wordsFor(fixture, 'neighbors', 'vacuums'), ['vacuum 2']);
  t.same(await wordsFor(fixture, 'neighbors', 'ostgres'), ['postgres 1'], 'the first letter is missing');
  t.same(await wordsFor(fixture, 'neighbors', 'hte'), ['the 3'], 'the first letters are exchanged');
  t.same(
    await wordsFor(fixture, 'neighbors', 'seach'),
    ['search 3', 'serach 1', 'starch 1'],
    'the nearest and most frequent first, without the word itself',
  );
  t.same(await wordsFor(fixture, 'neighbors', 'xyzzy'), []);
  t.same(await wordsFor(fixture, 'neighbors', 'th'), [], 'too short');
});

t.test('words of removed objects are not listed; an abort and a closed index end a request', async (t) => {
  const fixture = await EmbeddedFixture.open();
  await fixture.put({ Title: 'ephemeral' }, { Title: 'lasting' });
  t.same(await wordsFor(fixture, 'completions', 'eph'), ['ephemeral 1']);
  const { indexer } = fixture;
  await indexer.beginUpdate();
  await indexer.remove(1);
  await indexer.flush(3);
  t.same(await wordsFor(fixture, 'completions', 'eph'), []);
  const request = { kind: 'completions', text: 'las', limit: 1, lifetimeMs: 60_000 } as const;
  await t.rejects(
    async () => indexer.words?.({ ...request, signal: AbortSignal.abort(new Error('gone')) }),
    /gone/,
  );
  const stop = new AbortController();
  const listing = indexer.words?.({ ...request, signal: stop.signal });
  stop.abort(new Error('gone later'));
  await t.rejects(async () => listing, /gone later/);
  await fixture[Symbol.asyncDispose]();
  await t.rejects(async () => indexer.words?.(request), /closed/);
});
