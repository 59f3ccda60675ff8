// Properties with a seed: each run of the gate tries the same cases.
import fc from 'fast-check';
import { byTier, SEED } from './seed.js';

/** Runs of a property whose test names no number; fast-check's own default. */
const DEFAULT_RUNS = 100;
/** The part of a property's runs that the core tier and the gate make. */
const PART = byTier(0.25, 1);

/**
 * Checks a property, like `fc.assert`, with the seed of this run. The numbers of runs in the tests are those of
 * `verify`; other tiers make a quarter of them.
 */
export function assertProperty<T>(
  property: fc.IAsyncProperty<T>,
  parameters?: fc.Parameters<T>,
): Promise<void>;
export function assertProperty<T>(property: fc.IProperty<T>, parameters?: fc.Parameters<T>): void;
export function assertProperty<T>(
  property: fc.IRawProperty<T>,
  parameters: fc.Parameters<T> = {},
): Promise<void> | void {
  const numRuns = Math.max(1, Math.ceil((parameters.numRuns ?? DEFAULT_RUNS) * PART));
  return fc.assert(property, { seed: SEED, ...parameters, numRuns });
}
