// The OpenSearch engine on a node of its own: the contract of engines, the answers of a scan of all objects and of the
// embedded engine, and what it says when it cannot work.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { indexerConformance } from '../../storage/indexers/conformance.js';
import { IndexerFixture, type OpenIndexerAt } from '../../storage/indexers/conformance-fixture.js';
import {
  type Indexer,
  type OpenSearchIndexerOptions,
  openIndexer,
  openOpenSearchIndexer,
} from '../../storage/indexers/index.js';
import { Kit } from '../bench/relevance/kit.js';
import { LIBRARIES, TestCluster } from '../helpers/opensearch/cluster.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { agree, agrees, changeSome, objectsOf } from '../storage/indexers/differential.js';
import { ALL_CAPABILITIES, expressionOf, PLAIN_SEARCH } from '../storage/indexers/embedded-fixture.js';

/** A cluster that runs already; the indexes of the tests stay in it. */
const running = (process.env.HARVEST_TEST_OPENSEARCH ?? '').split(' ').filter((url) => url !== '');
const skip =
  running.length === 0 && !existsSync(LIBRARIES) && 'the libraries of OpenSearch are not installed';

t.test('Indexer-Type OpenSearch', { skip }, async (t) => {
  const directory = await temporaryDirectory(t);
  await using cluster = running.length === 0 ? await TestCluster.start(directory, 1) : undefined;
  const nodes = cluster?.urls ?? running;

  /** Opens the engine on an index of its own for each directory. */
  const openWith =
    (options: Partial<OpenSearchIndexerOptions> = {}): OpenIndexerAt =>
    ({ directory, storeDirectory }) =>
      openOpenSearchIndexer({
        directory: join(directory, 'opensearch'),
        storeDirectory,
        nodes,
        index: directory.replace(/.*\//, ''),
        ...options,
      });
  const small = { pageObjects: 7, maxRanked: 20, requestBytes: 2000 };
  const send = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${nodes[0]}${path}`, { method, headers, ...init })).json();
  };
  const openViews = async (): Promise<number> => {
    const stats = await send('GET', '/_nodes/stats/indices/search');
    return Number(/"open_contexts":(\d+)/.exec(JSON.stringify(stats))?.[1]);
  };

  await t.test('BRK-8.1 the contract of engines', async (t) => {
    indexerConformance({
      test: (name, run) => t.test(name, run),
      name: 'opensearch',
      open: openWith(),
      manifest: { capabilities: ALL_CAPABILITIES },
    });
  });

  await t.test('BRK-2.17 to 2.23 it finds what a scan of all objects finds', async (t) => {
    await using fixture = await IndexerFixture.openWith(openWith(small));
    const objects = objectsOf(7, 110, 1);
    const known = new Map(objects.map((object, i) => [i + 1, object]));
    await fixture.putSoif(objects);
    await t.resolves(agrees(fixture, known, 1, 50), 'after the first run');
    await changeSome(fixture, known);
    await t.resolves(agrees(fixture, known, 2, 25), 'after changes');
    t.equal(await openViews(), 0, 'no state of the index stays open');
  });

  await t.test('BRK-8.5 it finds what the embedded engine finds', async (t) => {
    await using fixture = await IndexerFixture.openWith(openWith(small));
    const opensearch = fixture.indexer;
    await fixture.putSoif(objectsOf(9, 300, 1));
    const { directory: brokerDirectory, storeDirectory } = fixture;
    await using embedded = await openIndexer({ type: 'embedded', brokerDirectory, storeDirectory });
    fixture.indexer = embedded;
    await fixture.catchUp();
    fixture.indexer = opensearch;
    await t.resolves(agree([embedded, opensearch], { seed: 11, numRuns: 200 }));
  });

  await t.test('the words of the index are those of the embedded engine', async (t) => {
    await using fixture = await IndexerFixture.openWith(openWith(small));
    const opensearch = fixture.indexer;
    const objects = objectsOf(13, 120, 1);
    await fixture.putSoif(objects);
    const english = 'the and of it';
    await fixture.put(
      { url: 'http://w/1', Title: 'Replication', Body: `${english} replicas of a replica, Café, Écologie` },
      { url: 'http://w/2', Title: 'replication slots', Body: `${english} replicate naïve Реплика` },
      { url: 'http://w/3', Title: 'replicas', Body: `${english} replication, replicating cafe IndexWriter` },
      { url: 'http://w/4/Résumé.html', Title: 'gone' },
    );
    await fixture.put({ url: 'http://w/4/Résumé.html', Title: 'kept' });
    const { directory: brokerDirectory, storeDirectory } = fixture;
    await using embedded = await openIndexer({ type: 'embedded', brokerDirectory, storeDirectory });
    fixture.indexer = embedded;
    await fixture.catchUp();
    fixture.indexer = opensearch;
    const list = async (indexer: Indexer, kind: 'completions' | 'neighbors' | 'forms', text: string) =>
      indexer.words?.({ kind, text, limit: 10, lifetimeMs: 60_000 });
    const texts =
      'repl REPLICA replicaton replication caf cafe café ecol реп реплик naive the of indx index writer zz a ab b abc resum gone a.b'.split(
        ' ',
      );
    for (const text of texts)
      for (const kind of ['completions', 'neighbors', 'forms'] as const)
        t.same(await list(opensearch, kind, text), await list(embedded, kind, text), `${kind} of ${text}`);
    t.match(await list(opensearch, 'completions', 'repl'), [{ word: 'replication', objects: 3 }]);
    t.match(await list(opensearch, 'completions', 'cafe'), [{ word: 'cafe' }, { word: 'café' }]);
    const request = { kind: 'forms', text: 'cafe', limit: 5, lifetimeMs: 60_000 } as const;
    await t.rejects(
      async () => opensearch.words?.({ ...request, signal: AbortSignal.abort(new Error('gone')) }),
      /gone/,
    );
    t.same(await opensearch.words?.({ ...request, kind: 'completions', lifetimeMs: 0 }), [], 'no time');
  });

  await t.test('BRK-2.27 most words, and their order, are those of the embedded engine', async (t) => {
    await using fixture = await IndexerFixture.openWith(openWith());
    const opensearch = fixture.indexer;
    const filler = 'the and of nothing of interest is said in this sentence and the next one ';
    await fixture.putSoif(objectsOf(21, 60, 1));
    await fixture.put(
      { url: 'http://o/1', Title: 'Text', Body: `${filler} how to create an index ${filler}` },
      { url: 'http://o/2', Title: 'Far apart', Body: `create ${filler.repeat(9)} index` },
      { url: 'http://o/3', Title: 'Headings', Headings: 'create index', Body: filler },
      { url: 'http://o/4', Title: 'Progress of create index and other commands', Body: filler },
      { url: 'http://o/5', Title: 'CREATE INDEX', Body: filler },
      { url: 'http://o/6', Title: 'Indexes', Body: `creating indexes ${filler}` },
      { url: 'http://o/7', Title: 'createindex', Body: filler },
      { url: 'http://o/8', Title: 'Overview', 'Link-Text': 'http://o/9 create index', Body: filler },
      { url: 'http://o/9', Title: 'Reference', Body: `index create ${filler}` },
      { url: 'http://o/10', Title: 'Only one', Body: `create something rare ${filler}` },
    );
    const { directory: brokerDirectory, storeDirectory } = fixture;
    await using embedded = await openIndexer({ type: 'embedded', brokerDirectory, storeDirectory });
    fixture.indexer = embedded;
    await fixture.catchUp();
    const ask = async (indexer: Indexer, query: string, mostWords: boolean) => {
      fixture.indexer = indexer;
      const options = { ignoreCase: true, matchWord: true, wantLines: false } as const;
      const most = mostWords ? ({ mostWords: true } as const) : {};
      return (await fixture.search(query, { ...options, ...most })).map(
        ({ oid, lacks }) => [oid, lacks ?? 0] as const,
      );
    };
    const sorted = (hits: Awaited<ReturnType<typeof ask>>) => [...hits].sort(([a], [b]) => a - b);
    for (const query of [
      'create and index',
      'create and index and rare',
      'the and create and nowhere',
      'create and (index or indexes) and rare',
      'create and index and title : create',
      'something and rare and not text',
    ]) {
      for (const mostWords of [false, true]) {
        const expected = await ask(embedded, query, mostWords);
        const found = await ask(opensearch, query, mostWords);
        t.same(sorted(found), sorted(expected), `${query}: the objects and what they lack, ${mostWords}`);
        t.same(found[0], expected[0], `${query}: the first`);
      }
    }
    const [, ...order] = (await ask(opensearch, 'create and index', false)).map(([oid]) => oid);
    const [, ...expected] = (await ask(embedded, 'create and index', false)).map(([oid]) => oid);
    t.same(order, expected, 'by headings, texts and links too');
    fixture.indexer = opensearch;
    const scores = (await fixture.search('a or b or ab', { ignoreCase: true })).map(
      ({ score }) => score ?? 0,
    );
    t.same(
      scores,
      [...scores].sort((a, b) => b - a),
      'scores descend',
    );
  });

  await t.test('the page of a Broker has the same facets, passages and corrections', async (t) => {
    const site = join(await temporaryDirectory(t), 'site');
    await mkdir(site);
    const filler = 'the and of nothing of interest is said in this sentence and the next one '.repeat(20);
    for (const [name, title, text] of [
      ['slots', 'Replication slots', 'A slot keeps the log of the primary for its replicas. Café'],
      ['replica', 'Replicas', 'A replica replays the log; replication needs slots'],
      ['index', 'Overview', '<a href="slots.html">replication slots</a> <a href="replica.html">replicas</a>'],
    ])
      await writeFile(
        join(site, `${name}.html`),
        `<html><head><title>${title}</title></head><body><p>${filler}</p><p>${text}</p><p>${filler}</p></body></html>`,
      );
    await writeFile(join(site, 'notes.txt'), `Notes about replication slots\n${filler}\n`);
    const pages: Record<string, unknown>[] = [];
    for (const engine of [undefined, nodes[0]]) {
      await using kit = await Kit.start(site, await temporaryDirectory(t), engine);
      const read = async (path: string) => (await fetch(`${kit.web}/Harvest/${path}`)).text();
      const found: Record<string, unknown> = {};
      for (const query of [
        'replication',
        'slots of a replica',
        'replicaton',
        'cafe',
        '"replication slots"',
        'nowhere',
      ]) {
        const fields = new URLSearchParams({
          query,
          caseflag: 'on',
          wordflag: 'on',
          forms: 'on',
          format: 'json',
        });
        const path = `cgi-bin/BrokerQuery.cgi?${fields}`;
        const { total, listed, facets, objects } = JSON.parse(await read(path)) as Record<string, unknown>;
        const listedObjects = (objects as Record<string, unknown>[]).map(
          ({ url, title, passages, lacks }) => ({
            url,
            title,
            passages,
            lacks,
          }),
        );
        found[query] = { total, listed, facets, listedObjects };
        const html = await read(path.replace('&format=json', ''));
        found[`${query} as a page`] = /<main[\s\S]*<\/main>/
          .exec(html)?.[0]
          .replace(/http:\/\/127\.0\.0\.1:\d+/g, '')
          .replace(/objects%2F\d+%2FOBJ\d+/g, '')
          .replace(/<time[\s\S]*?<\/time>|\b\d+ ms\b/g, '');
      }
      pages.push(found);
    }
    const [embedded, opensearch] = pages;
    for (const [name, expected] of Object.entries(embedded ?? {})) t.same(opensearch?.[name], expected, name);
    t.match(JSON.stringify(embedded), /Replication slots/);
  });

  await t.test('queries that OpenSearch would refuse are narrowed less', async (t) => {
    await using fixture = await IndexerFixture.openWith(openWith());
    await fixture.put({ title: 'apple' }, { title: 'pear' }, { title: 'a plum' });
    const words = Array.from({ length: 200 }, (_, i) => `word${i}`);
    const chain = `${words.join(' or ')} or pear`;
    for (const options of [{}, { ignoreAccents: true, contentOnly: true, matchWord: true } as const])
      t.same(await fixture.oids(chain, options), [2], 'many words');
    const deep = `${'('.repeat(60)}pear${words
      .slice(0, 60)
      .map((word, i) => `${i % 2 === 0 ? ' and not ' : ' or '}${word})`)
      .join('')}`;
    t.same(await fixture.oids(deep), [2], 'many levels');
    const long = `"${Array.from({ length: 60 }, () => 'abc').join(' ')}"`;
    t.same(await fixture.oids(`pear or ${Array.from({ length: 30 }, () => long).join(' or ')}`), [2]);
  });

  await t.test('BRK-8.1 queries are answered while it indexes', async (t) => {
    await using fixture = await IndexerFixture.openWith(openWith());
    await fixture.put({ title: 'wheat' }, { title: 'rye' }, { title: 'more wheat' });
    const { watermark } = fixture.indexer;
    const [object] = await fixture.store.objects([3]);
    await fixture.indexer.clear();
    await fixture.indexer.add(3, object!);
    t.same(await fixture.oids('wheat'), [1, 3], 'the former index answers until the next one is complete');
    await fixture.indexer.flush(watermark);
    t.same(await fixture.oids('wheat'), [3]);
    await fixture.indexer.clear();
    await fixture.indexer.add(3, object!);
    await fixture.reopenWith(openWith());
    t.same(await fixture.oids('wheat'), [3], 'an interrupted rebuild does not change the index');
    t.equal(fixture.indexer.watermark, watermark);
    await fixture.put({ url: 'http://h/4', title: 'other wheat' });
    t.same(await fixture.oids('wheat'), [3, 4]);
    await fixture.indexer.clear();
    await fixture.indexer.flush(watermark);
    const alias = fixture.directory.replace(/.*\//, '').toLowerCase();
    const names = Object.keys((await send('GET', `/${alias}-*`)) as object);
    t.equal(names.length, 1, 'one index is kept');
  });

  await t.test('failures are sentences', async (t) => {
    await using fixture = await IndexerFixture.openWith(openWith());
    await fixture.put({ title: 'apple' });
    const { directory, storeDirectory } = fixture;
    const alias = directory.replace(/.*\//, '').toLowerCase();
    const open = (options: Partial<OpenSearchIndexerOptions>): Promise<Indexer> =>
      openWith({ patienceMs: 0, ...options })({ directory, storeDirectory });
    const fails = (opened: Promise<unknown>, message: RegExp) =>
      t.rejects(opened, { name: 'StorageError', message });
    await fails(
      open({ nodes: ['http://127.0.0.1:1'] }),
      /^OpenSearch does not answer at http:\/\/127.0.0.1:1: /,
    );
    await fails(
      open({ directory: join(directory, 'other') }),
      /^the index \S+ of OpenSearch belongs to another Broker: set OpenSearch-Index/,
    );
    await send('PUT', `/${alias}-x`);
    await fails(
      open({ index: `${alias}-x` }),
      /^OpenSearch has an index \S+, where the Broker needs an alias/,
    );
    await send('DELETE', `/${alias}-x`);

    // The disk is full.
    const block = (value: true | null) =>
      send('PUT', `/${alias}/_settings`, { 'index.blocks.read_only_allow_delete': value });
    await block(true);
    await fails(fixture.put({ url: 'http://h/2', title: 'pear' }), /^the disk of OpenSearch is full: /);
    t.same(await fixture.oids('apple'), [1], 'it answers');
    await block(null);
    await fixture.catchUp();
    t.same(await fixture.oids('pear'), [2], 'the next run has what was not written');

    // Another process writes.
    await using other = await open({});
    await other.beginUpdate();
    await other.flush(other.watermark);
    await fails(fixture.put({ url: 'http://h/3', title: 'plum' }), /^another Broker writes the index/);

    // A newer version.
    const mapping = JSON.stringify(await send('GET', `/${alias}/_mapping`));
    const meta = JSON.parse(/"harvest":(\{[^}]*\})/.exec(mapping)?.[1] ?? '') as object;
    const write = (harvest: object) => send('PUT', `/${alias}/_mapping`, { _meta: { harvest } });
    await write({ ...meta, rules: 99 });
    await fails(open({}), /^the index \S+ of OpenSearch was made by a newer version of this kit$/);
    await write({ ...meta, unicode: '1.0' });
    await fixture.reopenWith(openWith());
    t.equal(fixture.indexer.watermark, 0, 'an index of other rules is made again');
    await fixture.catchUp();
    t.same(await fixture.oids('apple or pear or plum'), [1, 2, 3]);

    // It is gone.
    await send('DELETE', `/${alias}-*`);
    await fails(fixture.oids('apple'), /^cannot use the index: /);
    await fixture.indexer.beginUpdate();
    await fixture.indexer.add(1, (await fixture.store.objects([1]))[0]!);
    await fails(fixture.indexer.flush(1), /^cannot use the index: /);
    await fixture.reopenWith(openWith());
    t.equal(fixture.indexer.watermark, 0);
  });

  await t.test('a login is read from a file', async (t) => {
    await using fixture = await IndexerFixture.openWith(openWith());
    const { directory, storeDirectory } = fixture;
    const loginFile = join(directory, 'login');
    const open = () => openWith({ loginFile })({ directory, storeDirectory });
    await t.rejects(open(), { message: /^OpenSearch-Login: .*login cannot be read: / });
    await writeFile(loginFile, 'secret\n');
    await t.rejects(open(), {
      message: /^OpenSearch-Login: the first line of .*login must be user:password$/,
    });
    await writeFile(loginFile, 'user:secret\n');
    await using opened = await open();
    t.ok(opened, 'a cluster without logins ignores it');
  });

  await t.test('an abandoned query closes its state of the index', async (t) => {
    await using fixture = await IndexerFixture.openWith(openWith({ pageObjects: 1 }));
    await fixture.put(...Array.from({ length: 20 }, () => ({ title: 'apple' })));
    const results = fixture.indexer.query(expressionOf('apple'), PLAIN_SEARCH);
    for await (const _ of results) break;
    await results.outcome;
    await fixture.indexer.close();
    t.equal(await openViews(), 0);
  });
});
