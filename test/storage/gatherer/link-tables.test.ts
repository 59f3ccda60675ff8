// The tables of documents, servers and links in the Gatherer's working store, and the references published from
// them.
import fc from 'fast-check';
import t from 'tap';
import { TableCache } from '../../../storage/gatherer/link-tables.js';
import { GathererStore } from '../../../storage/index.js';
import { ReferencesReader } from '../../../storage/references/index.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

/** Returns a fetched document with its links. */
function fetched(url: string, links: readonly string[], changes: { time?: number; checkTime?: number } = {}) {
  return { url, time: 0, checkTime: 1000, length: 10, links, ...changes };
}

/** Stores the links of documents in one batch. */
async function putReferences(store: GathererStore, ...documents: readonly ReturnType<typeof fetched>[]) {
  const batch = store.batch();
  for (const one of documents) batch.putReferences(one);
  await batch.commit();
}

/** Returns the ID of each document by URL. */
async function allIds(store: GathererStore): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  for await (const page of store.links.documents()) for (const { url, id } of page) ids.set(url, id);
  return ids;
}

/** Returns the link targets of each document by URL. */
async function allLinks(store: GathererStore): Promise<Record<string, string[]>> {
  const urls = new Map([...(await allIds(store))].map(([url, id]) => [id, url]));
  const links: Record<string, string[]> = {};
  for await (const pairs of store.links.pairs()) {
    for (let i = 0; i < pairs.length; i += 2) {
      const source = urls.get(pairs[i] ?? 0) ?? '(unknown)';
      links[source] = [...(links[source] ?? []), urls.get(pairs[i + 1] ?? 0) ?? '(unknown)'];
    }
  }
  return links;
}

t.test('R-9 every document and every link target has a unique, permanent ID', async (t) => {
  const directory = await temporaryDirectory(t);
  let first: Map<string, number>;
  {
    await using store = await GathererStore.open(directory);
    // Concurrent batches contain the same new URLs.
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        putReferences(
          store,
          fetched(`http://a.test/${i}`, [
            'http://b.test/',
            `http://a.test/${i + 1}`,
            `http://c${i % 5}.test/`,
          ]),
        ),
      ),
    );
    first = await allIds(store);
    t.equal(first.size, 41 + 1 + 5);
    t.same(
      [...first.values()].sort((a, b) => a - b),
      Array.from({ length: 47 }, (_, i) => i + 1),
      'IDs are dense, start at 1 and are unique',
    );
  }
  await using store = await GathererStore.open(directory);
  await putReferences(
    store,
    fetched('http://new.test/', ['http://b.test/', 'http://newer.test/']),
    fetched('http://a.test/7', []),
  );
  await store.batch().dropReferences('http://a.test/8').commit();
  const second = await allIds(store);
  for (const [url, id] of first) if (second.get(url) !== id) t.fail(`${url} has another ID`);
  t.equal(second.get('http://new.test/'), 48);
  t.equal(second.get('http://newer.test/'), 49);
  t.equal(
    await store.links.idOf('http://a.test/8'),
    first.get('http://a.test/8'),
    'a dropped URL keeps its ID',
  );
});

t.test('R-11, R-12 a list has each link once, in document order, with canonical URLs (R-41)', async (t) => {
  await using store = await GathererStore.open(await temporaryDirectory(t));
  const links = [
    'http://b.test/%7eanna/',
    'http://a.test/',
    'mailto:anna@b.test',
    'http://b.test/%7Eanna/',
    'news:comp.infosystems',
    'file:///etc/motd',
    'http://user:word@b.test/',
    'http://b.test:0/',
    'ftp://b.test/x',
    'http://a.test/',
    'https://b.test/',
    'gopher://g.test/0/x',
  ];
  await putReferences(
    store,
    fetched('http://a.test/', links),
    fetched('file:///tmp/a.html', ['http://only.test/']),
  );
  t.same(await allLinks(store), {
    'http://a.test/': [
      'http://b.test/~anna/',
      'http://a.test/',
      'ftp://b.test/x',
      'https://b.test/',
      'gopher://g.test/0/x',
    ],
  });
  t.equal(
    await store.links.idOf('http://only.test/'),
    undefined,
    'a document without a canonical URL has no links',
  );
  t.equal(await store.links.idOf('http://b.test/%7eanna/'), await store.links.idOf('http://b.test/~anna/'));
});

t.test('R-38 a server has one ID for each host and port, independent of the scheme', async (t) => {
  await using store = await GathererStore.open(await temporaryDirectory(t));
  const links = [
    'http://a.test/2',
    'http://a.test:81/',
    'https://a.test:80/',
    'https://a.test/',
    'http://B.test./',
  ];
  await putReferences(store, fetched('http://a.test/1', links));
  await putReferences(store, fetched('http://a.test:81/x', ['http://b.test/y']));
  const servers = new Map<string, number>();
  for await (const page of store.links.documents())
    for (const { url, serverId } of page) servers.set(url, serverId);
  t.equal(servers.get('http://a.test/1'), servers.get('http://a.test/2'));
  t.equal(servers.get('http://a.test/1'), servers.get('https://a.test:80/'));
  t.equal(servers.get('http://a.test:81/'), servers.get('http://a.test:81/x'));
  t.equal(servers.get('http://b.test/'), servers.get('http://b.test/y'));
  t.equal(new Set(servers.values()).size, 4);
});

t.test('after any sequence of changes the last change of each document applies (R-10)', async (t) => {
  const url = fc.integer({ min: 0, max: 9 }).map((n) => `http://${n % 3}.test/${n}`);
  const change = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(url, fc.array(url, { maxLength: 6 })) },
    fc.tuple(url, fc.constant(undefined)),
    // The links are those that it had before.
    fc.tuple(url, fc.constant('same' as const)),
    fc.constant('reopen' as const),
  );
  await assertProperty(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 }), async (groups) => {
      const directory = await temporaryDirectory(t);
      const expected: Record<string, string[]> = {};
      const ids = new Map<string, number>();
      let store = await GathererStore.open(directory);
      try {
        for (const group of groups) {
          const commits: Promise<void>[] = [];
          for (const one of group) {
            if (one === 'reopen') {
              await Promise.all(commits.splice(0));
              await store.close();
              store = await GathererStore.open(directory);
              continue;
            }
            const [source, change] = one;
            const links = change === 'same' ? (expected[source] ?? []) : change;
            delete expected[source];
            if (links !== undefined && links.length > 0) expected[source] = [...new Set(links)];
            const batch = store.batch();
            if (links === undefined) batch.dropReferences(source);
            else if (change === 'same') batch.checkReferences(fetched(source, []), () => links);
            else batch.putReferences(fetched(source, links));
            commits.push(batch.commit());
          }
          await Promise.all(commits);
          for (const [name, id] of await allIds(store)) {
            if ((ids.get(name) ?? id) !== id) throw new Error(`${name} has another ID`);
            ids.set(name, id);
          }
        }
        const found = await allLinks(store);
        t.same(found, expected);
        return new Set(ids.values()).size === ids.size;
      } finally {
        await store.close();
      }
    }),
    { numRuns: 25 },
  );
});

t.test('changed links are published as references', async (t) => {
  const directory = await temporaryDirectory(t);
  const data = await temporaryDirectory(t);
  await using store = await GathererStore.open(directory);
  t.equal(await store.publishReferences(data), undefined, 'there are no links yet');
  const a = fetched('http://a.test/', ['http://b.test/%7ex', 'http://a.test/2'], { time: 500 });
  await putReferences(store, a, fetched('http://a.test/2', ['http://b.test/%7ex']));
  t.match(await store.publishReferences(data), {
    generation: 1,
    documents: 3,
    servers: 2,
    links: 3,
    repeated: 0,
  });
  {
    await using reader = await ReferencesReader.openCurrent(data);
    const target = reader.documentByUrl('http://b.test/~x');
    const source = reader.documentByUrl('http://a.test/');
    t.match(source, { time: 500, checkTime: 1000, length: 10, uri: '/' }, 'R-33');
    t.match(
      target,
      { time: 0, checkTime: 0, length: 0 },
      'R-33 a document that was never fetched has the times 0',
    );
    const second = reader.idByUrl('http://a.test/2');
    t.same([...(reader.links('hubs', target?.id ?? 0)?.page(0, 9) ?? [])], [source?.id, second]);
    t.same([...(reader.links('refs', source?.id ?? 0)?.page(0, 9) ?? [])], [target?.id, second]);
    const site = reader.serverByName('b.test:80');
    t.equal(reader.links('sitehubs', site?.id ?? 0)?.total, 2, 'R-30');
  }
  await putReferences(store, { ...a, checkTime: 2000 });
  t.equal(await store.publishReferences(data), undefined, 'links that were stored again unchanged');
  await store.batch().dropReferences('http://unknown.test/').commit();
  t.equal(await store.publishReferences(data), undefined, 'a dropped URL that was unknown');
  await store.batch().dropReferences('http://a.test/2').commit();
  t.match(await store.publishReferences(data), { generation: 2, documents: 3, links: 2 });
  await putReferences(store, { ...a, time: 600 });
  t.match(await store.publishReferences(data), { generation: 3 }, 'R-33 another time is a change');
  await using other = await GathererStore.open(await temporaryDirectory(t));
  t.equal(await other.publishReferences(data), undefined, 'a store without links publishes nothing');
});

t.test('the cache evicts the least recently used row and is then incomplete', async (t) => {
  const map = new TableCache<number>(4, true);
  for (const [i, key] of ['a', 'b', 'c', 'd'].entries()) map.set(key, i);
  t.equal(map.complete, true);
  t.equal(map.get('a'), 0, 'a get marks the row as recently used');
  map.set('e', 4);
  map.set('f', 5);
  t.equal(map.complete, false);
  t.equal(map.get('a'), 0);
  t.equal(map.get('b'), undefined);
  t.equal(new TableCache<number>(4, false).complete, false);
});
