import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { QueueEntry } from '../../../storage/index.js';
import { QUEUE_STATES } from '../control.js';
import type { FrontierClock } from './clock.js';
import {
  type Candidate,
  type CrawlFrontier,
  DIRECTIVE,
  type Finish,
  type Prepared,
  type PreparedOf,
} from './contract.js';

export type { FrontierClock } from './clock.js';
export type {
  Budgets,
  Candidate,
  CrawlFrontier,
  Finish,
  FrontierCounts,
  FrontierFigures,
  Outcome,
  Prepared,
  PreparedOf,
  QueueSelection,
  QueueTraffic,
  Written,
} from './contract.js';

/** The `test` function of node:test, of tap, or of another runner. */
export type TestRunner = (name: string, run: () => Promise<void>) => unknown;

/** The options that a frontier under test must follow. */
export interface FrontierSetup {
  readonly clock: FrontierClock;
  /** CRAWL-11.4. */
  readonly prepare: (uri: PreparedOf) => Prepared;
  readonly holdQueues: boolean;
  readonly targetReadyBacklog: number;
  readonly snoozeDeactivateMs: number;
  /** Keep as few queues and URIs in memory as the frontier can. */
  readonly smallMemory: boolean;
}

/** A frontier on a directory. Disposing of it closes the frontier and its store. */
export interface FrontierUnderTest<Batch> extends AsyncDisposable {
  readonly frontier: CrawlFrontier<Batch>;
  /** Returns an empty batch of the frontier's store. */
  batch(): Batch;
}

/** The features of a frontier; the tests of a feature that is `false` are left out. Default: all `true`. */
export interface FrontierManifest {
  /** A frontier that is opened again on its directory continues with its queues (CRAWL-17.2.2). */
  readonly persistence?: boolean;
  /** A copy of the directory, made while the frontier is idle, is equal to the files of a killed process. */
  readonly crashCopies?: boolean;
  /** T1: the option `holdQueues: false`. */
  readonly withoutHolding?: boolean;
  /** T8: a head whose class key has changed moves to its new queue. */
  readonly relocation?: boolean;
}

export interface FrontierConformance<Batch> {
  readonly test: TestRunner;
  /** Opens a frontier on a directory of this machine; the same directory may be opened again after disposal. */
  readonly open: (directory: string, setup: FrontierSetup) => Promise<FrontierUnderTest<Batch>>;
  readonly manifest?: FrontierManifest;
  /** Random histories to try. Default 15. */
  readonly histories?: number;
  /** Seed of the random histories; default 1. A failure names the seed of its history. */
  readonly seed?: number;
}

/** A clock that moves when it is told to. */
export class ManualClock implements FrontierClock {
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  #now: number;

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  setTimer(callback: () => void, milliseconds: number): () => void {
    const timer = { at: this.#now + Math.max(0, milliseconds), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves the clock and calls the timers that are due, the earliest first. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = end;
  }
}

interface SceneOptions extends Partial<Omit<FrontierSetup, 'clock' | 'prepare'>> {
  readonly clock?: ManualClock;
  readonly replenish?: number;
  readonly totalBudget?: number;
  readonly cost?: number;
  readonly classKeyOf?: (url: string) => string;
}

/** A frontier with shorthands for what tests do. The class key of a URI is its host. */
class Scene<Batch> implements AsyncDisposable {
  private constructor(
    private readonly opened: FrontierUnderTest<Batch>,
    readonly clock: ManualClock,
  ) {}

  static async open<B>(
    { open }: Pick<FrontierConformance<B>, 'open'>,
    directory: string,
    options: SceneOptions = {},
  ): Promise<Scene<B>> {
    const { replenish = 3000, totalBudget = -1, cost = 1, clock = new ManualClock() } = options;
    const { classKeyOf = (url: string) => new URL(url).host } = options;
    const opened = await open(directory, {
      clock,
      prepare: ({ url, directive = DIRECTIVE.normal }) => ({
        classKey: classKeyOf(url),
        seenKey: url,
        directive,
        cost,
        precedence: cost,
        budgets: { replenish, totalBudget },
      }),
      holdQueues: options.holdQueues ?? true,
      targetReadyBacklog: options.targetReadyBacklog ?? 50,
      snoozeDeactivateMs: options.snoozeDeactivateMs ?? 300_000,
      smallMemory: options.smallMemory ?? false,
    });
    return new Scene(opened, clock);
  }

  get frontier(): CrawlFrontier<Batch> {
    return this.opened.frontier;
  }

  /** Schedules URLs; returns how many were new. */
  add(urls: readonly string[], extra: Partial<Candidate> = {}): Promise<number> {
    return this.frontier.schedule(urls.map((url) => candidate(url, extra)));
  }

  poll(): Promise<QueueEntry | undefined> {
    return this.frontier.poll();
  }

  /** The URI that must be available now. */
  async take(): Promise<QueueEntry> {
    const entry = await this.poll();
    assert.ok(entry, 'a URI is available');
    return entry;
  }

  async finish(
    entry: QueueEntry,
    finish: Partial<Finish> = {},
    found: readonly string[] = [],
  ): Promise<void> {
    const candidates = found.map((url) => candidate(url, { via: entry.uri.url, pathFromSeed: 'L' }));
    const { written } = await this.frontier.finished(
      entry,
      { outcome: 'success', delayMs: 0, ...finish },
      this.opened.batch(),
      candidates,
    );
    await written;
  }

  /** Takes and finishes all URIs that are available now; returns them in this order. */
  async drain(each: (entry: QueueEntry) => Partial<Finish> = () => ({})): Promise<QueueEntry[]> {
    const taken: QueueEntry[] = [];
    for (let entry = await this.poll(); entry !== undefined; entry = await this.poll()) {
      taken.push(entry);
      await this.finish(entry, each(entry));
    }
    return taken;
  }

  /** `STATE` or `STATE: REASON` of a queue; `none` if no report names it. */
  async state(classKey: string): Promise<string> {
    for (const state of QUEUE_STATES)
      for (const report of await this.frontier.reports({ state, limit: 10_000 }))
        if (report.classKey === classKey)
          return report.reason === undefined ? report.state : `${report.state}: ${report.reason}`;
    return 'none';
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.opened[Symbol.asyncDispose]());
  }
}

/**
 * Registers the tests of the frontier's contract (CRAWL-5) with a test runner. Time passes only on the clock that the factory receives;
 * no test depends on the speed of the machine.
 */
export function frontierConformance<Batch>(options: FrontierConformance<Batch>): void {
  const {
    persistence = true,
    crashCopies = true,
    withoutHolding = true,
    relocation = true,
  } = options.manifest ?? {};
  const test = (name: string, run: (open: OpenScene<Batch>) => Promise<void>): void => {
    options.test(name, () => inDirectory((directory) => run(sceneOpener(options, directory))));
  };
  operationTests(test);
  lifeCycleTests(test, { withoutHolding, relocation });
  operatorTests(test);
  waitingTests(test);
  if (persistence) persistenceTests(test, crashCopies);
  memoryTests(test);
  if (persistence) historyTests(test, options.histories ?? 15, options.seed ?? 1);
}

type OpenScene<B> = ((options?: SceneOptions) => Promise<Scene<B>>) & {
  /** Copies the directory; returns the opener of the copy. */
  readonly copy: () => Promise<OpenScene<B>>;
};
type RegisterTest<B> = (name: string, run: (open: OpenScene<B>) => Promise<void>) => void;

function sceneOpener<B>(conformance: FrontierConformance<B>, directory: string): OpenScene<B> {
  const files = join(directory, 'files');
  return Object.assign((options?: SceneOptions) => Scene.open(conformance, files, options), {
    copy: async () => {
      await cp(files, join(directory, 'copy', 'files'), { recursive: true });
      return sceneOpener(conformance, join(directory, 'copy'));
    },
  });
}

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'frontier-conformance-'));
  try {
    await run(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function candidate(url: string, extra: Partial<Candidate> = {}): Candidate {
  const common = { via: '', pathFromSeed: '', root: 0, depth: 0, isLeaf: false, forceFetch: false };
  return { url, ...common, sourceTag: '', ...extra };
}

const pages = (host: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `http://${host}/${i}`);
const urls = (entries: readonly QueueEntry[]): string[] => entries.map(({ uri }) => uri.url);
const hosts = (entries: readonly QueueEntry[]): string[] => entries.map(({ classKey }) => classKey);

function operationTests<B>(test: RegisterTest<B>): void {
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
    assert.equal(await s.poll(), undefined, 'CRAWL-5.6.4: a queue in process gives nothing');
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
    assert.equal(await s.poll(), undefined, 'not a millisecond less');
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
      'CRAWL-8.5, 8.3: place and attempts',
    );
  });

  test('CRAWL-2.5, 5.1.1 directive, then precedence, then age; CRAWL-5.2.2 a returned head gives way', async (open) => {
    await using s = await open();
    await s.add(['http://a/normal-1', 'http://a/normal-2']);
    const head = await s.take();
    await s.add(['http://a/high'], { directive: DIRECTIVE.high });
    await s.finish(head, { outcome: 'retry', delayMs: 0, free: true });
    assert.deepEqual(urls(await s.drain()), ['http://a/high', 'http://a/normal-1', 'http://a/normal-2']);
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
    assert.equal(s.frontier.surelyKnows('http://a/1'), false);
    await s.add(['http://a/1']);
    if (s.frontier.surelyKnows('http://a/1')) assert.equal(await s.add(['http://a/1']), 0);
  });
}

function lifeCycleTests<B>(
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

  test('CRAWL-5.4 T3 a URI for a queue that is held changes only counts', async (open) => {
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
    assert.equal((await s.take()).classKey, 'b', 'b was first in line');
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
    assert.equal(s.frontier.counts.queued, 0, 'nor are those that are added to it');
    assert.equal(await s.frontier.reconsiderRetired(() => 4), 1, 'T19 with a larger budget');
    assert.equal(s.frontier.counts.queued, 4, 'its URIs count again');
    await s.finish(await s.take());
    await s.finish(await s.take());
    assert.equal(await s.poll(), undefined);
    assert.equal(await s.state('a'), 'retired: total-budget', 'it retires again');
  });

  test('CRAWL-5.4 T10 retire keeps the URI; T18 a long sleep makes room; T5 its wake time holds; T20 force wake', async (open) => {
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

function operatorTests<B>(test: RegisterTest<B>): void {
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

  test('CRAWL-17.3.1 atRest runs after the writes before it, and nothing is scheduled meanwhile', async (open) => {
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

function waitingTests<B>(test: RegisterTest<B>): void {
  const never = new AbortController().signal;

  test('CRAWL-20.5 a waiting next gets the URI that a worker finds, and the one whose time comes', async (open) => {
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

  test('next ends when nothing is left, when its signal is aborted, and when the frontier is closed', async (open) => {
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

function persistenceTests<B>(test: RegisterTest<B>, crashCopies: boolean): void {
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
    test('CRAWL-17.2.2 a crash loses nothing and doubles nothing', async (open) => {
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

function memoryTests<B>(test: RegisterTest<B>): void {
  test('CRAWL-5.3 hundreds of queues in little memory: every URI is given out once', async (open) => {
    await using s = await open({ targetReadyBacklog: 10, smallMemory: true, replenish: 1 });
    const all = Array.from({ length: 300 }, (_, i) => pages(`h${i}`, 2)).flat();
    for (let at = 0; at < all.length; at += 500) await s.add(all.slice(at, at + 500));
    assert.equal(s.frontier.counts.queued, 600);
    assert.deepEqual(urls(await s.drain()).sort(), [...all].sort());
  });
}

function historyTests<B>(test: RegisterTest<B>, histories: number, firstSeed: number): void {
  for (let seed = firstSeed; seed < firstSeed + histories; seed++)
    test(`random history ${seed}: every URI is given out once, whatever the budgets, delays and restarts`, (open) =>
      history(open, seed));
}

/** Crawls a small random web and restarts the frontier now and then. */
async function history<B>(open: OpenScene<B>, seed: number): Promise<void> {
  const random = generator(seed);
  const pick = (count: number): number => Math.floor(random() * count);
  const clock = new ManualClock();
  const options = { targetReadyBacklog: 1 + pick(4), smallMemory: true, replenish: 2, clock };
  const delays = [0, 0, 10, 5000, 400_000];
  const added = new Set(['http://h0/0']);
  const done = new Map<string, number>();
  let s = await open(options);
  try {
    await s.add([...added]);
    for (let taken = 0; !s.frontier.empty; ) {
      const entry = await s.poll();
      if (entry === undefined) clock.advance(500_000);
      if (pick(entry === undefined ? 4 : 20) === 0) {
        // An entry that is not returned is still the head of its queue after the restart.
        await s[Symbol.asyncDispose]();
        s = await open(options);
        continue;
      }
      if (entry === undefined) continue;
      assert.ok(++taken < 5000, 'the crawl ends');
      const delayMs = delays[pick(delays.length)]!;
      if (pick(2) === 0 && entry.uri.attempts < 2) {
        await s.finish(entry, { outcome: 'retry', delayMs });
        continue;
      }
      const links =
        taken > 100 ? [] : Array.from({ length: pick(7) }, () => `http://h${pick(7)}/${pick(41)}`);
      for (const link of links) added.add(link);
      done.set(entry.uri.url, (done.get(entry.uri.url) ?? 0) + 1);
      await s.finish(entry, { delayMs }, links);
    }
    assert.deepEqual([...done.keys()].sort(), [...added].sort(), 'every URI is finished');
    assert.ok(
      [...done.values()].every((times) => times === 1),
      'and none twice',
    );
  } finally {
    await s[Symbol.asyncDispose]();
  }
}

/** Mulberry32: equal seeds give equal histories. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
