// Tests that sessions run on their tables of states, by watching which transitions they look up.
import fc from 'fast-check';
import type { Test } from 'tap';
import type { StateTable } from '../../protocols/state-machine.js';
import { assertProperty } from './property.js';

/** A machine under test. */
export interface MachineTest<State extends string, Input> {
  readonly table: StateTable<State, string>;
  readonly start: State;
  /**
   * Feeds a session of its own; returns its last state, if it shows that. A transition that the table lacks
   * throws a StateError.
   */
  readonly run: (inputs: readonly Input[]) => State | undefined;
  /** Walks that together reach every row of the table. */
  readonly walks: readonly (readonly Input[])[];
  /** Random inputs; each walk is a list of them. */
  readonly input: fc.Arbitrary<Input>;
  /** Inputs of the longest random walk. Default 12. */
  readonly maxLength?: number;
}

/**
 * Checks that every walk, given or random, is a path in the table from its start to the state that the session
 * says, and that the given walks reach every row.
 */
export function checkMachine<State extends string, Input>(t: Test, machine: MachineTest<State, Input>): void {
  const { table, start, run, walks, input, maxLength = 12 } = machine;
  const seen: { readonly state: string; readonly event: string; readonly next: string }[] = [];
  const reached = new Set<string>();
  const restore = watchTable(table, (state, event, next) => seen.push({ state, event, next }));
  const fault = (inputs: readonly Input[]): string | undefined => {
    seen.length = 0;
    const last = run(inputs);
    let at: string = start;
    for (const { state, event, next } of seen) {
      reached.add(`${state}: ${event}`);
      if (state !== at) return `"${event}" in ${state}, where the table leads to ${at}`;
      at = next;
    }
    return last === undefined || last === at
      ? undefined
      : `the session is in ${last}, where the table leads to ${at}`;
  };
  try {
    t.same(
      walks.map(fault).filter((one) => one !== undefined),
      [],
    );
    t.same(
      rowsOf(table).filter((row) => !reached.has(row)),
      [],
      'every row is reached',
    );
    assertProperty(
      fc.property(fc.array(input, { maxLength }), (inputs) => {
        const found = fault(inputs);
        if (found !== undefined) throw new Error(found);
      }),
      { numRuns: 400 },
    );
  } finally {
    restore();
  }
}

/** The rows of a table as `STATE: EVENT`. */
export function rowsOf(table: StateTable<string, string>): string[] {
  return Object.entries(table).flatMap(([state, row]) =>
    Object.keys(row).map((event) => `${state}: ${event}`),
  );
}

/** Reports every lookup of a transition. @returns the function that ends it */
export function watchTable<State extends string>(
  table: StateTable<State, string>,
  report: (state: string, event: string, next: string) => void,
): () => void {
  const restores: (() => void)[] = [];
  for (const [state, row] of Object.entries<StateTable<State, string>[State]>(table))
    for (const [event, transition] of Object.entries(row)) {
      if (transition === undefined) continue;
      const { next } = transition;
      Object.defineProperty(row, event, {
        configurable: true,
        enumerable: true,
        get() {
          report(state, event, next);
          return transition;
        },
      });
      restores.push(() =>
        Object.defineProperty(row, event, { configurable: true, enumerable: true, value: transition }),
      );
    }
  return () => {
    for (const restore of restores) restore();
  };
}
