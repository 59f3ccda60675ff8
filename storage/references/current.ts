import { Generations } from '../generations/generations.js';
import { referencesDirectory } from './format.js';
import { ReferencesReader, type ReferencesReaderOptions } from './reader.js';

export interface CurrentReferencesOptions extends ReferencesReaderOptions {
  /** Looks this often in case the file system does not tell, milliseconds. Default 2000. */
  readonly pollIntervalMs?: number;
  /** Called when another generation serves from now on, the first one included. */
  readonly onOpen?: (references: ReferencesReader) => void;
  /** A newer generation cannot be opened; the one before it stays. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Holds the newest generation open and follows what is published (DESIGN 4). As a reader answers on the spot, a reply is made
 * of one generation: whoever takes {@link current} uses it up in the same turn, or acquires it.
 */
export class CurrentReferences implements AsyncDisposable {
  readonly #data: string;
  readonly #options: CurrentReferencesOptions;
  readonly #generations: Generations;
  #following: Disposable | undefined;
  #current: ReferencesReader | undefined;
  /** How many hold a generation; a replaced one is closed by the last of them. */
  readonly #users = new Map<ReferencesReader, number>();
  #opening = Promise.resolve();
  #closed = false;

  private constructor(data: string, options: CurrentReferencesOptions) {
    this.#data = data;
    this.#options = options;
    const { pollIntervalMs } = options;
    this.#generations = new Generations(
      referencesDirectory(data),
      pollIntervalMs === undefined ? {} : { pollIntervalMs },
    );
  }

  /**
   * Opens the newest generation, if there is one, and follows.
   *
   * @param data the data directory
   * @throws StorageError when it is damaged
   */
  static async open(data: string, options: CurrentReferencesOptions = {}): Promise<CurrentReferences> {
    const current = new CurrentReferences(data, options);
    if ((await current.#generations.current()) !== undefined) await current.#openNewest();
    current.#following = current.#generations.follow((number) => {
      current.#opening = current.#opening.then(() => current.#follow(number));
    });
    return current;
  }

  /** Looks for a new generation at once, for a caller that has just published: resolves when the newest one is in use, or was reported as unusable. */
  async refresh(): Promise<void> {
    const number = await this.#generations.current();
    if (number === undefined) return;
    this.#opening = this.#opening.then(() => this.#follow(number));
    await this.#opening;
  }

  /** What to answer from now; undefined when nothing was published yet. Not to be kept beyond the turn. */
  get current(): ReferencesReader | undefined {
    return this.#current;
  }

  /** The newest generation, for longer than a turn: it stays open until it was given to {@link release}. */
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

  /** Lets go of the newest generation; acquired ones stay until they are released. Later calls do nothing. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#following?.[Symbol.dispose]();
    await this.#opening;
    await this.#replace(undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #follow(generation: number): Promise<void> {
    if (this.#closed || generation === this.#current?.generation) return;
    try {
      await this.#openNewest();
    } catch (error) {
      this.#options.onError?.(error);
    }
  }

  async #openNewest(): Promise<void> {
    const reader = await ReferencesReader.openCurrent(this.#data, this.#options);
    if (reader.generation === this.#current?.generation) await reader.close();
    else await this.#replace(reader);
  }

  async #replace(reader: ReferencesReader | undefined): Promise<void> {
    const old = this.#current;
    this.#current = reader;
    if (reader !== undefined) this.#options.onOpen?.(reader);
    if (old !== undefined && !this.#users.has(old)) await old.close();
  }
}
