// The parts of a Glimpse index: each is a complete index by glimpseindex over some of the files.
import { link, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode, StorageError } from '../../../protocols/errors.js';
import { OidSet } from '../../broker/oid-set.js';
import { openRegular, readRegular } from '../../files/regular-file.js';
import { Program, runToEnd } from '../external/program.js';
import { oidOfFile } from './object-files.js';

/** The description of a part, written when it is complete. */
const DESCRIPTION = 'part.json';
const NAMES = '.glimpse_filenames';
const NAMES_BATCH = 256;

const oids = z.array(z.number().int().positive());
const descriptionSchema = z.object({
  /** Bytes of each file of the index. */
  sizes: z.record(z.string(), z.number().int().nonnegative()),
  words: oids,
  lines: oids,
});

/**
 * A part of the index. `words` and `lines` are the objects that glimpse may miss (`hardText`), so they are
 * always candidates.
 */
export interface Part {
  /** Name of its directory within the index. */
  readonly name: string;
  /** All its objects, also those that were removed or replaced since. */
  readonly oids: OidSet;
  /** Number of `oids`. */
  readonly count: number;
  /** Objects with words that the index does not contain. */
  readonly words: OidSet;
  /** Objects with long lines, which queries for several words may miss. */
  readonly lines: OidSet;
  /** Bytes of each file of the index. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** What {@link buildPart} needs to know about a part. */
export type PartPlan = Omit<Part, 'count' | 'sizes'>;

/** How {@link buildPart} runs glimpseindex. */
export interface PartBuilder {
  readonly program: string;
  /** `GlimpseIndex-Option` as words. */
  readonly size: readonly string[];
  readonly memoryMiB: number;
  /** As in `RunLimits`. */
  readonly silenceMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly pathOf: (oid: number) => string;
  readonly onWarning: (sentence: string) => void;
}

/**
 * Indexes the files of `oids` into a new directory of `index`. Files that glimpseindex leaves out are added to
 * `words`.
 *
 * @throws StorageError with the standard error of glimpseindex if it fails
 */
export async function buildPart(index: string, part: PartPlan, builder: PartBuilder): Promise<Part> {
  const path = join(index, part.name);
  await mkdir(path);
  const program = await Program.start(builder.program, {
    // -s structured, -n numbers, -E no detection of file types, -B fast, -F file names on standard input.
    arguments: [
      ...['-s', ...builder.size, '-n', '-E', '-B', '-M', String(builder.memoryMiB)],
      ...['-F', '-H', path],
    ],
    cwd: path,
  });
  const { signal, silenceMs } = builder;
  const ended = runToEnd(program, 'glimpseindex', {
    signal,
    silenceMs,
  });
  ended.catch(() => undefined);
  const list = part.oids.toArray();
  for (let start = 0; start < list.length; start += NAMES_BATCH) {
    const names = Array.from(list.subarray(start, start + NAMES_BATCH), (oid) => `${builder.pathOf(oid)}\n`);
    await program.write(names.join(''));
  }
  program.endInput();
  await ended;
  const left = part.oids.clone().subtract(await indexedIn(path));
  const leftOut = left.toArray();
  if (leftOut.length === list.length)
    throw new StorageError(
      `glimpseindex indexed none of ${list.length} files${program.errorLine === '' ? '' : `: ${program.errorLine}`}`,
    );
  if (leftOut.length > 0)
    builder.onWarning(
      `glimpseindex left out ${leftOut.length} of ${list.length} objects, which are read for every query; the first is ${leftOut[0]}`,
    );
  const words = part.words.clone().intersect(part.oids).unite(left);
  const lines = part.lines.clone().intersect(part.oids);
  const sizes = await sizesIn(path);
  const description: z.output<typeof descriptionSchema> = {
    sizes,
    words: [...words.toArray()],
    lines: [...lines.toArray()],
  };
  await writeFile(join(path, DESCRIPTION), `${JSON.stringify(description)}\n`);
  return { name: part.name, oids: part.oids, count: list.length, words, lines, sizes };
}

/**
 * Reads a part of an index. Returns undefined if it is damaged: a file is missing or has another size than at
 * its end.
 */
export async function readPart(index: string, name: string): Promise<Part | undefined> {
  const path = join(index, name);
  try {
    const text = (await readRegular(join(path, DESCRIPTION))).toString('utf8');
    const description = descriptionSchema.parse(JSON.parse(text));
    const { sizes } = description;
    if (!(await isIntact(path, sizes))) return undefined;
    const words = OidSet.of(description.words);
    const all = (await indexedIn(path)).unite(words);
    return { name, oids: all, count: all.size, words, lines: OidSet.of(description.lines), sizes };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError || errorCode(error) === 'ENOENT')
      return undefined;
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}

/**
 * Whether the files of a part have the sizes that they had when it was complete; glimpse finds nothing in a
 * truncated one, and says nothing.
 */
export async function isIntact(path: string, sizes: Part['sizes']): Promise<boolean> {
  const now = await sizesIn(path);
  return Object.entries(sizes).every(([file, size]) => now[file] === size);
}

/** Makes the files of a part appear in the next index too. */
export async function linkPart(from: string, to: string, name: string): Promise<void> {
  await mkdir(join(to, name));
  for (const file of await readdir(join(from, name)))
    await link(join(from, name, file), join(to, name, file));
}

/** The objects whose files an index of glimpseindex has; none if it does not exist. */
async function indexedIn(path: string): Promise<OidSet> {
  const found = new OidSet();
  const input = await openRegular(join(path, NAMES));
  for await (const line of input.readLines({ encoding: 'latin1' })) {
    const oid = oidOfFile(line);
    if (oid !== undefined) found.add(oid);
  }
  return found;
}

/** The sizes of the files of an index; without those that are removed meanwhile. */
async function sizesIn(path: string): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  try {
    for (const name of await readdir(path)) {
      if (name.startsWith('.glimpse_')) sizes[name] = (await stat(join(path, name))).size;
    }
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  return sizes;
}

/** A part of at most this many files is indexed again together with new objects. */
const SMALL_PART = 1000;
/** More parts than this are joined, because a query runs glimpse on each. */
const MAX_PARTS = 8;

/** The changes of a run. */
export interface Run {
  readonly written: OidSet;
  readonly removed: OidSet;
  readonly words: OidSet;
  readonly lines: OidSet;
  /** Whether the run replaces the index. */
  readonly isRebuild: boolean;
}

/** Begins a run. */
export function newRun(isRebuild: boolean): Run {
  return {
    written: new OidSet(),
    removed: new OidSet(),
    words: new OidSet(),
    lines: new OidSet(),
    isRebuild,
  };
}

/** What the next index consists of. */
export interface Plan {
  readonly kept: readonly Part[];
  /** Objects of the new part; empty if no part is written. */
  readonly fresh: OidSet;
}

/**
 * Decides which parts the next index keeps. glimpseindex can also add files to an index (`-a`), but it then
 * drops files that are gone and numbers the others anew, so that it finds wrong objects: here no index is ever
 * changed. A new part takes in the parts that are not more than twice as large, so their number grows with the
 * logarithm of the number of objects.
 */
export function planParts(former: readonly Part[], written: OidSet, live: OidSet): Plan {
  const kept = [...former];
  const fresh = written.clone();
  let size = fresh.size;
  for (let last = kept.at(-1); size > 0 && last !== undefined; last = kept.at(-1)) {
    if (last.count > Math.max(SMALL_PART, 2 * size)) break;
    fresh.unite(last.oids).intersect(live);
    size = fresh.size;
    kept.pop();
  }
  const entries = kept.reduce((sum, { count }) => sum + count, size);
  // Removed and replaced objects are in the way of every query.
  if (kept.length >= MAX_PARTS || entries > 2 * live.size) return { kept: [], fresh: live };
  return { kept, fresh };
}
