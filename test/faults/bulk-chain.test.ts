// Chains and rings of Brokers that collect from each other converge after updates, refreshes and deletions.
import t from 'tap';
import {
  applyChanges,
  Clock,
  deletion,
  listContents,
  type Peer,
  pointAt,
  refresh,
  startPeer,
  update,
} from '../servers/broker/bulk/brokers.js';
import type { Teardown } from '../servers/broker/helpers.js';
import { NOW } from '../servers/broker/helpers.js';

/** Lets each broker collect once, in order, one second apart; returns the number of changes in each store. */
async function collectRound(clock: Clock, peers: readonly Peer[]): Promise<number[]> {
  const changes: number[] = [];
  for (const peer of peers) {
    clock.advance();
    const before = peer.broker.store.lastSequence;
    await peer.broker.collections.run();
    changes.push(peer.broker.store.lastSequence - before);
  }
  return changes;
}

async function startThree(t: Teardown, clock: Clock): Promise<readonly [Peer, Peer, Peer]> {
  return [await startPeer(t, clock), await startPeer(t, clock), await startPeer(t, clock)];
}

async function digestOf({ broker }: Peer): Promise<string> {
  return (await broker.bulk.digests.report('', new AbortController().signal)).digest;
}

t.test('BT-4, BT-23: in a chain late changes reach the next broker too', async (t) => {
  const clock = new Clock();
  const [a, b, c] = await startThree(t, clock);
  b.points.push(pointAt(a, 5));
  c.points.push(pointAt(b, 5));
  await applyChanges(a, update(1, NOW - 1000), update(2, NOW - 1000), update(3, NOW - 1000));
  // The end of the chain collects first, so it receives everything one round late.
  t.same(await collectRound(clock, [c, b]), [0, 3]);
  t.same(await collectRound(clock, [c, b]), [3, 0]);
  t.same(await listContents(c), ['1 -1000', '2 -1000', '3 -1000']);
  await applyChanges(
    a,
    update(1, NOW - 500, 'new'),
    refresh(2, NOW - 500),
    deletion(3, NOW - 500),
    update(4, NOW - 5000),
  );
  t.same(await collectRound(clock, [c, b]), [0, 4]);
  t.same(await collectRound(clock, [c, b]), [4, 0]);
  t.same(await listContents(c), ['1 -500', '2 -500', '4 -5000']);
  t.equal(await digestOf(c), await digestOf(a), 'REG-42, BT-23: the identities of the objects are unchanged');
  t.same(await collectRound(clock, [c, b]), [0, 0]);
  const { received } = await c.broker.collections.run();
  t.equal(received, 0, 'nothing is sent again');
});

t.test('BT-26: two brokers that collect from each other converge', async (t) => {
  const clock = new Clock();
  const a = await startPeer(t, clock);
  const b = await startPeer(t, clock);
  a.points.push(pointAt(b, 5));
  b.points.push(pointAt(a, 5));
  await applyChanges(a, update(1, NOW - 10), update(2, NOW - 10));
  await applyChanges(b, update(3, NOW - 10), update(2, NOW - 20, 'older'));
  t.same(await collectRound(clock, [a, b]), [1, 2]);
  t.same(await collectRound(clock, [a, b]), [0, 0]);
  t.same(await listContents(a), ['1 -10', '2 -10', '3 -10']);
  t.same(await listContents(b), await listContents(a));
  await applyChanges(b, deletion(2, NOW));
  await applyChanges(a, refresh(3, NOW));
  t.same(await collectRound(clock, [a, b]), [1, 1]);
  t.same(await collectRound(clock, [a, b]), [0, 0]);
  t.same(await listContents(a), ['1 -10', '3 0']);
  t.same(await listContents(b), await listContents(a));
});

t.test('BT-25 to BT-27: a ring of three converges after updates, refreshes and deletions', async (t) => {
  const clock = new Clock();
  const [a, b, c] = await startThree(t, clock);
  b.points.push(pointAt(a, 5));
  c.points.push(pointAt(b, 5));
  a.points.push(pointAt(c, 5));
  const all = [a, b, c];
  await applyChanges(a, ...[1, 2, 3].map((n) => update(n, NOW - 100)));
  await applyChanges(b, ...[4, 5].map((n) => update(n, NOW - 100)));
  await applyChanges(c, ...[6, 2].map((n) => update(n, NOW - 100)));
  await collectRound(clock, all);
  await collectRound(clock, all);
  t.same(await collectRound(clock, all), [0, 0, 0], 'no change circulates forever');
  t.same(await listContents(a), ['1 -100', '2 -100', '3 -100', '4 -100', '5 -100', '6 -100']);
  await applyChanges(a, deletion(4, NOW));
  await applyChanges(b, update(1, NOW, 'new'));
  await applyChanges(c, refresh(2, NOW));
  await collectRound(clock, all);
  await collectRound(clock, all);
  t.same(await collectRound(clock, all), [0, 0, 0]);
  const removals = all.map(({ broker }) => broker.store.removals);
  t.same(removals, [1, 1, 1], 'each broker records the deletion once');
  for (const peer of all) {
    t.same(await listContents(peer), ['1 0', '2 0', '3 -100', '5 -100', '6 -100']);
    t.equal(await digestOf(peer), await digestOf(a));
  }
});

t.test('SOIF-8.4, BT-27: a deleted object does not return from a third broker that has it', async (t) => {
  const clock = new Clock();
  const [a, b, c] = await startThree(t, clock);
  await applyChanges(a, update(1, NOW - 100), update(2, NOW - 100));
  await applyChanges(c, update(1, NOW - 100), update(2, NOW - 100), update(3, NOW - 100));
  b.points.push(pointAt(a, 5));
  await collectRound(clock, [b]);
  await applyChanges(a, deletion(1, NOW - 50), deletion(2, NOW - 50));
  // b never had this object and receives its deletion first.
  await applyChanges(a, update(3, NOW - 100));
  clock.advance(5);
  await applyChanges(a, deletion(3, NOW - 50));
  await collectRound(clock, [b]);
  t.same(await listContents(b), []);
  // Now b collects from c, which knows no deletions: it has the same objects, and a later version of one.
  await applyChanges(c, update(2, NOW - 40));
  b.points.push(pointAt(c, 4));
  await collectRound(clock, [b]);
  t.same(await listContents(b), ['2 -40'], 'only the later version of the object is stored');
  t.equal(b.broker.store.removals, 2);
  // An update from the Gatherer itself is stored although the object was deleted.
  await applyChanges(b, update(1, NOW - 100));
  t.same(await listContents(b), ['1 -100', '2 -40']);
});

t.test('SOIF-8.4: a deletion from a peer does not delete a newer object', async (t) => {
  const clock = new Clock();
  const [a, b] = await startThree(t, clock);
  await applyChanges(a, update(1, NOW - 100));
  b.points.push(pointAt(a, 5));
  await collectRound(clock, [b]);
  await applyChanges(b, update(1, NOW - 10));
  await applyChanges(a, deletion(1, NOW - 50));
  t.same(await collectRound(clock, [b]), [0]);
  t.same(await listContents(b), ['1 -10']);
});
