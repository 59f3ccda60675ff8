import type {
  ApplyCounts,
  ApplyOptions,
  ApplyResult,
  CollectedChange,
  CollectionPointState,
} from '../../storage/index.js';
import type { CollectContext } from './collector.js';

/** Reasons kept in a report. */
const MAX_REASONS = 10;

/** Objects that are asked for one by one; a Gatherer that refreshes more than these unknown ones is not quite sane. */
const MAX_UNKNOWN = 10_000;

/** Batches changes and applies one batch while the next is being received. */
export class Applier {
  #batch: CollectedChange[] = [];
  #bytes = 0;
  #running: Promise<void> = Promise.resolve();
  readonly #maxObjects: number;
  readonly #maxBytes: number;

  constructor(
    readonly context: CollectContext,
    readonly tally: Tally,
    readonly options: ApplyOptions = {},
  ) {
    this.#maxObjects = context.limits?.batchObjects ?? 256;
    this.#maxBytes = context.limits?.batchBytes ?? 1024 * 1024;
  }

  async add(change: CollectedChange): Promise<void> {
    this.#batch.push(change);
    this.#bytes += change.bytes.length;
    if (this.#batch.length < this.#maxObjects && this.#bytes < this.#maxBytes) return;
    await this.#running;
    this.#start();
  }

  /** Waits for the batch that is being applied; throws what made it fail. */
  drain(): Promise<void> {
    return this.#running;
  }

  /** Applies what is left, together with the point's state if given. */
  async finish(state: CollectionPointState | undefined): Promise<void> {
    await this.#running;
    if (this.#batch.length > 0 || state !== undefined) this.#start(state);
    await this.#running;
  }

  #start(state?: CollectionPointState): void {
    const batch = this.#batch;
    this.#batch = [];
    this.#bytes = 0;
    this.#running = this.#apply(batch, state);
    // The error is thrown to whoever waits next; until then nobody listens.
    this.#running.catch(() => undefined);
  }

  async #apply(batch: CollectedChange[], state?: CollectionPointState): Promise<void> {
    const outcome = await this.context.store.apply(batch, state, this.context.observe, this.options);
    this.tally.applied(outcome);
    await this.context.applied();
  }
}

/** What a collection comes to so far. */
export class Tally {
  received = 0;
  expired = 0;
  malformed = 0;
  connections = 0;
  readonly reasons: string[] = [];
  /** Refreshed, but not known here. */
  readonly unknown: string[] = [];
  counts: ApplyCounts = { added: 0, updated: 0, refreshed: 0, deleted: 0, duplicates: 0, rejected: 0 };

  applied(outcome: ApplyResult): void {
    this.counts = addCounts(this.counts, outcome);
    for (const url of outcome.unknown) {
      if (this.unknown.length < MAX_UNKNOWN) this.unknown.push(url);
      else this.gone(url);
    }
    for (const reason of outcome.reasons) this.#reason(reason);
  }

  /** A refresh that came to nothing. */
  gone(url: string): void {
    this.counts = { ...this.counts, rejected: this.counts.rejected + 1 };
    this.#reason(`refresh of ${url}: the object is not known`);
  }

  malformedObject(reason: string): void {
    this.malformed += 1;
    this.#reason(reason);
  }

  #reason(reason: string): void {
    if (this.reasons.length < MAX_REASONS) this.reasons.push(reason);
  }
}

/** The sum of two counts. */
export function addCounts(a: ApplyCounts, b: ApplyCounts): ApplyCounts {
  return {
    added: a.added + b.added,
    updated: a.updated + b.updated,
    refreshed: a.refreshed + b.refreshed,
    deleted: a.deleted + b.deleted,
    duplicates: a.duplicates + b.duplicates,
    rejected: a.rejected + b.rejected,
  };
}
