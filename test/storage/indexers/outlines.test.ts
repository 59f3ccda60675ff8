// What the best objects of a query say first, and how they link to each other, in their order.
import t from 'tap';
import { SoifObject } from '../../../protocols/soif/index.js';
import { hashOf, linkLinesOf, urlDigest } from '../../../storage/indexers/embedded/index/link-texts.js';
import { eachLink, outlineOf } from '../../../storage/indexers/embedded/index/outlines.js';
import { EmbeddedFixture, type ObjectAttributes, objectOf } from './embedded-fixture.js';

const PAGE = { ignoreCase: true, matchWord: true, wantLines: false } as const;
const FILLER = 'nothing of interest is said in this sentence and the next one of them '.repeat(8);
const BODY = `the and of ${FILLER} thread ${FILLER} pools ${FILLER}`;

async function oidsFor(
  query: string,
  ...objects: readonly (ObjectAttributes & { readonly url: string })[]
): Promise<number[]> {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(...objects);
  return (await fixture.search(query, PAGE)).map(({ oid }) => oid);
}

const page = (name: string, links: string, body = BODY) => ({
  url: `http://h/${name}`,
  Title: `Page ${name}`,
  Body: body,
  'Link-Text': links,
});

t.test('words at the beginning of a text count more than later ones', async (t) => {
  const late = `${FILLER} gopher ${FILLER} veronica`;
  const first = `gopher of ${FILLER} veronica ${FILLER}`;
  t.same(await oidsFor('gopher and veronica', page('a', '', late), page('b', '', first)), [2, 1]);
  t.same(await oidsFor('gopher and veronica', page('a', '', first), page('b', '', late)), [1, 2]);
});

t.test('objects to which others of the best link come first', async (t) => {
  const link = 'http://h/b see there\nhttp://h/b and there';
  const found = await oidsFor('thread', page('a', ''), page('b', ''), page('c', link), page('d', link));
  t.equal(found[0], 2);
  const elsewhere = page('c', link, `${FILLER} another subject`);
  t.same(
    await oidsFor('thread', page('a', ''), page('b', ''), elsewhere),
    [1, 2],
    'not those of other pages',
  );
  t.same(
    await oidsFor('thread', page('a', 'http://h/a x'), page('b', 'http://h/z x')),
    [1, 2],
    'nor one to itself',
  );
});

t.test('a link counts by the words of the query that it has, and by how few others', async (t) => {
  const named = (first: string, second: string) =>
    oidsFor(
      'thread and pools',
      page('a', ''),
      page('b', ''),
      page('c', `http://h/a ${first}\nhttp://h/b ${second}`),
    );
  t.equal((await named('a thing', 'Pools'))[0], 2);
  t.equal((await named('pools', 'pool of threads'))[0], 2, 'forms of more words');
  t.equal((await named('all that is known about thread pools and the like', 'thread pools'))[0], 2);
});

t.test('an object that is replaced links no longer', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await fixture.put(page('a', ''), page('b', ''), page('c', 'http://h/b x'));
  const order = async () => (await fixture.search('thread', PAGE)).map(({ oid }) => oid);
  t.equal((await order())[0], 2);
  await fixture.reopen();
  t.equal((await order())[0], 2, 'after a restart');
  await fixture.putSoif([objectOf(page('c', 'http://h/z x'), 2)]);
  t.equal((await order())[0], 1);
});

t.test('an outline has the first words of title and text, and each link with its target', (t) => {
  const object = SoifObject.of('FILE', 'http://h/', [
    ['Title', 'An Überblick'],
    ['Body', `One two one ${'more '.repeat(60)}last`],
    ['Link-Text', 'http://h/b First Link\nhttp://h/c\nhttp://h/b 日本'],
  ]);
  const { beginning, links } = outlineOf(object, linkLinesOf(object));
  t.same([...beginning], ['an', 'überblick', 'one', 'two', 'more'].map(hashOf));
  const found: [number, number[]][] = [];
  eachLink(links, (target, start, end) => found.push([target, [...links.subarray(start, end)]]));
  t.same(found, [
    [urlDigest('http://h/b'), ['first', 'link'].map(hashOf)],
    [urlDigest('http://h/b'), [hashOf('日本')]],
  ]);
  const large = SoifObject.of('FILE', 'http://h/', [['Full-Text', '\u00e9'.repeat(100_000)]]);
  t.equal(outlineOf(large, []).beginning.length, 1, 'a cut character is not half a word');
  t.end();
});
