import type { SummarySnapshot } from '../../storage/index.js';
import type { Logger } from '../host/index.js';

/** Where generations come from; `Generations` of storage is one. */
export interface SnapshotSource {
  current(): Promise<number | undefined>;
  open(): Promise<SummarySnapshot>;
  follow(onChange: (generation: number) => void): Disposable;
}

/**
 * Holds the newest generation open (DESIGN 4). Each transfer acquires it and keeps what it got, whatever is
 * published meanwhile; the last one to let go of an old generation closes it.
 */
export class CurrentSnapshot implements AsyncDisposable {
  readonly #source: SnapshotSource;
  readonly #log: Logger;
  readonly #following: Disposable;
  #snapshot: SummarySnapshot | undefined;
  #refreshing: Promise<void> | undefined;
  #closed = false;

  constructor(source: SnapshotSource, log: Logger) {
    this.#source = source;
    this.#log = log;
    // Without this the old generation's files would stay until somebody asks for the new one.
    this.#following = source.follow(() => {
      this.#refresh().catch((error: Error) => log.error(`cannot open the new database: ${error.message}`));
    });
  }

  /**
   * The newest generation, which the caller must release; undefined when nothing was published yet. When a new
   * one cannot be opened, the one before it serves on.
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

  /** Lets go of the newest generation; transfers that run keep theirs. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#following[Symbol.dispose]();
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
    const newest = await this.#source.current();
    if (this.#closed || newest === undefined || newest === this.#snapshot?.generation) return;
    const snapshot = await this.#source.open();
    this.#log.info(`serving generation ${snapshot.generation}, ${snapshot.count} objects`);
    await this.#replace(snapshot);
  }

  async #replace(snapshot: SummarySnapshot | undefined): Promise<void> {
    const old = this.#snapshot;
    this.#snapshot = snapshot;
    await old?.close();
  }
}
