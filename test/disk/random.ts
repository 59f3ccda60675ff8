// Repeatable random numbers: a state that fails is found again by its number.

/** Returns a function that gives numbers from 0 to below 1; the same seeds give the same numbers. */
export function randomOf(...seeds: readonly number[]): () => number {
  let state = seeds.reduce((sum, seed) => Math.imul(sum ^ seed, 0x9e3779b1) >>> 0, 0x85ebca6b);
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
