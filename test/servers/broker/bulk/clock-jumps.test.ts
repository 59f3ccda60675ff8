// The clock of a Broker that others collect from jumps between, before and after their collections.
import t, { type Test } from 'tap';
import type { CollectedChange } from '../../../../storage/index.js';
import { findUrls, NOW, soif } from '../helpers.js';
import {
  applyChanges,
  change,
  deletion,
  GATHERER,
  listContents,
  type Peer,
  pointAt,
  startPeer,
  update,
  urlOf,
} from './brokers.js';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
/** Later than the year of the program, so that a clock a year behind is a possible one. */
const START = NOW + 2 * YEAR;
const JUMPS = [MINUTE, HOUR, 2 * DAY, YEAR].flatMap((jump) => [jump, -jump]);

/** A chain of Brokers by bulk transfer: the second collects from the first, the third from the second. */
async function startChain(t: Test): Promise<[Peer, Peer, Peer]> {
  const [first, second, third] = [await startPeer(t), await startPeer(t), await startPeer(t)];
  for (const { clock } of [first, second, third]) clock.now = START;
  second.points.push(pointAt(first, 5));
  third.points.push(pointAt(second, 5));
  return [first, second, third];
}

/** An object that outlives the jumps. */
function lasting(name: string, updateTime: number, title: string): CollectedChange {
  const times = { 'Update-Time': String(updateTime), 'Time-to-Live': String(10 * YEAR) };
  return change('update', soif(urlOf(name), { ...GATHERER, ...times, Title: title }));
}

t.test('what was prepared with the clock ahead is not sent when it is right', async (t) => {
  const [first, second] = await startChain(t);
  await applyChanges(first, update('a', START - 5), update('b', START - 5));
  first.clock.advance(YEAR);
  const { digests } = first.broker.bulk;
  const ahead = await digests.report('', new AbortController().signal);
  t.equal(ahead.count, 0, 'everything has expired');
  await second.broker.collections.run();
  t.equal(second.broker.store.count, 0);
  const statistics = await first.broker.statistics.get(first.clock.now);
  t.equal(statistics.computedAt, START + YEAR);
  first.clock.advance(-YEAR);
  t.equal((await digests.report('', new AbortController().signal)).count, 2);
  await second.broker.collections.run();
  t.equal(second.broker.store.count, 2, 'the complete transfer is prepared again');
  t.equal((await first.broker.statistics.get(START)).computedAt, START, 'so are the statistics');
});

/** The objects of a Broker without their times: a clock that is behind has given some of them its own. */
async function namesOf(peer: Peer): Promise<string[]> {
  return (await listContents(peer)).map((line) => line.split(' ')[0] ?? '');
}

for (const jump of JUMPS) {
  t.test(`the clock of the first Broker of a chain jumps by ${jump} s`, async (t) => {
    for (const collects of ['meanwhile', 'only before and after'] as const) {
      const [first, second, third] = await startChain(t);
      const names = ['changed', 'same', 'gone', 'wrong'];
      await applyChanges(first, ...names.map((name) => lasting(name, START - DAY, 'version1')));
      /** The time that has passed. */
      let passed = 0;
      const collect = async (): Promise<void> => {
        for (const { broker } of [second, third]) await broker.collections.run();
      };
      const set = (seconds: number, wrong: number): void => {
        passed += seconds;
        first.clock.now = START + passed + wrong;
        for (const { clock } of [second, third]) clock.now = START + passed;
      };
      await collect();
      set(HOUR, jump);
      await first.broker.collections.run();
      await applyChanges(first, lasting('wrong', START + passed, 'version2'));
      if (collects === 'meanwhile') await collect();

      set(HOUR, 0);
      await first.broker.collections.run();
      await applyChanges(
        first,
        lasting('changed', START + passed, 'version3'),
        deletion('gone', START + passed),
      );
      // Long enough that the times of the jump are past, if it was one by two days.
      set(3 * DAY, 0);
      await applyChanges(first, lasting('later', START + passed, 'version4'));
      await collect();
      const what = `the others collect ${collects}`;
      for (const { broker } of [second, third]) {
        t.same(
          await findUrls(broker, 'version2'),
          [urlOf('wrong')],
          `${what}: the change with the wrong clock`,
        );
        t.same(await findUrls(broker, 'version3'), [urlOf('changed')], `${what}: the change after it`);
        t.same(await findUrls(broker, 'version4'), [urlOf('later')], `${what}: the change of the next days`);
      }
      for (const peer of [second, third])
        t.same(await namesOf(peer), await namesOf(first), `${what}: the deletion, and nothing else`);

      // A transfer after that has what changed, and no more.
      set(DAY, 0);
      await applyChanges(first, lasting('changed', START + passed, 'version5'));
      const { points } = await second.broker.collections.run();
      t.same(await findUrls(second.broker, 'version5'), [urlOf('changed')]);
      t.ok(points[0]?.complete);
    }
  });
}
