// Divides the memory for pages of replies among the clients that receive one.
import { Mutex } from '../../../protocols/mutex.js';
import { PageMemory, type PageOwner } from './page-memory.js';

/** Bytes of pages that all replies together aim at. */
const TOTAL_BYTES = 6 * 1024 * 1024;

/** Bytes of the smallest and the largest page. */
const MIN_PAGE_BYTES = 32 * 1024;
const MAX_PAGE_BYTES = 1024 * 1024;

/** Pages that are read at a time when many replies are sent. */
const LANES = 2;

/** One reply's part of the memory. */
export interface PageBudget extends Disposable {
  /** Bytes of objects to read for the next page; a larger object is read alone. */
  readonly pageBytes: number;
  /** Whether the next pages may be read while this one is sent. */
  readonly mayReadAhead: boolean;
  /** Reads a page. When many replies are sent, a few of them read at a time. */
  read<T>(work: () => Promise<T>): Promise<T>;
  /** Takes memory for a page if it is free; the holder disposes of it when the page is sent. */
  tryHold(bytes: number): Disposable | undefined;
  /** Like {@link tryHold}, but waits for the memory. */
  hold(bytes: number, signal?: AbortSignal): Promise<Disposable>;
  /** The client has accepted so many bytes of its page. */
  progress(bytes: number): void;
}

/** Who receives a reply. */
export interface ReplyOwner {
  /** The client by which large pages are shared. */
  readonly client?: string | undefined;
  /** Ends the reply when it occupies memory that others wait for. Default: it is never cut. */
  readonly cut?: ((reason: string) => void) | undefined;
}

/**
 * A page is in memory until its client has read it. Few clients get large pages, which cost less for each object; many get small ones, so
 * that hundreds of clients that do not read occupy little. Pages of large objects take their memory from {@link PageMemory}.
 */
export class ReplyMemory {
  readonly #pages: PageMemory;
  readonly #lanes = Array.from({ length: LANES }, () => new Mutex());
  #nextLane = 0;
  #replies = 0;

  /** @param pages default: its own */
  constructor(pages = new PageMemory()) {
    this.#pages = pages;
  }

  /** Replies that are being sent. */
  get replies(): number {
    return this.#replies;
  }

  /** Begins a reply, which ends when its share is disposed of. */
  enter({ client, cut }: ReplyOwner = {}): PageBudget {
    this.#replies += 1;
    let isOver = false;
    const bytesOf = () => Math.floor(TOTAL_BYTES / Math.max(1, this.#replies));
    const owner: PageOwner = { client: client ?? Symbol('reply'), cut, sent: 0 };
    const share = {
      get pageBytes() {
        return Math.max(MIN_PAGE_BYTES, Math.min(MAX_PAGE_BYTES, bytesOf()));
      },
      get mayReadAhead() {
        return bytesOf() >= 3 * MAX_PAGE_BYTES;
      },
      read: <T>(work: () => Promise<T>) => (share.mayReadAhead ? work() : this.#lane().runExclusive(work)),
      tryHold: (bytes: number) => this.#pages.tryTake(owner, bytes),
      hold: (bytes: number, signal?: AbortSignal) => this.#pages.take(owner, bytes, signal),
      progress: (bytes: number) => {
        owner.sent += bytes;
      },
      [Symbol.dispose]: () => {
        if (!isOver) this.#replies -= 1;
        isOver = true;
      },
    };
    return share;
  }

  #lane(): Mutex {
    return this.#lanes[this.#nextLane++ % LANES]!;
  }
}
