import { Mutex } from '../../protocols/mutex.js';
import { Generations, type PublishedGeneration } from '../generations/generations.js';
import { referencesDirectory } from './format.js';
import { ReferencesReader, type ReferencesReaderOptions } from './reader.js';

export interface CurrentReferencesOptions extends ReferencesReaderOptions {
  /**
   * The interval in milliseconds at which the directory is polled, in case the file system reports no changes.
   * Default 2000.
   */
  readonly pollIntervalMs?: number;
  /** Called when another generation becomes current, including the first one. */
  readonly onOpen?: (references: ReferencesReader) => void;
  /** Called if a newer generation cannot be opened; the previous one stays current. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Keeps the newest generation open and switches when another one is published (DESIGN 4). A reader is
 * synchronous, so a reply comes from one generation: the caller uses {@link current} within one turn of the
 * event loop, or acquires it.
 */
export class CurrentReferences implements AsyncDisposable {
  readonly #data: string;
  readonly #options: CurrentReferencesOptions;
  readonly #generations: Generations;
  #following: Disposable | undefined;
  #current: ReferencesReader | undefined;
  /** Of the current generation; undefined before the first publication. */
  #identity: string | undefined;
  /** The number of users of each generation. The last user closes a replaced generation. */
  readonly #users = new Map<ReferencesReader, number>();
  /** One switch at a time. */
  readonly #mutex = new Mutex();
  #closed = false;

  private constructor(data: string, options: CurrentReferencesOptions) {
    this.#data = data;
    this.#options = options;
    const { pollIntervalMs } = options;
    this.#generations = new Generations(referencesDirectory(data), { pollIntervalMs });
  }

  /**
   * Opens the newest generation, if there is one, and follows later publications.
   *
   * @param data the data directory
   * @throws StorageError if the generation is damaged
   */
  static async open(data: string, options: CurrentReferencesOptions = {}): Promise<CurrentReferences> {
    const current = new CurrentReferences(data, options);
    const published = await current.#generations.published();
    if (published !== undefined) await current.#open(published);
    current.#following = current.#generations.follow((newest) => {
      void current.#mutex.runExclusive(() => current.#follow(newest));
    });
    return current;
  }

  /**
   * Checks for a new generation immediately, for a caller that has just published one. Resolves when the newest
   * generation is current or was reported to `onError`.
   */
  async refresh(): Promise<void> {
    const newest = await this.#generations.published();
    await this.#mutex.runExclusive(() => this.#follow(newest));
  }

  /**
   * The newest generation; undefined if nothing was published yet, or everything was deleted. Do not keep it
   * beyond the current turn of the event loop.
   */
  get current(): ReferencesReader | undefined {
    return this.#current;
  }

  /** Returns the newest generation and keeps it open until it is passed to {@link release}. */
  acquire(): ReferencesReader | undefined {
    const reader = this.#current;
    if (reader !== undefined) this.#users.set(reader, (this.#users.get(reader) ?? 0) + 1);
    return reader;
  }

  async release(reader: ReferencesReader): Promise<void> {
    const users = (this.#users.get(reader) ?? 0) - 1;
    if (users > 0) this.#users.set(reader, users);
    else this.#users.delete(reader);
    if (users <= 0 && reader !== this.#current) await reader.close();
  }

  /**
   * Closes the newest generation. Acquired generations stay open until they are released. Later calls do
   * nothing.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#following?.[Symbol.dispose]();
    await this.#mutex.runExclusive(() => this.#replace(undefined));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #follow(newest: PublishedGeneration | undefined): Promise<void> {
    if (this.#closed || newest?.identity === this.#identity) return;
    try {
      if (newest !== undefined) await this.#open(newest);
      else {
        this.#identity = undefined;
        await this.#replace(undefined);
      }
    } catch (error) {
      this.#options.onError?.(error);
    }
  }

  async #open({ identity }: PublishedGeneration): Promise<void> {
    const reader = await ReferencesReader.openCurrent(this.#data, this.#options);
    this.#identity = identity;
    await this.#replace(reader);
  }

  async #replace(reader: ReferencesReader | undefined): Promise<void> {
    const old = this.#current;
    this.#current = reader;
    if (reader !== undefined) this.#options.onOpen?.(reader);
    if (old !== undefined && !this.#users.has(old)) await old.close();
  }
}
