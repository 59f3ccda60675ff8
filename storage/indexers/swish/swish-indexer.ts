// The `Swish` engine: indexes by swish-e, in parts that are merged, queried by the program swish-e.
import { link, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { Expression } from '../../../protocols/broker/index.js';
import { StateError } from '../../../protocols/errors.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { type ObjectReader, openObjectReader } from '../../broker/object-reader.js';
import type { Indexer, IndexerCapabilities, SearchOptions, SearchResults } from '../contract.js';
import {
  CANDIDATE_SEARCH_LIMITS,
  type Candidate,
  type CandidateEngine,
  type CandidateOptions,
  type CandidateSearchLimits,
  searchCandidates,
} from '../external/candidate-search.js';
import { IndexDirectory } from '../external/index-directory.js';
import { Program, requireProgram, runToEnd } from '../external/program.js';
import { documentOf, SWISH_CONFIGURATION, translate } from './translate.js';

/** Options of {@link openSwishIndexer}. */
export interface SwishIndexerOptions {
  /** Directory of the indexes (`external/index-directory.ts`). */
  readonly directory: string;
  /** Directory of the Broker's store; queries are matched against its objects. */
  readonly storeDirectory: string;
  /** Maximum number of parts of an index. Each flush adds one; more than this many are merged. Default 8. */
  readonly maxParts?: number;
  /** Milliseconds between SIGTERM and SIGKILL (BRK-8.13). Default 3000. */
  readonly graceMs?: number;
  /** Name or path of the program. Default `swish-e`, looked up in PATH. */
  readonly program?: string;
  readonly limits?: Partial<CandidateSearchLimits>;
}

/** Swish supports whole words only: a search word matches a whole word with and without `matchWord`. */
const CAPABILITIES: IndexerCapabilities = {
  substrings: false,
  words: true,
  caseSensitive: true,
  errors: 0,
  phrases: true,
  attributes: true,
  regexp: false,
  comparison: false,
  not: true,
  score: true,
};

const stateSchema = z.object({
  watermark: z.number().int().nonnegative(),
  /** Files of the index, the oldest first. */
  parts: z.array(z.string().regex(/^\d+\.idx$/)),
  /** Number of the next part. If two parts have the same object, the later one wins. */
  next: z.number().int().positive(),
});
type State = z.output<typeof stateSchema>;

const DEFAULT_MAX_PARTS = 8;
/** Suffixes of the files of a part: swish-e keeps the properties of documents next to each index file. */
const PART_SUFFIXES = ['', '.prop'] as const;
const OUTPUT = '%r\\t%p\\n';

/**
 * Opens the Swish engine: `swish-e` makes the index and names candidates best first, which are matched against the
 * stored objects.
 *
 * @throws StorageError if swish-e is not installed or a directory cannot be used
 */
export async function openSwishIndexer(options: SwishIndexerOptions): Promise<Indexer> {
  const program = await requireProgram(options.program ?? 'swish-e', 'swish-e');
  const directory = await IndexDirectory.open(resolve(options.directory));
  const state = stateSchema.safeParse(await directory.state());
  const reader = await openObjectReader(options.storeDirectory);
  return new SwishIndexer(
    options,
    program,
    directory,
    reader,
    state.success ? state.data : { watermark: 0, parts: [], next: 1 },
  );
}

/** An unfinished part of the index. */
interface Building {
  readonly path: string;
  readonly part: string;
  readonly program: Program;
  readonly ended: Promise<void>;
}

class SwishIndexer implements Indexer, CandidateEngine {
  readonly name = 'swish';
  readonly capabilities = CAPABILITIES;
  readonly #options: SwishIndexerOptions;
  readonly #program: string;
  readonly #directory: IndexDirectory;
  readonly #reader: ObjectReader;
  readonly #limits: CandidateSearchLimits;
  readonly #closing = new AbortController();
  #state: State;
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
    this.#options = options;
    this.#program = program;
    this.#directory = directory;
    this.#reader = reader;
    this.#state = state;
    this.#limits = { ...CANDIDATE_SEARCH_LIMITS, ...options.limits };
  }

  get watermark(): number {
    return this.#state.watermark;
  }

  async beginUpdate(): Promise<void> {
    this.#assertOpen();
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
    } catch (error) {
      await this.#abandon();
      throw error;
    }
  }

  /** Does nothing: the index may still name the object, but a candidate without an object is not a hit. */
  async remove(_oid: number): Promise<void> {
    this.#assertUpdating();
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
    try {
      if (building === undefined && !this.#rebuilding && this.#directory.current !== undefined) {
        const state = { ...this.#state, watermark };
        await this.#directory.writeState(state);
        this.#state = state;
      } else {
        const path = building?.path ?? (await this.#directory.prepare());
        await this.#publish(path, former, building, watermark);
      }
    } catch (error) {
      await this.#abandon();
      throw error;
    }
    this.#building = undefined;
    this.#updating = false;
    this.#rebuilding = false;
  }

  query(expression: Expression, options: SearchOptions): SearchResults {
    this.#assertOpen();
    const closing = this.#closing.signal;
    const signal = options.signal === undefined ? closing : AbortSignal.any([options.signal, closing]);
    return searchCandidates(this, this.#reader, expression, { ...options, signal }, this.#limits);
  }

  /** Yields the objects that swish-e finds, best first. */
  async *candidates(expression: Expression, options: CandidateOptions): AsyncGenerator<readonly Candidate[]> {
    const { parts } = this.#state;
    const lease = parts.length === 0 ? undefined : this.#directory.lease();
    if (lease === undefined) return;
    const query = translate(expression);
    const { graceMs } = this.#options;
    let program: Program | undefined;
    const stop = () => program?.stop();
    const drop = () => program?.drop();
    try {
      program = await Program.start(this.#program, {
        arguments: ['-H', '0', '-x', OUTPUT, '-w', query, '-f', ...parts],
        cwd: lease.path,
        cpuSeconds: options.lifetimeMs / 1000,
        ...(graceMs === undefined ? {} : { graceMs }),
      });
      program.endInput();
      options.deadline.addEventListener('abort', stop, { once: true });
      options.dropped.addEventListener('abort', drop, { once: true });
      if (options.deadline.aborted) stop();
      if (options.dropped.aborted) drop();
      for await (const lines of program.lines()) {
        const error = lines.find((line) => line.startsWith('err: '));
        if (error !== undefined) options.warnings.add(error.slice('err: '.length));
        yield lines.flatMap(candidateOf);
      }
    } finally {
      options.deadline.removeEventListener('abort', stop);
      options.dropped.removeEventListener('abort', drop);
      program?.drop();
      await lease.release();
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await this.#abandon();
    await this.#reader.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
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
    const ended = runToEnd(program, 'swish-e', this.#closing.signal);
    ended.catch(() => undefined);
    return { path, part, program, ended };
  }

  /** Completes the new part, links the former ones next to it, merges them if they are too many, and publishes the index. */
  async #publish(
    path: string,
    former: readonly string[],
    building: Building | undefined,
    watermark: number,
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
      await runToEnd(program, 'swish-e', this.#closing.signal);
      for (const part of parts)
        for (const suffix of PART_SUFFIXES) await rm(join(path, `${part}${suffix}`), { force: true });
      parts = [merged];
    }
    const state = { watermark, parts, next };
    await this.#directory.publish(path, state);
    this.#state = state;
  }

  /** Ends the run and discards the changes that were not flushed. */
  async #abandon(): Promise<void> {
    const building = this.#building;
    this.#building = undefined;
    this.#updating = false;
    this.#rebuilding = false;
    if (building === undefined) return;
    building.program.drop();
    await building.ended.catch(() => undefined);
    await this.#directory.discard(building.path);
  }

  #assertUpdating(): void {
    this.#assertOpen();
    if (!this.#updating) throw new StateError('beginUpdate() must be called before changes');
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new StateError('the index is closed');
  }
}

/** Parses a line `SCORE TAB OID`. */
function candidateOf(line: string): Candidate[] {
  const match = /^(\d+)\t(\d+)$/.exec(line);
  return match === null ? [] : [{ oid: Number(match[2]), score: Number(match[1]) }];
}
