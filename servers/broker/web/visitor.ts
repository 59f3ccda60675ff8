// Who waits for a page, and the work that a page can do without.
import { PeerError, StorageError } from '../../../protocols/errors.js';
import { type SessionShare, threadShare } from '../../host/fair-share.js';

/** Who waits for a page. */
export interface Visitor {
  /** The client among which the index divides its work, as in `SearchOptions`. */
  readonly client: string;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/**
 * The cost of any page that asks the index, in milliseconds of processor time, charged before: a page is longer than a
 * plain query, which comes first.
 */
const BASIC_COST_MS = 2;

/** The turns of a page among the clients of this thread: each step of its work waits for one, and is paid for. */
export class PageTurns {
  readonly #share: SessionShare;
  readonly #signal: AbortSignal;

  /** @param share default: that of the visitor's address */
  constructor(address: string, signal: AbortSignal, share = threadShare.join(address)) {
    this.#share = share;
    share.charge(BASIC_COST_MS);
    this.#signal = signal;
  }

  /**
   * Resolves when the page has its turn. Rejects when its visitor has gone: nothing more is made for it.
   *
   * @param costMs of the step that follows, in milliseconds of processor time
   */
  async take(costMs: number): Promise<void> {
    if (!this.#share.mayContinue()) await this.#share.turn(this.#signal);
    this.#signal.throwIfAborted();
    this.#share.charge(costMs);
  }
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
