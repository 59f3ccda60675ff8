// The `Glimpse` engine: an index by glimpseindex over files with the objects, queried through glimpse or a
// glimpseserver.
import { join } from 'node:path';
import type { Expression } from '../../../protocols/broker/index.js';
import { errorCode, StateError, StorageError } from '../../../protocols/errors.js';
import type { ObjectReader } from '../../broker/object-reader.js';
import { OidSet } from '../../broker/oid-set.js';
import { type Indexer, MATCHER_CAPABILITIES } from '../contract.js';
import { withDefaults } from '../engine.js';
import {
  CANDIDATE_SEARCH_LIMITS,
  type Candidate,
  type CandidateOptions,
} from '../external/candidate-search.js';
import { ProgramIndexer } from '../external/program-indexer.js';
import { type IndexDirectory, removeIndex } from '../index-directory.js';
import type { GlimpseServer } from './glimpse-server.js';
import type { ObjectFiles } from './object-files.js';
import type { GlimpseIndexerOptions, State } from './options.js';
import { buildPart, isIntact, linkPart, newRun, type Part, type Plan, planParts, type Run } from './parts.js';
import { runGlimpse } from './run-glimpse.js';
import { translate } from './translate.js';

/** MiB that glimpseindex may use for its tables. */
const INDEX_MEMORY_MIB = 16;

const OID_BATCH = 256;

/** What a {@link GlimpseIndexer} works with. */
export interface Parts {
  readonly directory: IndexDirectory;
  readonly files: ObjectFiles;
  readonly reader: ObjectReader;
  readonly programs: { readonly glimpse: string; readonly glimpseindex: string };
  readonly server: GlimpseServer | undefined;
  readonly option: string;
  readonly options: GlimpseIndexerOptions;
  readonly state: State;
  /** Whether the index on the disk is intact and was made from this directory of objects with this option. */
  readonly isUsable: boolean;
  readonly parts: readonly Part[];
  /** The objects of `parts` that were not removed. */
  readonly live: OidSet;
}

/** The engine of {@link openGlimpseIndexer}: indexes files of objects, and names candidates by glimpse. */
export class GlimpseIndexer extends ProgramIndexer implements Indexer {
  readonly name = 'glimpse';
  /** Glimpse compares the bytes of the objects, so it cannot name those with other spellings of a word. */
  readonly capabilities = { ...MATCHER_CAPABILITIES, accents: false };
  readonly #parts: Parts;
  #state: State;
  #isUsable: boolean;
  /** The parts of each index that queries may read, by its directory. */
  readonly #partsOf = new Map<string, readonly Part[]>();
  /** The objects of the index that were not removed. */
  #live: OidSet;
  /** Objects whose file is newer than the index: glimpse looks for their words at the former places. */
  #touched = new OidSet();
  /** Undefined outside a run. */
  #run: Run | undefined;

  constructor(parts: Parts) {
    super(parts.reader, withDefaults(CANDIDATE_SEARCH_LIMITS, parts.options));
    this.#parts = parts;
    this.#state = parts.state;
    this.#isUsable = parts.isUsable;
    this.#live = parts.live;
    if (parts.directory.current !== undefined) this.#partsOf.set(parts.directory.current, parts.parts);
  }

  get watermark(): number {
    return this.#state.watermark;
  }

  get objects(): number {
    return this.#live.size;
  }

  async beginUpdate(): Promise<void> {
    this.assertOpen();
    this.#run ??= newRun(false);
  }

  async add(oid: number, object: Uint8Array): Promise<void> {
    const run = this.#current();
    const hard = hardText(object);
    this.#touched.add(oid);
    await this.#change(() => this.#parts.files.write(oid, object));
    for (const [set, isIn] of [
      [run.written, true],
      [run.removed, false],
      [run.words, hard.words],
      [run.lines, hard.lines],
    ] as const) {
      if (isIn) set.add(oid);
      else set.delete(oid);
    }
  }

  async remove(oid: number): Promise<void> {
    const run = this.#current();
    run.written.delete(oid);
    run.removed.add(oid);
    // The index may still name it: a candidate without an object is not a hit.
    await this.#change(() => this.#parts.files.remove(oid));
  }

  async clear(): Promise<void> {
    this.assertOpen();
    this.#run = newRun(true);
  }

  async flush(watermark: number): Promise<void> {
    const run = this.#current();
    const { directory, files } = this.#parts;
    this.#run = undefined;
    const { written } = run;
    const live = run.isRebuild ? written.clone() : this.#live.clone().subtract(run.removed).unite(written);
    const { current } = directory;
    const former = current === undefined ? [] : (this.#partsOf.get(current) ?? []);
    const plan = planParts(run.isRebuild ? [] : former, written, live);
    if (run.isRebuild) {
      for (const oid of (await files.all()).subtract(written).toArray())
        await this.#change(() => files.remove(oid));
    }
    const state = { ...this.#state, watermark };
    if (plan.fresh.isEmpty && plan.kept.length === former.length && this.#isUsable) {
      await directory.writeState(state);
      this.#state = state;
    } else await this.#publish(plan, former, run, state);
    this.#live = live;
    this.#touched.subtract(written).subtract(run.removed);
  }

  /**
   * Yields the objects that glimpse finds in any part, and those that it may miss. Its error messages become
   * warnings (BRK-4.19).
   */
  async *candidates(expression: Expression, options: CandidateOptions): AsyncGenerator<readonly Candidate[]> {
    await using lease = this.#isUsable ? this.#parts.directory.lease() : undefined;
    if (lease === undefined) return;
    const parts = this.#partsOf.get(lease.path) ?? [];
    const query = translate(expression, options);
    const certain = query.kind === 'all' ? this.#live.clone() : this.#touched.clone().intersect(this.#live);
    if (query.kind === 'pattern') {
      for (const { words, lines } of parts) {
        certain.unite(words);
        if (query.pattern.includes(';')) certain.unite(lines);
      }
    }
    yield* batches(certain, options);
    if (query.kind === 'all') return;
    const { server, programs } = this.#parts;
    const { graceMs } = this.#parts.options;
    for (const { name, sizes } of parts) {
      if (options.deadline.aborted || options.dropped.aborted) return;
      const path = join(lease.path, name);
      if (!(await isIntact(path, sizes)))
        throw new StorageError(`cannot use the index: files of ${path} are damaged`);
      yield* runGlimpse([...query.flags, '-e', query.pattern], path, options, {
        glimpse: programs.glimpse,
        server,
        graceMs,
      });
    }
  }

  protected async end(): Promise<void> {
    await this.#parts.server?.stop();
  }

  /** Builds the next index from the parts that are kept and a part with the fresh objects, and publishes it. */
  async #publish(plan: Plan, former: readonly Part[], run: Run, state: State): Promise<void> {
    const { directory, server, options } = this.#parts;
    const from = directory.current;
    const path = await directory.prepare();
    let next = { ...state, parts: plan.kept.map(({ name }) => name) };
    const parts = [...plan.kept];
    try {
      if (from !== undefined) for (const { name } of plan.kept) await linkPart(from, path, name);
      if (!plan.fresh.isEmpty) {
        const { words, lines } = run;
        const name = String(state.next);
        const fresh = { name, oids: plan.fresh, words: words.clone(), lines: lines.clone() };
        for (const part of former.filter((one) => !plan.kept.includes(one))) {
          fresh.words.unite(part.words.clone().subtract(run.written));
          fresh.lines.unite(part.lines.clone().subtract(run.written));
        }
        parts.push(
          await buildPart(path, fresh, {
            program: this.#parts.programs.glimpseindex,
            size: this.#parts.option === '' ? [] : this.#parts.option.split(/\s+/),
            memoryMiB: INDEX_MEMORY_MIB,
            signal: this.closing,
            pathOf: (oid) => this.#parts.files.pathOf(oid),
            onWarning: options.onWarning ?? (() => undefined),
            silenceMs: options.indexSilenceMs,
          }),
        );
        next = { ...next, parts: [...next.parts, name], next: state.next + 1 };
      }
      // A query may find the new index as soon as it is published.
      this.#partsOf.set(path, parts);
      await directory.publish(path, next);
    } catch (error) {
      this.#partsOf.delete(path);
      await removeIndex(path);
      throw error;
    }
    if (from !== undefined) this.#partsOf.delete(from);
    this.#state = next;
    this.#isUsable = true;
    const first = parts[0];
    const started = server?.start(first === undefined ? undefined : join(path, first.name));
    // The server restarts after its current query; until then other queries run without it.
    if (server?.busy === false) await started;
  }

  /** A failure of the file system ends the run (contract of `Indexer`). */
  async #change(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (cause) {
      this.#run = undefined;
      const { path } = this.#parts.files;
      throw new StorageError(`${path} cannot be changed: ${errorCode(cause) ?? String(cause)}`, { cause });
    }
  }

  #current(): Run {
    this.assertOpen();
    if (this.#run === undefined) throw new StateError('beginUpdate() must be called before changes');
    return this.#run;
  }
}

/** Yields OIDs until the results are complete or not needed. */
function* batches(oids: OidSet, options: CandidateOptions): Generator<readonly Candidate[]> {
  const list = oids.toArray();
  for (let start = 0; start < list.length; start += OID_BATCH) {
    if (options.deadline.aborted || options.dropped.aborted) return;
    yield Array.from(list.subarray(start, start + OID_BATCH), (oid) => ({ oid }));
  }
}

/** glimpseindex indexes no word of more characters than this. */
const MAX_WORD = 64;
/** Within a longer line glimpse may not find two words together; it reads records in blocks of this order. */
const MAX_LINE = 8000;
const LF = 0x0a;

/** What glimpse does not find in an object. */
interface HardText {
  /** It has a word that is not in the index. */
  readonly words: boolean;
  /** It has a line that queries for several words may miss. */
  readonly lines: boolean;
}

/** Examines the bytes of an object. Costs one pass over them. */
export function hardText(object: Uint8Array): HardText {
  return { words: hasLongWord(object), lines: hasLongLine(object) };
}

function hasLongLine(object: Uint8Array): boolean {
  for (let start = 0; object.length - start > MAX_LINE; ) {
    const end = object.indexOf(LF, start);
    if ((end === -1 ? object.length : end) - start > MAX_LINE) return true;
    if (end === -1) return false;
    start = end + 1;
  }
  return false;
}

/**
 * A word of more than `MAX_WORD` bytes covers one of the positions that are multiples of `MAX_WORD`: only their
 * words are measured.
 */
function hasLongWord(object: Uint8Array): boolean {
  for (let at = MAX_WORD; at < object.length; at += MAX_WORD) {
    if (!isWordByte(object[at]!)) continue;
    let start = at;
    while (start > 0 && at - start <= MAX_WORD && isWordByte(object[start - 1]!)) start--;
    let end = at + 1;
    while (end < object.length && end - start <= MAX_WORD && isWordByte(object[end]!)) end++;
    if (end - start > MAX_WORD) return true;
  }
  return false;
}

/** Letters and digits of ASCII, and `_`; other bytes separate words. */
function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x5f
  );
}
