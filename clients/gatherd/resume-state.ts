// Decides where a collection resumes after a connection broke.
import type { SectionName, SoifObject } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';

/** Bytes of an entry in addition to the characters of its key, measured in a map of 400 000. */
const ENTRY_BYTES = 165;

/** Key of a change, and the number of the connection that delivered it. */
type Delivered = Map<string, number>;

/**
 * The state that a collection keeps from one connection to the next: the time to request from, and the changes
 * delivered.
 *
 * A server that follows GATHERD-4.6 sends `@UPDATE` last and in the order of Update-Time. Then every change
 * before the latest time was received, and only the changes of exactly that time, those without a time and
 * those of the other sections are remembered. Any other server has to send everything again, and everything is
 * remembered.
 */
export class ResumeState {
  readonly #original: UnixSeconds;
  readonly #maxMemoryBytes: number;
  #since: UnixSeconds;
  #connection = 0;
  /** Latest Update-Time on the current connection. */
  #reached: UnixSeconds | undefined;
  #updatesBegun = false;
  /** Whether the server of the current connection announced that it sends in order. */
  #ordered = false;
  /** Whether the server broke the order. */
  #disproved = false;
  /** Objects of `@UPDATE` that have a time. */
  readonly #timed: Delivered = new Map();
  readonly #others: Delivered = new Map();
  #latestTimed: UnixSeconds = 0;
  #bytes = 0;
  /** Whether changes before {@link #reached} were dropped from memory. */
  #hasDropped = false;
  #overflowed = false;

  constructor(since: UnixSeconds, maxMemoryBytes: number) {
    this.#original = since;
    this.#since = since;
    this.#maxMemoryBytes = maxMemoryBytes;
  }

  /** The time to request next. */
  get since(): UnixSeconds {
    if (this.#disproved) return this.#original;
    return this.#ordered ? Math.max(this.#since, this.#reached ?? 0) : this.#since;
  }

  /** Whether another connection can deliver the rest without duplicates. */
  get resumable(): boolean {
    return !this.#overflowed && !(this.#disproved && this.#hasDropped);
  }

  /**
   * Whether the current connection requests a later time than the first. Then it must not use the sections
   * (GATHERD-4.4): an object that is yet to come and whose content is older than that time would only be named
   * in `@REFRESH`.
   */
  get resumed(): boolean {
    return this.#since > this.#original;
  }

  /** Records that a new connection requests {@link since}. */
  reconnected(): void {
    this.#since = this.since;
    this.#connection += 1;
    this.#reached = undefined;
    this.#updatesBegun = false;
    this.#ordered = false;
  }

  /**
   * Whether an earlier connection delivered this change; if not, records it as delivered.
   * @param updateTime its Update-Time; undefined if it is absent or unreadable
   * @param ordered whether the server announced the order of GATHERD-4.6
   */
  repeats(
    kind: SectionName,
    object: SoifObject,
    updateTime: UnixSeconds | undefined,
    ordered: boolean,
  ): boolean {
    this.#ordered = ordered;
    const timed = kind === 'update' && updateTime !== undefined;
    if (timed) this.#advance(updateTime);
    // GATHERD-4.4: the updates are the last section, so another section after them breaks the order.
    else if (kind !== 'update' && this.#updatesBegun) this.#disproved = true;
    if (timed && this.resumed && updateTime < this.#since) return true;
    const key = `${updateTime ?? '-'} ${object.url}`;
    // An object that the first connection refreshed arrives as an update when the sections are off.
    if (timed && this.#others.has(`refresh ${key}`)) return true;
    return this.#delivered(timed ? this.#timed : this.#others, `${kind} ${key}`);
  }

  #advance(updateTime: UnixSeconds): void {
    this.#updatesBegun = true;
    const before = this.#reached;
    if (before !== undefined && updateTime < before) this.#disproved = true;
    if (before === undefined || updateTime > before) {
      this.#reached = updateTime;
      // In a reliable order no remembered change can come again once all are earlier than the latest time.
      if (this.#ordered && !this.#disproved && this.#latestTimed < updateTime) this.#dropTimed();
    }
    this.#latestTimed = Math.max(this.#latestTimed, updateTime);
  }

  #dropTimed(): void {
    for (const key of this.#timed.keys()) this.#bytes -= key.length + ENTRY_BYTES;
    this.#hasDropped ||= this.#timed.size > 0;
    this.#timed.clear();
  }

  #delivered(memory: Delivered, key: string): boolean {
    const connection = memory.get(key);
    if (connection !== undefined) return connection < this.#connection;
    if (this.#overflowed) return false;
    memory.set(key, this.#connection);
    this.#bytes += key.length + ENTRY_BYTES;
    if (this.#bytes > this.#maxMemoryBytes) {
      this.#overflowed = true;
      this.#timed.clear();
      this.#others.clear();
    }
    return false;
  }
}
