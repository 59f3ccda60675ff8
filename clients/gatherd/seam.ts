import type { SectionName, SoifObject } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';

/** What an entry costs beside the characters of its key: 165 in a map of 400 000. */
const ENTRY_BYTES = 165;

/** Key of a change, and the number of the connection on which it was given out. */
type Given = Map<string, number>;

/**
 * Joins the transfers of one collection: knows from when on to ask again, and what came already.
 *
 * A server of GATHERD-4.6 sends `@UPDATE` last and in the order of Update-Time. Then everything before the time
 * reached has come, and only what has just that time has to be remembered; so has what carries no time, or
 * stands in the other sections. From any other server everything is asked for again, and everything remembered.
 */
export class Seam {
  readonly #original: UnixSeconds;
  readonly #maxMemoryBytes: number;
  #since: UnixSeconds;
  #connection = 0;
  /** Update-Time reached on the present connection. */
  #reached: UnixSeconds | undefined;
  #updatesBegun = false;
  /** Whether the present connection's server says that it sends in order. */
  #ordered = false;
  /** It does not. */
  #disproved = false;
  /** Objects of `@UPDATE` that have a time. */
  readonly #timed: Given = new Map();
  readonly #others: Given = new Map();
  #latestTimed: UnixSeconds = 0;
  #bytes = 0;
  /** Whether some of what came before {@link #reached} is not remembered any more. */
  #forgotten = false;
  #overflown = false;

  constructor(since: UnixSeconds, maxMemoryBytes: number) {
    this.#original = since;
    this.#since = since;
    this.#maxMemoryBytes = maxMemoryBytes;
  }

  /** What to ask for next. */
  get since(): UnixSeconds {
    if (this.#disproved) return this.#original;
    return this.#ordered ? Math.max(this.#since, this.#reached ?? 0) : this.#since;
  }

  /** Whether a further connection can give the rest, and nothing twice. */
  get resumable(): boolean {
    return !this.#overflown && !(this.#disproved && this.#forgotten);
  }

  /**
   * Whether the present connection is asked from a later time on than the first. Then it must not use the sections
   * (GATHERD-4.4): an object that is still to come, and whose content is older than that time, would only be
   * named in `@REFRESH`.
   */
  get resumed(): boolean {
    return this.#since > this.#original;
  }

  /** A new connection is there, and is asked for {@link since}. */
  reconnected(): void {
    this.#since = this.since;
    this.#connection += 1;
    this.#reached = undefined;
    this.#updatesBegun = false;
    this.#ordered = false;
  }

  /**
   * Whether an earlier connection gave this change; otherwise it counts as given from now on.
   * @param updateTime its Update-Time, undefined when it has none that can be read
   * @param ordered whether the server says that it sends in the order of GATHERD-4.6
   */
  repeats(
    kind: SectionName,
    object: SoifObject,
    updateTime: UnixSeconds | undefined,
    ordered: boolean,
  ): boolean {
    this.#ordered = ordered;
    const timed = kind === 'update' && updateTime !== undefined;
    if (timed) this.#reach(updateTime);
    // GATHERD-4.4: the sections come in one order, so that what follows the updates contradicts it.
    else if (kind !== 'update' && this.#updatesBegun) this.#disproved = true;
    if (timed && this.resumed && updateTime < this.#since) return true;
    const key = `${updateTime ?? '-'} ${urlOf(object)}`;
    // What the first connection refreshed comes as an update without the sections.
    if (timed && this.#others.has(`refresh ${key}`)) return true;
    return this.#given(timed ? this.#timed : this.#others, `${kind} ${key}`);
  }

  #reach(updateTime: UnixSeconds): void {
    this.#updatesBegun = true;
    const before = this.#reached;
    if (before !== undefined && updateTime < before) this.#disproved = true;
    if (before === undefined || updateTime > before) {
      this.#reached = updateTime;
      // With everything in it lying before, the memory is needed no more, if the order can be relied on.
      if (this.#ordered && !this.#disproved && this.#latestTimed < updateTime) this.#forget();
    }
    this.#latestTimed = Math.max(this.#latestTimed, updateTime);
  }

  #forget(): void {
    for (const key of this.#timed.keys()) this.#bytes -= key.length + ENTRY_BYTES;
    this.#forgotten ||= this.#timed.size > 0;
    this.#timed.clear();
  }

  #given(memory: Given, key: string): boolean {
    const connection = memory.get(key);
    if (connection !== undefined) return connection < this.#connection;
    if (this.#overflown) return false;
    memory.set(key, this.#connection);
    this.#bytes += key.length + ENTRY_BYTES;
    if (this.#bytes > this.#maxMemoryBytes) {
      this.#overflown = true;
      this.#timed.clear();
      this.#others.clear();
    }
    return false;
  }
}

/** The URL's bytes as a string: text would make one of URLs that differ in encoding only. */
function urlOf(object: SoifObject): string {
  const { urlBytes: bytes } = object;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
