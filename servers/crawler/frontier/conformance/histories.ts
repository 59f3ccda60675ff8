import assert from 'node:assert/strict';
import type { OpenHarness, RegisterTest } from './harness.js';
import { ManualClock } from './manual-clock.js';

/** Registers tests of random crawls with restarts; each seed gives one history. */
export function registerHistoryTests<B>(test: RegisterTest<B>, histories: number, firstSeed: number): void {
  for (let seed = firstSeed; seed < firstSeed + histories; seed++)
    test(`random history ${seed}: every URI is given out once, whatever the budgets, delays and restarts`, (open) =>
      runHistory(open, seed));
}

/** Crawls a small random web and restarts the frontier at random. */
async function runHistory<B>(open: OpenHarness<B>, seed: number): Promise<void> {
  const random = createRandom(seed);
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
      'no URI is finished twice',
    );
  } finally {
    await s[Symbol.asyncDispose]();
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
