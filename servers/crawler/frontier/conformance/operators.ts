import assert from 'node:assert/strict';
import { setImmediate as nextTick } from 'node:timers/promises';
import { pages, type RegisterTest, urls } from './harness.js';

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
