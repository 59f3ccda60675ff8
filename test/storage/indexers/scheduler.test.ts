// The turns of queries in a thread.
import t from 'tap';
import { parseQuery } from '../../../protocols/broker/index.js';
import { mayBeCheap } from '../../../storage/indexers/query/first-price.js';
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

t.test(
  'a query of a few words passes those that are known to be long, and goes first among new ones',
  async (t) => {
    const scheduler = new Scheduler();
    const holder = scheduler.enter('holder');
    await scheduler.take(holder);
    const order: string[] = [];
    const begin = async (name: string, isLikelyLong: boolean): Promise<void> => {
      const share = scheduler.enter(name, isLikelyLong);
      scheduler.join(share);
      await scheduler.take(share);
      order.push(name);
      scheduler.release(share);
      scheduler.leave(share);
    };
    const long = Array.from({ length: 19 }, (_, i) => begin(`long ${i}`, true));
    const cheap = begin('cheap', false);
    scheduler.release(holder);
    await Promise.all([...long, cheap]);
    t.ok(order.indexOf('cheap') <= 1, `${order.indexOf('cheap')} turns before it`);
    const isCheap = (text: string, errors = 0) => {
      const query = parseQuery(text);
      return query.kind !== 'all' && mayBeCheap(query, errors);
    };
    for (const text of ['word', '"two words"', 'a and b or c', 'not word', 'title : word', 'C++'])
      t.ok(isCheap(text), text);
    const many = Array.from({ length: 250 }, (_, i) => `w${i}`).join(' and ');
    const nested = `${'(not '.repeat(60)}word${')'.repeat(60)}`;
    for (const text of [
      'a.*b',
      'wild#',
      'title regexp "x"',
      'size less-than 9',
      many,
      nested,
      `"${'x'.repeat(300)}"`,
    ])
      t.notOk(isCheap(text), text.slice(0, 40));
    t.notOk(isCheap('word', 1), 'spelling errors');
  },
);
