// The turns of queries in a thread.
import t from 'tap';
import { Scheduler } from '../../../storage/indexers/scheduling/scheduler.js';

t.test('long queries of one client end in the order in which they began, beside short ones', async (t) => {
  const scheduler = new Scheduler();
  const [queries, turns] = [8, 40];
  const left = Array.from({ length: queries }, () => turns);
  let shortOnes = 0;
  const isOver = () => left.every((count) => count === 0);
  const long = async (i: number): Promise<number[]> => {
    const share = scheduler.enter('client');
    scheduler.join(share);
    await scheduler.take(share);
    share.work = 1000;
    while (--left[i]! > 0) await scheduler.pass(share);
    scheduler.release(share);
    scheduler.leave(share);
    return [...left];
  };
  const short = async (): Promise<void> => {
    while (!isOver()) {
      const share = scheduler.enter('client');
      scheduler.join(share);
      await scheduler.take(share);
      shortOnes++;
      scheduler.release(share);
      scheduler.leave(share);
    }
  };
  const all = left.map((_, i) => long(i));
  const shorts = [short(), short(), short()];
  const leftAtEnd = await Promise.all(all);
  await Promise.all(shorts);
  const leftOfLast = leftAtEnd[0]?.at(-1) ?? 0;
  t.ok(leftOfLast > turns / 2, `the last has ${leftOfLast} turns left when the first ends`);
  const ends = leftAtEnd.map((counts) => counts.filter((count) => count === 0).length);
  t.same(
    ends,
    ends.map((_, i) => i + 1),
    'in their order',
  );
  t.ok(shortOnes > (queries * turns) / 4, `${shortOnes} short queries had turns meanwhile`);
});
