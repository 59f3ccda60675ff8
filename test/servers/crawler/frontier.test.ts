// The frontier over a real store, with the clock in the test's hands: every transition of CRAWL-5.4, budgets, crashes, memory.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { HeadWindow } from '../../../servers/crawler/frontier/head-window.js';
import { WakeHeap } from '../../../servers/crawler/frontier/wake-heap.js';
import {
  type Candidate,
  DIRECTIVE,
  type Finish,
  Frontier,
  type FrontierOptions,
  type Prepared,
} from '../../../servers/crawler/index.js';
import { GathererStore, type QueueEntry } from '../../../storage/index.js';
import { openSeenFilter, type SeenFilter } from '../../../storage/seen/index.js';

const never = new AbortController().signal;

interface Scene extends AsyncDisposable {
  readonly directory: string;
  readonly store: GathererStore;
  readonly seen: SeenFilter;
  readonly frontier: Frontier;
  readonly clock: { now: number };
  add(urls: readonly string[], extra?: Partial<Candidate>): Promise<number>;
  /** The next URI, or undefined when none can be had now. */
  take(): Promise<QueueEntry | undefined>;
  finish(entry: QueueEntry, finish?: Partial<Finish>, found?: readonly string[]): Promise<void>;
  /** State and reason of a queue. */
  state(classKey: string): Promise<string>;
}

interface SceneOptions extends Partial<FrontierOptions> {
  readonly replenish?: number;
  readonly totalBudget?: number;
  readonly cost?: number;
  readonly classKeyOf?: (url: string) => string;
}

function candidate(url: string, extra: Partial<Candidate> = {}): Candidate {
  return {
    url,
    via: '',
    pathFromSeed: '',
    root: 0,
    depth: 0,
    isLeaf: false,
    forceFetch: false,
    sourceTag: '',
    ...extra,
  };
}

async function scene(directory: string, options: SceneOptions = {}): Promise<Scene> {
  const { replenish = 3000, totalBudget = -1, cost = 1, classKeyOf, ...rest } = options;
  const clock = { now: 1_000_000 };
  const store = await GathererStore.open(join(directory, 'working'));
  const seen = rest.seen ?? (await store.openSeenFilter());
  const prepare = ({ url, directive }: { url: string; directive?: number }): Prepared => ({
    classKey: (classKeyOf ?? ((one) => new URL(one).host))(url),
    seenKey: url,
    directive: directive ?? DIRECTIVE.normal,
    cost,
    precedence: cost,
    budgets: { replenish, totalBudget },
  });
  const frontier = await Frontier.open({ store, prepare, now: () => clock.now, ...rest, seen });
  return {
    directory,
    store,
    seen,
    frontier,
    clock,
    add: (urls, extra) => frontier.schedule(urls.map((url) => candidate(url, extra))),
    async take() {
      const stop = new AbortController();
      const next = frontier.next(stop.signal);
      // Reads and writes of the store take a while; what is not there after that waits for the clock.
      const timer = setTimeout(() => stop.abort(), 150);
      try {
        return await next;
      } finally {
        clearTimeout(timer);
      }
    },
    async finish(entry, finish = {}, found = []) {
      const candidates = found.map((url) => candidate(url, { via: entry.uri.url, pathFromSeed: 'L' }));
      const { written } = await frontier.finished(
        entry,
        { outcome: 'success', delayMs: 0, ...finish },
        store.batch(),
        candidates,
      );
      await written;
    },
    async state(classKey) {
      for (const one of ['exhausted', 'inactive', 'ready', 'in-process', 'snoozed', 'retired'] as const)
        for (const report of await frontier.reports({ state: one, limit: 10_000 }))
          if (report.classKey === classKey)
            return report.reason === undefined ? report.state : `${report.state}: ${report.reason}`;
      return 'none';
    },
    async [Symbol.asyncDispose]() {
      frontier.close();
      await frontier.settled();
      await seen.close();
      await store.close();
    },
  };
}

const pages = (host: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `http://${host}/${i}`);

t.test('CRAWL-5.3 snoozed queues wake in the order of their times', async () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000)), (times) => {
      const heap = new WakeHeap<number>();
      for (const time of times) heap.push(time, time);
      const woken: number[] = [];
      for (let next = heap.popDue(2000); next !== undefined; next = heap.popDue(2000)) woken.push(next);
      return JSON.stringify(woken) === JSON.stringify([...times].sort((a, b) => a - b));
    }),
  );
});

t.test(
  'CRAWL-5.1.2 a window on an ordered table gives all of it in order, whatever comes meanwhile',
  async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), value: fc.nat(500) }),
      fc.record({ kind: fc.constant('take' as const), value: fc.nat(5) }),
      fc.record({ kind: fc.constant('clear' as const), value: fc.constant(0) }),
    );
    await fc.assert(
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
  },
);

t.test('CRAWL-5.6 next, schedule, finished', async (t) => {
  await using s = await scene(t.testdir());
  t.equal(await s.add(['http://a/1', 'http://a/2', 'http://b/1']), 3);
  t.equal(await s.add(['http://a/1', 'http://b/1']), 0, 'CRAWL-4.1: known URIs are not scheduled again');
  t.equal(await s.add(['http://a/1'], { forceFetch: true }), 1, 'CRAWL-2.7: force-fetch passes the filter');
  t.equal(s.frontier.counts.discovered, 3);
  const first = (await s.take())!;
  const second = (await s.take())!;
  t.same([first.uri.url, second.uri.url], ['http://a/1', 'http://b/1'], 'one URI of each queue');
  t.equal(await s.take(), undefined, 'CRAWL-5.6.4: a queue in process gives nothing');
  await s.finish(first, { delayMs: 3000, reason: 'politeness' }, ['http://a/3', 'http://a/2', 'http://c/1']);
  t.equal(await s.state('a'), 'snoozed: politeness', 'T13');
  t.equal((await s.take())?.uri.url, 'http://c/1', 'what was found on it is there');
  t.equal(await s.take(), undefined, 'CRAWL-7.1: it sleeps');
  s.clock.now += 2999;
  t.equal(await s.take(), undefined, 'not a millisecond less');
  s.clock.now += 1;
  const third = (await s.take())!;
  t.equal(third.uri.url, 'http://a/2', 'CRAWL-1.9: first in, first out');
  await s.finish(third, { outcome: 'retry', delayMs: 900_000, reason: 'retry' });
  t.equal(await s.state('a'), 'snoozed: retry', 'T11: with nobody inactive even a long sleep is a snooze');
  s.clock.now += 900_000;
  const again = (await s.take())!;
  t.same(
    [again.uri.url, again.uri.attempts],
    ['http://a/2', 1],
    'CRAWL-8.5, 8.3: it keeps its place, attempts count',
  );
});

t.test(
  'CRAWL-2.5, 5.1.1 directive, then precedence, then age; CRAWL-5.2.2 the head that was given out stays',
  async (t) => {
    await using s = await scene(t.testdir());
    await s.add(['http://a/normal-1', 'http://a/normal-2']);
    const head = (await s.take())!;
    await s.add(['http://a/high'], { directive: DIRECTIVE.high });
    await s.finish(head, { outcome: 'retry', delayMs: 0, free: true });
    const order: string[] = [];
    for (let entry = await s.take(); entry !== undefined; entry = await s.take()) {
      order.push(new URL(entry.uri.url).pathname);
      await s.finish(entry);
    }
    t.same(
      order,
      ['/high', '/normal-1', '/normal-2'],
      'handed back, the head gives way to what is more urgent',
    );
  },
);

t.test(
  'CRAWL-5.4 T1, T2: queues are ready up to the backlog, the others inactive; T6: they follow',
  async (t) => {
    await using s = await scene(t.testdir(), { targetReadyBacklog: 2 });
    await s.add(['http://a/1', 'http://b/1', 'http://c/1', 'http://d/1']);
    t.same([await s.state('a'), await s.state('b')], ['ready', 'ready'], 'T2');
    t.same([await s.state('c'), await s.state('d')], ['inactive: backlog', 'inactive: backlog'], 'T1');
    const a = (await s.take())!;
    await s.finish(a);
    t.equal(await s.state('a'), 'exhausted', 'T9');
    const rest: string[] = [];
    for (let entry = await s.take(); entry !== undefined; entry = await s.take()) {
      rest.push(entry.classKey);
      await s.finish(entry);
    }
    t.same(rest, ['b', 'c', 'd'], 'CRAWL-5.3: inactive queues become active first in, first out');
  },
);

t.test('CRAWL-5.4 T1: without hold-queues every queue is ready', async (t) => {
  await using s = await scene(t.testdir(), { targetReadyBacklog: 1, holdQueues: false });
  await s.add(['http://a/1', 'http://b/1', 'http://c/1']);
  t.same([await s.state('a'), await s.state('b'), await s.state('c')], ['ready', 'ready', 'ready']);
});

t.test(
  'CRAWL-5.4 T15, T16: a session ends when its balance is used up; CRAWL-5.4.2: it is set anew, not added to',
  async (t) => {
    await using s = await scene(t.testdir(), { replenish: 2, targetReadyBacklog: 1 });
    await s.add([...pages('a', 5), ...pages('b', 3)]);
    const order: string[] = [];
    for (let entry = await s.take(); entry !== undefined; entry = await s.take()) {
      order.push(entry.classKey);
      await s.finish(entry);
    }
    t.equal(order.join(''), 'aabbaaba', 'two of each in turn');
  },
);

t.test(
  'CRAWL-5.4.1, T4: over its total budget a queue goes inactive, and is retired when its turn comes; T19 brings it back',
  async (t) => {
    await using s = await scene(t.testdir(), { replenish: 10, totalBudget: 2, targetReadyBacklog: 1 });
    await s.add(pages('a', 5));
    await s.finish((await s.take())!);
    await s.finish((await s.take())!);
    t.equal(await s.take(), undefined, 'nothing more of it');
    t.equal(await s.state('a'), 'retired: total-budget', 'T4');
    t.equal(s.frontier.counts.queued, 0, 'retiring takes its URIs off the queued count');
    t.ok(s.frontier.empty, 'and the crawl can end');
    await s.add(['http://a/more']);
    t.equal(s.frontier.counts.queued, 0, 'enqueuing into a retired queue does not raise it');
    t.equal(await s.frontier.reconsiderRetired(() => 4), 1, 'T19 with a larger budget');
    t.equal(s.frontier.counts.queued, 4, 'its URIs count again');
    await s.finish((await s.take())!);
    await s.finish((await s.take())!);
    t.equal(await s.take(), undefined);
    t.equal(await s.state('a'), 'retired: total-budget', 'and it retires again');
  },
);

t.test(
  'CRAWL-8.4 what is charged: success, failure with its penalty, nothing for a deferral or what is disregarded',
  async (t) => {
    await using s = await scene(t.testdir(), { replenish: 1000, cost: 2 });
    await s.add(pages('a', 6));
    const finishes: Partial<Finish>[] = [
      { outcome: 'success', bytes: 10 },
      { outcome: 'retry', free: true },
      { outcome: 'retry' },
      { outcome: 'failed', penalty: 100, bytes: 5 },
      { outcome: 'disregarded' },
    ];
    for (const finish of finishes) await s.finish((await s.take())!, finish);
    const [report] = await s.frontier.reports();
    t.equal(report?.totalExpenditure, 2 + 2 + 102);
    t.equal(report?.sessionBalance, 1000 - 106);
    t.equal(report?.count, 3);
    const { succeeded, failed, disregarded, bytes } = s.frontier.counts;
    t.same({ succeeded, failed, disregarded, bytes }, { succeeded: 1, failed: 1, disregarded: 1, bytes: 15 });
  },
);

t.test(
  'CRAWL-5.4 T10 retire with the URI still at the head; T18 a long sleep makes room; T5 its time is kept; T20 force wake',
  async (t) => {
    await using s = await scene(t.testdir(), { targetReadyBacklog: 1, snoozeDeactivateMs: 300_000 });
    await s.add(['http://a/1', 'http://b/1', 'http://c/1']);
    const a = (await s.take())!;
    await s.finish(a, { outcome: 'retire', reason: 'quota' });
    t.equal(await s.state('a'), 'retired: quota', 'T10');
    const b = (await s.take())!;
    t.equal(await s.state('c'), 'inactive: backlog');
    await s.finish(b, { outcome: 'retry', delayMs: 900_000, reason: 'retry' });
    t.equal(await s.state('b'), 'inactive: retry', 'T18');
    const c = (await s.take())!;
    t.equal(c.classKey, 'c');
    t.equal(await s.take(), undefined);
    t.equal(await s.state('b'), 'snoozed: retry', 'T5: active again, but its wake time is not over');
    await s.finish(c, { delayMs: 5000, reason: 'politeness' });
    s.frontier.forceWake();
    t.equal((await s.take())?.classKey, 'b', 'T20');
    t.equal(await s.frontier.reconsiderRetired(), 1);
    t.equal((await s.take())?.uri.url, 'http://a/1', 'T10: the URI was still its head');
  },
);

t.test('CRAWL-5.4 T8: a head that belongs to another queue by now moves there', async (t) => {
  const moved = new Set<string>();
  await using s = await scene(t.testdir(), {
    classKeyOf: (url) => (moved.has(new URL(url).host) ? '10.0.0.1' : new URL(url).host),
  });
  await s.add(['http://a/1', 'http://a/2', 'http://b/1']);
  moved.add('a');
  const got: string[] = [];
  for (let entry = await s.take(); entry !== undefined; entry = await s.take()) {
    got.push(`${entry.classKey} ${entry.uri.url}`);
    await s.finish(entry);
  }
  t.same(got.sort(), ['10.0.0.1 http://a/1', '10.0.0.1 http://a/2', 'b http://b/1']);
  t.ok(s.frontier.empty);
});

t.test('CRAWL-5.6.6, T21: URIs deleted by pattern; the one at a worker stays', async (t) => {
  await using s = await scene(t.testdir());
  await s.add([...pages('a', 4), ...pages('b', 2)]);
  const head = (await s.take())!;
  t.equal(await s.frontier.deleteUris((url) => url.startsWith('http://a/')), 3);
  t.equal(s.frontier.counts.queued, 3);
  t.equal(s.frontier.counts.disregarded, 3);
  await s.finish(head);
  const rest: string[] = [];
  for (let entry = await s.take(); entry !== undefined; entry = await s.take()) {
    rest.push(entry.uri.url);
    await s.finish(entry);
  }
  t.same(rest, ['http://b/0', 'http://b/1']);
  t.equal(await s.add(['http://a/3']), 0, 'they stay seen');
});

t.test('CRAWL-5.6.5 hold and release', async (t) => {
  await using s = await scene(t.testdir());
  await s.add(pages('a', 2));
  s.frontier.hold();
  t.equal(await s.take(), undefined);
  const waiting = s.frontier.next(never);
  s.frontier.release();
  t.equal((await waiting)?.uri.url, 'http://a/0');
});

t.test(
  'CRAWL-4.2, 21: a URI whose failure may pass is new again when it is found again, but not for ever',
  async (t) => {
    await using s = await scene(t.testdir());
    await s.add(['http://a/dead']);
    let times = 0;
    for (let entry = await s.take(); entry !== undefined; entry = await s.take()) {
      times++;
      await s.finish(entry, { outcome: 'failed', forget: true });
      await s.add(['http://a/dead']);
    }
    t.equal(times, 3);
    await s.add(['http://a/gone']);
    await s.finish((await s.take())!, { outcome: 'failed' });
    t.equal(await s.add(['http://a/gone']), 0, 'one that failed for good stays seen');
  },
);

t.test('what its limits refuse does not count as seen', async (t) => {
  await using s = await scene(t.testdir());
  t.equal(await s.add(['http://a/1'], { admit: () => false }), 0);
  t.equal(s.frontier.counts.discovered, 0);
  t.equal(await s.add(['http://a/1'], { admit: () => true }), 1);
});

t.test(
  'CRAWL-17.2.2 a frontier opened again goes on where it was: order, budgets, sleep, retired and inactive queues, counters',
  async (t) => {
    const directory = t.testdir();
    {
      await using s = await scene(directory, { targetReadyBacklog: 2, replenish: 2 });
      await s.add([...pages('a', 6), ...pages('sleeper', 2), ...pages('c', 2), ...pages('d', 2)]);
      await s.finish((await s.take())!, {}, ['http://a/0', 'http://found/']);
      await s.finish((await s.take())!, { delayMs: 60_000, reason: 'crawl-delay' });
      const found = (await s.take())!;
      t.equal(found.classKey, 'found');
      await s.finish((await s.take())!, { outcome: 'retire', reason: 'operator' });
      await s.finish(found, { outcome: 'retry', delayMs: 0 });
      t.ok(await s.take(), 'one is in process when the process ends');
    }
    await using s = await scene(directory, { targetReadyBacklog: 2, replenish: 2 });
    t.equal(await s.state('sleeper'), 'snoozed: crawl-delay', 'it still sleeps');
    t.equal(await s.state('a'), 'retired: operator');
    t.equal(s.frontier.counts.succeeded, 2);
    t.equal(await s.add(['http://a/0', 'http://found/', 'http://d/1']), 0, 'what was seen stays seen');
    const rest: string[] = [];
    for (let entry = await s.take(); entry !== undefined; entry = await s.take()) {
      rest.push(entry.uri.url);
      await s.finish(entry);
    }
    t.same(rest.sort(), ['http://c/0', 'http://c/1', 'http://d/0', 'http://d/1', 'http://found/']);
    s.clock.now += 60_000;
    t.equal((await s.take())?.uri.url, 'http://sleeper/1');
  },
);

t.test(
  'CRAWL-5.3 memory follows the active queues: thousands of hosts, few objects, nothing lost',
  async (t) => {
    await using s = await scene(t.testdir(), { targetReadyBacklog: 10, restingQueues: 50, replenish: 1 });
    const hosts = Array.from({ length: 600 }, (_, i) => `h${i}`);
    for (let at = 0; at < hosts.length; at += 500)
      await s.add(hosts.slice(at, at + 500).flatMap((host) => pages(host, 2)));
    t.equal(s.frontier.counts.queued, 1200);
    const got = new Map<string, number>();
    for (
      let entry = await s.frontier.next(never);
      entry !== undefined;
      entry = await s.frontier.next(never)
    ) {
      got.set(entry.uri.url, (got.get(entry.uri.url) ?? 0) + 1);
      await s.finish(entry);
    }
    t.equal(got.size, 1200);
    t.ok([...got.values()].every((count) => count === 1));
  },
);

for (const kind of ['memory-set', 'bloom', 'memory-merge', 'disk-merge'] as const) {
  t.test(
    `CRAWL-4.11 the frontier with the seen filter ${kind}: a crash loses nothing and doubles nothing`,
    async (t) => {
      const directory = t.testdir();
      const own = join(directory, 'seen');
      const copy = mkdtempSync(join(tmpdir(), 'harvest-test-'));
      t.teardown(() => rmSync(copy, { recursive: true, force: true }));
      {
        const seen = await openSeenFilter({ kind, directory: own, bloomCapacity: 10_000 });
        await using s = await scene(directory, { seen });
        await s.add(pages('a', 20));
        await s.finish((await s.take())!, {}, pages('a', 25));
        // What a killed process leaves: the files as they are now.
        cpSync(directory, copy, { recursive: true });
      }
      const seen = await openSeenFilter({ kind, directory: join(copy, 'seen'), bloomCapacity: 10_000 });
      await using s = await scene(copy, { seen });
      t.equal(s.frontier.counts.queued, 24);
      t.equal(await s.add(pages('a', 25)), 0);
    },
  );
}

t.test(
  'a random history: every URI is given out exactly once, whatever the budgets, delays and restarts',
  async () => {
    const step = fc.record({
      host: fc.nat(6),
      links: fc.array(fc.tuple(fc.nat(6), fc.nat(40)), { maxLength: 6 }),
      delayMs: fc.constantFrom(0, 0, 10, 5000, 400_000),
      retry: fc.boolean(),
      restart: fc.integer({ min: 0, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, backlog) => {
          const directory = mkdtempSync(join(tmpdir(), 'harvest-test-'));
          const options = { targetReadyBacklog: backlog, restingQueues: 2, replenish: 2, windowEntries: 8 };
          let s = await scene(directory, options);
          try {
            const added = new Set<string>(['http://h0/0']);
            const done = new Map<string, number>();
            await s.add([...added]);
            let at = 0;
            for (;;) {
              let entry = await Promise.race([
                s.frontier.next(never),
                new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), 30)),
              ]);
              if (entry === 'late') {
                // Everything sleeps: the waiting call gets what comes when the clock has moved.
                s.frontier.close();
                await s.frontier.settled();
                const { now } = s.clock;
                await s[Symbol.asyncDispose]();
                s = await scene(directory, options);
                s.clock.now = now + 500_000;
                continue;
              }
              if (entry === undefined) break;
              const one = steps[at++ % steps.length]!;
              const links = at > 200 ? [] : one.links.map(([host, page]) => `http://h${host}/${page}`);
              if (one.retry && entry.uri.attempts < 2) {
                await s.finish(entry, { outcome: 'retry', delayMs: one.delayMs });
                continue;
              }
              for (const link of links) added.add(link);
              done.set(entry.uri.url, (done.get(entry.uri.url) ?? 0) + 1);
              await s.finish(entry, { delayMs: one.delayMs }, links);
              entry = undefined;
            }
            return done.size === added.size && [...done.values()].every((count) => count === 1);
          } finally {
            await s[Symbol.asyncDispose]();
            rmSync(directory, { recursive: true, force: true });
          }
        },
      ),
      { numRuns: 15 },
    );
  },
);
