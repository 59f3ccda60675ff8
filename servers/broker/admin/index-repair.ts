// Rebuilds an index that turns out to be damaged while it is in use.
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { INDEX_FAILURES } from '../../../storage/indexers/index.js';
import type { Logger } from '../../host/index.js';
import type { Jobs } from './jobs.js';

const MAX_PAUSE_MS = 86_400_000;
/** An index that works for so many pauses after a rebuild was repaired by it. */
const HEALTHY_PAUSES = 8;

/** Whether an error is about the index itself, which can be made again, not about the store. */
export function isIndexFailure(error: unknown): error is StorageError {
  return error instanceof StorageError && INDEX_FAILURES.some((text) => error.message.startsWith(text));
}

/** What {@link IndexRepair} works with. */
export interface IndexRepairContext {
  readonly log: Pick<Logger, 'error' | 'warn'>;
  readonly jobs: Pick<Jobs, 'start'>;
  readonly rebuild: () => Promise<void>;
  /**
   * Milliseconds after a rebuild in which another failure does not start the next one. Default 60 000. It
   * doubles with every rebuild that did not help, to a day at most: a disk that damages each index, or a query
   * that ends the engine, must not keep the Broker at rebuilding.
   */
  readonly pauseMs?: number;
  /** Milliseconds of a clock that never goes back. Default: the time since the process started. */
  readonly now?: () => number;
}

/**
 * Logs the failures of queries, and rebuilds the index in the background after the first one that is its own.
 */
export class IndexRepair {
  readonly #context: IndexRepairContext;
  readonly #now: () => number;
  #running = false;
  #lastAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds after `#lastAt` in which no rebuild starts. */
  #pauseMs = 0;
  #isPauseSaid = false;

  constructor(context: IndexRepairContext) {
    this.#context = context;
    this.#now = context.now ?? (() => performance.now());
  }

  report(error: StorageError): void {
    const { log, jobs, rebuild, pauseMs = 60_000 } = this.#context;
    log.error(`A query failed: ${messageOf(error)}`);
    if (!isIndexFailure(error) || this.#running) return;
    const sinceLast = this.#now() - this.#lastAt;
    if (sinceLast < this.#pauseMs) {
      if (!this.#isPauseSaid) {
        const seconds = Math.ceil((this.#pauseMs - sinceLast) / 1000);
        log.warn(
          `The index fails again after its rebuild: the next rebuild starts in ${seconds} s at the earliest`,
        );
      }
      this.#isPauseSaid = true;
      return;
    }
    const hasHelped = sinceLast > HEALTHY_PAUSES * this.#pauseMs;
    this.#pauseMs = hasHelped ? pauseMs : Math.min(2 * this.#pauseMs, MAX_PAUSE_MS);
    this.#isPauseSaid = false;
    this.#running = true;
    log.warn('The index is damaged: it is being rebuilt from the store');
    const job = async () => {
      await rebuild();
      return 'every object is indexed again';
    };
    void jobs.start('Index rebuild', job).finally(() => {
      this.#running = false;
      this.#lastAt = this.#now();
    });
  }
}
