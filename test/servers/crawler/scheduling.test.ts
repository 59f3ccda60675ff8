// Which URIs enter the frontier, in which order they leave it, and when it is empty (CRAWL-2.7 to 5.6).
import t, { type Test } from 'tap';
import { ManualClock } from '../../../servers/crawler/frontier/conformance/index.js';
import { type Candidate, DIRECTIVE, type Finish } from '../../../servers/crawler/frontier/contract.js';
import { type CrawlSettingsInput, crawlSettingsSchema } from '../../../servers/crawler/order/settings.js';
import { FrontierPreparer } from '../../../servers/crawler/preparer.js';
import type { QueueEntry } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { opener } from './frontier-under-test.js';

const SEED: Omit<Candidate, 'url'> = {
  ...{ via: '', pathFromSeed: '', root: 0, depth: 0, isLeaf: false, forceFetch: false, sourceTag: '' },
};

/** A frontier with the preparer of a crawl and a clock that the test moves. */
async function scene(t: Test, settings: CrawlSettingsInput = {}) {
  const clock = new ManualClock();
  const parsed = crawlSettingsSchema.parse(settings);
  const preparer = new FrontierPreparer({ settingsFor: () => parsed });
  const opened = await opener('level')(await temporaryDirectory(t), {
    clock,
    prepare: (uri) => preparer.prepare(uri),
    ...{ holdQueues: true, targetReadyBacklog: 50, snoozeDeactivateMs: 300_000, smallMemory: false },
  });
  t.teardown(() => opened[Symbol.asyncDispose]());
  const { frontier } = opened;
  const urlOf = (entry: QueueEntry | undefined) => entry?.uri.url;
  return {
    clock,
    frontier,
    add: (url: string, extra: Partial<Candidate> = {}) => frontier.schedule([{ ...SEED, url, ...extra }]),
    take: async (): Promise<QueueEntry> => (await frontier.poll())!,
    next: async () => urlOf(await frontier.poll()),
    finish: async (entry: QueueEntry, finish: Partial<Finish> = {}) => {
      const whole = { outcome: 'success', delayMs: 0, ...finish } as const;
      await (await frontier.finished(entry, whole, opened.batch())).written;
    },
  };
}

t.test(
  'CRAWL-2.7 the target of a redirect is fetched though it counts as the same URI; so is a forced one',
  async (t) => {
    const s = await scene(t, { seenRules: ['StripWWWN'] });
    const via = 'http://site.test/page';
    const target = 'http://www.site.test/page';
    t.equal(await s.add(via), 1);
    t.equal(await s.add(target, { via, pathFromSeed: 'L' }), 0, 'a link to it is known');
    t.equal(await s.add(target, { via, pathFromSeed: 'R' }), 1, 'the page was not fetched yet');
    t.equal(await s.add(via, { via: target, pathFromSeed: 'RRRRRR' }), 0, 'a loop of redirects ends');
    t.equal(await s.add('http://other.test/page', { via, pathFromSeed: 'R' }), 1);
    t.equal(
      await s.add('http://other.test/page', { via, pathFromSeed: 'R' }),
      0,
      'another URI is fetched once',
    );
    t.equal(await s.add('http://other.test/page', { forceFetch: true }), 1, 'an operator repeats a visit');
  },
);

t.test(
  'CRAWL-2.8 ordinals count from 1 in the order of arrival; a URI keeps its ordinal when it is retried',
  async (t) => {
    const s = await scene(t);
    for (const url of ['http://a.test/1', 'http://b.test/1', 'http://a.test/2']) await s.add(url);
    await s.add('http://a.test/1');
    const [first, second] = [await s.take(), await s.take()];
    t.same([first.uri.url, first.ordinal], ['http://a.test/1', 1]);
    t.same([second.uri.url, second.ordinal], ['http://b.test/1', 2]);
    await s.finish(first, { outcome: 'retry' });
    const again = await s.take();
    t.same([again.uri.url, again.ordinal], ['http://a.test/1', 1]);
    await s.finish(again);
    const third = await s.take();
    t.same([third.uri.url, third.ordinal], ['http://a.test/2', 3], 'a known URI uses no ordinal');
  },
);

t.test('CRAWL-4.9 a crawl is over only when no URI is queued, in process, announced or waits', async (t) => {
  const s = await scene(t);
  t.ok(s.frontier.empty);
  await s.add('http://a.test/1');
  t.notOk(s.frontier.empty, 'queued');
  const entry = await s.take();
  t.notOk(s.frontier.empty, 'in process');
  const aside = { delayMs: 5000, status: -3, reason: 'lost' };
  await s.finish(entry, { outcome: 'retry', aside });
  t.notOk(s.frontier.empty, 'it waits for a retry, in no queue');
  const announced = s.frontier.announce();
  s.clock.advance(5000);
  await s.finish(await s.take());
  t.notOk(s.frontier.empty, 'more URIs are announced');
  announced?.();
  t.ok(s.frontier.empty);
});

t.test(
  'CRAWL-4.10 discovered is the count of the seen filter: it falls with no URI that is fetched',
  async (t) => {
    const s = await scene(t);
    for (const url of ['http://a.test/1', 'http://a.test/1', 'http://a.test/2', 'http://b.test/'])
      await s.add(url);
    await s.frontier.note(['http://c.test/']);
    t.equal(s.frontier.counts.discovered, 4);
    await s.finish(await s.take());
    t.same([s.frontier.counts.discovered, s.frontier.counts.queued], [4, 2]);
  },
);

t.test('CRAWL-5.2.2 the head that a worker has stays the head, whatever is inserted meanwhile', async (t) => {
  const s = await scene(t);
  await s.add('http://a.test/1');
  const head = await s.take();
  await s.add('http://a.test/urgent', { directive: DIRECTIVE.highest });
  t.equal(await s.next(), undefined, 'the queue gives out nothing beside its head');
  await s.finish(head);
  t.equal(s.frontier.counts.queued, 1, 'the head was removed, not the URI with the smaller key');
  const urgent = await s.take();
  t.equal(urgent.uri.url, 'http://a.test/urgent');
  await s.add('http://a.test/prerequisite', { directive: DIRECTIVE.highest, pathFromSeed: 'P' });
  await s.add('http://a.test/2');
  await s.finish(urgent, { outcome: 'retry', free: true });
  t.equal(await s.next(), 'http://a.test/urgent', 'a returned URI keeps its key, which is smaller here');
});

t.test(
  'CRAWL-5.3.1 a worker gets the first URI of a ready queue or of one whose wake time has come',
  async (t) => {
    const s = await scene(t);
    for (const url of ['http://a.test/1', 'http://a.test/2', 'http://b.test/1']) await s.add(url);
    await s.finish(await s.take(), { delayMs: 3000 });
    t.equal(await s.next(), 'http://b.test/1', 'the queue that is ready');
    t.equal(await s.next(), undefined);
    s.clock.advance(3000);
    t.equal(await s.next(), 'http://a.test/2', 'the first URI left its queue after its fetch');
  },
);

t.test('CRAWL-5.6.1 schedule: canonical string, filter, key, queue', async (t) => {
  const s = await scene(t, { seenRules: ['Lowercase'], costPolicy: 'wag', uriPrecedence: 'cost' });
  t.equal(await s.add('http://a.test/Page?q', { pathFromSeed: 'LE' }), 1);
  t.equal(await s.add('http://a.test/page?Q'), 0, 'its canonical string was seen');
  const entry = await s.take();
  t.match(entry, {
    classKey: 'a.test',
    directive: DIRECTIVE.medium,
    precedence: 2,
    ordinal: 1,
    uri: { url: 'http://a.test/Page?q', cost: 2, attempts: 0 },
  });
  t.match(await s.frontier.reports(), [{ classKey: 'a.test', state: 'in-process', count: 1, enqueued: 1 }]);
});
