// Keeps the newest generation of the database open.
import type { PublishedGeneration } from '../../storage/generations/generations.js';
import type { SummarySnapshot } from '../../storage/generations/snapshot.js';
import type { Logger } from '../host/logger.js';

/** The generation that a gatherd serves. */
export interface ServedGeneration {
  readonly generation: number;
  readonly objects: number;
  /** When it was opened, seconds since 1970. */
  readonly since: number;
}

/** Source of generations, e.g. `Generations` of storage. */
export interface SnapshotSource {
  published(): Promise<PublishedGeneration | undefined>;
  open(): Promise<SummarySnapshot>;
  follow(onChange: () => void): Disposable;
}

/**
 * Keeps the newest generation open (DESIGN 4). Each transfer acquires it and keeps its generation when a new
 * one is published; the last release of an old generation closes it. When the operator deletes the database,
 * nothing is served until the next one.
 */
export class CurrentSnapshot implements AsyncDisposable {
  readonly #source: SnapshotSource;
  readonly #log: Logger;
  readonly #subscription: Disposable;
  #snapshot: SummarySnapshot | undefined;
  /** Of the open generation; undefined if none is open. */
  #identity: string | undefined;
  #refreshing: Promise<void> | undefined;
  #since = 0;
  #closed = false;

  constructor(source: SnapshotSource, log: Logger) {
    this.#source = source;
    this.#log = log;
    // Without the subscription, the files of the old generation would stay on disk until the next transfer.
    this.#subscription = source.follow(() => {
      this.#refresh().catch((error: Error) => log.error(`cannot open the new database: ${error.message}`));
    });
  }

  /**
   * Returns the newest generation, which the caller must release; undefined if none is published. If a new one
   * cannot be opened, the previous one is returned.
   */
  async acquire(): Promise<SummarySnapshot | undefined> {
    try {
      await this.#refresh();
    } catch (error) {
      if (this.#snapshot === undefined) throw error;
      this.#log.error({ err: error }, 'cannot open the new database, serving the old one');
    }
    this.#snapshot?.retain();
    return this.#snapshot;
  }

  /** The generation that is open; undefined if none is. */
  get serving(): ServedGeneration | undefined {
    const snapshot = this.#snapshot;
    if (snapshot === undefined) return undefined;
    return { generation: snapshot.generation, objects: snapshot.count, since: this.#since };
  }

  /** Releases the newest generation; running transfers keep theirs. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#subscription[Symbol.dispose]();
    await this.#refreshing?.catch(() => {});
    await this.#replace(undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#openNewest().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #openNewest(): Promise<void> {
    const newest = await this.#source.published();
    if (this.#closed || newest?.identity === this.#identity) return;
    const snapshot = newest === undefined ? undefined : await this.#source.open();
    if (snapshot === undefined)
      this.#log.warn('the database was deleted: nothing is served until the next one');
    else this.#log.info(`serving generation ${snapshot.generation}, ${snapshot.count} objects`);
    this.#identity = newest?.identity;
    this.#since = Math.floor(Date.now() / 1000);
    await this.#replace(snapshot);
  }

  async #replace(snapshot: SummarySnapshot | undefined): Promise<void> {
    const old = this.#snapshot;
    this.#snapshot = snapshot;
    await old?.close();
  }
}
