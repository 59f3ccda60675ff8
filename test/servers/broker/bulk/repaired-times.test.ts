// Brokers that collect from each other had the time of a wrong clock, and each repairs it by itself: the time that one
// of them makes must not win over a version that another one relays.
import t, { type Test } from 'tap';
import type { CollectedChange } from '../../../../storage/index.js';
import { findUrls, NOW, soif } from '../helpers.js';
import { change, deletion, GATHERER, listContents, type Peer, pointAt, startPeer, urlOf } from './brokers.js';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const START = NOW + 2 * YEAR;
const JUMPS = [2 * DAY, 14 * YEAR];

type Shape = 'two in a chain' | 'three in a chain' | 'two in a ring' | 'three in a ring';
const SHAPES: Readonly<Record<Shape, number>> = {
  'two in a chain': 2,
  'three in a chain': 3,
  'two in a ring': 2,
  'three in a ring': 3,
};

/** Each Broker collects from the one before it, in a ring the first one from the last, too. */
async function startBrokers(t: Test, shape: Shape): Promise<Peer[]> {
  const peers: Peer[] = [];
  for (let i = 0; i < SHAPES[shape]; i++) peers.push(await startPeer(t));
  for (const [i, peer] of peers.entries()) {
    const before = peers[i - 1] ?? (shape.endsWith('ring') ? peers.at(-1) : undefined);
    if (before !== undefined) peer.points.push(pointAt(before, 5));
  }
  return peers;
}

const version = (name: string, updateTime: number, title: string, life = 30 * YEAR): CollectedChange =>
  change(
    'update',
    soif(urlOf(name), {
      ...GATHERER,
      'Update-Time': String(updateTime),
      'Time-to-Live': String(life),
      Title: title,
    }),
  );

/** Changes as the first Broker gets them from the Gatherer, by their numbers. */
async function gather(peer: Peer | undefined, ...changes: CollectedChange[]): Promise<void> {
  await peer?.broker.store.apply(changes, undefined, undefined, { numbered: true, source: 1 });
  await peer?.broker.keeper.settle();
}

/** All clocks say this time; each Broker reads its own a few seconds after that of the one before it. */
function set(peers: readonly Peer[], time: number, apart = 5): void {
  for (const [i, { clock }] of peers.entries()) clock.now = time + i * apart;
}

async function collect(peers: readonly Peer[]): Promise<void> {
  for (const { broker } of peers) await broker.collections.run();
}

for (const shape of Object.keys(SHAPES) as Shape[])
  for (const jump of JUMPS)
    for (const order of ['before', 'after', 'between'] as const)
      for (const apart of order === 'after' ? [5, -5] : [5])
        t.test(`${shape}, ${jump} s, a version ${order} the repair, clocks ${apart} s apart`, async (t) => {
          const peers = await startBrokers(t, shape);
          const [first] = peers;
          set(peers, START, apart);
          for (const name of ['changed', 'same', 'gone', 'again'])
            await gather(first, version(name, START - HOUR, 'edition0'));
          await collect(peers);
          set(peers, START + HOUR + jump, apart);
          for (const name of ['changed', 'same', 'new'])
            await gather(first, version(name, START + HOUR + jump - MINUTE, 'edition1'));
          await gather(first, deletion('again', START + HOUR + jump));
          await collect(peers);

          set(peers, START + 2 * HOUR, apart);
          const changes = [
            ...['changed', 'new', 'again'].map((name) =>
              version(name, START + 2 * HOUR - MINUTE, 'edition2'),
            ),
            deletion('gone', START + 2 * HOUR - MINUTE),
          ];
          if (order === 'before') await gather(first, ...changes);
          if (order === 'between') await collect(peers.slice(1));
          else await collect(peers);
          if (order !== 'before') await gather(first, ...changes);
          for (let round = 0; round < 3; round++) {
            set(peers, START + 2 * HOUR + (round + 1) * MINUTE, apart);
            await collect(peers);
          }
          for (const [i, peer] of peers.entries()) {
            t.same(
              (await findUrls(peer.broker, 'edition2')).sort(),
              ['again', 'changed', 'new'].map(urlOf),
              `Broker ${i}`,
            );
            t.same(
              await findUrls(peer.broker, 'edition1'),
              [urlOf('same')],
              `Broker ${i}: not changed since`,
            );
            t.same(
              (await listContents(peer)).map((line) => line.split(' ')[0]),
              ['again', 'changed', 'new', 'same'],
              `Broker ${i}: nothing is lost, and nothing comes back`,
            );
          }
        });

t.test('a Broker that was away gets what was repaired meanwhile, and it does not expire early', async (t) => {
  const peers = await startBrokers(t, 'two in a chain');
  const [first, second] = peers;
  set(peers, START);
  await gather(first, version('a', START, 'edition0', 2 * DAY));
  await collect(peers);
  set(peers, START + DAY + 14 * YEAR);
  await gather(first, version('a', START + DAY + 14 * YEAR, 'edition1', 2 * DAY));
  await gather(first, version('b', START + DAY + 14 * YEAR, 'edition1', 2 * DAY));
  set(peers, START + 2 * DAY);
  await collect(peers);
  set(peers, START + 3 * DAY);
  await collect(peers);
  for (const { broker } of [first, second] as Peer[])
    t.same(await findUrls(broker, 'edition1'), [urlOf('a'), urlOf('b')]);
  t.equal(second?.broker.store.count, 2, 'its Time-to-Live counts from the repair');
  set(peers, START + 5 * DAY);
  await collect(peers);
  t.equal(first?.broker.store.count, 0, 'and ends');
});
