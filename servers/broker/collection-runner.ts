// Runs at most one collection at a time.
import { type CollectionContext, type CollectionReport, collectAll } from './collection.js';
import type { Timetable } from './timetable.js';

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
    const report = await collectAll(this.#context, signal);
    await this.#context.collected(report);
    return report;
  }
}

function outcomeOf({ received, points }: CollectionReport): string {
  const failed = points.filter((point) => !point.complete).length;
  return `${received} objects received${failed === 0 ? '' : `, ${failed} points incomplete`}`;
}
