import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QueueEntry } from '../../../../storage/index.js';
import { QUEUE_STATES } from '../../states.js';
import { type Candidate, type CrawlFrontier, DIRECTIVE, type Finish } from '../contract.js';
import { ManualClock } from './manual-clock.js';
import type { FrontierConformance, FrontierSetup, FrontierUnderTest } from './options.js';

interface HarnessOptions extends Partial<Omit<FrontierSetup, 'clock' | 'prepare'>> {
  readonly clock?: ManualClock;
  readonly replenish?: number;
  readonly totalBudget?: number;
  readonly cost?: number;
  readonly classKeyOf?: (url: string) => string;
}

/** A frontier under test with short methods for the steps of a test. The class key of a URI is its host. */
class Harness<Batch> implements AsyncDisposable {
  readonly #opened: FrontierUnderTest<Batch>;

  private constructor(
    opened: FrontierUnderTest<Batch>,
    readonly clock: ManualClock,
  ) {
    this.#opened = opened;
  }

  static async open<B>(
    { open }: Pick<FrontierConformance<B>, 'open'>,
    directory: string,
    options: HarnessOptions = {},
  ): Promise<Harness<B>> {
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
    return new Harness(opened, clock);
  }

  get frontier(): CrawlFrontier<Batch> {
    return this.#opened.frontier;
  }

  /** Schedules URLs; returns how many were new. */
  add(urls: readonly string[], extra: Partial<Candidate> = {}): Promise<number> {
    return this.frontier.schedule(urls.map((url) => candidate(url, extra)));
  }

  poll(): Promise<QueueEntry | undefined> {
    return this.frontier.poll();
  }

  /** Takes the next URI, which must be available now. */
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
      this.#opened.batch(),
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
    return Promise.resolve(this.#opened[Symbol.asyncDispose]());
  }
}

/** Opens the frontier of a test; every call opens the same directory. */
export type OpenHarness<B> = ((options?: HarnessOptions) => Promise<Harness<B>>) & {
  /** Copies the directory; returns the opener of the copy. */
  readonly copy: () => Promise<OpenHarness<B>>;
};
export type RegisterTest<B> = (name: string, run: (open: OpenHarness<B>) => Promise<void>) => void;

/** Returns the function by which tests open a frontier on a directory. */
export function createHarnessOpener<B>(
  conformance: FrontierConformance<B>,
  directory: string,
): OpenHarness<B> {
  const files = join(directory, 'files');
  return Object.assign((options?: HarnessOptions) => Harness.open(conformance, files, options), {
    copy: async () => {
      await cp(files, join(directory, 'copy', 'files'), { recursive: true });
      return createHarnessOpener(conformance, join(directory, 'copy'));
    },
  });
}

/** Runs a test in a new temporary directory. */
export async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
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

export const pages = (host: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `http://${host}/${i}`);
export const urls = (entries: readonly QueueEntry[]): string[] => entries.map(({ uri }) => uri.url);
export const hosts = (entries: readonly QueueEntry[]): string[] => entries.map(({ classKey }) => classKey);
