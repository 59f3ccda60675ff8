// The Broker's store: updates, refreshes, deletions, duplicates, expiry, the change log, and readers in other
// threads.
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { StateError, StorageError } from '../../../protocols/errors.js';
import {
  BrokerStore,
  type CollectedChange,
  GathererStore,
  openObjectReader,
} from '../../../storage/index.js';
import { pluck } from '../../helpers/pluck.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { changeOf as change, collect, GATHERER } from '../helpers.js';

type Attributes = Readonly<Record<string, string>>;

/** The counts of a call that changes nothing. */
const NO_CHANGES = {
  added: 0,
  updated: 0,
  refreshed: 0,
  deleted: 0,
  duplicates: 0,
  absent: 0,
  rejected: 0,
  reasons: [],
  unknown: [],
};

function update(url: string, time: number | string, attributes: Attributes = {}) {
  return change('update', url, { ...GATHERER, 'Update-Time': String(time), ...attributes });
}

/** The time of the stores' clock, in seconds. */
const NOW = 1_000_000_000;

async function openStore(t: Test): Promise<BrokerStore> {
  const store = await BrokerStore.open(await temporaryDirectory(t), { now: () => NOW });
  t.teardown(() => store.close());
  return store;
}

/** Returns the bytes of an object as Latin-1 text. */
async function text(store: BrokerStore, oid: number): Promise<string> {
  const [bytes] = await store.objects([oid]);
  return latin1(bytes ?? Buffer.alloc(0));
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

t.test('an update stores the received bytes and a Registry entry', async (t) => {
  const store = await openStore(t);
  const one = update('http://a.test/', '100\n', {
    MD5: 'D41D8CD98F00B204E9800998ECF8427E',
    Description: 'Café\n',
    Type: 'HTML',
    'Last-Modification-Time': '90',
    'Refresh-Rate': '7',
    'Time-to-Live': '8',
    Binary: '\0}\n@FILE {',
  });
  t.same(await store.apply([one, update('http://b.test/', 5)]), { ...NO_CHANGES, added: 2 });
  t.equal(await text(store, 1), latin1(one.bytes));
  t.same(await store.entries.get(1), {
    oid: 1,
    url: 'http://a.test/',
    gathererName: 'G',
    gathererHost: 'g.test',
    gathererVersion: '1.0',
    updateTime: 100,
    lastModificationTime: 90,
    refreshRate: 7,
    timeToLive: 8,
    md5: 'd41d8cd98f00b204e9800998ecf8427e',
    description: 'Café',
    type: 'HTML',
    length: one.bytes.length,
    changed: NOW,
    contentChanged: NOW,
    contentTime: 100,
    partSet: 0,
    arrivalTime: false,
    source: 0,
    fallbackTime: 0,
  });
  const second = await store.entries.get(2);
  t.same(
    [second?.lastModificationTime, second?.refreshRate, second?.timeToLive],
    [0, 604_800, 2_419_200],
    'SOIF-6.2',
  );
  t.same(await store.entries.getMany([9, 2]), [undefined, second]);
  t.same(await store.objects([9]), [undefined]);
  t.same(await store.byUrl('http://b.test/'), [second]);
  t.same(await store.byUrl('http://c.test/'), []);
  t.equal(store.count, 2);
});

t.test('objects beside a URL: those after it, then the first ones with the same beginning', async (t) => {
  const store = await openStore(t);
  const urls = ['a.test/1', 'b.test/1', 'b.test/2', 'b.test/3', 'b.test/\u00ff', 'c.test/1'];
  await store.apply(urls.map((url, i) => update(`http://${url}`, 5 + i)));
  await store.apply([update('http://b.test/3', 5, { 'Gatherer-Name': 'Another' })]);
  const beside = (url: string, limit = 10) => store.beside(url, 'http://b.test/'.length, limit);
  t.same(await beside('http://b.test/2'), [4, 7, 5, 2], 'both objects of b.test/3');
  t.same(await beside('http://b.test/2', 2), [4, 7]);
  t.same(await beside('http://b.test/3'), [5, 2, 3], 'its own are left out');
  t.same(await beside('http://b.test/\u00ff'), [2, 3, 4, 7]);
  t.same(await beside('http://b.test/unknown'), [5, 2, 3, 4, 7]);
  t.same(await beside('http://d.test/1'), []);
  t.same(
    await store.beside('http://b.test/\u00ff', 'http://b.test/?'.length, 10),
    [],
    'a byte 255 at the end',
  );
  t.same(await store.beside('http://a.test/1', 0, 3), [2, 3, 4], 'any URL');
});

t.test('SOIF-6.5 rejects an object without Gatherer identity or Update-Time with a reason', async (t) => {
  const store = await openStore(t);
  const result = await store.apply([
    change('update', 'http://a.test/', { 'Update-Time': '1' }),
    update('http://b.test/', 'soon'),
    update('http://c.test/', 3, { 'Gatherer-Host': ' \n' }),
    update('http://d.test/', '99999999999999999999'),
    update('http://e.test/', 3),
  ]);
  t.same(result, {
    ...NO_CHANGES,
    added: 1,
    rejected: 4,
    reasons: [
      'update of http://a.test/: no readable Gatherer-Name, Gatherer-Host, Gatherer-Version',
      'update of http://b.test/: no readable Update-Time',
      'update of http://c.test/: no readable Gatherer-Host',
      'update of http://d.test/: no readable Update-Time',
    ],
  });
  t.equal(store.count, 1);
});

t.test(
  'SOIF-6.6, REG-43, REG-44: same Gatherer, version, Update-Time, and URL or MD5: the same object',
  async (t) => {
    const store = await openStore(t);
    const md5 = { MD5: '0123456789abcdef0123456789abcdef' };
    t.same(await store.apply([update('http://a.test/', 10, md5)]), { ...NO_CHANGES, added: 1 });
    t.same(await store.apply([update('http://a.test/', 10, { ...md5, Title: 'x' })]), {
      ...NO_CHANGES,
      duplicates: 1,
    });
    const upper = { MD5: md5.MD5.toUpperCase() };
    t.same(await store.apply([update('http://b.test/', 10, upper)]), { ...NO_CHANGES, duplicates: 1 });
    t.same(await store.byUrl('http://b.test/'), []);
    const others = [
      update('http://c.test/', 11, md5),
      update('http://d.test/', 10, { ...md5, 'Gatherer-Version': '1.1' }),
      update('http://e.test/', 10, { ...md5, 'Gatherer-Host': 'h.test' }),
      update('http://f.test/', 10, { MD5: 'fedcba9876543210fedcba9876543210' }),
    ];
    t.same(await store.apply(others), { ...NO_CHANGES, added: 4 });

    // The object with this content is deleted, so another URL may have the content.
    await store.apply([change('delete', 'http://a.test/', {})]);
    t.same(await store.apply([update('http://b.test/', 10, md5)]), { ...NO_CHANGES, added: 1 });
  },
);

t.test('SOIF-6.6, REG-47: a duplicate by MD5 removes the previous object of its URL', async (t) => {
  const store = await openStore(t);
  const md5 = { MD5: '0123456789abcdef0123456789abcdef' };
  await store.apply([update('http://a.test/', 20, md5), update('http://b.test/', 10)]);
  t.same(await store.apply([update('http://b.test/', 20, md5)]), { ...NO_CHANGES, duplicates: 1 });
  t.same(await store.byUrl('http://b.test/'), []);
  t.equal(store.count, 1);
});

t.test('GATHERD-13.8 a newer object of its Gatherer replaces, with the same OID; no older one', async (t) => {
  const store = await openStore(t);
  await store.apply([update('http://a.test/', 10, { Title: 'one' })]);
  const newer = update('http://a.test/', 11, { Title: 'two', 'Gatherer-Version': '2.0' });
  t.same(await store.apply([newer]), { ...NO_CHANGES, updated: 1 });
  t.equal(await text(store, 1), latin1(newer.bytes));
  t.same(await store.apply([update('http://a.test/', 10, { Title: 'one' })]), {
    ...NO_CHANGES,
    duplicates: 1,
  });
  t.equal(await text(store, 1), latin1(newer.bytes));
  const elsewhere = update('http://a.test/', 3, { 'Gatherer-Name': 'Other' });
  t.same(
    await store.apply([elsewhere]),
    { ...NO_CHANGES, added: 1 },
    'the object of another Gatherer is stored separately',
  );
  t.same(
    (await store.byUrl('http://a.test/')).map((entry) => [entry.oid, entry.updateTime]),
    [
      [1, 11],
      [2, 3],
    ],
  );
});

t.test('GATHERD-13.8 a refresh renews the times and keeps every other byte', async (t) => {
  const store = await openStore(t);
  const stored = {
    'Time-to-Live': '50',
    'gatherer-name': 'G',
    'Gatherer-Host': 'g.test',
    'Gatherer-Version': '1.0',
    'update-time': '100',
    Title: 'caf\u00e9 }\n@FILE { x\n\n',
  };
  await store.apply([change('update', 'http://a.test/', stored)]);
  const refresh = change('refresh', 'http://a.test/', {
    ...GATHERER,
    'Gatherer-Version': '1.1',
    'Update-Time': '2000',
    'Time-to-Live': '60',
    Title: 'must not be taken',
  });
  t.same(await store.apply([refresh]), { ...NO_CHANGES, refreshed: 1 });
  const bytes = await text(store, 1);
  const title = `Title{${Buffer.byteLength(stored.Title)}}:\t${Buffer.from(stored.Title).toString('latin1')}\n}\n`;
  t.ok(bytes.endsWith(title));
  t.match(
    bytes.toLowerCase(),
    /^@file \{ http:\/\/a\.test\/\ntime-to-live\{2\}:\t60\ngatherer-name\{1\}:\tg\n/,
  );
  t.match(bytes.toLowerCase(), /gatherer-version\{3\}:\t1\.1\nupdate-time\{4\}:\t2000\ntitle/);
  const entry = await store.entries.get(1);
  t.same(
    [entry?.updateTime, entry?.timeToLive, entry?.gathererVersion, entry?.length],
    [2000, 60, '1.1', bytes.length],
  );

  t.same(await store.apply([refresh]), { ...NO_CHANGES, duplicates: 1 }, 'the refresh is not newer');
  const result = await store.apply([
    change('refresh', 'http://b.test/', { 'Update-Time': '1' }),
    change('refresh', 'http://a.test/', { 'Update-Time': '1', 'Gatherer-Host': 'h.test' }),
    change('refresh', 'http://a.test/', {}),
  ]);
  t.same(result.unknown, ['http://b.test/', 'http://a.test/'], 'the full objects are requested');
  t.same(result.reasons, ['refresh of http://a.test/: no readable Update-Time']);
});

t.test('SOIF-8.4 a deletion removes the objects of its URL and, if it names one, its Gatherer', async (t) => {
  const store = await openStore(t);
  const other = { 'Gatherer-Name': 'Other' };
  await store.apply([
    update('http://a.test/', 10),
    update('http://a.test/', 10, other),
    update('http://b.test/', 10),
  ]);
  t.same(await store.apply([change('delete', 'http://a.test/', other)]), { ...NO_CHANGES, deleted: 1 });
  t.same(pluck(await store.byUrl('http://a.test/'), 'oid'), [1]);
  const stale = change('delete', 'http://b.test/', { ...GATHERER, 'Update-Time': '9' });
  t.same(await store.apply([stale, change('delete', 'http://c.test/', {})]), {
    ...NO_CHANGES,
    duplicates: 1,
    absent: 1,
  });
  t.same(await store.apply([change('delete', 'http://a.test/', {})]), { ...NO_CHANGES, deleted: 1 });
  t.equal(store.count, 1);
  t.same(await store.objects([1, 2]), [undefined, undefined]);
});

t.test('a change sees the earlier changes of the same call', async (t) => {
  const store = await openStore(t);
  const md5 = { MD5: '0123456789abcdef0123456789abcdef' };
  const refreshB = change('refresh', 'http://b.test/', { ...GATHERER, 'Update-Time': '12' });
  const result = await store.apply([
    update('http://a.test/', 10, md5), // added
    update('http://b.test/', 10, md5), // duplicate of a
    update('http://a.test/', 11), // updated: the MD5 is free
    update('http://b.test/', 10, md5), // added
    refreshB, // refreshed
    update('http://c.test/', 12, md5), // duplicate of b as refreshed
    change('delete', 'http://b.test/', {}), // deleted
    update('http://c.test/', 12, md5), // added
    change('refresh', 'http://b.test/', { 'Update-Time': '13' }), // unknown
  ]);
  t.match(result, {
    added: 3,
    updated: 1,
    refreshed: 1,
    deleted: 1,
    duplicates: 2,
    rejected: 0,
    unknown: ['http://b.test/'],
  });
  const entries = (await collect(store.all())).flat();
  t.same(
    entries.map(({ oid, url, updateTime }) => [oid, url, updateTime]),
    [
      [1, 'http://a.test/', 11],
      [3, 'http://c.test/', 12],
    ],
  );
});

t.test('SOIF-6.8, 6.7 objects expire after Update-Time + Time-to-Live; 0 never expires', async (t) => {
  const store = await openStore(t);
  await store.apply([
    update('http://a.test/', 100, { 'Time-to-Live': '50' }),
    update('http://b.test/', 100, { 'Time-to-Live': '0' }),
    update('http://c.test/', 120, { 'Time-to-Live': '40' }),
    update('http://d.test/', 100),
  ]);
  t.equal(await store.expire(150), 0, 'at Update-Time + Time-to-Live it is still valid');
  t.equal(await store.expire(151), 1);
  t.same(await store.byUrl('http://a.test/'), []);
  await store.apply([change('refresh', 'http://c.test/', { 'Update-Time': '1000' })]);
  t.equal(await store.expire(161), 0, 'a refresh postponed the expiry');
  t.equal(await store.expire(2_500_000), 2);
  t.same(pluck((await collect(store.all())).flat(), 'url'), ['http://b.test/']);
  t.equal(store.count, 1);
});

t.test('all() returns pages in the order of the OIDs; since selects by Update-Time', async (t) => {
  const store = await openStore(t);
  const many = Array.from({ length: 2300 }, (_, i) => update(`http://a.test/${i}`, 5000 - i));
  await store.apply(many);
  const pages = await collect(store.all());
  t.same(
    pluck(pages.flat(), 'oid'),
    Array.from({ length: 2300 }, (_, i) => i + 1),
  );
  t.ok(pages.length >= 3);
  t.equal((await collect(store.all({ after: 2290 }))).flat().length, 10);
  const recent = (await collect(store.all({ since: 4990, after: 3 }))).flat();
  t.same(pluck(recent, 'oid'), [4, 5, 6, 7, 8, 9, 10, 11]);
  await t.rejects(collect(store.all({ signal: AbortSignal.abort() })));
});

t.test('the change log lists the changes for an indexer', async (t) => {
  const store = await openStore(t);
  await store.apply([update('http://a.test/', 1), update('http://b.test/', 1), update('http://a.test/', 1)]);
  await store.apply([update('http://a.test/', 2), change('delete', 'http://b.test/', {})]);
  const log = [
    { sequence: 1, oid: 1, kind: 'put' },
    { sequence: 2, oid: 2, kind: 'put' },
    { sequence: 3, oid: 1, kind: 'put' },
    { sequence: 4, oid: 2, kind: 'remove' },
  ];
  t.same(await store.changesAfter(0, 100), log);
  t.same(await store.changesAfter(1, 2), log.slice(1, 3));
  t.same(await store.changesAfter(4, 5), []);
  t.equal(store.lastSequence, 4);
  await store.trimChanges(3);
  t.same(await store.changesAfter(0, 100), log.slice(3));
  t.equal(store.trimmedSequence, 3);
  await store.trimChanges(99);
  t.same([store.trimmedSequence, store.lastSequence], [4, 4]);
});

t.test("GATHERD-13.6 the point's state is written with the batch; all data survives a close", async (t) => {
  const directory = await temporaryDirectory(t);
  const store = await BrokerStore.open(directory);
  t.equal(await store.points.get('g.test:8500'), undefined);
  await store.apply([update('http://a.test/', 77)], { key: 'g.test:8500', last: 77 });
  await store.apply([], { key: 'other', last: 0 });
  await t.rejects(store.apply([update('http://b.test/', 1)], { key: 'x', last: -1 }), RangeError);
  await t.rejects(BrokerStore.open(directory), {
    name: 'StorageError',
    message: /in use by this process already$/,
  });
  await store.close();
  await t.rejects(store.apply([]), StateError);

  const again = await BrokerStore.open(directory);
  t.same([again.count, again.lastSequence], [1, 1], 'the failed call stores nothing');
  t.same(await again.points.get('g.test:8500'), { last: 77, origin: '', sequence: 0 });
  t.same(await again.points.get('other'), { last: 0, origin: '', sequence: 0 });
  t.same(await again.apply([update('http://c.test/', 1)]), { ...NO_CHANGES, added: 1 });
  t.equal((await again.byUrl('http://c.test/'))[0]?.oid, 2);
  await again.clear();
  t.same([again.count, again.lastSequence], [0, 4], 'the removals of clear are in the log');
  t.equal(await again.points.get('g.test:8500'), undefined);
  t.same(
    await again.apply([update('http://a.test/', 77)]),
    { ...NO_CHANGES, added: 1 },
    'clear removes all data',
  );
  t.same(pluck((await collect(again.all())).flat(), 'oid'), [3], 'an OID is never reused');
  await again.close();
  await t.rejects(GathererStore.open(directory), StorageError);
});

t.test('any changes in any batches give the same result as a simple model of the rules', async (t) => {
  const item = fc.record({
    kind: fc.constantFrom('update', 'update', 'update', 'refresh', 'delete'),
    url: fc.constantFrom('http://a.test/', 'http://b.test/', 'http://c.test/'),
    name: fc.constantFrom('G', 'H'),
    version: fc.constantFrom('1', '2'),
    time: fc.integer({ min: 1, max: 4 }),
    md5: fc.constantFrom('', '', 'aa', 'bb'),
  });
  const store = await openStore(t);
  await assertProperty(
    fc.asyncProperty(fc.array(fc.array(item, { maxLength: 6 }), { maxLength: 5 }), async (calls) => {
      await store.clear();
      type ModelObject = { url: string; name: string; version: string; time: number; md5: string };
      let model: ModelObject[] = [];
      for (const items of calls) {
        const changes = items.map(({ kind, url, name, version, time, md5 }) =>
          change(kind as CollectedChange['kind'], url, {
            'Gatherer-Name': name,
            'Gatherer-Host': 'g.test',
            'Gatherer-Version': version,
            'Update-Time': String(time),
            ...(kind === 'update' && md5 !== '' ? { MD5: md5 } : {}),
          }),
        );
        for (const { kind, ...one } of items) {
          const old = model.find((other) => other.url === one.url && other.name === one.name);
          const rest = model.filter((other) => other !== old);
          if (kind === 'delete') {
            if (old !== undefined && old.time <= one.time) model = rest;
          } else if (kind === 'refresh') {
            if (old !== undefined && old.time < one.time)
              Object.assign(old, { time: one.time, version: one.version });
          } else if (
            old === undefined ||
            old.time < one.time ||
            (old.time === one.time && old.version !== one.version)
          ) {
            const twin = rest.some(
              (other) =>
                one.md5 !== '' &&
                other.md5 === one.md5 &&
                other.name === one.name &&
                other.version === one.version &&
                other.time === one.time,
            );
            model = twin ? rest : [...rest, one];
          }
        }
        await store.apply(changes);
      }
      const entries = (await collect(store.all())).flat();
      const found = entries.map(({ url, gathererName, gathererVersion, updateTime, md5 }) =>
        [url, gathererName, gathererVersion, updateTime, md5].join(),
      );
      t.same(found.sort(), model.map((m) => [m.url, m.name, m.version, m.time, m.md5].join()).sort());
      t.equal(store.count, model.length);
      const byTime = (await collect(store.all({ since: 3 }))).flat();
      t.same(
        byTime,
        entries.filter((entry) => entry.updateTime >= 3),
      );
    }),
    { numRuns: 60 },
  );
});

t.test('a worker thread reads objects concurrently with the owner', async (t) => {
  const directory = join(await temporaryDirectory(t), 'store');
  await t.rejects(openObjectReader(directory), StorageError);
  const store = await BrokerStore.open(directory);
  t.teardown(() => store.close());
  const one = update('http://a.test/', 1);
  await store.apply([one]);
  const module = import.meta.resolve('../../../storage/index.js');
  const program = `import { parentPort, workerData } from 'node:worker_threads';
     const { openObjectReader } = await import(workerData.module);
     const reader = await openObjectReader(workerData.directory);
     parentPort.on('message', async (oids) => {
       if (oids !== undefined) return parentPort.postMessage(await reader.objects(oids));
       await reader.close();
       parentPort.close();
     });`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
    workerData: { module, directory },
  });
  t.teardown(async () => {
    await worker.terminate();
  });
  const requestObjects = (oids: number[]) =>
    new Promise<(Uint8Array | undefined)[]>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.postMessage(oids);
    });
  t.same(
    (await requestObjects([1, 2])).map((bytes) => bytes && latin1(bytes)),
    [latin1(one.bytes), undefined],
  );
  const two = update('http://b.test/', 1);
  await store.apply([two]);
  t.same(
    (await requestObjects([2])).map((bytes) => bytes && latin1(bytes)),
    [latin1(two.bytes)],
    'the reader sees a new object immediately',
  );
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  worker.postMessage(undefined);
  await exited;
  t.same(
    await store.apply([update('http://c.test/', 1)]),
    { ...NO_CHANGES, added: 1 },
    'the owner still works',
  );
  await using reader = await openObjectReader(directory);
  t.equal((await reader.objects([1, 3])).filter((bytes) => bytes !== undefined).length, 2);
});
