// A bounded number of bytes, places or other units, which pieces of work take for a time.
import { FairQueue } from './fair-queue.js';

/** Who takes units of a {@link Budget}. */
export interface Claimant<Key> {
  /** The client for which they are taken. Those without one are served in the order of their calls. */
  readonly key?: Key | undefined;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
}

interface Claim {
  readonly amount: number;
  readonly grant: (part: Disposable) => void;
}

/**
 * Units that are taken and returned. While they do not suffice, calls wait: the key that holds least goes
 * first, and no other call passes the one whose turn it is. An amount above the total is taken when nothing
 * else is.
 */
export class Budget<Key = never> {
  readonly #total: number;
  readonly #queue = new FairQueue<Key | undefined, Claim>();
  readonly #held = new Map<Key | undefined, number>();
  #used = 0;

  /** @param total from 1 */
  constructor(total: number) {
    this.#total = total;
  }

  /** Units that are taken. */
  get used(): number {
    return this.#used;
  }

  /** Takes units if there are enough and no other call waits. Disposing of the result returns them, once. */
  tryTake(amount: number, key?: Key): Disposable | undefined {
    return this.#queue.size === 0 && this.#fits(amount) ? this.#take(amount, key) : undefined;
  }

  /** Waits for units. Rejects with the reason of the signal when that is aborted. */
  take(amount: number, { key, signal }: Claimant<Key> = {}): Promise<Disposable> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const free = this.tryTake(amount, key);
      if (free !== undefined) {
        resolve(free);
        return;
      }
      const onAbort = (): void => {
        this.#queue.remove(waiting);
        reject(signal?.reason);
        this.#serve();
      };
      const grant = (part: Disposable): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve(part);
      };
      const waiting = this.#queue.add(key, { amount, grant });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Runs work that takes units. Rejects as the work does, or while it waits with the reason of the signal. */
  async run<T>(amount: number, work: () => T | Promise<T>, claimant?: Claimant<Key>): Promise<T> {
    using _part = await this.take(amount, claimant);
    return await work();
  }

  #fits(amount: number): boolean {
    return this.#used === 0 || this.#used + amount <= this.#total;
  }

  #take(amount: number, key: Key | undefined): Disposable {
    this.#hold(key, amount);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#hold(key, -amount);
        this.#serve();
      },
    };
  }

  #hold(key: Key | undefined, change: number): void {
    this.#used += change;
    const held = this.#heldBy(key) + change;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
  }

  readonly #heldBy = (key: Key | undefined): number => this.#held.get(key) ?? 0;

  #serve(): void {
    const next = this.#queue.next('level', this.#heldBy);
    if (next === undefined || !this.#fits(next.item.amount)) return;
    this.#queue.take('level', this.#heldBy);
    next.item.grant(this.#take(next.item.amount, next.key));
    this.#serve();
  }
}
