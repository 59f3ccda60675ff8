// What queries have read from the index, kept until the index changes.
import { LRUCache } from 'lru-cache';
import type { IndexDatabase } from './index-file.js';

/** Tells whether another connection has changed the index. */
export class IndexVersion {
  readonly #read;
  #version = 0;
  #epoch = 0;

  constructor(db: IndexDatabase) {
    this.#read = db.prepare('PRAGMA data_version').raw();
  }

  /** Looks at the index. What was read before a change is not used after it. */
  look(): void {
    const [version] = this.#read.get() as readonly [number];
    if (version === this.#version) return;
    this.#version = version;
    this.#epoch++;
  }

  /** Changes with the index. */
  get epoch(): number {
    return this.#epoch;
  }
}

/** The most recent results of one kind of read, by what was asked for. */
export class IndexCache<V extends object> {
  readonly #version: Pick<IndexVersion, 'epoch'>;
  readonly #entries: LRUCache<string, V>;
  #epoch = 0;

  /** @param maxBytes of all results, which `bytesOf` estimates */
  constructor(version: Pick<IndexVersion, 'epoch'>, maxBytes: number, bytesOf: (value: V) => number) {
    this.#version = version;
    this.#entries = new LRUCache<string, V>({
      maxSize: maxBytes,
      sizeCalculation: (value, key) => 2 * key.length + 100 + bytesOf(value),
    });
  }

  get(key: string): V | undefined {
    this.#forget();
    return this.#entries.get(key);
  }

  /**
   * @param epoch that of the version when the read began: the result of an earlier state of the index is not
   *   kept
   */
  set(key: string, value: V, epoch: number): void {
    this.#forget();
    if (epoch === this.#epoch) this.#entries.set(key, value);
  }

  #forget(): void {
    if (this.#epoch === this.#version.epoch) return;
    this.#entries.clear();
    this.#epoch = this.#version.epoch;
  }
}
