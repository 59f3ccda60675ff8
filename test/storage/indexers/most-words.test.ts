// BRK-2.27: queries for most of their words.
import t from 'tap';
import { plainWordsOf } from '../../../storage/indexers/index.js';
import { EmbeddedFixture, expressionOf } from './embedded-fixture.js';

const MOST = { ignoreCase: true, matchWord: true, wantLines: false, mostWords: true } as const;
const FILLER = 'nothing of interest is said in this sentence and the next one of them '.repeat(4);

/** Objects most of which have a frequent word, and few have rare ones. */
async function openFixture(): Promise<EmbeddedFixture> {
  const fixture = await EmbeddedFixture.open();
  const rare = [
    'gopher veronica frequent',
    'gopher veronica',
    'gopher frequent',
    'veronica frequent',
    'gopher',
  ];
  const others = Array.from({ length: 45 }, (_, i) => (i % 6 > 0 ? 'frequent' : 'other'));
  await fixture.put(
    ...[...rare, ...others].map((text, i) => ({ Title: `T${i + 1}`, Body: `${FILLER}${text}` })),
  );
  return fixture;
}

t.test('BRK-2.27 an object may lack words that say little; others are required', async (t) => {
  await using fixture = await openFixture();
  const find = async (query: string, options = {}) => {
    const hits = await fixture.search(query, { ...MOST, ...options });
    return Object.fromEntries(hits.map(({ oid, lacks = 0 }) => [oid, lacks]));
  };
  t.same(await find('gopher veronica frequent', { mostWords: undefined }), { 1: 0 });
  const most = await find('gopher veronica frequent');
  t.same(
    most,
    { 1: 0, 2: 0b100, 3: 0b010, 4: 0b001, 5: 0b110 },
    'those with the frequent word alone are not found',
  );
  t.same(await find('gopher veronica frequent', { ordered: false }), most, 'in any order the same');
  t.same(
    await find('"gopher" veronica frequent'),
    { 1: 0, 2: 0b10, 3: 0b01 },
    'a word in quotes is required',
  );
  t.same(await find('title : t2 gopher veronica frequent'), { 2: 0b100 }, 'a tag is required');
  t.same(await find('(gopher or "mosaic") veronica'), await find('gopher veronica'), 'a word with its forms');
  t.same(Object.values(await find('"gopher" frequent')).length, 2, 'one plain word is required');
  t.same(Object.keys(await find('gopher or veronica')).length, 5, 'another operator is as without the flag');
  t.same(await find('gopher not frequent'), { 2: 0, 5: 0 });
  t.same(await find('gopher unheard'), { 1: 0b10, 2: 0b10, 3: 0b10, 5: 0b10 }, 'a word that no object has');
  t.same(await find('unheard unseen'), {});
  t.same(await find('the gopher'), { 1: 0, 2: 0, 3: 0, 5: 0 });
  const parts = await find('gophe veronic frequen', { matchWord: false });
  t.same(parts[1], 0, 'parts of words');
  t.same(parts[2], 0b100);
});

t.test(
  'BRK-2.27 the first hits have all words, limits and matched lines are as for other queries',
  async (t) => {
    await using fixture = await openFixture();
    const [first, ...others] = await fixture.search('gopher veronica frequent', MOST);
    t.equal(first?.oid, 1);
    t.ok(others.every(({ lacks }) => lacks !== undefined));
    const three = await fixture.search('gopher veronica frequent', { ...MOST, maxFiles: 3 });
    t.same(
      three.map(({ oid }) => oid),
      [first, ...others].slice(0, 3).map((hit) => hit?.oid),
    );
    const lines = await fixture.search('gopher veronica frequent', { ...MOST, wantLines: true });
    t.equal(lines.length, 5);
    t.ok(lines.every((hit) => hit.lines.some(({ text }) => /gopher|veronica/.test(text))));
  },
);

t.test('BRK-2.27 another form of a word is the word, unless the query names its forms', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  const texts = ['stash commits', 'stashing a commit', 'stash Commit', 'stash', 'commits', 'résumé stash'];
  const others = Array.from({ length: 20 }, () => 'another subject');
  await fixture.put(
    ...[...texts, ...others].map((text, i) => ({ Title: `T${i + 1}`, Body: `${FILLER}${text}` })),
  );
  const find = async (query: string, options = {}) => {
    const hits = await fixture.search(query, { ...MOST, ...options });
    return Object.fromEntries(hits.map(({ oid, lacks = 0 }) => [oid, lacks]));
  };
  const all = { 1: 0, 2: 0, 3: 0, 4: 0b10, 5: 0b01, 6: 0b10 };
  t.same(await find('stash commit'), all);
  t.same(await find('stash and (commit or "commits")'), all, 'forms of the other word');
  t.same(await find('stash commit', { mostWords: undefined }), { 3: 0 }, 'only with the flag');
  t.same(await find('stash commit', { matchWord: false }), all, 'parts of words');
  t.same((await find('stash commit', { ignoreCase: false }))[1], 0b10, 'not if case counts');
  t.same((await find('stash resume'))[6], 0b10, 'accents count');
  t.same((await find('stash resume', { ignoreAccents: true }))[6], 0, 'accents are ignored');
});

t.test('BRK-2.27 which words of a query are plain', (t) => {
  const plain = (query: string) => {
    const read = plainWordsOf(expressionOf(query));
    return read && { words: read.words.map(({ text }) => text), required: read.required.length };
  };
  t.same(plain('a b'), { words: ['a', 'b'], required: 0 });
  t.same(plain('a and ("b" and c) d'), { words: ['a', 'c', 'd'], required: 1 });
  t.same(plain('a and (b or "bs" or bb) and title : c'), { words: ['a', 'b'], required: 1 });
  t.same(plain('robots\\.txt is'), { words: ['robots.txt', 'is'], required: 0 });
  t.same(plain('a b#'), undefined, 'a pattern is required');
  t.same(plain('a and not b'), undefined);
  t.same(plain('a or b'), undefined);
  t.same(plain(Array.from({ length: 25 }, (_, i) => `w${i}`).join(' ')), undefined, 'too many');
  t.end();
});
