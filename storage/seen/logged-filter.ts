import { join } from 'node:path';
import { createDirectory } from '../files/make-directory.js';
import { ChangeList } from './change-list.js';
import type { SeenKind, SeenOptions } from './contract.js';
import { fingerprintsOf } from './key-list.js';
import { KeyLog } from './key-log.js';
import { SerialFilter } from './serial-filter.js';

/** A set of keys in memory. */
export interface KeySet {
  readonly kind: SeenKind;
  readonly size: number;
  readonly memoryBytes: number;
  /** Returns true if the key was absent. */
  add(low: number, high: number): boolean;
  /** Returns true if the key was present. */
  forget(low: number, high: number): boolean;
}

const LOG_NAME = 'seen.log';

/**
 * A filter that holds all keys in memory and logs their changes to a file. Every kind reads the log of every
 * other kind, because all keys are std64 fingerprints.
 */
export class LoggedFilter extends SerialFilter {
  #changes = new ChangeList();
  readonly #keys: KeySet;
  readonly #log: KeyLog | undefined;
  readonly #options: SeenOptions;

  private constructor(keys: KeySet, log: KeyLog | undefined, options: SeenOptions) {
    super(options);
    this.#keys = keys;
    this.#log = log;
    this.#options = options;
  }

  /** @throws StorageError if the directory holds another kind of file under the log's name */
  static async open(keys: KeySet, options: SeenOptions): Promise<LoggedFilter> {
    const { directory } = options;
    if (directory === undefined) return new LoggedFilter(keys, undefined, options);
    await createDirectory(directory);
    const log = await KeyLog.open(join(directory, LOG_NAME), (change, words) => {
      for (let offset = 0; offset < words.length; offset += 2)
        keys[change](words[offset]!, words[offset + 1]!);
    });
    return new LoggedFilter(keys, log, options);
  }

  get kind(): SeenKind {
    return this.#keys.kind;
  }

  get count(): number {
    return this.#keys.size;
  }

  get uncommitted(): number {
    return this.#changes.count;
  }

  get memoryBytes(): number {
    return this.#keys.memoryBytes;
  }

  protected async addUris(uris: readonly string[]): Promise<Uint8Array> {
    const words = fingerprintsOf(uris);
    const isNew = new Uint8Array(uris.length);
    for (let i = 0; i < isNew.length; i++) {
      const low = words[2 * i]!;
      const high = words[2 * i + 1]!;
      if (!this.#keys.add(low, high)) continue;
      isNew[i] = 1;
      if (this.#log !== undefined) this.#changes.push('add', low, high);
    }
    return isNew;
  }

  protected async forgetUris(uris: readonly string[]): Promise<void> {
    const words = fingerprintsOf(uris);
    for (let offset = 0; offset < words.length; offset += 2) {
      const low = words[offset]!;
      const high = words[offset + 1]!;
      if (this.#keys.forget(low, high) && this.#log !== undefined) this.#changes.push('forget', low, high);
    }
  }

  protected async writeChanges(): Promise<void> {
    if (this.#log === undefined || this.#changes.count === 0) return;
    await this.#changes.appendTo(this.#log);
    if (this.#options.sync === true) await this.#log.sync();
    this.#changes = new ChangeList();
  }

  protected async release(): Promise<void> {
    await this.#log?.close();
  }
}
