// Runs at most one collection at a time.

import type { CollectionPoint } from '../../../protocols/config/index.js';
import { isDiskFull, messageOf, StorageError } from '../../../protocols/errors.js';
import { LOOK_MS, whenRoom } from '../admin/maintenance.js';
import { type CollectionContext, type CollectionReport, collectAll, collectionPoints } from './collection.js';

/** Doublings of the pause between retries. */
const MAX_DOUBLINGS = 4;

/** Runs at most one collection at a time; a request during a collection joins it. */
export class CollectionRunner {
  readonly #context: CollectionContext;
  readonly #background = new Set<Promise<unknown>>();
  #running: Promise<CollectionReport> | undefined;
  /** Ends the looking for room on the disk. */
  #stopLooking: (() => void) | undefined;
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
   * @param signal stops the collection for every caller that waits for it
   * @throws ConfigError when `Collection-File` cannot be read; StorageError when the store or index fails
   */
  run(signal?: AbortSignal): Promise<CollectionReport> {
    const { timetable, closing } = this.#context;
    closing.throwIfAborted();
    const stop = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    this.#stopLooking?.();
    this.#running ??= timetable
      .observe('Collection', () => this.#collect(stop), outcomeOf)
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** Starts or joins a collection without waiting for it. Its failure is logged. */
  runInBackground(): void {
    const { log, closing } = this.#context;
    const work = this.run()
      .then(() => undefined)
      .catch((error: unknown) => {
        if (!closing.aborted) log.error({ err: error }, 'Collection failed');
      });
    this.#background.add(work);
    void work.finally(() => this.#background.delete(work));
  }

  /** Resolves when no collection runs, whether it succeeded or failed. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => undefined);
    await Promise.all(this.#background);
  }

  async #collect(signal: AbortSignal): Promise<CollectionReport> {
    try {
      const report = await collectAll(this.#context, signal);
      // Gatherers do not send objects again that this broker claims to have.
      await this.#context.store.flush();
      await this.#context.maintenance.collected(report.totals);
      this.#retries = 0;
      return report;
    } catch (cause) {
      if (!isDiskFull(cause)) throw cause;
      // Stored objects can be searched.
      await this.#context.keeper.settle().catch(() => undefined);
      if (!signal.aborted) this.#retryWhenRoom();
      throw new StorageError(`${messageOf(cause)}; the collection is tried again when there is space`, {
        cause,
      });
    }
  }

  /** Waits longer after each retry that found room and failed nevertheless, as with a quota. */
  #retryWhenRoom(): void {
    const pauseMs = LOOK_MS * 2 ** Math.min(this.#retries, MAX_DOUBLINGS);
    this.#stopLooking?.();
    const retry = (): void => {
      this.#retries++;
      this.#context.log.info('Collection: tried again, because there is space');
      this.runInBackground();
    };
    this.#stopLooking = whenRoom(this.#context, retry, pauseMs);
  }
}

function outcomeOf({ received, points }: CollectionReport): string {
  const failed = points.filter((point) => !point.complete).length;
  return `${received} objects received${failed === 0 ? '' : `, ${failed} points incomplete`}`;
}
