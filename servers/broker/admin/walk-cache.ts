// Caches a value that costs a walk over the store.
import type { UnixSeconds } from '../../../protocols/time.js';
import type { BrokerStore } from '../../../storage/index.js';

/** Seconds for which a value is used although the store has changed. */
const MAX_AGE_SECONDS = 300;

/** The members of a store that a walk uses. */
export type WalkedStore = Pick<BrokerStore, 'all' | 'lastSequence'>;

/**
 * Caches a value that costs a walk over the store. It is computed again when the store has changed and the
 * value is older than five minutes. Concurrent callers share a walk.
 */
export class WalkCache<T> {
  readonly #store: WalkedStore;
  readonly #compute: (store: WalkedStore, now: UnixSeconds) => Promise<T>;
  #latest: { readonly value: T; readonly at: UnixSeconds; readonly sequence: number } | undefined;
  #running: Promise<T> | undefined;

  constructor(store: WalkedStore, compute: (store: WalkedStore, now: UnixSeconds) => Promise<T>) {
    this.#store = store;
    this.#compute = compute;
  }

  async get(now: UnixSeconds): Promise<T> {
    const latest = this.#latest;
    if (latest !== undefined) {
      const isCurrent = latest.sequence === this.#store.lastSequence;
      // A value of the future is from before the clock was set back.
      if (now >= latest.at && (isCurrent || now - latest.at < MAX_AGE_SECONDS)) return latest.value;
    }
    this.#running ??= this.#walk(now).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #walk(now: UnixSeconds): Promise<T> {
    const sequence = this.#store.lastSequence;
    const value = await this.#compute(this.#store, now);
    this.#latest = { value, at: now, sequence };
    return value;
  }
}
