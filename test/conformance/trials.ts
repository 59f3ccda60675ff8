// Which mutants of a suite are tried, with which cases, and which of these must fail.
import { matchesPattern } from '../../clients/conformance/index.js';
import type { Mutant, MutatedSuite } from './mutant.js';

/** A run with one mutant. */
export interface Trial<Change> {
  readonly mutant: Mutant<Change>;
  /** Patterns of the cases to run. */
  readonly only: readonly string[];
}

/** The ids of the failing cases by the names of the mutants. */
export type Listed = Readonly<Record<string, readonly string[]>>;

/** One mutant in this many runs with all quick cases, the others with those about them and a few others. */
const SAMPLE = 16;
const FEW = 6;

/** Returns a run of every mutant. @param quick the cases that cost little */
export function everyMutant<Change>(
  { mutants, first, whole = false }: MutatedSuite<Change>,
  quick: readonly string[],
): readonly Trial<Change>[] {
  return mutants.map((mutant) => {
    const { name, fails } = mutant;
    const cases = whole || isInSample(name) ? quick : [...first, ...few(quick, name)];
    return { mutant, only: [...(mutant.only ?? cases), ...fails] };
  });
}

/**
 * Returns runs in which each of these cases fails at least once, if any mutant fails it, with the cheapest
 * mutant.
 */
export function cheapestMutants<Change>(
  { mutants, first }: MutatedSuite<Change>,
  cases: readonly string[],
  listed: Listed,
): readonly Trial<Change>[] {
  const chosen = new Map<Mutant<Change>, string[]>();
  for (const id of cases) {
    const failing = mutants.filter(({ name }) => listed[name]?.includes(id));
    const costs = failing.map((mutant) => {
      const isAbout = mutant.fails.includes(id);
      return (
        // A mutant that breaks much says less about the case than one that breaks its rule.
        (isAbout ? 0 : 10_000) +
        (mutant.only === undefined ? 0 : 1_000) +
        (chosen.has(mutant) ? 0 : 100) +
        (listed[mutant.name]?.length ?? 0)
      );
    });
    const cheapest = failing[costs.indexOf(Math.min(...costs))];
    if (cheapest !== undefined) chosen.set(cheapest, [...(chosen.get(cheapest) ?? []), id]);
  }
  return [...chosen].map(([mutant, ids]) => ({
    mutant,
    only: mutant.only === undefined ? [...first, ...ids] : [...mutant.only, ...ids],
  }));
}

/** Whether one of the patterns selects the case. */
export function selects(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matchesPattern(id, pattern));
}

function hashOf(text: string): number {
  let hash = 7;
  for (const char of text) hash = (hash * 31 + char.charCodeAt(0)) >>> 0;
  return hash;
}

function isInSample(name: string): boolean {
  return hashOf(name) % SAMPLE === 0;
}

/** Returns some of the ids, which depend on the name of the mutant only. */
function few(ids: readonly string[], name: string): readonly string[] {
  const ranked = ids.map((id) => ({ id, rank: hashOf(`${name} ${id}`) })).sort((a, b) => a.rank - b.rank);
  return ranked.slice(0, FEW).map(({ id }) => id);
}
