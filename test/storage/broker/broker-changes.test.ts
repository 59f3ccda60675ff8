// The Broker's store for bulk transfers: times of changes, tombstones, relayed changes, and iteration over all
// objects.
import { ClassicLevel } from 'classic-level';
import protobuf from 'protobufjs';
import t, { type Test } from 'tap';
import { BrokerStore, type CollectedChange, type Removal } from '../../../storage/index.js';
import { pluck } from '../../helpers/pluck.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { changeOf, collect, GATHERER } from '../helpers.js';

/** The default Time-to-Live, in seconds. */
const MONTH = 2_419_200;
/** The time of the store's clock at the start, in seconds. */
const START = 1_000_000_000;

function change(
  kind: CollectedChange['kind'],
  url: string,
  time: number | undefined,
  extraAttributes: Readonly<Record<string, string>> = {},
): CollectedChange {
  const dated = time === undefined ? {} : { 'Update-Time': String(time) };
  return changeOf(kind, url, { ...GATHERER, ...dated, ...extraAttributes });
}

/** Opens a store with a manual clock. */
async function open(t: Test, directory?: string) {
  const clock = { now: START };
  const path = directory ?? (await temporaryDirectory(t));
  const store = await BrokerStore.open(path, { now: () => clock.now });
  t.teardown(() => store.close());
  return { store, clock, directory: path };
}

/** Returns URL, change, content change (both since START) and content time of each copy. */
async function copies(store: BrokerStore, after: number, upTo = 4_000_000_000): Promise<string[]> {
  const found = (await collect(store.copiesSince({ after, upTo }))).flat();
  return found.map(({ url, changed, contentChanged, contentTime }) =>
    [url, changed - START, contentChanged - START, contentTime].join(' '),
  );
}

async function removals(store: BrokerStore, after = 0, upTo = 4_000_000_000): Promise<Removal[]> {
  return (await collect(store.removalsSince({ after, upTo }))).flat();
}

t.test('BT-4, BT-21 a copy records the times of its last change and last content change', async (t) => {
  const { store, clock } = await open(t);
  await store.apply([change('update', 'a', 10), change('update', 'b', 10)]);
  clock.now += 5;
  await store.apply([change('refresh', 'a', 11), change('update', 'b', 10), change('update', 'b', 9)]);
  t.same(await copies(store, START - 1), ['b 0 0 10', 'a 5 0 10']);
  t.same(await copies(store, START), ['a 5 0 10'], 'changes at the requested start are excluded');
  clock.now += 5;
  await store.apply([change('update', 'a', 12)]);
  t.same(await copies(store, START), ['a 10 10 12'], 'the earlier change is replaced');
  t.same(await copies(store, START, START + 9), [], 'changes after the requested end are excluded');
});

t.test('BT-4 the time of a store never decreases, even if its clock does', async (t) => {
  const { store, clock, directory } = await open(t);
  await store.apply([change('update', 'a', 10)]);
  clock.now += 100;
  t.equal(await store.moment(), START + 100);
  clock.now -= 5000;
  await store.close();
  const again = await BrokerStore.open(directory, { now: () => clock.now });
  t.teardown(() => again.close());
  await again.apply([change('update', 'b', 10)]);
  t.same(await copies(again, START), ['b 100 100 10']);
  t.equal(await again.moment(), START + 100);
});

t.test('BT-5 an object with an Update-Time after T is included, and only once', async (t) => {
  const { store } = await open(t);
  await store.apply([change('update', 'late', START + 900), change('update', 'b', 10)]);
  t.same(await copies(store, START + 500), [`late 0 0 ${START + 900}`]);
  t.same(await copies(store, START - 1), [`late 0 0 ${START + 900}`, 'b 0 0 10']);
});

t.test('BT-5 each removal leaves a tombstone: deleted, by hand, by a duplicate of another URL', async (t) => {
  const { store, clock } = await open(t);
  const md5 = { MD5: '0123456789abcdef0123456789abcdef' };
  const time = START - 100;
  await store.apply([
    change('update', 'deleted', time, md5),
    change('update', 'by-hand', time, { 'Time-to-Live': '0' }),
    change('update', 'outdated', time),
    change('update', 'holder', time + 1, { MD5: 'ff' }),
    change('update', 'expiring', time, { 'Time-to-Live': '50' }),
  ]);
  clock.now += 7;
  await store.apply([
    change('delete', 'deleted', time + 50),
    change('update', 'outdated', time + 1, { MD5: 'ff' }),
  ]);
  clock.now += 1;
  const [byHand] = await store.byUrl('by-hand');
  await store.remove([byHand?.oid ?? 0]);
  const tombstones = await removals(store);
  const common = { gathererName: 'G', gathererHost: 'g.test', gathererVersion: '1.0' };
  const byUrl = (url: string) => tombstones.find((removal) => removal.url === url);
  t.same(byUrl('deleted'), {
    ...common,
    url: 'deleted',
    md5: md5.MD5,
    updateTime: time + 50,
    removed: START + 7,
    expires: time + 50 + MONTH,
    timeToLive: MONTH,
    fallbackTime: 0,
  });
  t.match(byUrl('outdated'), { updateTime: time, removed: START + 7 });
  t.match(byUrl('by-hand'), { removed: START + 8, expires: START + 8 + 12 * MONTH, timeToLive: 0 });
  t.equal(tombstones.length, 3);
  t.equal(store.removals, 3);
  t.equal(await store.expire(START), 1);
  t.equal(store.removals, 3, 'SOIF-6.8 an expired object leaves no tombstone');
  t.same(
    (await removals(store, START + 7)).map(({ url }) => url),
    ['by-hand'],
    'removals at the requested start are excluded',
  );
  await store.expire(time + 50 + MONTH + 1);
  t.same(pluck(await removals(store), 'url'), ['by-hand']);
  await store.clear();
  t.equal(store.removals, 0);
  t.same(await removals(store), []);
});

t.test('BT-27 a tombstone suppresses relayed objects, but not objects from their Gatherer', async (t) => {
  const { store } = await open(t);
  const relayed = (...changes: CollectedChange[]) =>
    store.apply(changes, undefined, undefined, { relayed: true });
  const time = START - 100;
  await relayed(change('update', 'a', time));
  await relayed(change('delete', 'a', time));
  t.match(await relayed(change('update', 'a', time), change('update', 'a', time - 1)), { duplicates: 2 });
  t.match(await relayed(change('refresh', 'a', time)), { duplicates: 1, unknown: [] });
  t.match(await relayed(change('refresh', 'a', time + 1)), { unknown: ['a'] });
  t.equal(store.count, 0);
  t.match(await relayed(change('update', 'a', time + 1)), { added: 1 });
  t.equal(store.removals, 0, 'the object replaces its tombstone');
  await relayed(change('delete', 'a', time + 1));
  t.match(await store.apply([change('update', 'a', time)]), { added: 1 }, 'accepted from its Gatherer');
  t.equal(store.removals, 0);

  // A relayed deletion of an unknown object is stored once.
  await relayed(change('delete', 'x', time));
  const [first] = await removals(store);
  await relayed(change('delete', 'x', time), change('delete', 'x', time - 5));
  t.same(await removals(store), [first]);
  await relayed(change('delete', 'old', START - MONTH - 1), { ...change('delete', 'y', undefined) });
  await store.apply([change('delete', 'z', time)]);
  t.equal(store.removals, 1, 'no tombstones for expired, undated and unknown objects');
});

t.test('rejects a store of another schema', async (t) => {
  const schema = protobuf
    .parse('syntax = "proto3"; message Schema { string kind = 1; uint32 version = 2; }')
    .root.lookupType('Schema');
  for (const version of [1, 3]) {
    const directory = await temporaryDirectory(t);
    await (await BrokerStore.open(directory)).close();
    const db = new ClassicLevel<string, Uint8Array>(directory, { valueEncoding: 'view' });
    await db.put('\0schema', schema.encode({ kind: 'broker', version }).finish());
    await db.close();
    await t.rejects(BrokerStore.open(directory), {
      code: 'ERR_STORAGE',
      message: `${directory} has schema ${version}; this program reads schema 2`,
    });
  }
});

t.test('BT-5 iteration includes all objects: large, far apart and expired ones', async (t) => {
  const { store } = await open(t);
  const url = (i: number) => `http://h.test/${String(i).padStart(4, '0')}`;
  // A page ends at its byte limit within a range, and after ranges without an object.
  const sizes = [1_900_000, 3_000_000, 10, 5_000_000, 1_900_000, 1_900_000, 2_100_000];
  for (let i = 0; i < 1300; i += 100) {
    const many = Array.from({ length: 100 }, (_, k) =>
      change('update', url(i + k), START, {
        'Time-to-Live': (i + k) % 400 === 0 ? '10' : '0',
        Body: 'x'.repeat(i === 600 ? (sizes[k] ?? 100) : 100),
      }),
    );
    await store.apply(many);
  }
  const removed = Array.from({ length: 560 }, (_, i) => change('delete', url(20 + i), START + 1));
  await store.apply(removed);
  const found: string[] = [];
  for await (const page of store.valid(START + 100)) {
    for (const bytes of page)
      found.push(/\{ (\S+)/.exec(Buffer.from(bytes.subarray(0, 60)).toString())?.[1] ?? '');
  }
  const expected = Array.from({ length: 1300 }, (_, i) => i)
    .filter((i) => (i < 20 || i >= 580) && i % 400 !== 0)
    .map(url);
  t.same(found, expected);
});
