// The URLs of a store that an earlier version wrote get the form of the present one: no document is doubled, no link is
// lost, Brokers learn of both names.
import t from 'tap';
import { canonicalUrl } from '../../../protocols/urls/index.js';
import { ROWS } from '../../../storage/gatherer/tables.js';
import { GathererStore } from '../../../storage/index.js';
import { Level } from '../../../storage/level/level.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { documentRecord, queuedUri, summary } from '../helpers.js';

const NOW = 5000;

/** Stores documents with their summaries. */
async function put(store: GathererStore, fetchTime: number, ...urls: readonly string[]): Promise<void> {
  const batch = store.batch();
  for (const url of urls) {
    batch.putSummary(summary(url, fetchTime));
    batch.putDocument(documentRecord(url, { fetchTime, updateTime: fetchTime, objects: [] }));
  }
  await batch.commit();
}

async function contentOf(store: GathererStore) {
  const summaries: [string, number][] = [];
  for await (const page of store.summaries.iterate())
    for (const { url, updateTime, soif } of page) {
      t.match(soif.toString(), `{ ${url}\n`, 'the object has the name of its row');
      summaries.push([url, updateTime]);
    }
  const documents: [string, number][] = [];
  for await (const { url, updateTime } of store.documents.iterate()) documents.push([url, updateTime]);
  const tombstones: string[] = [];
  for await (const page of store.tombstones.since(0)) for (const { url } of page) tombstones.push(url);
  return { summaries: summaries.sort(), documents: documents.sort(), tombstones: tombstones.sort() };
}

t.test('documents and objects are renamed once; of two that become one the newest stays', async (t) => {
  await using store = await GathererStore.open(await temporaryDirectory(t));
  await put(
    store,
    1000,
    'file:///a',
    'file:///both',
    'file:///older',
    'http://a.test/x^y',
    'http://a.test/z',
  );
  await put(store, 2000, 'file://localhost/both');
  await put(store, 500, 'file://localhost/older');
  const batch = store.batch();
  batch.putSummary(summary('file:///tar', 1000)).putSummary(summary('file:///tar/member', 1000));
  batch.putSummary(summary('http://other.test/^of-a-list', 1000));
  batch.putDocument(
    documentRecord('file:///tar', {
      fetchTime: 1000,
      updateTime: 1000,
      objects: ['file:///tar/member', 'http://other.test/^of-a-list'],
    }),
  );
  batch.putHistory('file://(/a', Buffer.from('[]'));
  const position = { classKey: 'a.test', directive: 2, precedence: 0, ordinal: 1 };
  batch.enqueue({ ...position, uri: queuedUri('http://a.test/q^') });
  await batch.commit();

  t.equal(await store.renameUrls(canonicalUrl, NOW), 5);
  const expected = {
    summaries: [
      ['file://localhost/a', NOW],
      ['file://localhost/both', 2000],
      ['file://localhost/older', NOW],
      ['file://localhost/tar', NOW],
      ['file://localhost/tar/member', NOW],
      ['http://a.test/x%5Ey', NOW],
      ['http://a.test/z', 1000],
      ['http://other.test/^of-a-list', 1000],
    ],
    documents: [
      ['file://localhost/a', NOW],
      ['file://localhost/both', 2000],
      ['file://localhost/older', NOW],
      ['file://localhost/tar', NOW],
      ['http://a.test/x%5Ey', NOW],
      ['http://a.test/z', 1000],
    ],
    tombstones: [
      'file:///a',
      'file:///both',
      'file:///older',
      'file:///tar',
      'file:///tar/member',
      'http://a.test/x^y',
    ],
  };
  t.same(await contentOf(store), expected);
  t.equal(store.summaries.count, 8);
  t.same((await store.documents.get('file://localhost/tar'))?.objects, [
    'file://localhost/tar/member',
    'http://other.test/^of-a-list',
  ]);
  t.equal((await store.queues.head('a.test'))?.uri.url, 'http://a.test/q%5E');

  await put(store, 6000, 'file:///later');
  t.equal(await store.renameUrls(canonicalUrl, NOW), 0, 'it happens once');
  t.ok(await store.documents.has('file:///later'));
});

t.test('links: names of an earlier form keep their IDs, two that become one have one', async (t) => {
  const directory = await temporaryDirectory(t);
  const fetched = (url: string, links: readonly string[]) => ({
    url,
    time: 0,
    checkTime: 1000,
    length: 1,
    links,
  });
  {
    await using store = await GathererStore.open(directory);
    const batch = store.batch();
    batch.putReferences(fetched('http://a.test/', ['http://a.test/only%5E', 'http://a.test/both%5E']));
    batch.putReferences(fetched('http://b.test/', ['http://a.test/former', 'http://a.test/both%5E']));
    await batch.commit();
  }
  {
    // As a version on Node 20 wrote them.
    await using level = await Level.open(directory, { kind: 'gatherer' });
    const rename = async (from: string, to: string, keep: boolean) => {
      const { referenceDocuments: format } = ROWS;
      const key = format.keys.encode(from);
      await level.write([
        { key: format.keys.encode(to), value: (await level.get(key))! },
        ...(keep ? [] : [{ key }]),
      ]);
    };
    await rename('http://a.test/only%5E', 'http://a.test/only^', false);
    await rename('http://a.test/former', 'http://a.test/both^', false);
  }
  await using store = await GathererStore.open(directory);
  const changes = store.links.changes;
  const only = await store.links.idOf('http://a.test/only%5E');
  t.equal(only, undefined);
  await store.renameUrls(canonicalUrl, NOW);
  const names = new Map<number, string>();
  for await (const page of store.links.documents()) for (const { id, url } of page) names.set(id, url);
  const links: string[] = [];
  for await (const pairs of store.links.pairs())
    for (let i = 0; i < pairs.length; i += 2)
      links.push(`${names.get(pairs[i]!)} ${names.get(pairs[i + 1]!)}`);
  t.same(links.sort(), [
    'http://a.test/ http://a.test/both%5E',
    'http://a.test/ http://a.test/only%5E',
    'http://b.test/ http://a.test/both%5E',
  ]);
  t.equal(names.size, 4);
  t.ok(store.links.changes > changes, 'the references are published again');
});
