// An open generation: the answers of gatherd from a private clone of its tables, and from its export.

import { rm } from 'node:fs/promises';
import type { Complete } from '../../protocols/defined.js';
import { errorCode, StateError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { requireSums } from '../files/checksums.js';
import { Level } from '../level/level.js';
import type { GathererCounters } from '../records/records.js';
import { orderedKey, TABLE } from '../rows/keys.js';
import { Table } from '../rows/table.js';
import { EpochHistory } from '../summaries/epochs.js';
import {
  type ExportChunk,
  type ExportOptions,
  type Summary,
  SummaryStore,
} from '../summaries/summary-store.js';
import { GATHERER_COUNTERS, SEQUENCES, TOMBSTONES, type Tombstone } from '../summaries/tables.js';
import { TombstoneStore } from '../summaries/tombstones.js';
import { addGathererToBytes } from './export/gatherer-defaults.js';
import { ReadyExport } from './export/ready-export.js';
import type { GathererNames } from './export/survey.js';
import { writeExport } from './export/write-export.js';

/** Changes that are read together. */
const PAGE_CHANGES = 512;

/** The answers of INFO about a database (GATHERD-8.1, 8.4). */
export interface SnapshotInfo {
  readonly count: number;
  /** Smallest and largest Update-Time; undefined if no object has one. */
  readonly oldest: UnixSeconds | undefined;
  readonly newest: UnixSeconds | undefined;
  /**
   * Attribute names, the most frequent first, equally frequent ones by name; spelled as in their first
   * occurrence.
   */
  readonly attributes: readonly string[];
  /** The Gatherer of the newest object, if the object names it completely (SOIF-6.5). */
  readonly gatherer?: GathererNames;
}

/** The changes of a database by their numbers (GATHERD-6.13). */
export interface NumberedChanges {
  /** The name of the database to which the last change belongs. */
  readonly origin: string;
  /** Number of the last change. */
  readonly sequence: number;
  /** Whether the change led to this database, under the present name or an earlier one. */
  has(origin: string, sequence: number): boolean;
  /** The last change of each URL that has a number above this one, in their order, in pages. */
  after(sequence: number, options?: ExportOptions): AsyncIterable<readonly NumberedChange[]>;
}

/** A changed object, or a deleted one. */
export type NumberedChange =
  | {
      readonly kind: 'present';
      readonly url: string;
      /** The object's bytes. */
      readonly soif: Uint8Array;
      /** Number of the change that made its content. */
      readonly contentSequence: number;
    }
  | { readonly kind: 'deleted'; readonly url: string; readonly soif: Uint8Array };

/** The summaries of one generation. Later publications do not change it. */
export interface SummarySnapshot extends AsyncDisposable {
  readonly generation: number;
  readonly count: number;
  /**
   * The objects with `Update-Time >= since`, ascending by (Update-Time, URL), as chunks of whole objects. An
   * unfinished iteration keeps the snapshot open.
   */
  exportSince(since: UnixSeconds, options?: ExportOptions): AsyncIterable<ExportChunk>;
  /** The same objects in compressed blocks; a snapshot that is not read from files may lack it. */
  readonly ready?: ReadyExport;
  /**
   * Like {@link exportSince}, but single summaries, in pages, with the times that identify a refreshed object
   * (GATHERD-4.4).
   */
  summariesSince(since: UnixSeconds, options?: ExportOptions): AsyncIterable<readonly Complete<Summary>[]>;
  /** Deletions at or after `since` (GATHERD-4.9), in pages. */
  deletionsSince(since: UnixSeconds): AsyncIterable<readonly Tombstone[]>;
  /** Absent if the changes of the database have no numbers. */
  readonly numbered?: NumberedChanges | undefined;
  /** The object's bytes. */
  get(url: string): Promise<Uint8Array | undefined>;
  info(): Promise<SnapshotInfo>;
  /** Adds a user, who must call {@link release}. */
  retain(): void;
  /** Removes a user; the last one closes the files and removes the clone. */
  release(): Promise<void>;
  /** Releases the opener's use; later calls do nothing. */
  close(): Promise<void>;
}

/**
 * Opens a private clone of a generation, which the last release removes.
 *
 * @param published the generation's own directory, which may be removed later.
 */
export async function openSnapshot(
  generation: number,
  published: string,
  clone: string,
): Promise<SummarySnapshot> {
  const level = await Level.open(clone, { kind: 'gatherer', create: false });
  try {
    const counters = await GATHERER_COUNTERS.read(level);
    const ready = await openReady(published, clone, new SummaryStore(level, () => counters.summaries));
    const epochs = await EpochHistory.read(level, counters.origin, counters.sequence);
    return new LevelSnapshot(generation, level, counters, epochs, ready);
  } catch (error) {
    await level.close();
    throw error;
  }
}

/** Opens the generation's export, or writes one into the clone if the publisher wrote none. */
async function openReady(published: string, clone: string, summaries: SummaryStore): Promise<ReadyExport> {
  await requireSums(published);
  try {
    return await ReadyExport.open(published);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await writeExport(summaries, clone);
    return ReadyExport.open(clone);
  }
}

class LevelSnapshot implements SummarySnapshot {
  readonly #level: Level;
  readonly #summaries: SummaryStore;
  readonly #tombstones: TombstoneStore;
  readonly count: number;
  readonly numbered: NumberedChanges | undefined;
  #users = 1;
  #opened = true;

  constructor(
    readonly generation: number,
    level: Level,
    { summaries, tombstones, origin, sequence }: GathererCounters,
    epochs: EpochHistory,
    readonly ready: ReadyExport,
  ) {
    this.#level = level;
    if (origin !== '')
      this.numbered = {
        origin,
        sequence,
        has: (name, number) => epochs.has(name, number),
        after: (from, options = {}) => this.#whileOpen(this.#changesAfter(from, options)),
      };
    this.count = summaries;
    this.#summaries = new SummaryStore(level, () => summaries);
    this.#tombstones = new TombstoneStore(level, () => tombstones);
  }

  async *exportSince(
    since: UnixSeconds,
    options: ExportOptions = {},
  ): AsyncGenerator<ExportChunk, void, undefined> {
    yield* this.#whileOpen(this.ready.objectsSince(since, options));
  }

  async *summariesSince(
    since: UnixSeconds,
    options: ExportOptions = {},
  ): AsyncGenerator<readonly Complete<Summary>[], void, undefined> {
    const { defaults } = this.ready;
    for await (const page of this.#whileOpen(this.#summaries.iterate({ ...options, since }))) {
      yield page.map((summary) => ({ ...summary, soif: addGathererToBytes(summary.soif, defaults) }));
    }
  }

  async *deletionsSince(since: UnixSeconds): AsyncGenerator<readonly Tombstone[], void, undefined> {
    yield* this.#whileOpen(this.#tombstones.since(since));
  }

  async *#changesAfter(
    from: number,
    { signal }: ExportOptions,
  ): AsyncGenerator<readonly NumberedChange[], void, undefined> {
    const range = { ...SEQUENCES.keys.range, gte: orderedKey(TABLE.sequences, from + 1) };
    for await (const page of new Table(this.#level, SEQUENCES).pages({
      range,
      limit: PAGE_CHANGES,
      signal,
    })) {
      const summaries = await this.#summaries.at(page);
      const deleted = page.filter(({ contentSequence }) => contentSequence === 0);
      const tombstones = await new Table(this.#level, TOMBSTONES).getMany(
        deleted.map(({ url, updateTime }) => ({ url, deletionTime: updateTime })),
      );
      const gone = new Map(tombstones.flatMap((found) => (found === undefined ? [] : [[found.url, found]])));
      yield page.flatMap(({ url, contentSequence }, i): NumberedChange[] => {
        const tombstone = contentSequence === 0 ? gone.get(url) : undefined;
        if (tombstone !== undefined) return [{ kind: 'deleted', url, soif: tombstone.soif }];
        const summary = contentSequence === 0 ? undefined : summaries[i];
        if (summary === undefined) return [];
        const soif = addGathererToBytes(summary.soif, this.ready.defaults);
        return [{ kind: 'present', url, soif, contentSequence }];
      });
    }
  }

  async get(url: string): Promise<Uint8Array | undefined> {
    const summary = await this.#summaries.get(url);
    return summary && addGathererToBytes(summary.soif, this.ready.defaults);
  }

  async info(): Promise<SnapshotInfo> {
    const { oldest, newest, attributes, gatherer } = this.ready;
    const info = { count: this.count, oldest, newest, attributes };
    return gatherer === undefined ? info : { ...info, gatherer };
  }

  retain(): void {
    if (this.#users === 0) throw new StateError(`the snapshot of generation ${this.generation} is closed`);
    this.#users++;
  }

  async release(): Promise<void> {
    if (this.#users === 0) throw new StateError(`the snapshot of generation ${this.generation} is closed`);
    if (--this.#users > 0) return;
    await this.ready.close();
    await this.#level.close();
    await rm(this.#level.directory, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    if (!this.#opened) return;
    this.#opened = false;
    await this.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Keeps the snapshot open until the iteration ends. */
  async *#whileOpen<T>(walk: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    this.retain();
    try {
      yield* walk;
    } finally {
      await this.release();
    }
  }
}
