// Records a program of this folder and lets a check open the states that a crash of it can leave.
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { messageOf } from '../../protocols/errors.js';
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

/** Seconds for the states of one subject, unless CRASH_SECONDS gives another number. */
const DEFAULT_SECONDS = 5;
/** Violations that are reported in detail. */
const MAX_REPORTED = 20;
/** Recipes of one pass over the recording. */
const PASS_RECIPES = 25;

/**
 * Runs the program once with the shim, proves that the recording leads to exactly the files that the program left, and checks as
 * many different states as the time allows, spread evenly over the recording. `CRASH_SECONDS` is the time for each subject (default
 * 5), `CRASH_ONLY=mode:choice:index:seed` examines one state and leaves it where the comment says.
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

  const all = recipesOf(operations, subject.mixes).filter(({ mode }) => subject.modes.includes(mode));
  const only = process.env.CRASH_ONLY;
  const recipes = only === undefined ? all : all.filter((recipe) => describeRecipe(recipe) === only);
  const seconds = Number(process.env.CRASH_SECONDS ?? DEFAULT_SECONDS);
  const counts = new Map<string, number>();
  const violations: string[] = [];
  const end = performance.now() + seconds * 1000;
  let passes = 0;
  // Each pass takes every nth moment, shifted, so that time that runs out leaves no part of the recording out.
  const strides = Math.ceil(recipes.length / PASS_RECIPES);
  for (const part of partsOf(recipes, strides)) {
    if (passes > 0 && performance.now() > end) break;
    passes++;
    for (const state of statesOf(operations, part)) {
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
  }
  const total = [...counts].map(([mode, count]) => `${mode} ${count}`).join(', ');
  t.comment(`${operations.length} operations; states examined: ${total} (${passes} of ${strides} parts)`);
  for (const violation of violations.slice(0, MAX_REPORTED)) t.comment(violation.slice(0, 300));
  t.equal(violations.length, 0, `every state keeps the promises: ${violations[0]?.slice(0, 200) ?? total}`);
}

function* partsOf(recipes: readonly Recipe[], strides: number): Generator<Recipe[]> {
  for (let shift = 0; shift < strides; shift++)
    yield recipes.filter((_, i) => (i * 7 + Math.floor(i / strides)) % strides === shift);
}

/** A change that the shim did not see would make the states wrong: the last state must be what is on the disk. */
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
