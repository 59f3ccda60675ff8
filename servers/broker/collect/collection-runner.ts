// Runs at most one collection at a time.
import { isDiskFull, messageOf, StorageError } from '../../../protocols/errors.js';
import type { Timetable } from '../admin/timetable.js';
import { type CollectionContext, type CollectionReport, collectAll } from './collection.js';

/** Doublings of the pause between retries. */
const MAX_DOUBLINGS = 4;

/** Context of {@link CollectionRunner}. */
export interface CollectionRunnerContext extends CollectionContext {
  readonly timetable: Timetable;
  /** Aborted when the broker closes. */
  readonly closing: AbortSignal;
  /** Called after each collection, and awaited. */
  readonly collected: (report: CollectionReport) => Promise<void>;
}

/** Runs at most one collection at a time; a request during a collection joins it. */
export class CollectionRunner {
  readonly #context: CollectionRunnerContext;
  readonly #background = new Set<Promise<unknown>>();
  #running: Promise<CollectionReport> | undefined;
  /** Waits for room on the disk. */
  #retry: NodeJS.Timeout | undefined;
  /** Retries since the last collection that did not fail for lack of room. */
  #retries = 0;

  constructor(context: CollectionRunnerContext) {
    this.#context = context;
  }

  get running(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Starts a collection, or joins the one that runs.
   *
   * @param signal stops the collection for every caller that waits for it
   */
  run(signal?: AbortSignal): Promise<CollectionReport> {
    const { timetable, closing } = this.#context;
    closing.throwIfAborted();
    const stop = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    clearTimeout(this.#retry);
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
      // Gatherers do not send again what this broker says to have.
      await this.#context.store.flush();
      await this.#context.collected(report);
      this.#retries = 0;
      return report;
    } catch (cause) {
      if (!isDiskFull(cause)) throw cause;
      // What is stored can be searched.
      await this.#context.keeper.settle().catch(() => undefined);
      if (!signal.aborted) this.#retryWhenRoom();
      throw new StorageError(`${messageOf(cause)}; the collection is tried again when there is space`, {
        cause,
      });
    }
  }

  /** Waits longer after each retry that found room and failed nevertheless, as with a quota. */
  #retryWhenRoom(): void {
    const { closing, limits, log, store } = this.#context;
    const { diskRetryMs = 5000 } = limits();
    const pauseMs = diskRetryMs * 2 ** Math.min(this.#retries, MAX_DOUBLINGS);
    clearTimeout(this.#retry);
    const retry = async (): Promise<void> => {
      if (closing.aborted) return;
      if (!(await store.hasRoom())) {
        this.#retry = setTimeout(() => void retry(), diskRetryMs).unref();
        return;
      }
      this.#retries++;
      log.info('Collection: tried again, because there is space');
      this.runInBackground();
    };
    this.#retry = setTimeout(() => void retry(), pauseMs).unref();
  }
}

function outcomeOf({ received, points }: CollectionReport): string {
  const failed = points.filter((point) => !point.complete).length;
  return `${received} objects received${failed === 0 ? '' : `, ${failed} points incomplete`}`;
}
