// Runs at most one collection at a time.

import type { CollectionPoint } from '../../../protocols/config/index.js';
import { isDiskFull, messageOf, StorageError } from '../../../protocols/errors.js';
import { LOOK_MS, whenRoom } from '../admin/maintenance.js';
import { nextRun } from '../admin/timetable.js';
import { type CollectionContext, type CollectionReport, collectAll, collectionPoints } from './collection.js';

/** BRK-6.2 to 6.4: what a broker does when it starts. */
export type StartMode = 'collect' | 'new' | 'nocol';

/** Doublings of the pause between retries. */
const MAX_DOUBLINGS = 4;

/** Runs at most one collection at a time; a request during a collection joins it. */
export class CollectionRunner {
  readonly #context: CollectionContext;
  readonly #background = new Set<Promise<unknown>>();
  #running: Promise<CollectionReport> | undefined;
  /** Ends the looking for room on the disk. */
  #stopLooking: (() => void) | undefined;
  /** The latest time of a shared store for which this Broker has begun to collect. */
  #begun = 0;
  /** Retries since the last collection that did not fail for lack of room. */
  #retries = 0;

  constructor(context: CollectionContext) {
    this.#context = context;
  }

  /** Whether a collection runs. */
  get running(): boolean {
    return this.#running !== undefined;
  }

  /** The collection points. @throws ConfigError when `Collection-File` cannot be read */
  points(): Promise<readonly CollectionPoint[]> {
    return collectionPoints(this.#context);
  }

  /**
   * Collects from every point in file order, then deletes expired objects (BRK-7.12). Queries are answered in
   * the meantime (BRK-7.13). A call during a collection joins it.
   *
   * Brokers that share a store divide the points: a request is one to all of them, and the call resolves when each point
   * was collected from by one of them.
   *
   * @param signal stops the collection for every caller that waits for it
   * @param since of a shared store: the time that the collection is for. Default: that of the call
   * @throws ConfigError when `Collection-File` cannot be read; StorageError when the store or index fails
   */
  run(signal?: AbortSignal, since?: number): Promise<CollectionReport> {
    const { timetable, closing } = this.#context;
    closing.throwIfAborted();
    const stop = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    this.#stopLooking?.();
    this.#running ??= timetable
      .observe('Collection', () => this.#collect(stop, since), outcomeOf)
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** Starts or joins a collection without waiting for it. Its failure is logged. */
  runInBackground(since?: number): void {
    const { log, closing } = this.#context;
    const work = this.run(undefined, since)
      .then(() => undefined)
      .catch((error: unknown) => {
        if (!closing.aborted) log.error({ err: error }, 'Collection failed');
      });
    this.#background.add(work);
    void work.finally(() => this.#background.delete(work));
  }

  /**
   * BRK-6.2 to 6.4: begins with a collection, unless the mode is `nocol`. Of a shared store, one that this period has had
   * already is not repeated.
   */
  async begin(mode: StartMode): Promise<void> {
    const due = await this.#due();
    if (due !== undefined) this.#begun = due;
    if (mode === 'nocol') return;
    const isPeriodic = this.#context.settings.value.collectionInterval > 0 && mode !== 'new';
    this.runInBackground(isPeriodic ? due : undefined);
  }

  /** Begins the collection of a shared store that is due, or that another Broker was asked for. */
  async lookForDue(): Promise<void> {
    const due = await this.#due();
    if (due === undefined || due <= this.#begun || this.running) return;
    this.#begun = due;
    this.runInBackground(due);
  }

  /** The time since which a shared store must be collected; undefined if the store is not shared. */
  async #due(): Promise<number | undefined> {
    const { store, settings } = this.#context;
    if (store.collections === undefined) return undefined;
    const { collectionTime, collectionInterval } = settings.value;
    const requested = await store.collections.requestedAt();
    if (collectionInterval === 0) return requested;
    // By the database's clock: that of this host may be another one.
    const next = nextRun(
      Math.floor((await store.collections.time()) / 1000),
      collectionTime,
      collectionInterval,
    );
    return Math.max(requested, (next - collectionInterval) * 1000);
  }

  /** Resolves when no collection runs, whether it succeeded or failed. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => undefined);
    await Promise.all(this.#background);
  }

  async #collect(signal: AbortSignal, requested: number | undefined): Promise<CollectionReport> {
    const since = requested ?? (await this.#context.store.collections?.request());
    this.#begun = Math.max(this.#begun, since ?? 0);
    try {
      const report = await collectAll(this.#context, signal, since);
      // Gatherers do not send objects again that this broker claims to have.
      await this.#context.store.flush();
      await this.#context.maintenance.collected(report.totals);
      this.#retries = 0;
      return report;
    } catch (cause) {
      if (!isDiskFull(cause)) throw cause;
      // Stored objects can be searched.
      await this.#context.keeper.settle().catch(() => undefined);
      if (!signal.aborted) this.#retryWhenRoom(since);
      throw new StorageError(`${messageOf(cause)}; the collection is tried again when there is space`, {
        cause,
      });
    }
  }

  /** Waits longer after each retry that found room and failed nevertheless, as with a quota. */
  #retryWhenRoom(since: number | undefined): void {
    const pauseMs = LOOK_MS * 2 ** Math.min(this.#retries, MAX_DOUBLINGS);
    this.#stopLooking?.();
    const retry = (): void => {
      this.#retries++;
      this.#context.log.info('Collection: tried again, because there is space');
      this.runInBackground(since);
    };
    this.#stopLooking = whenRoom(this.#context, retry, pauseMs);
  }
}

function outcomeOf({ received, points }: CollectionReport): string {
  const failed = points.filter((point) => !point.complete).length;
  return `${received} objects received${failed === 0 ? '' : `, ${failed} points incomplete`}`;
}
