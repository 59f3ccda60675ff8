// Publications while a run gathers: what each of them contains, and the times of what it does not contain.
import { MAX_AHEAD, type UnixSeconds } from '../../../protocols/time.js';
import { ReadWriteLock } from '../../../storage/level/read-write-lock.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';

/**
 * Keeps the times of changes in the order of the publications that contain them. A Broker asks for the changes
 * since the newest time that it received (GATHERD-13.6), so a change that is published later must not be older
 * than what was published before.
 *
 * A change gets its time from {@link CommitGate.enter}; its URI then holds the gate until its batch is written.
 * A publication waits for the holders, and later changes wait for it: milliseconds, because no URI holds the
 * gate while it is fetched or summarized.
 */
export class CommitGate {
  readonly #now: () => UnixSeconds;
  /** Shared by the URIs whose batches are not written. */
  readonly #lock = new ReadWriteLock('the gate of changes');
  #horizon: UnixSeconds;

  /** @param horizon the earliest time of a change */
  constructor(now: () => UnixSeconds, horizon: UnixSeconds = 0) {
    this.#now = now;
    this.#horizon = horizon;
  }

  /** The time of the last publication; before the first, that of the constructor. */
  get horizon(): UnixSeconds {
    return this.#horizon;
  }

  /** Waits for a publication in progress; then the URI holds the gate. Returns the time of its changes. */
  async enter(uri: Pick<CrawlUri, 'onSettled'>): Promise<UnixSeconds> {
    if (uri.onSettled === undefined) await this.#hold(uri);
    return this.#time();
  }

  /** Runs `work`, which must see every change with a time up to now, while no URI holds the gate. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.exclusive(() => {
      this.#horizon = this.#time();
      return work();
    });
  }

  #hold(uri: Pick<CrawlUri, 'onSettled'>): Promise<void> {
    return new Promise((entered, refused) => {
      const settled = () =>
        new Promise<void>((release) => {
          uri.onSettled = release;
          entered();
        });
      this.#lock.shared(settled).catch(refused);
    });
  }

  /**
   * The clock may be set back a little. After a publication with the clock far ahead the present time counts
   * again: else every later change would have the wrong time.
   */
  #time(): UnixSeconds {
    const now = this.#now();
    if (this.#horizon > now + MAX_AHEAD) this.#horizon = now;
    return Math.max(now, this.#horizon);
  }
}
