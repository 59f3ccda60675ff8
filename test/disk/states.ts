// What a disk can contain after a crash: for each moment of a recording the choices between what was flushed
// and what was written.
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../helpers/random.js';
import {
  applyContent,
  applyNames,
  type ContentChange,
  copyNames,
  type Discipline,
  DiskModel,
  type FileNode,
  type Names,
  ROOT_ID,
} from './model.js';
import type { Operation } from './recording.js';

/**
 * `kill`: everything written reached the disk; the process was killed.
 * `journal`, `hostile`: the machine lost power, and the file system has this discipline (model.ts).
 */
export type CrashMode = 'kill' | Discipline;

/** How much of what was not flushed survives. */
type Choice =
  /** Everything. */
  | 'all'
  /** Everything, and a part of the last write. */
  | 'torn'
  /** Nothing. */
  | 'flushed'
  /** All names, no content: a rename before the data. */
  | 'names'
  /** All names, and the lengths of the files, with zeros where the data are missing. */
  | 'zeros'
  /** Random parts. */
  | 'mix'
  /** Random parts, but the blocks of a file reach the disk in their order. */
  | 'ordered';

/** One moment and one choice. */
export interface Recipe {
  readonly mode: CrashMode;
  readonly choice: Choice;
  /** The crash comes after this operation. */
  readonly index: number;
  readonly seed: number;
}

/** The content of a directory after a crash. */
export interface CrashState {
  readonly recipe: Recipe;
  /** What the program had marked before the crash. */
  readonly marks: readonly string[];
  readonly files: ReadonlyMap<string, Buffer>;
  readonly directories: readonly string[];
}

/** Files whose content does not matter after a crash: SQLite's shared memory. */
const IGNORED = /-shm$/;
/** Random mixes of a moment in each discipline. */
const MIXES = 3;
const BLOCK_BYTES = 512;

/**
 * The choices of every moment at which something changed.
 *
 * @param mixes `ordered` for a format without checksums, which cannot tell that a block in the middle is
 *   missing
 */
export function recipesOf(operations: readonly Operation[], mixes: 'mix' | 'ordered' = 'mix'): Recipe[] {
  const recipes: Recipe[] = [];
  operations.forEach((operation, index) => {
    if (operation.kind === 'mark' || operation.kind === 'failure') return;
    if (operation.kind === 'open' && !operation.created && !operation.truncated) return;
    const add = (mode: CrashMode, choice: Choice, seed = 0): void => {
      recipes.push({ mode, choice, index, seed });
    };
    if (operation.kind !== 'sync') add('kill', 'all');
    if (operation.kind === 'write' && operation.data.length > 1) add('kill', 'torn');
    for (const mode of ['journal', 'hostile'] as const) {
      for (const choice of ['all', 'flushed', 'names', 'zeros'] as const) add(mode, choice);
      for (let seed = 1; seed <= MIXES; seed++) add(mode, mixes, seed);
    }
  });
  return recipes;
}

/**
 * Yields the states of the recipes, in their order, which must be ascending by index. Equal states with equal
 * marks are yielded once.
 */
export function* statesOf(
  operations: readonly Operation[],
  recipes: readonly Recipe[],
): Generator<CrashState, void, undefined> {
  const models = { journal: new DiskModel('journal'), hostile: new DiskModel('hostile') };
  const seen = new Set<string>();
  let next = 0;
  for (const recipe of recipes) {
    for (; next <= recipe.index; next++) {
      const operation = operations[next];
      if (operation === undefined) return;
      models.journal.apply(operation);
      models.hostile.apply(operation);
    }
    const model = models[recipe.mode === 'kill' ? 'journal' : recipe.mode];
    const state = stateOf(model, recipe, operations[recipe.index]);
    const digest = digestOf(state);
    if (seen.has(digest)) continue;
    seen.add(digest);
    yield state;
  }
}

function stateOf(model: DiskModel, recipe: Recipe, last: Operation | undefined): CrashState {
  const random = new Random(recipe.index, recipe.seed, recipe.mode === 'hostile' ? 1 : 0);
  const names = namesOf(model, recipe, random);
  const contents = new Map<number, Buffer>();
  const files = new Map<string, Buffer>();
  const directories: string[] = [];
  const walk = (directory: number, prefix: string): void => {
    for (const [name, node] of names.get(directory) ?? []) {
      const path = `${prefix}${name}`;
      if (node.kind === 'directory') {
        directories.push(path);
        walk(node.id, `${path}/`);
      } else if (!IGNORED.test(name)) {
        // A file with several names has one content.
        let content = contents.get(node.id);
        if (content === undefined) {
          content = contentOf(node, recipe.choice, random, last);
          contents.set(node.id, content);
        }
        files.set(path, content);
      }
    }
  };
  walk(ROOT_ID, '');
  return { recipe, marks: [...model.marks], files, directories };
}

function namesOf(model: DiskModel, { choice, mode }: Recipe, random: Random): Names {
  if (choice !== 'flushed' && choice !== 'mix' && choice !== 'ordered') return model.names;
  if (choice === 'flushed') return model.durableNames;
  const names = copyNames(model.durableNames);
  const pending = model.pendingNames;
  if (mode === 'hostile') {
    // Often all but one, or only one: the order of two changes is what programs rely on.
    const odd = random.below(pending.length);
    const kind = random.fraction();
    applyNames(
      names,
      pending.filter((_, i) => (kind < 0.3 ? i !== odd : kind < 0.6 ? i === odd : random.once(2))),
    );
  } else {
    applyNames(names, pending.slice(0, random.below(pending.length + 1)));
  }
  return names;
}

function contentOf(node: FileNode, choice: Choice, random: Random, last: Operation | undefined): Buffer {
  const { durable, pending } = node;
  if (pending.length === 0 || choice === 'flushed' || choice === 'names') return durable;
  switch (choice) {
    case 'all':
      return applyContent(durable, pending);
    case 'torn':
      return applyContent(durable, tearLast(durable, pending, last, random));
    case 'zeros':
      return withZeros(durable, pending);
    case 'mix':
      return mixContent(durable, pending, random, random.fraction());
    case 'ordered':
      return mixContent(durable, pending, random, random.fraction() * PREFIXES);
  }
}

/** The last write reaches the disk in part. */
function tearLast(
  durable: Buffer,
  pending: readonly ContentChange[],
  last: Operation | undefined,
  random: Random,
): ContentChange[] {
  const torn = pending.at(-1);
  if (torn === undefined || torn !== last) return [...pending];
  return [...pending.slice(0, -1), ...tear(durable, pending.slice(0, -1), torn, random)];
}

/** A part of a write. What replaces bytes within one sector of the disk is written as a whole or not at all. */
function tear(
  durable: Buffer,
  before: readonly ContentChange[],
  torn: ContentChange,
  random: Random,
): ContentChange[] {
  if (torn.kind !== 'write') return [];
  const { offset, data } = torn;
  const { length } = applyContent(durable, before);
  let end = offset + random.below(data.length);
  if (end < length) end = Math.max(offset, end - (end % BLOCK_BYTES));
  return end > offset ? [{ ...torn, data: data.subarray(0, end - offset) }] : [];
}

/** The file has its length; what was there is as before, what is new is zeros. */
function withZeros(durable: Buffer, pending: readonly ContentChange[]): Buffer {
  const { length } = applyContent(durable, pending);
  const content = Buffer.alloc(length);
  durable.copy(content, 0, 0, Math.min(length, durable.length));
  return content;
}

/** The part of the mixes of a file in which its changes reach the disk in their order. */
const PREFIXES = 0.7;

/**
 * A prefix of the changes, the last one torn; or any of their blocks, with zeros or old bytes in place of the
 * others.
 */
function mixContent(
  durable: Buffer,
  pending: readonly ContentChange[],
  random: Random,
  kind: number,
): Buffer {
  if (kind < 0.15) return durable;
  if (kind < 0.3) return applyContent(durable, pending);
  const count = random.below(pending.length + 1);
  const torn = pending[count];
  if (kind < PREFIXES) {
    const kept = pending.slice(0, count);
    if (torn !== undefined) kept.push(...tear(durable, pending.slice(0, count), torn, random));
    return applyContent(durable, kept);
  }
  const full = applyContent(durable, pending);
  // The length is that of all changes; each block of the disk is new, or as it was before.
  const old = Buffer.alloc(full.length);
  durable.copy(old, 0, 0, Math.min(durable.length, full.length));
  const result = Buffer.from(full);
  for (let at = 0; at < full.length; at += BLOCK_BYTES) {
    if (random.once(2)) old.copy(result, at, at, Math.min(at + BLOCK_BYTES, full.length));
  }
  return result;
}

function digestOf({ recipe, marks, files, directories }: CrashState): string {
  const hash = createHash('sha1').update(`${recipe.mode} ${marks.length} ${directories.join('\0')}\n`);
  for (const [path, content] of files) hash.update(`${path}\0${content.length}\0`).update(content);
  return hash.digest('base64');
}

/** Writes a state into a directory, in place of what it contains. */
export function materialize(state: CrashState, directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const path of state.directories) mkdirSync(join(directory, path));
  for (const [path, content] of state.files) writeFileSync(join(directory, path), content);
}

/** A state in one line, which repeats it: `CRASH_ONLY=<this>`. */
export function describeRecipe({ mode, choice, index, seed }: Recipe): string {
  return `${mode}:${choice}:${index}:${seed}`;
}
