import { UsageError } from '../protocols/errors.js';
import type { UnixSeconds } from '../protocols/time.js';
import { GathererBatch, type SummaryChange } from './batch.js';
import { DocumentStore } from './documents.js';
import { TABLE, tableRange } from './keys.js';
import { Level, type LevelOptions, type RowChange } from './level.js';
import { MetaStore } from './meta.js';
import { type PublishOptions, publishGeneration } from './publish.js';
import { WorkQueueStore } from './queues.js';
import { type GathererCounters, gathererCountersCodec } from './records.js';
import { SeenStore } from './seen.js';
import { COUNTERS_KEY, readCounters, SummaryStore } from './summaries.js';
import { summaryRows } from './summary-changes.js';
import { TombstoneStore } from './tombstones.js';

export interface GathererStoreOptions extends PublishOptions, Omit<LevelOptions, 'kind' | 'multithreading'> {}

interface PendingBatch {
  readonly summaries: readonly SummaryChange[];
  readonly rows: readonly RowChange[];
  readonly sync: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Batches that wait are written together, up to this many rows. */
const GROUP_ROWS = 4096;

/**
 * The Gatherer's working store: summaries, documents, queues, the seen keys and small values in one LevelDB with one
 * owner process. Everything is written through {@link batch}; {@link publish} gives readers a snapshot.
 */
export class GathererStore implements AsyncDisposable {
  readonly summaries: SummaryStore;
  readonly tombstones: TombstoneStore;
  readonly documents: DocumentStore;
  readonly queues: WorkQueueStore;
  readonly seen: SeenStore;
  readonly meta: MetaStore;
  readonly #level: Level;
  readonly #options: GathererStoreOptions;
  readonly #pending: PendingBatch[] = [];
  #writing: Promise<void> | undefined;
  #publishing: Promise<unknown> = Promise.resolve();
  #counters: GathererCounters;
  #closed = false;

  private constructor(level: Level, counters: GathererCounters, options: GathererStoreOptions) {
    this.#level = level;
    this.#counters = counters;
    this.#options = options;
    this.summaries = new SummaryStore(level, () => this.#counters.summaries);
    this.tombstones = new TombstoneStore(level, () => this.#counters.tombstones);
    this.documents = new DocumentStore(level);
    this.queues = new WorkQueueStore(level);
    this.seen = new SeenStore(level);
    this.meta = new MetaStore(level);
  }

  /** @throws StorageError when the directory is in use, damaged, another kind of store, or of a newer schema. */
  static async open(directory: string, options: GathererStoreOptions = {}): Promise<GathererStore> {
    const level = await Level.open(directory, { ...options, kind: 'gatherer' });
    return new GathererStore(level, await readCounters(level), options);
  }

  /** Drops the tombstones of objects that nobody can have any more. */
  async purgeTombstones(now: UnixSeconds): Promise<void> {
    for await (const page of this.tombstones.since(0)) {
      const batch = this.batch();
      for (const { url, deletionTime, expires } of page) {
        if (expires < now) batch.forgetDeletion(url, deletionTime);
      }
      if (batch.size > 0) await batch.commit();
    }
  }

  batch(): GathererBatch {
    return new GathererBatch((summaries, rows, sync) => this.#commit(summaries, rows, sync));
  }

  /**
   * Forgets all queues and seen keys, so that another crawl can begin. Not atomic: after a crash part of them may be
   * left, so the owner's mark that a run is under way must not be set yet, or be cleared before.
   */
  async clearFrontier(): Promise<void> {
    await this.#writing;
    await this.#level.clear(tableRange(TABLE.queues));
    await this.#level.clear(tableRange(TABLE.seen));
  }

  /**
   * Makes what is committed now a generation that readers can open (DESIGN 4). Batches and reads wait meanwhile.
   * On failure nothing is published and the store goes on.
   *
   * @returns the generation's number, higher than any before.
   */
  publish(generationsDirectory: string, options: PublishOptions = {}): Promise<number> {
    if (this.#closed) return Promise.reject(new UsageError('the store is closed'));
    const publication = this.#publishing.then(() =>
      publishGeneration(this.#level.directory, generationsDirectory, (work) => this.#level.suspend(work), {
        ...this.#options,
        ...options,
      }),
    );
    this.#publishing = publication.catch(() => undefined);
    return publication;
  }

  /** Waits for batches and publications under way, then closes the files. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writing;
    await this.#publishing;
    await this.#level.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #commit(summaries: readonly SummaryChange[], rows: readonly RowChange[], sync: boolean): Promise<void> {
    if (this.#closed) return Promise.reject(new UsageError('the store is closed'));
    return new Promise((resolve, reject) => {
      this.#pending.push({ summaries, rows, sync, resolve, reject });
      this.#writing ??= this.#drain();
    });
  }

  /**
   * Writes one group after the other: what waited while the last one was written goes together, each batch of it still
   * whole. One writer at a time is also what keeps the counter's row in step with the rows it counts.
   */
  async #drain(): Promise<void> {
    while (this.#pending.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#writeGroup(group);
        for (const batch of group) batch.resolve();
      } catch (error) {
        for (const batch of group) batch.reject(error);
      }
    }
    this.#writing = undefined;
  }

  #takeGroup(): PendingBatch[] {
    let rows = 0;
    let taken = 0;
    for (const batch of this.#pending) {
      rows += batch.rows.length + 2 * batch.summaries.length;
      if (taken > 0 && rows > GROUP_ROWS) break;
      taken++;
    }
    return this.#pending.splice(0, taken);
  }

  async #writeGroup(group: readonly PendingBatch[]): Promise<void> {
    const changes = group.flatMap((batch) => batch.summaries);
    const { rows, counters } = await summaryRows(this.#level, changes, this.#counters);
    for (const batch of group) for (const row of batch.rows) rows.push(row);
    if (
      counters.summaries !== this.#counters.summaries ||
      counters.tombstones !== this.#counters.tombstones
    ) {
      rows.push({ key: COUNTERS_KEY, value: gathererCountersCodec.encode(counters) });
    }
    await this.#level.write(
      rows,
      group.some((batch) => batch.sync),
    );
    this.#counters = counters;
  }
}
