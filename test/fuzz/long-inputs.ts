// Makes long inputs from the parts of short ones and counts the branches that they execute: four times the
// length may execute about four times as many. The count depends on the input alone, not on the machine.
import type { Random } from '../helpers/random.js';
import { takeCost } from './coverage.js';
import type { Fuzzer } from './fuzzer.js';
import { splice } from './mutate.js';
import type { Finding } from './shared.js';

const SHORT = 16 * 1024;
const TIMES = 8;
/** More lengths that confirm a suspicion. */
const SAMPLES = 8;
/** Branches of the long input, divided by those of the short one and by the ratio of their lengths. */
const MAX_GROWTH = 5;
/** Branches for each byte; less is fast enough whatever the growth is. */
const CHEAP = 40;
/**
 * Growth at each doubling of the length. A declared length that the long input exceeds and the short one does
 * not makes the cost jump at one doubling, and after it the cost is in proportion to the length again.
 */
const MIN_DOUBLING = 2.6;

/** Tries parts of the corpus until `stopped`. */
export async function tryLongInputs(
  fuzzer: Fuzzer,
  random: Random,
  stopped: () => boolean,
  found: (finding: Finding) => void,
): Promise<void> {
  let known = 0;
  while (!stopped() && known < 4) {
    const base = random.pick(fuzzer.corpus);
    if (base.length === 0) continue;
    const at = random.below(base.length);
    const part = base.subarray(at, at + 1 + random.below(Math.min(base.length - at, 200)));
    const make = (bytes: number): Uint8Array => {
      const middle = new Uint8Array(bytes);
      for (let i = 0; i < bytes; i += part.length) middle.set(part.subarray(0, bytes - i), i);
      return splice(base, at, part.length, middle);
    };
    const isSlow = (little: number, much: number): boolean =>
      much > CHEAP * SHORT * TIMES && much > little * TIMES * MAX_GROWTH;
    const long = make(SHORT * TIMES);
    let short = await costOf(fuzzer, make(SHORT));
    let much = await costOf(fuzzer, long);
    // A target derives options from its input: one length more or less has others.
    for (let i = 1; i <= SAMPLES && isSlow(short, much) && !stopped(); i++) {
      short = Math.max(short, await costOf(fuzzer, make(SHORT + i * part.length)));
      much = Math.min(much, await costOf(fuzzer, make(SHORT * TIMES - i * part.length)));
    }
    if (isSlow(short, much) && (await growsThroughout(fuzzer, make))) {
      known++;
      found({
        kind: 'slow',
        key: `slow ${Buffer.from(part.subarray(0, 8)).toString('hex')}`,
        message: `${TIMES} times the length executes ${(much / short).toFixed(1)} times the branches: ${Math.round(
          much / long.length,
        )} for each byte`,
        input: long,
      });
    }
  }
}

async function growsThroughout(fuzzer: Fuzzer, make: (bytes: number) => Uint8Array): Promise<boolean> {
  let before = await costOf(fuzzer, make(SHORT));
  for (let bytes = SHORT * 2; bytes <= SHORT * TIMES; bytes *= 2) {
    const cost = await costOf(fuzzer, make(bytes));
    if (cost < before * MIN_DOUBLING) return false;
    before = cost;
  }
  return true;
}

async function costOf(fuzzer: Fuzzer, input: Uint8Array): Promise<number> {
  takeCost();
  const outcome = await fuzzer.execute(input);
  const cost = takeCost();
  if (outcome !== undefined) await fuzzer.report(input, outcome.error);
  takeCost();
  return cost;
}
