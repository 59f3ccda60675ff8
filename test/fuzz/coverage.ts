// Counts which branches of the code an input executes, and which of them are new.

/** Counters of all instrumented modules; one element a branch. */
const CAPACITY = 1 << 18;
const ALL = new Uint32Array(CAPACITY);
let used = 0;
/** The words and numbers of the loaded modules. */
const words = new Set<string>();

/** Called by each instrumented module when it is loaded. @returns its counters */
function register(count: number, tokens: readonly string[]): Uint32Array {
  for (const token of tokens) words.add(token);
  if (used + count > CAPACITY) return new Uint32Array(count);
  used += count;
  return ALL.subarray(used - count, used);
}

declare global {
  var fuzzCounters: typeof register | undefined;
}

// This module is imported before all instrumented ones.
globalThis.fuzzCounters = register;

/** Strings and byte sequences (as Latin-1) that the loaded modules compare with. */
export function tokensOfCode(): Uint8Array[] {
  return [...words].map((word) => new Uint8Array(Buffer.from(word, 'latin1')));
}

/** One to eight classes of how often a branch is executed: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, more. */
function classOf(count: number): number {
  if (count <= 3) return 1 << (count - 1);
  if (count < 8) return 8;
  if (count < 16) return 16;
  if (count < 32) return 32;
  return count < 128 ? 64 : 128;
}

/** What the inputs so far have executed. */
export class CoverageMap {
  readonly #seen = new Uint8Array(CAPACITY);
  /** Branches that were executed. */
  edges = 0;

  /** Marks the branches of the last input, and resets the counters. @returns the classes that are new */
  take(): number {
    let news = 0;
    const end = used;
    for (let i = 0; i < end; i++) {
      const count = ALL[i];
      if (count === 0 || count === undefined) continue;
      ALL[i] = 0;
      const bit = classOf(count);
      const seen = this.#seen[i] ?? 0;
      if ((seen & bit) !== 0) continue;
      if (seen === 0) this.edges++;
      this.#seen[i] = seen | bit;
      news++;
    }
    return news;
  }
}

/** Branches that the last input executed, counted with repetition; resets the counters. */
export function takeCost(): number {
  let cost = 0;
  for (let i = 0; i < used; i++) cost += ALL[i] ?? 0;
  ALL.fill(0, 0, used);
  return cost;
}

/** The features of the last input, as numbers: branch times 256 plus class. Resets the counters. */
export function takeFeatures(): number[] {
  const features: number[] = [];
  for (let i = 0; i < used; i++) {
    const count = ALL[i];
    if (count === 0 || count === undefined) continue;
    ALL[i] = 0;
    features.push(i * 256 + classOf(count));
  }
  return features;
}

/** The number of branches of the loaded modules. */
export function branchCount(): number {
  return used;
}
