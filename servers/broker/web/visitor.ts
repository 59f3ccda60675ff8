// Who waits for a page, and the work that a page can do without.
import { PeerError, StorageError } from '../../../protocols/errors.js';

/** Who waits for a page. */
export interface Visitor {
  /** The client among which the index divides its work, as in `SearchOptions`. */
  readonly client: string;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** Bounds work that a page can do without. */
export class OptionalWork {
  readonly #most: number;
  #running = 0;

  /** @param most pages that do it at a time */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Returns undefined if too many pages do it, or if the index is busy, out of time or damaged: a search would
   * say why.
   */
  async run<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#running >= this.#most) return undefined;
    this.#running += 1;
    try {
      return await work();
    } catch (error) {
      if (error instanceof StorageError || error instanceof PeerError) return undefined;
      throw error;
    } finally {
      this.#running -= 1;
    }
  }
}
