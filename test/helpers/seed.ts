// The seed of all chance in the tests, and the tier in which they run. Both come from the runner.

/**
 * The seed of everything that is random in a test: properties, moments of kills, order of bombs. Fixed unless
 * `HARVEST_SEED` is set, so that each run tries the same cases, and a failure can be made again.
 * `npm run verify` sets a new one and prints it.
 */
export const SEED = Number(process.env.HARVEST_SEED ?? 1);

/** `core` and `gate` run a part of the work of a script, `verify` all of it. */
type Tier = 'core' | 'gate' | 'verify';

/** The tier of this run; `verify`, thus everything, for a script that is started by hand. */
const TIER: Tier =
  process.env.HARVEST_TIER === 'core' || process.env.HARVEST_TIER === 'gate'
    ? process.env.HARVEST_TIER
    : 'verify';

/**
 * Returns the value for the tier of this run, e.g. a number of kills: first for `core` and `gate`, then for
 * `verify`.
 */
export function byTier<T>(gate: T, verify: T): T {
  return TIER === 'verify' ? verify : gate;
}
