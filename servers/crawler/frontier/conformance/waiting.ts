import assert from 'node:assert/strict';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { QueueEntry } from '../../../../storage/index.js';
import { pages, type RegisterTest } from './harness.js';

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
