// The frontier: its conformance suite (with other seen filters and settings: test/slow), deliberately wrong
// frontiers that the suite must find, and its data structures.
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { type CrawlEvent, crawlChannel } from '../../../servers/crawler/events.js';
import { frontierConformance, ManualClock } from '../../../servers/crawler/frontier/conformance/index.js';
import { type CrawlFrontier, DIRECTIVE } from '../../../servers/crawler/frontier/contract.js';
import { Frontier } from '../../../servers/crawler/frontier/frontier.js';
import { HeadWindow } from '../../../servers/crawler/frontier/head-window.js';
import { SeenUris } from '../../../servers/crawler/frontier/seen-uris.js';
import { WakeHeap } from '../../../servers/crawler/frontier/wake-heap.js';
import { type GathererBatch, GathererStore } from '../../../storage/index.js';
import { openSeenFilter } from '../../../storage/seen/index.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { type OpenFrontier, opener } from './frontier-under-test.js';

t.test('the frontier passes the conformance suite', async (t) => {
  frontierConformance({ test: (name, run) => t.test(name, run), open: opener('level'), histories: 1 });
});

t.test('CRAWL-9.11 highest-uri: the queue whose best URI has the smallest precedence is next', async (t) => {
  const orderOf = async (queues: 'base' | 'highest-uri'): Promise<string[]> => {
    const { frontier, batch, ...opened } = await opener('level')(await temporaryDirectory(t), {
      clock: new ManualClock(),
      prepare: ({ url }) => ({
        classKey: new URL(url).host,
        seenKey: url,
        directive: DIRECTIVE.normal,
        cost: 1,
        precedence: Number(new URL(url).pathname.slice(1)),
        budgets: { replenish: 1, totalBudget: -1, precedence: queues },
      }),
      holdQueues: true,
      targetReadyBacklog: 1,
      snoozeDeactivateMs: 300_000,
      smallMemory: false,
    });
    try {
      const common = {
        via: '',
        pathFromSeed: '',
        root: 0,
        depth: 0,
        isLeaf: false,
        forceFetch: false,
        sourceTag: '',
      };
      const urls = ['http://a/5', 'http://a/1', 'http://b/2', 'http://b/3', 'http://c/4'];
      await frontier.schedule(urls.map((url) => ({ ...common, url })));
      const order: string[] = [];
      for (let entry = await frontier.poll(); entry !== undefined; entry = await frontier.poll()) {
        order.push(entry.uri.url.slice('http://'.length));
        await (await frontier.finished(entry, { outcome: 'success', delayMs: 0 }, batch())).written;
      }
      return order;
    } finally {
      await opened[Symbol.asyncDispose]();
    }
  };
  t.same(await orderOf('highest-uri'), ['a/1', 'b/2', 'b/3', 'c/4', 'a/5']);
  t.same(await orderOf('base'), ['a/1', 'b/2', 'c/4', 'a/5', 'b/3'], 'first in, first out');
});

t.test('CRAWL-4.6 every 10 000 additions the mean time of a look-up is logged', async (t) => {
  const said: string[] = [];
  const onEvent = (event: unknown): void => void said.push((event as CrawlEvent).text);
  crawlChannel.subscribe(onEvent);
  t.teardown(() => void crawlChannel.unsubscribe(onEvent));
  await using filter = await openSeenFilter({ kind: 'memory-set' });
  const seen = new SeenUris(filter);
  for (let i = 0; i < 40; i++) {
    const keys = Array.from({ length: 500 }, (_, k) => `http://site.test/${i}/${k}`);
    await seen.add(keys);
    await seen.add(keys);
  }
  t.match(said, [
    /^seen filter memory-set: 10000 URIs; the last 19500 look-ups took [\d.]+ microseconds on average$/,
    /^seen filter memory-set: 20000 URIs; the last 20000 look-ups/,
  ]);
});

/** Returns the name of the first conformance test that a frontier fails; undefined if it passes all. */
async function firstFailure(
  change: (opened: OpenFrontier) => CrawlFrontier<GathererBatch>,
): Promise<string | undefined> {
  const tests: { readonly name: string; readonly run: () => Promise<void> }[] = [];
  frontierConformance({
    test: (name, run) => tests.push({ name, run }),
    open: async (directory, setup) => {
      const opened = await opener('level')(directory, setup);
      return { ...opened, frontier: change(opened) };
    },
  });
  for (const { name, run } of tests) {
    const passed = await run().then(
      () => true,
      () => false,
    );
    if (!passed) return name;
  }
  return undefined;
}

/** Returns a frontier with some of its methods replaced. */
function altered(
  { frontier }: OpenFrontier,
  methods: Partial<CrawlFrontier<GathererBatch>>,
): CrawlFrontier<GathererBatch> {
  return new Proxy(frontier, {
    get(target, name) {
      const value: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

t.test('the suite fails deliberately wrong frontiers', async (t) => {
  const defects: [string, RegExp, (opened: OpenFrontier) => CrawlFrontier<GathererBatch>][] = [
    [
      'ignores delays',
      /CRAWL-5\.6 schedule/,
      (opened) =>
        altered(opened, {
          finished: (entry, finish, ...rest) =>
            opened.frontier.finished(entry, { ...finish, delayMs: 0 }, ...rest),
        }),
    ],
    [
      'loses links',
      /CRAWL-5\.6 schedule/,
      (opened) =>
        altered(opened, {
          finished: (entry, finish, batch) => opened.frontier.finished(entry, finish, batch),
        }),
    ],
    [
      'does not lock a queue',
      /CRAWL-5\.6 schedule/,
      (opened) =>
        altered(opened, {
          async poll() {
            const entry = await opened.frontier.poll();
            if (entry !== undefined) opened.frontier.abandoned(entry);
            return entry;
          },
        }),
    ],
    ['does not note URLs', /CRAWL-4\.3/, (opened) => altered(opened, { note: async () => undefined })],
    [
      'charges nothing',
      /CRAWL-8\.4/,
      (opened) =>
        altered(opened, {
          finished: (entry, ...rest) =>
            opened.frontier.finished({ ...entry, uri: { ...entry.uri, cost: 0 } }, ...rest),
        }),
    ],
    ['does not delete', /T21/, (opened) => altered(opened, { deleteUris: async () => 3 })],
  ];
  for (const [defect, test, change] of defects)
    t.match(await firstFailure(change), test, `the suite fails a frontier that ${defect}`);
});

t.test('CRAWL-7.6 every worker waits for the total bandwidth', async (t) => {
  const clock = new ManualClock();
  const store = await GathererStore.open(join(t.testdir(), 'working'));
  const seen = await store.openSeenFilter();
  const frontier = await Frontier.open({
    store,
    seen,
    clock,
    totalWait: (now) => Math.max(0, 1_001_000 - now),
    prepare: ({ url }) => ({
      classKey: new URL(url).host,
      seenKey: url,
      directive: DIRECTIVE.normal,
      cost: 1,
      precedence: 1,
      budgets: { replenish: 3000, totalBudget: -1 },
    }),
  });
  t.teardown(async () => {
    frontier.close();
    await frontier.settled();
    await store.close();
  });
  const common = { via: '', pathFromSeed: '', root: 0, depth: 0, isLeaf: false, forceFetch: false };
  await frontier.schedule([{ ...common, url: 'http://a/1', sourceTag: '' }]);
  t.equal(await frontier.poll(), undefined);
  const waiting = frontier.next(new AbortController().signal);
  clock.advance(1000);
  t.equal((await waiting)?.uri.url, 'http://a/1');
});

t.test('CRAWL-5.3 snoozed queues wake in the order of their times', async () => {
  assertProperty(
    fc.property(fc.array(fc.nat(1000)), (times) => {
      const heap = new WakeHeap<number>();
      for (const time of times) heap.push(time, time);
      const woken: number[] = [];
      for (let next = heap.popDue(2000); next !== undefined; next = heap.popDue(2000)) woken.push(next);
      return JSON.stringify(woken) === JSON.stringify([...times].sort((a, b) => a - b));
    }),
  );
});

t.test('CRAWL-5.1.2 a window on an ordered table returns all entries in order', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), value: fc.nat(500) }),
    fc.record({ kind: fc.constant('take' as const), value: fc.nat(5) }),
    fc.record({ kind: fc.constant('clear' as const), value: fc.constant(0) }),
  );
  await assertProperty(
    fc.asyncProperty(
      fc.array(step, { maxLength: 120 }),
      fc.integer({ min: 1, max: 9 }),
      async (steps, limit) => {
        const disk = new Set<number>();
        const window = new HeadWindow<number>((a, b) => a - b);
        const read = async (count: number, after: number | undefined): Promise<number[]> =>
          [...disk]
            .filter((value) => after === undefined || value > after)
            .sort((a, b) => a - b)
            .slice(0, count);
        for (const { kind, value } of steps) {
          if (kind === 'add' && !disk.has(value)) {
            disk.add(value);
            window.added(value, limit);
          } else if (kind === 'clear') {
            window.clear(disk.size > 0);
          } else if (kind === 'take') {
            for (let i = 0; i < value; i++) {
              while (window.needsRefill) await window.refill(limit, read);
              const got = window.shift();
              const expected = disk.size === 0 ? undefined : Math.min(...disk);
              if (got !== expected) return false;
              if (got !== undefined) disk.delete(got);
            }
          }
        }
        return true;
      },
    ),
    { numRuns: 300 },
  );
});

t.test('CRAWL-5.3 what sleeps since a run with the clock a year ahead is due', async (t) => {
  const year = 365 * 86_400_000;
  const directory = await temporaryDirectory(t);
  const open = (now: number) =>
    opener('level')(directory, {
      clock: new ManualClock(now),
      prepare: ({ url }) => ({
        classKey: new URL(url).host,
        seenKey: url,
        directive: DIRECTIVE.normal,
        cost: 1,
        precedence: 1,
        budgets: { replenish: 1000, totalBudget: -1, precedence: 'base' },
      }),
      holdQueues: true,
      targetReadyBacklog: 10,
      snoozeDeactivateMs: 300_000,
      smallMemory: false,
    });
  const common = { via: '', pathFromSeed: '', root: 0, depth: 0, isLeaf: false, forceFetch: false };
  {
    await using ahead = await open(1_000_000 + year);
    const urls = ['http://a/1', 'http://b/1'];
    await ahead.frontier.schedule(urls.map((url) => ({ ...common, url, sourceTag: '' })));
    for (const _ of urls) {
      const entry = await ahead.frontier.poll();
      if (entry === undefined) break;
      const finish = { outcome: 'retry', delayMs: 5000 } as const;
      await (await ahead.frontier.finished(entry, finish, ahead.batch())).written;
    }
    t.equal(await ahead.frontier.poll(), undefined, 'both queues sleep');
  }
  await using now = await open(1_000_000);
  const found = [await now.frontier.poll(), await now.frontier.poll()];
  t.same(found.map((entry) => entry?.uri.url).sort(), ['http://a/1', 'http://b/1']);
});
