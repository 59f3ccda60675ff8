// The `Swish` engine: indexes by swish-e, in parts that are merged, queried by the program swish-e.
import { link, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Expression } from '../../../protocols/broker/index.js';
import { errorCode, StateError, StorageError } from '../../../protocols/errors.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { type ObjectReader, openObjectReader } from '../../broker/object-reader.js';
import { OidSet } from '../../broker/oid-set.js';
import { type Indexer, type IndexerCapabilities, MATCHER_CAPABILITIES } from '../contract.js';
import {
  CANDIDATE_SEARCH_LIMITS,
  type Candidate,
  type CandidateOptions,
  type CandidateSearchLimits,
  type ProgramEngineOptions,
} from '../external/candidate-search.js';
import {
  failureOf,
  Program,
  type ProgramEnd,
  requireProgram,
  runToEnd,
  statusOf,
} from '../external/program.js';
import { ProgramIndexer } from '../external/program-indexer.js';
import { queryProgram } from '../external/query-program.js';
import { IndexDirectory, removeIndex } from '../index-directory.js';
import { documentOf, SWISH_CONFIGURATION, translate } from './translate.js';

/** Options of {@link openSwishIndexer}. */
export interface SwishIndexerOptions extends ProgramEngineOptions {
  /** Maximum number of parts of an index. Each flush adds one; more than this many are merged. Default 8. */
  readonly maxParts?: number;
  /** Name or path of the program. Default `swish-e`, looked up in PATH. */
  readonly program?: string;
  readonly limits?: Partial<CandidateSearchLimits>;
}

/** Swish supports whole words only: a search word matches a whole word with and without `matchWord`. */
const CAPABILITIES: IndexerCapabilities = {
  ...MATCHER_CAPABILITIES,
  substrings: false,
  errors: 0,
  regexp: false,
  comparison: false,
  score: true,
};

/** The rules by which words were separated for the index (`translate.ts`); an index by others is built anew. */
const RULES = 2;

const stateSchema = z.object({
  rules: z.literal(RULES),
  watermark: z.number().int().nonnegative(),
  /** Files of the index, the oldest first. */
  parts: z.array(z.string().regex(/^\d+\.idx$/)),
  /** Bytes of each file of the parts. */
  sizes: z.record(z.string(), z.number().int().nonnegative()),
  /** Number of the next part. If two parts have the same object, the later one wins. */
  next: z.number().int().positive(),
  /** The objects that were added and not removed, as in `OidSet.toRanges`: the index may name others. */
  live: z.array(z.number().int().nonnegative()),
});
type State = z.output<typeof stateSchema>;

const EMPTY: State = { rules: RULES, watermark: 0, parts: [], sizes: {}, next: 1, live: [] };

const DEFAULT_MAX_PARTS = 8;
/** Suffixes of the files of a part: swish-e keeps the properties of documents next to each index file. */
const PART_SUFFIXES = ['', '.prop'] as const;
const OUTPUT = '%r\\t%p\\n';

/**
 * Opens the Swish engine: `swish-e` makes the index and names candidates best first, which are matched against
 * the stored objects.
 *
 * @throws StorageError if swish-e is not installed or a directory cannot be used
 */
export async function openSwishIndexer(options: SwishIndexerOptions): Promise<Indexer> {
  const program = await requireProgram(options.program ?? 'swish-e', 'swish-e');
  const directory = await IndexDirectory.open(resolve(options.directory));
  const read = stateSchema.safeParse(await directory.state());
  const { current } = directory;
  let state: State = EMPTY;
  if (read.success && current !== undefined) {
    if (isDeepStrictEqual(await sizesOf(current, read.data.parts), read.data.sizes)) state = read.data;
    else options.onWarning?.('the index of swish-e is damaged, so all objects are indexed again');
  }
  const reader = await openObjectReader(options.storeDirectory);
  return new SwishIndexer(options, program, directory, reader, state);
}

/** The bytes of each file of the parts; -1 if it is missing. */
async function sizesOf(path: string, parts: readonly string[]): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const part of parts) {
    for (const suffix of PART_SUFFIXES) {
      const name = `${part}${suffix}`;
      try {
        sizes[name] = (await stat(join(path, name))).size;
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error;
        sizes[name] = -1;
      }
    }
  }
  return sizes;
}

/** An unfinished part of the index. */
interface Building {
  readonly path: string;
  readonly part: string;
  readonly program: Program;
  readonly ended: Promise<void>;
}

class SwishIndexer extends ProgramIndexer implements Indexer {
  readonly name = 'swish';
  readonly capabilities = CAPABILITIES;
  readonly #options: SwishIndexerOptions;
  readonly #program: string;
  readonly #directory: IndexDirectory;
  #state: State;
  /** The state of each index that queries may read, by its directory. */
  readonly #stateOf = new Map<string, State>();
  /** The objects of the index that were not removed, and what the current run changes. */
  #live: OidSet;
  #added = new OidSet();
  #removed = new OidSet();
  #updating = false;
  /** Whether the current run replaces the index. */
  #rebuilding = false;
  #building: Building | undefined;

  constructor(
    options: SwishIndexerOptions,
    program: string,
    directory: IndexDirectory,
    reader: ObjectReader,
    state: State,
  ) {
    super(reader, { ...CANDIDATE_SEARCH_LIMITS, ...options.limits });
    this.#options = options;
    this.#program = program;
    this.#directory = directory;
    this.#state = state;
    this.#live = OidSet.ofRanges(state.live);
    if (directory.current !== undefined) this.#stateOf.set(directory.current, state);
  }

  get watermark(): number {
    return this.#state.watermark;
  }

  get objects(): number {
    return this.#live.size;
  }

  async beginUpdate(): Promise<void> {
    this.assertOpen();
    this.#updating = true;
  }

  async add(oid: number, object: Uint8Array): Promise<void> {
    this.#assertUpdating();
    const text = documentOf(decodeSoif(object, { maxObjectBytes: object.length }));
    try {
      this.#building ??= await this.#begin();
      const { next } = this.#state;
      // A merge of parts keeps the document with the latest date, so the part number is the date.
      const head = `Path-Name: ${oid}\nContent-Length: ${text.length}\nLast-Mtime: ${next}\nDocument-Type: TXT*\n\n`;
      await this.#building.program.write(`${head}${text}`);
      this.#added.add(oid);
      this.#removed.delete(oid);
    } catch (error) {
      await this.#abandon();
      throw error;
    }
  }

  /** Only counts: the index may still name the object, but a candidate without an object is not a hit. */
  async remove(oid: number): Promise<void> {
    this.#assertUpdating();
    this.#added.delete(oid);
    this.#removed.add(oid);
  }

  async clear(): Promise<void> {
    await this.#abandon();
    await this.beginUpdate();
    this.#rebuilding = true;
  }

  async flush(watermark: number): Promise<void> {
    this.#assertUpdating();
    const building = this.#building;
    const former = this.#rebuilding ? [] : this.#state.parts;
    const kept = this.#rebuilding ? new OidSet() : this.#live.clone().subtract(this.#removed);
    const live = kept.unite(this.#added);
    try {
      if (building === undefined && !this.#rebuilding && this.#directory.current !== undefined) {
        const state = { ...this.#state, watermark, live: live.toRanges() };
        await this.#directory.writeState(state);
        this.#state = state;
      } else {
        const path = building?.path ?? (await this.#directory.prepare());
        await this.#publish(path, former, building, { watermark, live: live.toRanges() });
      }
    } catch (error) {
      await this.#abandon();
      throw error;
    }
    this.#live = live;
    this.#building = undefined;
    this.#endRun();
  }

  /** Yields the objects that swish-e finds, best first. */
  async *candidates(expression: Expression, options: CandidateOptions): AsyncGenerator<readonly Candidate[]> {
    await using lease = this.#directory.lease();
    if (lease === undefined) return;
    const { parts, sizes } = this.#stateOf.get(lease.path) ?? EMPTY;
    if (parts.length === 0) return;
    const { graceMs } = this.#options;
    if (!isDeepStrictEqual(await sizesOf(lease.path, parts), sizes))
      throw new StorageError(`cannot use the index: files of ${lease.path} are damaged`);
    const program = await Program.start(this.#program, {
      arguments: ['-H', '0', '-x', OUTPUT, '-w', translate(expression), '-f', ...parts],
      cwd: lease.path,
      cpuSeconds: options.lifetimeMs / 1000,
      graceMs,
    });
    let failure = '';
    const read = (lines: readonly string[]) => {
      const error = lines.find((line) => line.startsWith('err: '))?.slice('err: '.length);
      if (error?.startsWith('Index file error') === true) failure = error;
      else if (error !== undefined) options.warnings.add(error);
      return lines.flatMap(candidateOf);
    };
    // The Broker makes an index again that cannot be used.
    const check = (end: ProgramEnd): void => {
      if (failure === '' && end.signal === null) return;
      const sentence = failureOf(program, 'swish-e', statusOf(end), failure);
      throw new StorageError(`cannot use the index: ${sentence}`);
    };
    yield* queryProgram(program, { read, check }, options);
  }

  protected end(): Promise<void> {
    return this.#abandon();
  }

  async #begin(): Promise<Building> {
    const path = await this.#directory.prepare();
    const part = `${this.#state.next}.idx`;
    const configuration = join(path, 'swish.conf');
    await writeFile(configuration, SWISH_CONFIGURATION);
    const program = await Program.start(this.#program, {
      arguments: ['-S', 'prog', '-i', 'stdin', '-c', configuration, '-f', part, '-v', '0'],
      cwd: path,
    });
    const ended = runToEnd(program, 'swish-e', { signal: this.closing });
    ended.catch(() => undefined);
    return { path, part, program, ended };
  }

  /**
   * Completes the new part, links the former ones next to it, merges them if they are too many, and publishes
   * the index.
   */
  async #publish(
    path: string,
    former: readonly string[],
    building: Building | undefined,
    contents: Pick<State, 'watermark' | 'live'>,
  ): Promise<void> {
    building?.program.endInput();
    await building?.ended;
    let next = this.#state.next + 1;
    const { current } = this.#directory;
    if (current !== undefined) {
      for (const part of former) {
        for (const suffix of PART_SUFFIXES)
          await link(join(current, `${part}${suffix}`), join(path, `${part}${suffix}`));
      }
    }
    let parts = building === undefined ? [...former] : [...former, building.part];
    if (parts.length > (this.#options.maxParts ?? DEFAULT_MAX_PARTS)) {
      const merged = `${next++}.idx`;
      const program = await Program.start(this.#program, {
        arguments: ['-M', ...parts, merged],
        cwd: path,
      });
      program.endInput();
      await runToEnd(program, 'swish-e', { signal: this.closing });
      for (const part of parts)
        for (const suffix of PART_SUFFIXES) await rm(join(path, `${part}${suffix}`), { force: true });
      parts = [merged];
    }
    const state: State = { ...contents, rules: RULES, parts, sizes: await sizesOf(path, parts), next };
    // A query may find the new index as soon as it is published.
    this.#stateOf.set(path, state);
    await this.#directory.publish(path, state);
    if (current !== undefined) this.#stateOf.delete(current);
    this.#state = state;
  }

  /** Ends the run and discards the changes that were not flushed. */
  async #abandon(): Promise<void> {
    const building = this.#building;
    this.#building = undefined;
    this.#endRun();
    if (building === undefined) return;
    building.program.drop();
    await building.ended.catch(() => undefined);
    await removeIndex(building.path);
  }

  #endRun(): void {
    this.#updating = false;
    this.#rebuilding = false;
    this.#added = new OidSet();
    this.#removed = new OidSet();
  }

  #assertUpdating(): void {
    this.assertOpen();
    if (!this.#updating) throw new StateError('beginUpdate() must be called before changes');
  }
}

/** Parses a line `SCORE TAB OID`. */
function candidateOf(line: string): Candidate[] {
  const match = /^(\d+)\t(\d+)$/.exec(line);
  return match === null ? [] : [{ oid: Number(match[2]), score: Number(match[1]) }];
}
