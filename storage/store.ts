import { UsageError } from '../protocols/errors.js';
import type { UnixSeconds } from '../protocols/time.js';
import { GathererBatch, type SummaryChange } from './batch.js';
import { DocumentStore } from './documents.js';
import { TABLE, tableRange } from './keys.js';
import { Level, type LevelOptions, type RowChange } from './level.js';
import { MetaStore } from './meta.js';
import { type PublishOptions, publishGeneration } from './publish.js';
import { WorkQueueStore } from './queues.js';
import { gathererCountersCodec, summaryCodec, summaryIdentityCodec } from './records.js';
import { SeenStore } from './seen.js';
import { COUNTERS_KEY, identityKey, readSummaryCount, SummaryStore, summaryKey } from './summaries.js';

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
  readonly documents: DocumentStore;
  readonly queues: WorkQueueStore;
  readonly seen: SeenStore;
  readonly meta: MetaStore;
  readonly #level: Level;
  readonly #options: GathererStoreOptions;
  readonly #pending: PendingBatch[] = [];
  #writing: Promise<void> | undefined;
  #publishing: Promise<unknown> = Promise.resolve();
  #count: number;
  #closed = false;

  private constructor(level: Level, count: number, options: GathererStoreOptions) {
    this.#level = level;
    this.#count = count;
    this.#options = options;
    this.summaries = new SummaryStore(level, () => this.#count);
    this.documents = new DocumentStore(level);
    this.queues = new WorkQueueStore(level);
    this.seen = new SeenStore(level);
    this.meta = new MetaStore(level);
  }

  /** @throws StorageError when the directory is in use, damaged, another kind of store, or of a newer schema. */
  static async open(directory: string, options: GathererStoreOptions = {}): Promise<GathererStore> {
    const level = await Level.open(directory, { ...options, kind: 'gatherer' });
    return new GathererStore(level, await readSummaryCount(level), options);
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
  publish(generationsDirectory: string): Promise<number> {
    if (this.#closed) return Promise.reject(new UsageError('the store is closed'));
    const publication = this.#publishing.then(() =>
      publishGeneration(
        this.#level.directory,
        generationsDirectory,
        (work) => this.#level.suspend(work),
        this.#options,
      ),
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
    const placement = await this.#placement(group.flatMap((batch) => batch.summaries));
    const rows: RowChange[] = [];
    let count = this.#count;
    for (const batch of group) {
      for (const change of batch.summaries) count += placeSummary(change, placement, rows);
      for (const row of batch.rows) rows.push(row);
    }
    if (count !== this.#count) {
      rows.push({ key: COUNTERS_KEY, value: gathererCountersCodec.encode({ summaries: count }) });
    }
    await this.#level.write(
      rows,
      group.some((batch) => batch.sync),
    );
    this.#count = count;
  }

  /** Where the summaries of these URLs lie now: as their callers say, else as one read of the identity rows says. */
  async #placement(changes: readonly SummaryChange[]): Promise<Map<string, UnixSeconds | undefined>> {
    const placement = new Map<string, UnixSeconds | undefined>();
    const unknown = new Set<string>();
    for (const change of changes) {
      const url = change.kind === 'put' ? change.summary.url : change.url;
      if (placement.has(url) || unknown.has(url)) continue;
      // 0 is no knowledge: it means "has none" to a document's record, but a summary may lie under 0 (GATHERD-4.3).
      if (change.previous === null) placement.set(url, undefined);
      else if (change.previous === undefined || change.previous === 0) unknown.add(url);
      else placement.set(url, change.previous);
    }
    const urls = [...unknown];
    const times = await this.summaries.updateTimesOf(urls);
    urls.forEach((url, i) => {
      placement.set(url, times[i]);
    });
    return placement;
  }
}

/** Adds the rows of one change and returns by how much the number of summaries grows. */
function placeSummary(
  change: SummaryChange,
  placement: Map<string, UnixSeconds | undefined>,
  rows: RowChange[],
): number {
  const url = change.kind === 'put' ? change.summary.url : change.url;
  const previous = placement.get(url);
  if (change.kind === 'delete') {
    if (previous === undefined) return 0;
    rows.push({ key: summaryKey(previous, url) }, { key: identityKey(url) });
    placement.set(url, undefined);
    return -1;
  }
  const { updateTime } = change.summary;
  if (previous !== undefined && previous !== updateTime) rows.push({ key: summaryKey(previous, url) });
  rows.push({ key: summaryKey(updateTime, url), value: summaryCodec.encode(change.summary) });
  if (previous !== updateTime) {
    rows.push({ key: identityKey(url), value: summaryIdentityCodec.encode({ updateTime }) });
  }
  placement.set(url, updateTime);
  return previous === undefined ? 1 : 0;
}
