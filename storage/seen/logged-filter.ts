import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ChangeList } from './change-list.js';
import { DEFAULT_MAX_UNCOMMITTED, type SeenFilter, type SeenKind, type SeenOptions } from './contract.js';
import { fingerprintsOf } from './key-list.js';
import { KeyLog } from './key-log.js';
import { Turns } from './turns.js';

/** The keys of a filter that answers from memory. */
export interface KeySet {
  readonly kind: SeenKind;
  readonly size: number;
  readonly memoryBytes: number;
  /** True when the key was not there. */
  add(low: number, high: number): boolean;
  /** True when the key was there. */
  forget(low: number, high: number): boolean;
}

const LOG_NAME = 'seen.log';

/**
 * A filter whose keys are all in memory; a log of their changes makes them last. The log of one kind can be read by the
 * others: all hold std64 fingerprints.
 */
export class LoggedFilter implements SeenFilter {
  readonly #turns = new Turns();
  #changes = new ChangeList();

  private constructor(
    private readonly keys: KeySet,
    private readonly log: KeyLog | undefined,
    private readonly options: SeenOptions,
  ) {}

  /** @throws StorageError when the directory holds something else */
  static async open(keys: KeySet, options: SeenOptions): Promise<LoggedFilter> {
    const { directory } = options;
    if (directory === undefined) return new LoggedFilter(keys, undefined, options);
    await mkdir(directory, { recursive: true });
    const log = await KeyLog.open(join(directory, LOG_NAME), (change, words) => {
      for (let at = 0; at < words.length; at += 2) keys[change](words[at]!, words[at + 1]!);
    });
    return new LoggedFilter(keys, log, options);
  }

  get kind(): SeenKind {
    return this.keys.kind;
  }

  get count(): number {
    return this.keys.size;
  }

  get uncommitted(): number {
    return this.#changes.count;
  }

  get memoryBytes(): number {
    return this.keys.memoryBytes;
  }

  add(uris: readonly string[]): Promise<Uint8Array> {
    return this.#turns.take(async () => {
      const words = fingerprintsOf(uris);
      const fresh = new Uint8Array(uris.length);
      for (let i = 0; i < fresh.length; i++) {
        const low = words[2 * i]!;
        const high = words[2 * i + 1]!;
        if (!this.keys.add(low, high)) continue;
        fresh[i] = 1;
        if (this.log !== undefined) this.#changes.push('add', low, high);
      }
      await this.#commitIfMany();
      return fresh;
    });
  }

  forget(uris: readonly string[]): Promise<void> {
    return this.#turns.take(async () => {
      const words = fingerprintsOf(uris);
      for (let at = 0; at < words.length; at += 2) {
        const low = words[at]!;
        const high = words[at + 1]!;
        if (this.keys.forget(low, high) && this.log !== undefined) this.#changes.push('forget', low, high);
      }
      await this.#commitIfMany();
    });
  }

  commit(): Promise<void> {
    return this.#turns.take(() => this.#commit());
  }

  close(): Promise<void> {
    return this.#turns.last(async () => {
      try {
        await this.#commit();
      } finally {
        await this.log?.close();
      }
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #commitIfMany(): Promise<void> {
    if (this.#changes.count > (this.options.maxUncommitted ?? DEFAULT_MAX_UNCOMMITTED)) await this.#commit();
  }

  async #commit(): Promise<void> {
    if (this.log === undefined || this.#changes.count === 0) return;
    await this.#changes.appendTo(this.log);
    if (this.options.sync === true) await this.log.sync();
    this.#changes = new ChangeList();
  }
}
