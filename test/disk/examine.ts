// Records a program of this folder and lets a check open the states that a crash of it can leave.
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { messageOf } from '../../protocols/errors.js';
import { Random } from '../helpers/random.js';
import { byTier, SEED } from '../helpers/seed.js';
import { type Operation, readRecording } from './recording.js';
import { buildShim, fastDirectory, runWithShim } from './shim.js';
import {
  type CrashMode,
  type CrashState,
  describeRecipe,
  materialize,
  type Recipe,
  recipesOf,
  statesOf,
} from './states.js';

/** What is examined. */
export interface Subject {
  /** The name of a file in `programs/`. */
  readonly program: string;
  readonly options?: readonly string[];
  /** The modes in which the stores keep a promise. */
  readonly modes: readonly CrashMode[];
  /** See `recipesOf`. */
  readonly mixes?: 'mix' | 'ordered';
  /** Opens the state, which is in the directory, with the code under test and throws if a promise is broken. */
  check(directory: string, state: CrashState): Promise<void>;
}

/** States of each mode that are examined, unless CRASH_STATES gives another number. */
const DEFAULT_STATES = byTier(25, 100);
/** Violations that are reported in detail. */
const MAX_REPORTED = 20;

/**
 * Runs the program once with the shim, proves that the recording leads to exactly the files that the program
 * left, and checks a sample of the states of each mode, which the seed of the run decides, spread evenly over
 * the recording. `CRASH_STATES` is their number, `CRASH_ONLY=mode:choice:index:seed` examines one state and
 * leaves it where the comment says.
 */
export async function examineCrashes(t: Test, subject: Subject): Promise<void> {
  const place = await fastDirectory(t);
  const shim = await buildShim(place);
  if (shim === undefined) {
    t.comment('gcc is missing: crashes are not examined');
    return;
  }
  const root = join(place, 'root');
  const log = join(place, 'log');
  await runWithShim(subject.program, { shim, root, log, control: join(place, 'control') }, subject.options);
  const operations = readRecording(log);
  compareWithDisk(t, operations, root);

  const all = recipesOf(operations, subject.mixes);
  const counts = new Map<string, number>();
  const violations: string[] = [];
  for (const state of statesOf(operations, sampleOf(all, subject.modes))) {
    const directory = join(place, 'state');
    materialize(state, directory);
    const { mode } = state.recipe;
    counts.set(mode, (counts.get(mode) ?? 0) + 1);
    try {
      await subject.check(directory, state);
    } catch (error) {
      violations.push(`${describeRecipe(state.recipe)}: ${messageOf(error)}`);
    }
  }
  const total = [...counts].map(([mode, count]) => `${mode} ${count}`).join(', ');
  t.comment(`${operations.length} operations, ${all.length} states; examined: ${total} (seed ${SEED})`);
  for (const violation of violations.slice(0, MAX_REPORTED)) t.comment(violation.slice(0, 300));
  t.equal(violations.length, 0, `every state keeps the promises: ${violations[0]?.slice(0, 200) ?? total}`);
}

/** The recipes that are examined, in their order. */
function sampleOf(all: readonly Recipe[], modes: readonly CrashMode[]): readonly Recipe[] {
  const only = process.env.CRASH_ONLY;
  if (only !== undefined) return all.filter((recipe) => describeRecipe(recipe) === only);
  const count = Number(process.env.CRASH_STATES ?? DEFAULT_STATES);
  const random = new Random(SEED);
  const chosen = new Set<Recipe>();
  for (const mode of modes) {
    const recipes = all.filter((recipe) => recipe.mode === mode);
    for (const index of random.sample(recipes.length, count)) chosen.add(recipes[index]!);
  }
  return all.filter((recipe) => chosen.has(recipe));
}

/**
 * A change that the shim did not see would make the states wrong: the last state must be what is on the disk.
 */
function compareWithDisk(t: Test, operations: readonly Operation[], root: string): void {
  const index = operations.length - 1;
  const [state] = statesOf(operations, [{ mode: 'kill', choice: 'all', index, seed: 0 }]);
  const expected = new Map(state?.files);
  const actual = new Map<string, Buffer>();
  const directories: string[] = [];
  const walk = (prefix: string): void => {
    for (const name of readdirSync(join(root, prefix))) {
      const path = prefix === '' ? name : `${prefix}/${name}`;
      if (lstatSync(join(root, path)).isDirectory()) {
        directories.push(path);
        walk(path);
      } else if (!name.endsWith('-shm')) actual.set(path, readFileSync(join(root, path)));
    }
  };
  walk('');
  const differences = [...new Set([...expected.keys(), ...actual.keys()])].filter((path) => {
    const [a, b] = [expected.get(path), actual.get(path)];
    return a === undefined || b === undefined || !a.equals(b);
  });
  t.same(differences, [], 'the recording leads to the files that the program left');
  t.same([...(state?.directories ?? [])].sort(), directories.sort(), 'and to its directories');
}
