import assert from 'node:assert/strict';
import type { QueueEntry } from '../../../../storage/index.js';
import type { OpenHarness, RegisterTest } from './harness.js';
import { ManualClock } from './manual-clock.js';

type Opened<B> = Awaited<ReturnType<OpenHarness<B>>>;

/** Milliseconds for which queues sleep and URIs wait. */
const DELAYS = [0, 0, 10, 5000, 400_000];

export interface HistoryOptions {
  readonly histories: number;
  readonly firstSeed: number;
  /** Whether the frontier may be copied while it is open, as a crash leaves it. */
  readonly crashCopies: boolean;
}

/** Registers tests of random crawls with restarts; each seed gives one history. */
export function registerHistoryTests<B>(
  test: RegisterTest<B>,
  { histories, firstSeed, crashCopies }: HistoryOptions,
): void {
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
    test(`random history ${seed}: every URI is given out once, whatever the budgets, delays and restarts`, (open) =>
      new History(seed, open).run());
    test(`random history ${seed} with an operator: retirements, deletions and crashes`, (open) =>
      new History(seed, open, { operator: true, crashes: crashCopies }).run());
  }
}

/** The crawl of a small random web. */
class History<B> {
  readonly #random: () => number;
  readonly #clock = new ManualClock();
  readonly #added = new Set(['http://h0/0']);
  readonly #deleted = new Set<string>();
  readonly #done = new Map<string, number>();
  #taken = 0;
  #open: OpenHarness<B>;
  readonly #events: { readonly operator?: boolean; readonly crashes?: boolean };

  constructor(
    seed: number,
    open: OpenHarness<B>,
    events: { readonly operator?: boolean; readonly crashes?: boolean } = {},
  ) {
    this.#open = open;
    this.#events = events;
    this.#random = createRandom(seed);
  }

  async run(): Promise<void> {
    const options = {
      targetReadyBacklog: 1 + this.#pick(4),
      smallMemory: true,
      replenish: 2,
      clock: this.#clock,
    };
    let s = await this.#open(options);
    try {
      await s.add([...this.#added]);
      while (!(await this.#isOver(s))) {
        const entry = await s.poll();
        if (entry === undefined) this.#clock.advance(500_000);
        if (this.#pick(entry === undefined ? 4 : 20) === 0) {
          // An entry that is not returned is still the head of its queue after the restart.
          const crashed = this.#events.crashes === true && this.#pick(2) === 0;
          const next = crashed ? await this.#open.copy() : this.#open;
          await s[Symbol.asyncDispose]();
          this.#open = next;
          s = await this.#open(options);
        } else if (entry !== undefined) await this.#crawl(entry, s);
        if (this.#events.operator === true && this.#pick(60) === 0) await this.#deleteSome(s);
      }
      assert.deepEqual(
        [...this.#done.keys(), ...this.#deleted].sort(),
        [...this.#added].sort(),
        'every URI is finished or deleted',
      );
      const repeated = [...this.#done].filter(([, times]) => times > 1);
      assert.deepEqual(repeated, [], 'no URI is finished twice');
    } finally {
      await s[Symbol.asyncDispose]();
    }
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count);
  }

  /** Retired queues come back when nothing else is left. */
  async #isOver({ frontier }: Opened<B>): Promise<boolean> {
    return frontier.empty && (await frontier.reconsiderRetired()) === 0;
  }

  async #crawl(entry: QueueEntry, s: Opened<B>): Promise<void> {
    assert.ok(++this.#taken < 5000, 'the crawl ends');
    const { url, attempts } = entry.uri;
    const delayMs = DELAYS[this.#pick(DELAYS.length)]!;
    if (this.#pick(2) === 0 && attempts < 2) {
      const aside = { delayMs, status: -4, reason: 'lost' };
      await s.finish(entry, { outcome: 'retry', delayMs, ...(this.#pick(2) === 0 ? { aside } : {}) });
      return;
    }
    if (this.#events.operator === true && this.#pick(40) === 0) {
      await s.finish(entry, { outcome: 'retire', delayMs, reason: 'operator' });
      return;
    }
    const count = this.#taken > 100 ? 0 : this.#pick(7);
    const links = Array.from({ length: count }, () => `http://h${this.#pick(7)}/${this.#pick(41)}`);
    for (const link of links) this.#added.add(link);
    this.#done.set(url, (this.#done.get(url) ?? 0) + 1);
    await s.finish(entry, { delayMs }, links);
  }

  /** Deletes URIs that are queued or wait; between two steps none is in process. */
  async #deleteSome({ frontier }: Opened<B>): Promise<void> {
    const ending = String(this.#pick(10));
    const found = new Set<string>();
    const count = await frontier.deleteUris((url) => {
      if (!url.endsWith(ending)) return false;
      found.add(url);
      return true;
    });
    assert.equal(count, found.size, 'the number of deleted URIs');
    for (const url of found) {
      assert.ok(this.#added.has(url) && !this.#done.has(url), 'only pending URIs are deleted');
      this.#deleted.add(url);
    }
  }
}

/** Mulberry32: equal seeds give equal histories. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
