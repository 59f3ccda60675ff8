// URL-Max and Host-Max of a crawl that several processes share: what is counted is decided in a change of the store, so
// that all of them together count no more than a RootNode allows.
import type { GathererStore, MetaChange } from '../../../storage/index.js';

/** Counters that all processes share. */
export interface SharedCounters {
  /** Takes the counters as the store has them, in place of what was decided in a change that is not written. */
  renew(meta: MetaChange): Promise<void>;
  /** Puts what has changed into the change. */
  put(meta: MetaChange): void;
}

interface Decision {
  readonly counters: SharedCounters;
  readonly decide: () => void;
  readonly written: () => void;
  readonly failed: (error: unknown) => void;
}

/** Decides, one process after the other. All decisions of a process that wait are made in one change. */
export class SharedAdmission {
  readonly #store: Pick<GathererStore, 'changeMeta'>;
  #waiting: Decision[] = [];
  #deciding = false;

  constructor(store: Pick<GathererStore, 'changeMeta'>) {
    this.#store = store;
  }

  /**
   * Runs `decide` when the counters are those of the store, and resolves when what it changes of them is written.
   *
   * @param decide may run more than once, if the connection to the database is lost; the last time counts
   * @throws StorageError if the store cannot be changed
   */
  decide<T>(counters: SharedCounters, decide: () => T): Promise<T> {
    return new Promise((resolve, failed) => {
      let result: T;
      this.#waiting.push({
        counters,
        decide: () => {
          result = decide();
        },
        written: () => resolve(result),
        failed,
      });
      if (!this.#deciding) void this.#decideAll();
    });
  }

  async #decideAll(): Promise<void> {
    this.#deciding = true;
    // The links of a page are decided together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const decisions = this.#waiting;
      this.#waiting = [];
      try {
        await this.#store.changeMeta((meta) => decideIn(meta, decisions));
        for (const { written } of decisions) written();
      } catch (error) {
        for (const { failed } of decisions) failed(error);
      }
    }
    this.#deciding = false;
  }
}

async function decideIn(meta: MetaChange, decisions: readonly Decision[]): Promise<void> {
  const all = new Set(decisions.map(({ counters }) => counters));
  for (const counters of all) await counters.renew(meta);
  for (const { decide } of decisions) decide();
  for (const counters of all) counters.put(meta);
}
