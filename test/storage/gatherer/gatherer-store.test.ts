// The Gatherer's working store: summaries, queues, documents, meta values, and opening.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ClassicLevel } from 'classic-level';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import t from 'tap';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { checkStores } from '../../../storage/check/check.js';
import { GathererStore, queueKey } from '../../../storage/index.js';
import { pluck } from '../../helpers/pluck.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { collect, documentRecord, put, queuedUri, readExport, soif, summary } from '../helpers.js';

t.test('summaries are stored and exported', async (t) => {
  t.test('GATHERD-4.6 an export is ordered by Update-Time, then by the bytes of the URL', async (t) => {
    await using store = await GathererStore.open(await temporaryDirectory(t));
    const summaries = [
      summary('http://b.test/', 20),
      summary('http://a.test/', 20),
      summary('http://Z.test/', 20),
      summary('http://late.test/', 4_294_967_296 + 5),
      summary('http://early.test/', 3),
    ];
    await put(store, ...summaries);
    const order = [
      'http://early.test/',
      'http://Z.test/',
      'http://a.test/',
      'http://b.test/',
      'http://late.test/',
    ];
    const expected = order.map((url) => summaries.find((one) => one.url === url)?.soif.toString()).join('');
    t.equal((await readExport(store.summaries.exportSince(0))).text, expected);
    t.equal(store.summaries.count, 5);
  });

  t.test('GATHERD-4.3 an export since T has objects with Update-Time >= T or without one', async (t) => {
    await using store = await GathererStore.open(await temporaryDirectory(t));
    const none = { ...summary('http://none.test/', 0), soif: soif('http://none.test/', { Title: 'x' }) };
    const [nine, ten, eleven] = [9, 10, 11].map((time) => summary(`http://${time}.test/`, time));
    await put(store, none, nine!, ten!, eleven!);
    const { text } = await readExport(store.summaries.exportSince(10));
    t.equal(text, `${none.soif}${ten!.soif}${eleven!.soif}`);
    t.equal((await readExport(store.summaries.exportSince(12))).text, String(none.soif));
    await t.rejects(readExport(store.summaries.exportSince(-1)), RangeError);
  });

  t.test('pages have whole objects; an abort ends the iteration', async (t) => {
    await using store = await GathererStore.open(await temporaryDirectory(t));
    const batch = store.batch();
    const all: string[] = [];
    for (let i = 0; i < 100; i++) {
      const one = summary(`http://${String(i).padStart(3, '0')}.test/`, 5, 'x'.repeat(10_000));
      all.push(String(one.soif));
      batch.putSummary(one);
    }
    await batch.commit();
    const { text, objects } = await readExport(store.summaries.exportSince(0));
    t.equal(text, all.join(''));
    t.ok(objects.length > 1, 'the export has several pages');
    const stop = new AbortController();
    const pages = store.summaries.exportSince(0, { signal: stop.signal });
    t.equal((await pages.next()).done, false);
    stop.abort(new Error('enough'));
    await t.rejects(collect(pages), { message: 'enough' });
  });

  t.test('a summary replaces the previous one of its URL, given or looked up, and is counted', async (t) => {
    const directory = await temporaryDirectory(t);
    const store = await GathererStore.open(directory);
    const url = 'http://a.test/';
    await put(store, summary(url, 10));
    await store.batch().putSummary(summary(url, 20), 10).commit();
    await put(store, summary(url, 30));
    await put(store, summary(url, 40), summary(url, 50));
    t.same((await store.summaries.get(url))?.updateTime, 50);
    t.equal((await readExport(store.summaries.exportSince(0))).text, String(summary(url, 50).soif));
    t.equal(store.summaries.count, 1);
    await store
      .batch()
      .putSummary(summary(url, 60))
      .deleteSummary(url)
      .putSummary(summary('http://b.test/', 1))
      .commit();
    await store.batch().deleteSummary('http://unknown.test/', 0).commit();
    t.equal(await store.summaries.get(url), undefined);
    t.equal(store.summaries.count, 1);
    await store.close();
    const again = await GathererStore.open(directory);
    t.equal(again.summaries.count, 1);
    t.same(await collect(again.summaries.iterate()), [[{ ...summary('http://b.test/', 1), contentTime: 1 }]]);
    await again.batch().deleteSummary('http://b.test/', 1).commit();
    t.equal(again.summaries.count, 0);
    await again.close();
  });

  t.test('GATHERD-4.4 a refresh gives the object other times, without writing its bytes again', async (t) => {
    await using store = await GathererStore.open(await temporaryDirectory(t));
    const url = 'http://a.test/';
    const times = (updateTime: number) => ({ updateTime, lastModificationTime: 7 });
    await store.batch().refreshSummary(url, times(10)).commit();
    t.equal(await store.summaries.get(url), undefined, 'there is nothing to refresh');
    for (const title of ['few bytes', 'many bytes '.repeat(200)]) {
      await put(store, summary(url, 20, title));
      await store.batch().refreshSummary(url, times(30), 20).commit();
      await store.batch().refreshSummary(url, times(40)).commit();
      const expected = soif(url, { 'Update-Time': '40', Title: title, 'Last-Modification-Time': '7' });
      const found = await store.summaries.get(url, 40);
      t.same(found, { url, updateTime: 40, timeToLive: 2_419_200, contentTime: 20, soif: found?.soif });
      t.equal(Buffer.from(found!.soif).toString(), expected.toString());
      t.equal((await readExport(store.summaries.exportSince(31))).text, expected.toString());
      t.equal(store.summaries.count, 1);
    }
  });

  t.test('a store of schema 1 has the bytes of objects in rows of summaries until a refresh', async (t) => {
    const directory = await temporaryDirectory(t);
    const { root } = protobuf.parse(`syntax = "proto3";
      message Schema { string kind = 1; uint32 version = 2; }
      message Counters { uint64 summaries = 1; uint64 tombstones = 2; }
      message Summary { uint64 time_to_live = 1; bytes soif = 2; uint64 content_time = 3; fixed32 crc = 4; }
      message Identity { uint64 update_time = 1; }`);
    const encode = (type: string, fields: object) =>
      Buffer.from(root.lookupType(type).encode(fields).finish());
    const url = 'http://a.test/';
    const { soif: bytes } = summary(url, 20, 'many bytes '.repeat(200));
    const key = Buffer.concat([Buffer.from('S\0\0\0\0\0\0\0\x14', 'latin1'), Buffer.from(url)]);
    const db = new ClassicLevel<Uint8Array, Uint8Array>(directory, {
      keyEncoding: 'view',
      valueEncoding: 'view',
    });
    const schemaKey = Buffer.from('\0schema');
    await db.put(schemaKey, encode('Schema', { kind: 'gatherer', version: 1 }));
    await db.put(Buffer.from('\0counters'), encode('Counters', { summaries: 1 }));
    await db.put(
      key,
      encode('Summary', { timeToLive: 100, soif: bytes, contentTime: 10, crc: crc32(bytes, 20) }),
    );
    await db.put(Buffer.from(`I${url}`), encode('Identity', { updateTime: 20 }));
    await db.close();
    const store = await GathererStore.open(directory);
    const stored = { url, timeToLive: 100, contentTime: 10 };
    t.same(await store.summaries.get(url), { ...stored, updateTime: 20, soif: bytes });
    await store.batch().refreshSummary(url, { updateTime: 30, lastModificationTime: 7 }, 20).commit();
    const found = await store.summaries.get(url, 30);
    t.match(found, { ...stored, updateTime: 30 });
    t.equal(
      Buffer.from(found!.soif).toString(),
      bytes
        .toString()
        .replace(/\t20\n/, '\t30\n')
        .replace(/\}\n$/, 'Last-Modification-Time{1}:\t7\n}\n'),
    );
    await store.close();
    t.same(await problemsOf(directory), []);
    await db.open();
    t.same(
      await db.get(schemaKey),
      encode('Schema', { kind: 'gatherer', version: 2 }),
      'programs of schema 1 refuse it from then on',
    );
    await db.close();
  });

  t.test('a walk passes over a summary that moves meanwhile, and finds it at its new time', async (t) => {
    await using store = await GathererStore.open(await temporaryDirectory(t));
    const text = 'x'.repeat(200_000);
    const urls = ['http://a.test/', 'http://b.test/', 'http://c.test/', 'http://d.test/'];
    for (const url of urls) await put(store, summary(url, 10, text));
    const found: [string, number][] = [];
    for await (const page of store.summaries.iterate()) {
      for (const { url, updateTime } of page) found.push([url, updateTime]);
      if (found.length > 2) continue;
      // The rows of all four were read as one page; the objects of c and d were not.
      const batch = store.batch().putSummary(summary(urls[2]!, 20, text));
      await batch.refreshSummary(urls[3]!, { updateTime: 20, lastModificationTime: 1 }).commit();
    }
    t.same(found.slice(0, 2), [
      [urls[0], 10],
      [urls[1], 10],
    ]);
    t.same(found.slice(-2), [
      [urls[2], 20],
      [urls[3], 20],
    ]);
  });

  t.test('any sequence of batches, concurrent or sequential, gives the same result as a map', async (t) => {
    const url = fc.constantFrom('http://a.test/', 'http://b.test/', 'http://c.test/', 'http://c.test/%00');
    const kind = fc.constantFrom('put' as const, 'put large' as const, 'refresh' as const, 'remove' as const);
    const change = fc.record({ url, time: fc.integer({ min: 0, max: 4 }), kind, isTold: fc.boolean() });
    const script = fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 });
    const directory = await temporaryDirectory(t);
    let store = await GathererStore.open(directory);
    await assertProperty(
      fc.asyncProperty(script, fc.boolean(), async (batches, concurrent) => {
        const clean = store.batch();
        for await (const page of store.summaries.iterate())
          for (const one of page) clean.deleteSummary(one.url);
        await clean.commit();
        const model = new Map<string, { time: number; attributes: Record<string, string> }>();
        const commits: Promise<void>[] = [];
        for (const changes of batches) {
          const batch = store.batch();
          for (const { url, time, kind, isTold } of changes) {
            const former = model.get(url);
            const previous = isTold ? (former?.time ?? null) : undefined;
            const attributes = {
              'Update-Time': String(time),
              Title: kind === 'put large' ? 'large '.repeat(500) : 'small',
            };
            if (kind === 'remove') {
              batch.deleteSummary(url, previous ?? undefined, isTold ? { deletedAt: time } : {});
              model.delete(url);
            } else if (kind === 'refresh') {
              batch.refreshSummary(url, { updateTime: time, lastModificationTime: 3 }, previous ?? undefined);
              if (former !== undefined)
                model.set(url, {
                  time,
                  attributes: {
                    ...former.attributes,
                    'Update-Time': String(time),
                    'Last-Modification-Time': '3',
                  },
                });
            } else {
              batch.putSummary(
                { url, updateTime: time, timeToLive: 100, soif: soif(url, attributes) },
                previous,
              );
              model.set(url, { time, attributes });
            }
          }
          commits.push(batch.commit());
          if (!concurrent) await commits.at(-1);
        }
        await Promise.all(commits);
        const rows = (await collect(store.summaries.iterate())).flat();
        t.same(
          new Map(rows.map((row) => [row.url, Buffer.from(row.soif).toString()])),
          new Map([...model].map(([url, { attributes }]) => [url, soif(url, attributes).toString()])),
        );
        t.same(new Map(rows.map((row) => [row.url, row.updateTime])), timesOf(model));
        t.equal(store.summaries.count, model.size);
        await store.close();
        t.same(await problemsOf(directory), []);
        store = await GathererStore.open(directory);
      }),
      { numRuns: 40 },
    );
    await store.close();
  });
});

/** What `harvest store check` finds in a store that is not open. */
async function problemsOf(directory: string): Promise<readonly string[]> {
  const checked = await collect(checkStores(directory));
  if (checked.length === 0) throw new Error('no store was checked');
  return checked.flatMap(({ problems }) => problems);
}

function timesOf(model: ReadonlyMap<string, { readonly time: number }>): Map<string, number> {
  return new Map([...model].map(([url, { time }]) => [url, time]));
}

t.test('CRAWL-5.1.1 queue keys are class key, 00, directive, precedence, ordinal', async (t) => {
  const key = (classKey: string, directive: number, precedence: number, ordinal: number) =>
    Buffer.from(queueKey({ classKey, directive, precedence, ordinal }).subarray(1)).toString('hex');
  t.equal(key('foo', 3, 1, 2), '666f6f000301000000000002');
  t.equal(key('foo', 2, 5, 4), '666f6f000205000000000004');
  t.equal(
    key('www.example.com#443', 3, 1, 281474976710655),
    '7777772e6578616d706c652e636f6d23343433000301ffffffffffff',
  );
  for (const wrong of [{ directive: 256 }, { precedence: -1 }, { ordinal: 2 ** 48 }])
    t.throws(
      () => queueKey({ classKey: 'a', directive: 1, precedence: 1, ordinal: 1, ...wrong }),
      RangeError,
    );
  t.throws(() => queueKey({ classKey: 'a\0b', directive: 1, precedence: 1, ordinal: 1 }), TypeError);
});

t.test('CRAWL-5.1.1 a queue returns its entries by directive, precedence and age', async (t) => {
  await using store = await GathererStore.open(await temporaryDirectory(t));
  const entry = (classKey: string, directive: number, precedence: number, ordinal: number) => ({
    classKey,
    directive,
    precedence,
    ordinal,
    uri: queuedUri(`http://${classKey}/${ordinal}`),
  });
  const batch = store.batch();
  for (const one of [entry('a', 2, 1, 1), entry('a', 2, 0, 7), entry('a', 1, 9, 9), entry('a', 2, 1, 300)]) {
    batch.enqueue(one);
  }
  batch
    .enqueue(entry('ab', 1, 1, 5))
    .enqueue(entry('b', 1, 1, 400))
    .enqueue(entry('a', 2, 1, 2));
  t.equal(batch.size, 7);
  await batch.commit();
  t.same(pluck(await store.queues.heads('a', 10), 'ordinal'), [9, 7, 1, 2, 300]);
  t.same(await store.queues.head('a'), entry('a', 1, 9, 9));
  t.equal(await store.queues.head('unknown'), undefined);
  const { queues, count, highestOrdinal } = await store.queues.survey();
  t.same(
    [...queues],
    [
      ['a', 5],
      ['ab', 1],
      ['b', 1],
    ],
  );
  t.same([count, highestOrdinal], [7, 400]);
  t.equal(await store.queues.count(), 7);
  t.same(pluck(await store.queues.heads('b', 2), 'ordinal'), [400]);
  t.same(await store.queues.heads('unknown', 2), []);
  // CRAWL-5.2.3: a retry rewrites the entry under the same key.
  const retry = { ...entry('b', 1, 1, 400), uri: { ...queuedUri('http://b/400'), attempts: 1 } };
  await store
    .batch()
    .dequeue(entry('a', 1, 9, 9))
    .enqueue(retry)
    .commit();
  t.same(await store.queues.head('b'), retry);
  t.equal((await store.queues.head('a'))?.ordinal, 7);
  await using seen = await store.openSeenFilter();
  await seen.add(['http://a/']);
  await store.batch().putSeen(seen.takeChanges().rows).commit();
  await store.clearFrontier();
  t.same(await store.queues.survey(), { queues: new Map(), count: 0, highestOrdinal: 0 });
  await using emptied = await store.openSeenFilter();
  t.equal(emptied.count, 0);
  t.same(await emptied.add(['http://a/']), Uint8Array.of(1));
});

t.test('documents and meta values are read as written', async (t) => {
  const directory = await temporaryDirectory(t);
  const full = documentRecord('http://a.test/ü', {
    status: -6,
    updateTime: 9_007_199_254_740_991,
    etag: '"x"',
    md5: 'd41d8cd98f00b204e9800998ecf8427e',
    links: [
      { url: 'http://b.test/', hop: 'L' },
      { url: 'http://c.test/', hop: 'E' },
    ],
    rulesDigest: 'abc',
  });
  const empty = documentRecord('http://b.test/');
  const store = await GathererStore.open(directory);
  const batch = store
    .batch()
    .putDocument(empty)
    .putDocument(full)
    .putMeta('n', -1.5)
    .putMeta('s', '')
    .putMeta('t', 'ß');
  await batch.commit({ sync: true });
  await store.close();

  await using again = await GathererStore.open(directory);
  t.same(await again.documents.getMany(['http://b.test/', 'http://no.test/', full.url]), [
    empty,
    undefined,
    full,
  ]);
  t.same(await collect(again.documents.iterate()), [full, empty]);
  t.same(
    new Map((await collect(again.meta.entryPages())).flat()),
    new Map<string, string | number>([
      ['n', -1.5],
      ['s', ''],
      ['t', 'ß'],
    ]),
  );
  t.equal(await again.meta.get('s'), '');
  t.equal(await again.meta.get('missing'), undefined);
  await again.batch().deleteDocument(full.url).deleteMeta('n').commit();
  t.equal(await again.documents.get(full.url), undefined);
  t.equal(await again.meta.get('n'), undefined);
});

t.test('a batch is atomic: an invalid operation discards the other ones', async (t) => {
  await using store = await GathererStore.open(await temporaryDirectory(t));
  const batch = store.batch().putDocument(documentRecord('http://a.test/'));
  t.throws(() => batch.putSummary({ ...summary('http://a.test/', 1), updateTime: -1 }), RangeError);
  t.throws(() => batch.putSummary({ ...summary('http://a.test/', 1), timeToLive: 0.5 }), RangeError);
  t.equal(await store.documents.get('http://a.test/'), undefined);
});

t.test('a store opens its own files only', async (t) => {
  t.test('a newer schema, another kind, an unknown database and a second owner are rejected', async (t) => {
    const directory = await temporaryDirectory(t);
    const raw = async (name: string, rows: readonly (readonly [string, Uint8Array])[]) => {
      const db = new ClassicLevel<string, Uint8Array>(join(directory, name), { valueEncoding: 'view' });
      for (const [key, value] of rows) await db.put(key, value);
      await db.close();
      return GathererStore.open(join(directory, name));
    };
    const schema = protobuf.parse(
      'syntax = "proto3"; message S { string kind = 1; uint32 version = 2; }',
    ).root;
    const row = (kind: string, version: number) =>
      ['\0schema', schema.lookupType('S').encode({ kind, version }).finish()] as const;
    await t.rejects(raw('newer', [row('gatherer', 99)]), { name: 'StorageError', message: /schema 99/ });
    await t.rejects(raw('broker', [row('broker', 1)]), {
      name: 'StorageError',
      message: /is a broker store/,
    });
    await t.rejects(raw('foreign', [['key', Buffer.from('x')]]), {
      name: 'StorageError',
      message: /not a gatherer/,
    });
    await t.rejects(raw('garbage', [['\0schema', Buffer.from('\xff\xff', 'latin1')]]), {
      name: 'StorageError',
    });

    await using store = await GathererStore.open(join(directory, 'mine'));
    await t.rejects(GathererStore.open(join(directory, 'mine')), { name: 'StorageError', message: /in use/ });
    t.equal(store.summaries.count, 0);
    t.ok((await readdir(join(directory, 'newer'))).includes('CURRENT'), 'a rejected directory is unchanged');
  });

  t.test('a damaged record is a StorageError', async (t) => {
    const directory = await temporaryDirectory(t);
    const store = await GathererStore.open(directory);
    await store.close();
    const db = new ClassicLevel<string, Uint8Array>(directory, { valueEncoding: 'view' });
    await db.put('Dhttp://a.test/', Buffer.from([0xff, 0xff, 0xff]));
    await db.close();
    await using again = await GathererStore.open(directory);
    await t.rejects(again.documents.get('http://a.test/'), StorageError);
  });

  t.test('a closed store throws a StateError, and closing waits for operations in flight', async (t) => {
    const directory = await temporaryDirectory(t);
    const store = await GathererStore.open(directory);
    const commit = store.batch().putMeta('a', 1).commit();
    await store.close();
    await commit;
    await store.close();
    await t.rejects(store.meta.get('a'), StateError);
    await t.rejects(store.batch().putMeta('a', 1).commit(), StateError);
    await t.rejects(store.publish(join(directory, 'g')), StateError);
    await using again = await GathererStore.open(directory);
    t.equal(await again.meta.get('a'), 1);
  });
});
