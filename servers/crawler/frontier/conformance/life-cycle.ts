import assert from 'node:assert/strict';
import { hosts, pages, type RegisterTest, urls } from './harness.js';

/** The transitions T1 to T20 of a queue (CRAWL-5.4). */
export function registerLifeCycleTests<B>(
  test: RegisterTest<B>,
  { withoutHolding, relocation }: { readonly withoutHolding: boolean; readonly relocation: boolean },
): void {
  test('CRAWL-5.4 T1, T2 queues are ready up to the backlog, the others inactive; T6 they follow in order', async (open) => {
    await using s = await open({ targetReadyBacklog: 2 });
    await s.add(['http://a/1', 'http://b/1', 'http://c/1', 'http://d/1']);
    assert.deepEqual([await s.state('a'), await s.state('b')], ['ready', 'ready'], 'T2');
    assert.deepEqual(
      [await s.state('c'), await s.state('d')],
      ['inactive: backlog', 'inactive: backlog'],
      'T1',
    );
    await s.finish(await s.take());
    assert.equal(await s.state('a'), 'exhausted', 'T9');
    assert.deepEqual(hosts(await s.drain()), ['b', 'c', 'd'], 'CRAWL-5.3: first in, first out');
  });

  test('CRAWL-5.4 T3 a URI for a ready or inactive queue changes only counts', async (open) => {
    await using s = await open({ targetReadyBacklog: 1 });
    await s.add(['http://a/1', 'http://b/1']);
    await s.add(['http://a/2', 'http://b/2']);
    assert.deepEqual([await s.state('a'), await s.state('b')], ['ready', 'inactive: backlog']);
    const reports = await s.frontier.reports();
    assert.deepEqual(
      reports.map(({ classKey, count }) => [classKey, count]),
      [
        ['a', 2],
        ['b', 2],
      ],
    );
  });

  if (withoutHolding)
    test('CRAWL-5.4 T1 without hold-queues every queue is ready', async (open) => {
      await using s = await open({ targetReadyBacklog: 1, holdQueues: false });
      await s.add(['http://a/1', 'http://b/1', 'http://c/1']);
      assert.deepEqual(
        [await s.state('a'), await s.state('b'), await s.state('c')],
        ['ready', 'ready', 'ready'],
      );
    });

  test('CRAWL-5.4 T12, T14 without a delay the queue goes to the end of the ready queues', async (open) => {
    await using s = await open();
    await s.add([...pages('a', 2), ...pages('b', 2)]);
    await s.finish(await s.take());
    await s.finish(await s.take(), { outcome: 'retry' });
    assert.deepEqual(urls(await s.drain()), ['http://a/1', 'http://b/0', 'http://b/1']);
  });

  test('CRAWL-5.4 T15, T16 a session ends when its balance is spent; CRAWL-5.4.2 the balance is set, not added to', async (open) => {
    await using s = await open({ replenish: 2, targetReadyBacklog: 1 });
    await s.add([...pages('a', 5), ...pages('b', 3)]);
    assert.equal(hosts(await s.drain()).join(''), 'aabbaaba');
  });

  test('CRAWL-5.4 T17 a queue that wakes over its session budget becomes inactive', async (open) => {
    await using s = await open({ replenish: 1, targetReadyBacklog: 1 });
    await s.add([...pages('a', 2), ...pages('b', 1)]);
    await s.finish(await s.take(), { delayMs: 1000, reason: 'politeness' });
    assert.equal(await s.state('a'), 'snoozed: politeness');
    s.clock.advance(1000);
    assert.equal((await s.take()).classKey, 'b', 'b was first in the queue of inactive queues');
    assert.equal((await s.take()).classKey, 'a');
  });

  test('CRAWL-5.4.1, T4 over its total budget a queue retires at its next activation; T19 brings it back', async (open) => {
    await using s = await open({ replenish: 10, totalBudget: 2, targetReadyBacklog: 1 });
    await s.add(pages('a', 5));
    await s.finish(await s.take());
    await s.finish(await s.take());
    assert.equal(await s.poll(), undefined);
    assert.equal(await s.state('a'), 'retired: total-budget', 'T4');
    assert.equal(s.frontier.counts.queued, 0, 'the URIs of a retired queue are not counted as queued');
    assert.ok(s.frontier.empty, 'the crawl can end');
    await s.add(['http://a/more']);
    assert.equal(s.frontier.counts.queued, 0, 'URIs that are added to it are not counted either');
    assert.equal(await s.frontier.reconsiderRetired(() => 4), 1, 'T19 with a larger budget');
    assert.equal(s.frontier.counts.queued, 4, 'its URIs count again');
    await s.finish(await s.take());
    await s.finish(await s.take());
    assert.equal(await s.poll(), undefined);
    assert.equal(await s.state('a'), 'retired: total-budget', 'it retires again');
  });

  test('CRAWL-5.4 T10 retire keeps the URI; T18 a long sleep makes a queue inactive; T5 it keeps its wake time; T20 force wake', async (open) => {
    await using s = await open({ targetReadyBacklog: 1, snoozeDeactivateMs: 300_000 });
    await s.add(['http://a/1', 'http://b/1', 'http://c/1']);
    await s.finish(await s.take(), { outcome: 'retire', reason: 'quota' });
    assert.equal(await s.state('a'), 'retired: quota', 'T10');
    const b = await s.take();
    assert.equal(await s.state('c'), 'inactive: backlog');
    await s.finish(b, { outcome: 'retry', delayMs: 900_000, reason: 'retry' });
    assert.equal(await s.state('b'), 'inactive: retry', 'T18');
    const c = await s.take();
    assert.equal(c.classKey, 'c');
    assert.equal(await s.poll(), undefined);
    assert.equal(await s.state('b'), 'snoozed: retry', 'T5: active again, but asleep');
    await s.finish(c, { delayMs: 5000, reason: 'politeness' });
    s.frontier.forceWake();
    assert.equal((await s.take()).classKey, 'b', 'T20');
    assert.equal(await s.frontier.reconsiderRetired(), 1);
    assert.equal((await s.take()).uri.url, 'http://a/1', 'T10: the URI was still the head');
  });

  if (relocation)
    test('CRAWL-5.4 T8 a head whose class key has changed moves to its new queue', async (open) => {
      const moved = new Set<string>();
      const host = (url: string): string => new URL(url).host;
      await using s = await open({ classKeyOf: (url) => (moved.has(host(url)) ? '10.0.0.1' : host(url)) });
      await s.add(['http://a/1', 'http://a/2', 'http://b/1']);
      moved.add('a');
      const taken = (await s.drain()).map(({ classKey, uri }) => `${classKey} ${uri.url}`);
      assert.deepEqual(taken.sort(), ['10.0.0.1 http://a/1', '10.0.0.1 http://a/2', 'b http://b/1']);
      assert.ok(s.frontier.empty);
    });
}
