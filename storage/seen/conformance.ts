// The test suite of the contract of SeenFilter, for the filters of this package and for others.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SeenFilter } from './contract.js';

/** The `test` function of node:test, of tap, or of another runner. */
export type TestRunner = (name: string, run: () => Promise<void>) => unknown;

/** The features of a filter; the tests of a feature that is `false` are left out. Default: all `true`. */
export interface SeenFilterManifest {
  /** A filter that is opened again on its directory has its keys. */
  readonly persistence?: boolean;
  /** A copy of the directory, made between two calls, is equal to the files of a killed process. */
  readonly crashCopies?: boolean;
}

export interface SeenFilterConformance {
  readonly test: TestRunner;
  /** The start of the tests' names. */
  readonly name: string;
  /**
   * Opens a filter on a directory of this machine; a directory that does not exist is an empty filter. The
   * suite opens the same directory again after the close. Small limits make the suite reach merges and spills.
   */
  readonly open: (directory: string) => Promise<SeenFilter>;
  readonly manifest?: SeenFilterManifest;
}

/** The number of random histories, and the maximum number of steps in each. */
const HISTORIES = 25;
const STEPS = 25;
const BATCH = 60;
/** Different URIs of a history: few, so that most are added several times. */
const URIS = 400;

/**
 * Registers the tests of the contract of {@link SeenFilter} (CRAWL section 4). They assert with node:assert. A
 * filter with false positives, such as a Bloom filter, needs room for 100 000 keys.
 */
export function seenFilterConformance({ test, name, open, manifest = {} }: SeenFilterConformance): void {
  const { persistence = true, crashCopies = true } = manifest;

  test(`CRAWL-4.3, 4.5 ${name}: a URI is new once, and again after it was forgotten`, () =>
    withDirectory(async (directory) => {
      await using filter = await open(directory);
      await addsTo(filter, ['a', 'b', 'a'], [1, 1, 0], 'of two equal URIs in a batch the first is new');
      await addsTo(filter, ['b', 'c'], [0, 1]);
      assert.equal(filter.count, 3, 'CRAWL-4.10');
      await filter.forget(['b', 'never']);
      assert.equal(filter.count, 2, 'an absent URI cannot be forgotten');
      await addsTo(filter, ['b', 'a'], [1, 0]);
      await filter.forget(['b', 'b']);
      assert.equal(filter.count, 2, 'two equal URIs are forgotten once');
      await addsTo(filter, [], []);
    }));

  test(`${name}: overlapping calls take effect in their order`, () =>
    withDirectory(async (directory) => {
      await using filter = await open(directory);
      const [first, , second, third] = await Promise.all([
        filter.add(['a']),
        filter.forget(['a']),
        filter.add(['a', 'b']),
        filter.add(['a']),
        filter.commit(),
      ]);
      assert.deepEqual([[...first], [...second], [...third]], [[1], [1, 1], [0]]);
      assert.equal(filter.count, 2);
    }));

  test(`${name}: a closed filter refuses calls, and the close waits for those in flight`, () =>
    withDirectory(async (directory) => {
      await using filter = await open(directory);
      const adding = filter.add(['a']);
      await Promise.all([filter.close(), filter.close()]);
      assert.deepEqual([...(await adding)], [1]);
      await filter.close();
      for (const call of [() => filter.add(['b']), () => filter.forget(['a']), () => filter.commit()])
        await assert.rejects(call, { code: 'ERR_STATE' });
    }));

  test(`${name}: random histories give the answers of a set`, () =>
    withDirectory(async (directory) => {
      for (let seed = 1; seed <= HISTORIES; seed++)
        await playHistory(open, join(directory, '..', String(seed)), seed, persistence);
    }));

  if (persistence)
    test(`${name}: a filter that is opened again has its keys`, () =>
      withDirectory(async (directory) => {
        await using filter = await open(directory);
        await addInSteps(filter, 1000);
        assert.equal(await countNew(filter, uris(1000, 1010)), 10);
        assert.ok(filter.uncommitted >= 10, 'the additions since the commit are uncommitted');
        await filter.close();
        await assertHolds(await open(directory), 985, uris(0, 1000));
      }));

  if (crashCopies)
    test(`${name}: a crash loses what was not committed, and nothing else`, () =>
      withDirectory(async (directory) => {
        await using filter = await open(directory);
        await addInSteps(filter, 1000);
        const crashed = `${directory}-crashed`;
        await cp(directory, crashed, { recursive: true });
        await assertHolds(await open(crashed), 975, uris(0, 1000));
      }));
}

/** Runs `work` with the name of a directory that does not exist, and then removes it. */
async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'seen-'));
  try {
    await work(join(root, 'filter'));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Adds URIs in batches of 40 and forgets the first one of each. */
async function addInSteps(filter: SeenFilter, count: number): Promise<void> {
  for (let first = 0; first < count; first += 40) {
    assert.equal(await countNew(filter, uris(first, first + 40)), 40);
    await filter.forget(uris(first, first + 1));
    await filter.commit();
    assert.equal(filter.uncommitted, 0, 'everything is committed');
  }
}

/** Checks what {@link addInSteps} left, and closes the filter. */
async function assertHolds(filter: SeenFilter, count: number, added: readonly string[]): Promise<void> {
  await using again = filter;
  assert.equal(again.count, count);
  assert.equal(await countNew(again, added), 25, 'only the forgotten URIs are new');
  assert.equal(await countNew(again, added), 0);
}

/** Compares a filter with a set through additions, removals, commits and closes. */
async function playHistory(
  open: SeenFilterConformance['open'],
  directory: string,
  seed: number,
  persistence: boolean,
): Promise<void> {
  const next = randomNumbers(seed);
  const model = new Set<string>();
  let filter = await open(directory);
  try {
    const steps = next(STEPS + 1);
    for (let step = 1; step <= steps; step++) {
      const where = `history ${seed}, step ${step}`;
      const batch = Array.from({ length: next(BATCH + 1) }, () => `http://h/${next(URIS)}`);
      const action = next(11);
      if (action < 6) {
        const expected = batch.map((uri) => Number(model.size < model.add(uri).size));
        await addsTo(filter, batch, expected, where);
      } else if (action < 8) {
        await filter.forget(batch);
        for (const uri of batch) model.delete(uri);
      } else if (action < 10 || !persistence) {
        await filter.commit();
      } else {
        await filter.close();
        filter = await open(directory);
      }
      assert.equal(filter.count, model.size, `count, ${where}`);
    }
  } finally {
    await filter.close();
  }
}

async function addsTo(
  filter: SeenFilter,
  batch: readonly string[],
  expected: readonly number[],
  message?: string,
): Promise<void> {
  assert.deepEqual([...(await filter.add(batch))], expected, message);
}

async function countNew(filter: SeenFilter, batch: readonly string[]): Promise<number> {
  return (await filter.add(batch)).reduce((sum, flag) => sum + flag, 0);
}

function uris(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `http://h${(from + i) % 7}.example/${from + i}`);
}

/** Pseudorandom integers from 0 below a bound; the same for the same seed. */
function randomNumbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % bound;
  };
}
