import { StateError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import type { SeenFilter, SeenOptions } from './contract.js';

const DEFAULT_MAX_UNCOMMITTED = 1_000_000;

/**
 * The base class of the filters: runs the calls one at a time in their order, commits when too many changes are
 * pending, and rejects calls after the close. A subclass implements each operation without regard to the
 * others.
 */
export abstract class SerialFilter implements SeenFilter {
  readonly #mutex = new Mutex();
  readonly #maxUncommitted: number;
  #closing: Promise<void> | undefined;

  protected constructor({ maxUncommitted = DEFAULT_MAX_UNCOMMITTED }: SeenOptions) {
    this.#maxUncommitted = maxUncommitted;
  }

  abstract readonly kind: string;
  abstract readonly count: number;
  abstract readonly uncommitted: number;
  abstract readonly memoryBytes: number;

  add(uris: readonly string[]): Promise<Uint8Array> {
    return this.#runExclusive(async () => {
      const isNew = await this.addUris(uris);
      if (this.mustCommit()) await this.writeChanges();
      return isNew;
    });
  }

  forget(uris: readonly string[]): Promise<void> {
    return this.#runExclusive(async () => {
      await this.forgetUris(uris);
      if (this.mustCommit()) await this.writeChanges();
    });
  }

  commit(): Promise<void> {
    return this.#runExclusive(() => this.writeChanges());
  }

  close(): Promise<void> {
    this.#closing ??= this.#mutex.runExclusive(async () => {
      try {
        await this.writeChanges();
      } finally {
        await this.release();
      }
    });
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** See {@link SeenFilter.add}. */
  protected abstract addUris(uris: readonly string[]): Promise<Uint8Array>;
  /** See {@link SeenFilter.forget}. */
  protected abstract forgetUris(uris: readonly string[]): Promise<void>;
  /** Writes the uncommitted changes, if there are any. */
  protected abstract writeChanges(): Promise<void>;
  /** Closes files. Called once, after the last write. */
  protected abstract release(): Promise<void>;

  /** Whether so many changes are pending that they are written without a call of {@link commit}. */
  protected mustCommit(): boolean {
    return this.uncommitted > this.#maxUncommitted;
  }

  #runExclusive<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(new StateError('the seen filter is closed'));
    return this.#mutex.runExclusive(work);
  }
}
