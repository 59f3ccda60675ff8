import t from 'tap';
import {
  Clock,
  contents,
  deletion,
  gather,
  type Peer,
  peer,
  pointAt,
  refresh,
  update,
} from '../servers/broker/bulk-brokers.js';
import type { Teardown } from '../servers/broker/scene.js';
import { NOW } from '../servers/broker/scene.js';

/** Lets each broker collect once, in order, a second apart. Returns the number of changes in each store. */
async function round(clock: Clock, peers: readonly Peer[]): Promise<number[]> {
  const changes: number[] = [];
  for (const one of peers) {
    clock.tick();
    const before = one.broker.store.lastSequence;
    await one.broker.collect();
    changes.push(one.broker.store.lastSequence - before);
  }
  return changes;
}

async function three(t: Teardown, clock: Clock): Promise<readonly [Peer, Peer, Peer]> {
  return [await peer(t, clock), await peer(t, clock), await peer(t, clock)];
}

async function digestOf({ broker }: Peer): Promise<string> {
  return (await broker.bulkDigest('', new AbortController().signal)).digest;
}

t.test('BT-4, BT-23 a chain: late changes reach the next broker too', async (t) => {
  const clock = new Clock();
  const [a, b, c] = await three(t, clock);
  b.points.push(pointAt(a, 5));
  c.points.push(pointAt(b, 5));
  await gather(a, update(1, NOW - 1000), update(2, NOW - 1000), update(3, NOW - 1000));
  // The end of the chain collects first, so it receives everything one round late.
  t.same(await round(clock, [c, b]), [0, 3]);
  t.same(await round(clock, [c, b]), [3, 0]);
  t.same(await contents(c), ['1 -1000', '2 -1000', '3 -1000']);
  await gather(
    a,
    update(1, NOW - 500, 'new'),
    refresh(2, NOW - 500),
    deletion(3, NOW - 500),
    update(4, NOW - 5000),
  );
  t.same(await round(clock, [c, b]), [0, 4]);
  t.same(await round(clock, [c, b]), [4, 0]);
  t.same(await contents(c), ['1 -500', '2 -500', '4 -5000']);
  t.equal(await digestOf(c), await digestOf(a), 'REG-42 the same identities, unchanged (BT-23)');
  t.same(await round(clock, [c, b]), [0, 0]);
  const { received } = await c.broker.collect();
  t.equal(received, 0, 'and nothing is sent repeatedly');
});

t.test('BT-26 two brokers that collect from each other converge', async (t) => {
  const clock = new Clock();
  const a = await peer(t, clock);
  const b = await peer(t, clock);
  a.points.push(pointAt(b, 5));
  b.points.push(pointAt(a, 5));
  await gather(a, update(1, NOW - 10), update(2, NOW - 10));
  await gather(b, update(3, NOW - 10), update(2, NOW - 20, 'older'));
  t.same(await round(clock, [a, b]), [1, 2]);
  t.same(await round(clock, [a, b]), [0, 0]);
  t.same(await contents(a), ['1 -10', '2 -10', '3 -10']);
  t.same(await contents(b), await contents(a));
  await gather(b, deletion(2, NOW));
  await gather(a, refresh(3, NOW));
  t.same(await round(clock, [a, b]), [1, 1]);
  t.same(await round(clock, [a, b]), [0, 0]);
  t.same(await contents(a), ['1 -10', '3 0']);
  t.same(await contents(b), await contents(a));
});

t.test('BT-25 to BT-27 a ring of three converges after updates, refreshes and deletions', async (t) => {
  const clock = new Clock();
  const [a, b, c] = await three(t, clock);
  b.points.push(pointAt(a, 5));
  c.points.push(pointAt(b, 5));
  a.points.push(pointAt(c, 5));
  const all = [a, b, c];
  await gather(a, ...[1, 2, 3].map((n) => update(n, NOW - 100)));
  await gather(b, ...[4, 5].map((n) => update(n, NOW - 100)));
  await gather(c, ...[6, 2].map((n) => update(n, NOW - 100)));
  await round(clock, all);
  await round(clock, all);
  t.same(await round(clock, all), [0, 0, 0], 'nothing goes round for ever');
  t.same(await contents(a), ['1 -100', '2 -100', '3 -100', '4 -100', '5 -100', '6 -100']);
  await gather(a, deletion(4, NOW));
  await gather(b, update(1, NOW, 'new'));
  await gather(c, refresh(2, NOW));
  await round(clock, all);
  await round(clock, all);
  t.same(await round(clock, all), [0, 0, 0]);
  const removals = all.map(({ broker }) => broker.store.removals);
  t.same(removals, [1, 1, 1], 'each remembers the one deletion, once');
  for (const one of all) {
    t.same(await contents(one), ['1 0', '2 0', '3 -100', '5 -100', '6 -100']);
    t.equal(await digestOf(one), await digestOf(a));
  }
});

t.test(
  'SOIF-8.4, BT-27 a deleted object does not return from a third broker that still has it',
  async (t) => {
    const clock = new Clock();
    const [a, b, c] = await three(t, clock);
    await gather(a, update(1, NOW - 100), update(2, NOW - 100));
    await gather(c, update(1, NOW - 100), update(2, NOW - 100), update(3, NOW - 100));
    b.points.push(pointAt(a, 5));
    await round(clock, [b]);
    await gather(a, deletion(1, NOW - 50), deletion(2, NOW - 50));
    // It never had this object and receives its deletion first.
    await gather(a, update(3, NOW - 100));
    clock.tick(5);
    await gather(a, deletion(3, NOW - 50));
    await round(clock, [b]);
    t.same(await contents(b), []);
    // Now it collects from the broker without the deletion: the same object, and a new one of its Gatherer.
    await gather(c, update(2, NOW - 40));
    b.points.push(pointAt(c, 4));
    await round(clock, [b]);
    t.same(await contents(b), ['2 -40'], 'only the later one is another object');
    t.equal(b.broker.store.removals, 2);
    // The Gatherer itself takes precedence.
    await gather(b, update(1, NOW - 100));
    t.same(await contents(b), ['1 -100', '2 -40']);
  },
);

t.test('SOIF-8.4 a deletion from a peer does not delete a newer object', async (t) => {
  const clock = new Clock();
  const [a, b] = await three(t, clock);
  await gather(a, update(1, NOW - 100));
  b.points.push(pointAt(a, 5));
  await round(clock, [b]);
  await gather(b, update(1, NOW - 10));
  await gather(a, deletion(1, NOW - 50));
  t.same(await round(clock, [b]), [0]);
  t.same(await contents(b), ['1 -10']);
});
