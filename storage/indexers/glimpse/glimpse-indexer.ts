// The `Glimpse` engine: an index by glimpseindex over files with the objects, queried through glimpse or a glimpseserver.
import { createReadStream } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Expression } from '../../../protocols/broker/index.js';
import { StateError, UsageError } from '../../../protocols/errors.js';
import { type ObjectReader, openObjectReader } from '../../broker/object-reader.js';
import { OidSet } from '../../broker/oid-set.js';
import type { Indexer, IndexerCapabilities, SearchOptions, SearchResults } from '../contract.js';
import {
  CANDIDATE_SEARCH_LIMITS,
  type Candidate,
  type CandidateEngine,
  type CandidateOptions,
  type CandidateSearchLimits,
  searchCandidates,
} from '../external/candidate-search.js';
import { IndexDirectory, type IndexLease } from '../external/index-directory.js';
import { Program, requireProgram, runToEnd } from '../external/program.js';
import { GlimpseServer } from './glimpse-server.js';
import { ObjectFiles, oidOfFile } from './object-files.js';
import { translate } from './translate.js';

/** Options of {@link openGlimpseIndexer}. */
export interface GlimpseIndexerOptions extends Partial<CandidateSearchLimits> {
  /** Directory of the indexes (`external/index-directory.ts`). */
  readonly directory: string;
  /** The Broker's `objects/`: one file for each object (BRK-8.9). On the same file system as `directory`. */
  readonly objectsDirectory: string;
  /** Directory of the Broker's store; queries are matched against its objects. */
  readonly storeDirectory: string;
  /** `GlimpseIndex-Option`: none = tiny, `-o` = small, `-b` = medium (BRK-7.3). Default `-b`. */
  readonly indexOption?: string;
  /**
   * Runs a glimpseserver on this port of the loopback interface (BRK-8.12). Default: no server. `patienceMs`:
   * maximum milliseconds until it has started, and until it answers after SIGUSR1; default 5000.
   */
  readonly server?: { readonly port: number; readonly host?: string; readonly patienceMs?: number };
  /** MiB that glimpseindex may use for its tables. Default 16. */
  readonly indexMemoryMiB?: number;
  /** Milliseconds between SIGTERM and SIGKILL (BRK-8.13). Default 3000. */
  readonly graceMs?: number;
  /** Names or paths of the programs. Default: the names in Debian's package `glimpse`, looked up in PATH. */
  readonly programs?: {
    readonly glimpse?: string;
    readonly glimpseindex?: string;
    readonly glimpseserver?: string;
  };
  /** Receives a sentence for each problem that does not stop the work, e.g. a glimpseserver that does not start. */
  readonly onWarning?: (sentence: string) => void;
}

const CAPABILITIES: IndexerCapabilities = {
  substrings: true,
  words: true,
  caseSensitive: true,
  errors: 8,
  phrases: true,
  attributes: true,
  regexp: true,
  comparison: true,
  not: true,
  score: false,
};

/** State of an index. `objects` and `option` say whether it still agrees with the options. */
const stateSchema = z.object({
  watermark: z.number().int().nonnegative(),
  objects: z.string(),
  option: z.string(),
  /** Number of files at the last full indexing. */
  full: z.number().int().nonnegative(),
  /** Number of files added since. */
  added: z.number().int().nonnegative(),
});
type State = z.output<typeof stateSchema>;

/** Additions do not remove replaced entries, so all objects are indexed again when they exceed both of these. */
const MIN_ADDED = 1000;
const MAX_ADDED_SHARE = 0.5;
const OID_BATCH = 256;

/**
 * Opens the Glimpse engine: `glimpseindex` makes the index, `glimpse` names candidates, which are matched against the
 * stored objects.
 *
 * @throws StorageError if Glimpse is not installed or a directory cannot be used. UsageError if the index option is not
 *   valid.
 */
export async function openGlimpseIndexer(options: GlimpseIndexerOptions): Promise<Indexer> {
  const option = (options.indexOption ?? '-b').trim();
  if (option !== '' && !option.split(/\s+/).every((word) => /^-[A-Za-z]+$|^\d+$/.test(word)))
    throw new UsageError(`GlimpseIndex-Option: ${option} is not a list of options`);
  const objects = resolve(options.objectsDirectory);
  if (/[\n\r]/.test(objects)) throw new UsageError('glimpse cannot index a path with line ends');
  const programs = {
    glimpse: await requireProgram(options.programs?.glimpse ?? 'glimpse', 'glimpse'),
    glimpseindex: await requireProgram(options.programs?.glimpseindex ?? 'glimpseindex', 'glimpse'),
  };
  let server: GlimpseServer | undefined;
  if (options.server !== undefined) {
    server = new GlimpseServer({
      program: await requireProgram(options.programs?.glimpseserver ?? 'glimpseserver', 'glimpse'),
      glimpse: programs.glimpse,
      host: options.server.host ?? '127.0.0.1',
      port: options.server.port,
      patienceMs: options.server.patienceMs ?? 5000,
      onWarning: options.onWarning ?? (() => undefined),
    });
  }
  const directory = await IndexDirectory.open(resolve(options.directory));
  const scratch = join(directory.path, 'scratch');
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch);
  const files = new ObjectFiles(objects, scratch);
  const state = stateSchema.safeParse(await directory.state());
  const usable = state.success && state.data.objects === objects && state.data.option === option;
  const reader = await openObjectReader(options.storeDirectory);
  const indexer = new GlimpseIndexer({
    directory,
    files,
    reader,
    programs,
    server,
    option,
    options,
    state: usable ? state.data : { watermark: 0, objects, option, full: 0, added: 0 },
    usable,
  });
  if (usable && directory.current !== undefined) await server?.start(directory.current);
  return indexer;
}

interface Parts {
  readonly directory: IndexDirectory;
  readonly files: ObjectFiles;
  readonly reader: ObjectReader;
  readonly programs: { readonly glimpse: string; readonly glimpseindex: string };
  readonly server: GlimpseServer | undefined;
  readonly option: string;
  readonly options: GlimpseIndexerOptions;
  readonly state: State;
  /** Whether the index on the disk was made from this directory of objects with this option. */
  readonly usable: boolean;
}

class GlimpseIndexer implements Indexer, CandidateEngine {
  readonly name = 'glimpse';
  readonly capabilities = CAPABILITIES;
  readonly #parts: Parts;
  readonly #limits: CandidateSearchLimits;
  readonly #closing = new AbortController();
  #state: State;
  #usable: boolean;
  /** Objects written in the current run; undefined outside a run. */
  #written: OidSet | undefined;
  /** Whether the current run replaces the index. */
  #rebuilding = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#state = parts.state;
    this.#usable = parts.usable;
    this.#limits = { ...CANDIDATE_SEARCH_LIMITS, ...limitsIn(parts.options) };
  }

  get watermark(): number {
    return this.#state.watermark;
  }

  async beginUpdate(): Promise<void> {
    this.#assertOpen();
    this.#written ??= new OidSet();
  }

  async add(oid: number, object: Uint8Array): Promise<void> {
    const written = this.#run();
    await this.#parts.files.write(oid, object);
    written.add(oid);
  }

  async remove(oid: number): Promise<void> {
    this.#run().subtract(OidSet.of([oid]));
    // The index may still name it: a candidate without an object is not a hit.
    await this.#parts.files.remove(oid);
  }

  async clear(): Promise<void> {
    await this.beginUpdate();
    this.#written = new OidSet();
    this.#rebuilding = true;
  }

  async flush(watermark: number): Promise<void> {
    const written = this.#run();
    const { directory, files } = this.#parts;
    const rebuilding = this.#rebuilding;
    this.#written = undefined;
    this.#rebuilding = false;
    const count = written.size;
    const { full, added } = this.#state;
    const next = { ...this.#state, watermark };
    if (rebuilding || !this.#usable || added + count > Math.max(MIN_ADDED, full * MAX_ADDED_SHARE)) {
      const all = await files.all();
      if (rebuilding) {
        for (const oid of all.clone().subtract(written).toArray()) await files.remove(oid);
        all.intersect(written);
      }
      await this.#index(all, { ...next, full: all.size, added: 0 }, undefined);
    } else if (count > 0) {
      await this.#index(written, { ...next, added: added + count }, directory.current);
    } else {
      await directory.writeState(next);
      this.#state = next;
    }
  }

  query(expression: Expression, options: SearchOptions): SearchResults {
    this.#assertOpen();
    const signal =
      options.signal === undefined
        ? this.#closing.signal
        : AbortSignal.any([options.signal, this.#closing.signal]);
    return searchCandidates(this, this.#parts.reader, expression, { ...options, signal }, this.#limits);
  }

  /** Yields the objects that glimpse finds. Its error messages become warnings (BRK-4.19). */
  async *candidates(expression: Expression, options: CandidateOptions): AsyncGenerator<readonly Candidate[]> {
    const lease = this.#usable ? this.#parts.directory.lease() : undefined;
    if (lease === undefined) return;
    try {
      if (this.#state.full + this.#state.added === 0) return;
      const query = translate(expression, options);
      if (query.kind === 'all') yield* allObjects(lease, options);
      else yield* this.#runGlimpse([...query.flags, '-e', query.pattern], lease, options);
    } finally {
      await lease.release();
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await this.#parts.server?.stop();
    await this.#parts.reader.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Runs glimpse, through the server if the server is free (BRK-8.10, 8.12, 8.13). */
  async *#runGlimpse(
    query: readonly string[],
    { path }: IndexLease,
    options: CandidateOptions,
  ): AsyncGenerator<readonly Candidate[]> {
    const { server, programs } = this.#parts;
    const viaServer = server?.tryAcquire(path) === true;
    const target = viaServer && server !== undefined ? server.arguments : ['-H', path];
    const { graceMs } = this.#parts.options;
    let program: Program | undefined;
    let killed = false;
    let finished = false;
    const stop = () => {
      killed = true;
      program?.stop();
    };
    const drop = () => {
      killed = true;
      program?.drop();
    };
    try {
      program = await Program.start(programs.glimpse, {
        arguments: ['-l', '-y', ...target, ...query],
        cpuSeconds: options.lifetimeMs / 1000,
        ...(graceMs === undefined ? {} : { graceMs }),
      });
      program.endInput();
      options.deadline.addEventListener('abort', stop, { once: true });
      options.dropped.addEventListener('abort', drop, { once: true });
      if (options.deadline.aborted) stop();
      if (options.dropped.aborted) drop();
      for await (const lines of program.lines()) {
        yield lines.map(oidOfFile).flatMap((oid) => (oid === undefined ? [] : [{ oid }]));
      }
      const { signal } = await program.ended;
      finished = true;
      // BRK-8.13 (1): the CPU limit is a deadline too.
      if (signal === 'SIGXCPU') killed = true;
      if (!killed) for (const sentence of warningsOf(program.errorOutput)) options.warnings.add(sentence);
    } finally {
      options.deadline.removeEventListener('abort', stop);
      options.dropped.removeEventListener('abort', drop);
      if (program !== undefined) {
        const ended = finished && !killed;
        if (!ended) program.drop();
        if (viaServer) {
          if (ended) server?.release();
          else server?.releaseKilled();
        }
      } else if (viaServer) server?.release();
    }
  }

  /** Indexes files into a new directory, or adds them to a copy of `former`, and publishes the index. */
  async #index(oids: OidSet, state: State, former: string | undefined): Promise<void> {
    const { directory, files, server } = this.#parts;
    const path = await directory.prepare();
    try {
      if (former !== undefined) await cp(former, path, { recursive: true });
      if (oids.size > 0) await this.#glimpseindex(path, oids, files, former !== undefined);
      await directory.publish(path, state);
    } catch (error) {
      await directory.discard(path);
      throw error;
    }
    this.#state = state;
    this.#usable = true;
    if (server === undefined || oids.size === 0) return;
    const started = server.start(path);
    // The server restarts after its current query; until then other queries run without it.
    if (!server.busy) await started;
  }

  async #glimpseindex(path: string, oids: OidSet, files: ObjectFiles, add: boolean): Promise<void> {
    const { option, programs, options } = this.#parts;
    const size = option === '' ? [] : option.split(/\s+/);
    // -s structured, -n numbers, -E no detection of file types, -B fast, -F file names on standard input.
    const program = await Program.start(programs.glimpseindex, {
      arguments: [
        ...(add ? ['-a'] : []),
        ...['-s', ...size, '-n', '-E', '-B', '-M', String(options.indexMemoryMiB ?? 16)],
        ...['-F', '-H', path],
      ],
      cwd: path,
    });
    const ended = runToEnd(program, 'glimpseindex', this.#closing.signal);
    ended.catch(() => undefined);
    const list = oids.toArray();
    for (let start = 0; start < list.length; start += OID_BATCH) {
      const names = Array.from(list.subarray(start, start + OID_BATCH), (oid) => `${files.pathOf(oid)}\n`);
      await program.write(names.join(''));
    }
    program.endInput();
    await ended;
  }

  #run(): OidSet {
    this.#assertOpen();
    if (this.#written === undefined) throw new StateError('beginUpdate() must be called before changes');
    return this.#written;
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new StateError('the index is closed');
  }
}

/** Yields all objects of an index, for queries that glimpse cannot narrow. */
async function* allObjects(
  { path }: IndexLease,
  options: CandidateOptions,
): AsyncGenerator<readonly Candidate[]> {
  const input = createReadStream(join(path, '.glimpse_filenames'), 'latin1');
  try {
    let found: Candidate[] = [];
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const oid = oidOfFile(line);
      if (oid !== undefined) found.push({ oid });
      if (found.length < OID_BATCH) continue;
      yield found;
      found = [];
      if (options.deadline.aborted || options.dropped.aborted) return;
    }
    if (found.length > 0) yield found;
  } finally {
    input.destroy();
  }
}

/** BRK-4.19: returns the messages for the user; the rest of the standard error of glimpse is dropped. */
function warningsOf(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('glimpse:'))
    .map((line) => line.slice('glimpse:'.length).trim())
    .filter((line) => line !== '');
}

/** The limits that the options set. */
function limitsIn(options: Partial<CandidateSearchLimits>): Partial<CandidateSearchLimits> {
  const names = Object.keys(CANDIDATE_SEARCH_LIMITS) as (keyof CandidateSearchLimits)[];
  return Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
}
