import assert from 'node:assert/strict';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { QueueEntry } from '../../../../storage/index.js';
import { DIRECTIVE, type Finish } from '../contract.js';
import { pages, type RegisterTest, urls } from './harness.js';

/** `schedule`, `next` and `finished` (CRAWL-5.6), charges and counts. */
export function registerOperationTests<B>(test: RegisterTest<B>): void {
  test('CRAWL-5.6 schedule, next, finished', async (open) => {
    await using s = await open();
    assert.equal(await s.add(['http://a/1', 'http://a/2', 'http://b/1']), 3);
    assert.equal(
      await s.add(['http://a/1', 'http://b/1']),
      0,
      'CRAWL-4.1: known URIs are not scheduled again',
    );
    assert.equal(
      await s.add(['http://a/1'], { forceFetch: true }),
      1,
      'CRAWL-2.7: force-fetch passes the filter',
    );
    assert.equal(s.frontier.counts.discovered, 3);
    const [first, second] = [await s.take(), await s.take()];
    assert.deepEqual(urls([first, second]), ['http://a/1', 'http://b/1'], 'one URI of each queue');
    assert.equal(await s.poll(), undefined, 'CRAWL-5.6.4: a queue in process provides no URI');
    assert.equal(await s.state('a'), 'in-process', 'T7');
    await s.finish(first, { delayMs: 3000, reason: 'politeness' }, [
      'http://a/3',
      'http://a/2',
      'http://c/1',
    ]);
    assert.equal(await s.state('a'), 'snoozed: politeness', 'T13');
    assert.equal((await s.take()).uri.url, 'http://c/1', 'the links found on it are queued');
    assert.equal(await s.poll(), undefined, 'CRAWL-7.1: the queue sleeps');
    s.clock.advance(2999);
    assert.equal(await s.poll(), undefined, 'the queue sleeps to the last millisecond');
    s.clock.advance(1);
    const third = await s.take();
    assert.equal(third.uri.url, 'http://a/2', 'CRAWL-1.9: first in, first out');
    await s.finish(third, { outcome: 'retry', delayMs: 900_000, reason: 'retry' });
    assert.equal(
      await s.state('a'),
      'snoozed: retry',
      'T11: without inactive queues a long sleep is a snooze',
    );
    s.clock.advance(900_000);
    const again = await s.take();
    assert.deepEqual(
      [again.uri.url, again.uri.attempts],
      ['http://a/2', 1],
      'CRAWL-8.5, 8.3: the retried URI keeps its position and counts attempts',
    );
  });

  test('CRAWL-2.5, 5.1.1 directive, then precedence, then age; CRAWL-5.2.2 a returned head follows a URI of higher priority', async (open) => {
    await using s = await open();
    await s.add(['http://a/normal-1', 'http://a/normal-2']);
    const head = await s.take();
    await s.add(['http://a/high'], { directive: DIRECTIVE.high });
    await s.finish(head, { outcome: 'retry', delayMs: 0, free: true });
    assert.deepEqual(urls(await s.drain()), ['http://a/high', 'http://a/normal-1', 'http://a/normal-2']);
  });

  test('CRAWL-4.9, 17.1.4 a frontier for which URIs are announced is not empty; a closed one takes none', async (open) => {
    await using s = await open();
    const signal = new AbortController().signal;
    const end = s.frontier.announce();
    assert.equal(s.frontier.empty, false);
    const first = s.frontier.next(signal);
    await s.add(['http://a/1']);
    const entry = await first;
    assert.ok(entry, 'a worker waits for an announced event');
    const second = s.frontier.next(signal);
    await s.finish(entry);
    assert.equal(s.frontier.empty, false, 'more may come');
    end?.();
    end?.();
    assert.equal(await second, undefined, 'the crawl is over');
    assert.equal(s.frontier.empty, true);
    s.frontier.close();
    assert.equal(s.frontier.announce(), undefined);
  });

  test('CRAWL-5.6.3 an abandoned URI stays the head of its queue, without an attempt', async (open) => {
    await using s = await open();
    await s.add(pages('a', 2));
    s.frontier.abandoned(await s.take());
    const head = await s.take();
    assert.deepEqual([head.uri.url, head.uri.attempts], ['http://a/0', 0]);
  });

  test('CRAWL-8.4 charges: success, failure with its penalty, nothing for a deferral or a disregarded URI', async (open) => {
    await using s = await open({ replenish: 1000, cost: 2 });
    await s.add(pages('a', 6));
    const finishes: Partial<Finish>[] = [
      { outcome: 'success', bytes: 10 },
      { outcome: 'retry', free: true },
      { outcome: 'retry' },
      { outcome: 'failed', penalty: 100, bytes: 5 },
      { outcome: 'disregarded' },
    ];
    for (const finish of finishes) await s.finish(await s.take(), finish);
    const [report] = await s.frontier.reports();
    assert.equal(report?.totalExpenditure, 2 + 2 + 102);
    assert.equal(report?.sessionBalance, 1000 - 106);
    assert.equal(report?.count, 3);
    const { succeeded, failed, disregarded, bytes } = s.frontier.counts;
    assert.deepEqual(
      { succeeded, failed, disregarded, bytes },
      { succeeded: 1, failed: 1, disregarded: 1, bytes: 15 },
    );
  });

  test('CRAWL-4.2, 21 a URI with a temporary failure is new when it is found again, a limited number of times', async (open) => {
    await using s = await open();
    await s.add(['http://a/dead']);
    let times = 0;
    for (let entry = await s.poll(); entry !== undefined; entry = await s.poll()) {
      times++;
      await s.finish(entry, { outcome: 'failed', forget: true });
      await s.add(['http://a/dead']);
    }
    assert.equal(times, 3);
    await s.add(['http://a/gone']);
    await s.finish(await s.take(), { outcome: 'failed' });
    assert.equal(await s.add(['http://a/gone']), 0, 'a permanent failure stays seen');
  });

  test('a refused URI does not count as seen', async (open) => {
    await using s = await open();
    assert.equal(await s.add(['http://a/1'], { admit: () => false }), 0);
    assert.equal(s.frontier.counts.discovered, 0);
    assert.equal(await s.add(['http://a/1'], { admit: () => true }), 1);
  });

  test('CRAWL-4.3 a noted URL counts as seen and is not queued', async (open) => {
    await using s = await open();
    await s.frontier.note(['http://a/1']);
    assert.equal(await s.add(['http://a/1']), 0);
    assert.ok(s.frontier.empty);
  });

  test('a URL that is surely known was scheduled', async (open) => {
    await using s = await open();
    assert.equal(s.frontier.isKnownWithoutLookup('http://a/1', 0), false);
    await s.add(['http://a/1']);
    if (s.frontier.isKnownWithoutLookup('http://a/1', 0)) assert.equal(await s.add(['http://a/1']), 0);
  });
}

/** Actions of the operator: deletion, hold and release, reports, and the checkpoint callback. */
export function registerOperatorTests<B>(test: RegisterTest<B>): void {
  test('CRAWL-5.6.6, T21 URIs are deleted by pattern; the one in process stays', async (open) => {
    await using s = await open();
    await s.add([...pages('a', 4), ...pages('b', 2)]);
    const head = await s.take();
    assert.equal(await s.frontier.deleteUris((url) => url.startsWith('http://a/')), 3);
    assert.equal(s.frontier.counts.queued, 3);
    assert.equal(s.frontier.counts.disregarded, 3);
    await s.finish(head);
    assert.deepEqual(urls(await s.drain()), ['http://b/0', 'http://b/1']);
    assert.equal(await s.add(['http://a/3']), 0, 'deleted URIs stay seen');
  });

  test('CRAWL-5.6.5 hold and release', async (open) => {
    await using s = await open();
    await s.add(pages('a', 2));
    s.frontier.hold();
    assert.equal(await s.poll(), undefined);
    const waiting = s.frontier.next(new AbortController().signal);
    s.frontier.release();
    assert.equal((await waiting)?.uri.url, 'http://a/0');
  });

  test('CRAWL-5.6.7 reports are in the order of class keys, in pages', async (open) => {
    await using s = await open();
    await s.add(['http://c/1', 'http://a/1', 'http://b/1']);
    const keys = async (selection: { after?: string; limit: number }): Promise<string[]> =>
      (await s.frontier.reports(selection)).map(({ classKey }) => classKey);
    assert.deepEqual(await keys({ limit: 2 }), ['a', 'b']);
    assert.deepEqual(await keys({ limit: 2, after: 'b' }), ['c']);
    assert.equal(s.frontier.figures.queues.ready, 3);
  });

  test('CRAWL-17.3.1 atRest runs after all earlier writes, and no URI is scheduled meanwhile', async (open) => {
    await using s = await open();
    await s.add(pages('a', 1));
    const order: string[] = [];
    const rest = s.frontier.atRest(async () => {
      await nextTick();
      order.push('rest');
    });
    const scheduled = s.add(['http://b/1']).then(() => order.push('scheduled'));
    await Promise.all([rest, scheduled]);
    assert.deepEqual(order, ['rest', 'scheduled']);
  });
}

/** When a waiting `next` resolves (CRAWL-20.5). */
export function registerWaitingTests<B>(test: RegisterTest<B>): void {
  const never = new AbortController().signal;

  test('CRAWL-20.5 a waiting next gets the URI that a worker finds, and the URI whose queue wakes', async (open) => {
    await using s = await open();
    await s.add(pages('a', 2));
    const first = await s.take();
    const found = s.frontier.next(never);
    await s.finish(first, { delayMs: 3000 }, ['http://b/1']);
    assert.equal((await found)?.uri.url, 'http://b/1');
    let late: QueueEntry | undefined;
    const waiting = s.frontier.next(never).then((entry) => {
      late = entry;
    });
    for (let i = 0; i < 3000 && late === undefined; i++) {
      s.clock.advance(1);
      await nextTick();
    }
    await waiting;
    assert.equal(late?.uri.url, 'http://a/1');
  });

  test('next ends when the frontier is empty, when its signal is aborted, and when the frontier is closed', async (open) => {
    await using s = await open();
    assert.equal(await s.frontier.next(never), undefined, 'CRAWL-4.9: empty');
    await s.add(pages('a', 1));
    const entry = await s.take();
    const stop = new AbortController();
    const [aborted, last] = [s.frontier.next(stop.signal), s.frontier.next(never)];
    stop.abort();
    assert.equal(await aborted, undefined);
    await s.finish(entry);
    assert.equal(await last, undefined, 'the last URI is finished');
    await s.add(pages('b', 1));
    await s.take();
    const closed = s.frontier.next(never);
    s.frontier.close();
    assert.equal(await closed, undefined);
  });
}
