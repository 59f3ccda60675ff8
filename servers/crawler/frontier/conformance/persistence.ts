import assert from 'node:assert/strict';
import { pages, type RegisterTest, urls } from './harness.js';
import { ManualClock } from './manual-clock.js';

/** Restarts and crash copies (CRAWL-17.2.2). */
export function registerPersistenceTests<B>(test: RegisterTest<B>, crashCopies: boolean): void {
  test('CRAWL-17.2.2 a frontier that is opened again continues: order, budgets, sleep, retired and inactive queues, counters', async (open) => {
    const clock = new ManualClock();
    const options = { targetReadyBacklog: 2, replenish: 2, clock };
    {
      await using s = await open(options);
      await s.add([...pages('a', 6), ...pages('sleeper', 2), ...pages('c', 2), ...pages('d', 2)]);
      await s.finish(await s.take(), {}, ['http://a/0', 'http://found/']);
      await s.finish(await s.take(), { delayMs: 60_000, reason: 'crawl-delay' });
      const found = await s.take();
      assert.equal(found.classKey, 'found');
      await s.finish(await s.take(), { outcome: 'retire', reason: 'operator' });
      await s.finish(found, { outcome: 'retry', delayMs: 0 });
      await s.take();
    }
    await using s = await open(options);
    assert.equal(await s.state('sleeper'), 'snoozed: crawl-delay', 'it still sleeps');
    assert.equal(await s.state('a'), 'retired: operator');
    assert.equal(s.frontier.counts.succeeded, 2);
    assert.equal(await s.add(['http://a/0', 'http://found/', 'http://d/1']), 0, 'seen URIs stay seen');
    const rest = urls(await s.drain()).sort();
    assert.deepEqual(rest, ['http://c/0', 'http://c/1', 'http://d/0', 'http://d/1', 'http://found/']);
    clock.advance(60_000);
    assert.equal((await s.take()).uri.url, 'http://sleeper/1');
  });

  if (crashCopies)
    test('CRAWL-17.2.2 a crash neither loses nor repeats URIs', async (open) => {
      await using s = await open();
      await s.add(pages('a', 20));
      await s.finish(await s.take(), {}, pages('a', 25));
      await s.take();
      const openCopy = await open.copy();
      await using after = await openCopy();
      assert.equal(after.frontier.counts.queued, 24);
      assert.equal(await after.add(pages('a', 25)), 0);
      assert.deepEqual(
        urls(await after.drain()),
        pages('a', 25).slice(1),
        'the URI in process is given out again',
      );
    });
}

/** More queues than the frontier keeps in memory (CRAWL-5.3). */
export function registerMemoryTests<B>(test: RegisterTest<B>): void {
  test('CRAWL-5.3 hundreds of queues in little memory: every URI is given out once', async (open) => {
    await using s = await open({ targetReadyBacklog: 10, smallMemory: true, replenish: 1 });
    const all = Array.from({ length: 300 }, (_, i) => pages(`h${i}`, 2)).flat();
    for (let start = 0; start < all.length; start += 500) await s.add(all.slice(start, start + 500));
    assert.equal(s.frontier.counts.queued, 600);
    assert.deepEqual(urls(await s.drain()).sort(), [...all].sort());
  });
}
