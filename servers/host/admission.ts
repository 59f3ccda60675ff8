// The queue before a server's connections: a newcomer waits for a place, then it is refused with an answer.
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { addressGroup } from './address-group.js';
import { type ConnectionSlot, ConnectionTable, shareOf, type TableLimits } from './connection-table.js';

/** The limits of an {@link Admission}. */
export interface AdmissionLimits extends TableLimits {
  /** Milliseconds for which a newcomer waits for a place. Default 10 000, longer than `graceMs`. */
  readonly waitMs?: number | undefined;
  /**
   * Newcomers that wait at once; one address has the same share of them as of the connections. Default: as many
   * as `maxConnections`, at least 256.
   */
  readonly maxWaiting?: number | undefined;
}

/** A connection that was accepted and is not yet served. */
export interface Newcomer {
  readonly address: string;
  /** It has a place. The connection may be closed already. */
  readonly admitted: (slot: ConnectionSlot) => void;
  /** It has to give the place to another one, after waiting this many milliseconds. */
  readonly evicted: (waitedMs: number) => void;
  /** No place was free in time. */
  readonly refused: () => void;
}

/** Default of `waitMs`. */
const WAIT_MS = 10_000;
/** The least default of `maxWaiting`. */
const MIN_WAITING = 256;
/** Milliseconds between two searches for a connection that can go. */
const SEARCH_MS = 100;
/** Addresses in vain for which a connection is looked for at a time. */
const MAX_SEARCHES = 64;

interface Waiting {
  readonly newcomer: Newcomer;
  readonly group: string;
  readonly cancelTimer: () => void;
}

/**
 * Admits the connections of a server to a {@link ConnectionTable}. A newcomer without a place waits, and the
 * addresses that wait take turns. A place becomes free when a connection closes, or when one can be evicted;
 * that is looked for after the event loop has read all input, so that a request which has arrived counts.
 */
export class Admission implements Disposable {
  readonly #limits: () => AdmissionLimits;
  readonly #clock: Clock;
  readonly #table: ConnectionTable;
  /** Those who wait by address, the address whose turn is next first. */
  readonly #queues = new Map<string, Waiting[]>();
  #waiting = 0;
  #filling = false;
  #searching = false;
  #cancelSearch: (() => void) | undefined;
  #closed = false;

  /** @param limits is called for each newcomer: a reload may change them */
  constructor(limits: () => AdmissionLimits, clock: Clock = monotonicClock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#table = new ConnectionTable(limits, clock, () => this.#fill(false));
  }

  /** Newcomers that wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Connections that have a place. */
  get size(): number {
    return this.#table.size;
  }

  /** Gives the newcomer a place now or later, or refuses it: calls exactly one of the two, once. */
  request(newcomer: Newcomer): void {
    const group = addressGroup(newcomer.address);
    if (!this.#closed && !this.#queues.has(group) && this.#table.hasRoom(newcomer.address)) {
      const slot = this.#table.admit(newcomer.address, newcomer.evicted);
      if (slot !== undefined) newcomer.admitted(slot);
      return;
    }
    if (this.#closed || !this.#mayWait(group)) {
      newcomer.refused();
      return;
    }
    const cancelTimer = this.#clock.setTimer(() => {
      this.#leave(waiting);
      newcomer.refused();
    }, this.#limits().waitMs ?? WAIT_MS);
    const waiting: Waiting = { newcomer, group, cancelTimer };
    const queue = this.#queues.get(group) ?? [];
    this.#queues.set(group, queue);
    queue.push(waiting);
    this.#waiting += 1;
    if (this.#cancelSearch === undefined) this.#search();
  }

  /** Refuses all who wait, and every newcomer from now on. */
  [Symbol.dispose](): void {
    this.#closed = true;
    this.#cancelSearch?.();
    for (const queue of [...this.#queues.values()])
      for (const waiting of [...queue]) {
        this.#leave(waiting);
        waiting.newcomer.refused();
      }
  }

  /** Whether one more of this address may wait. The last one of an address with more of them gives way. */
  #mayWait(group: string): boolean {
    const { maxConnections, maxWaiting = Math.max(maxConnections, MIN_WAITING) } = this.#limits();
    const own = this.#queues.get(group)?.length ?? 0;
    if (own >= shareOf(group, maxWaiting)) return false;
    if (this.#waiting < maxWaiting) return true;
    let longest: Waiting[] = [];
    for (const queue of this.#queues.values()) if (queue.length > longest.length) longest = queue;
    const last = longest.at(-1);
    if (last === undefined || longest.length <= own + 1) return false;
    this.#leave(last);
    last.newcomer.refused();
    return true;
  }

  #leave(waiting: Waiting): void {
    waiting.cancelTimer();
    const queue = this.#queues.get(waiting.group);
    const index = queue?.indexOf(waiting) ?? -1;
    if (queue === undefined || index < 0) return;
    queue.splice(index, 1);
    this.#waiting -= 1;
    if (queue.length === 0) this.#queues.delete(waiting.group);
  }

  /** Looks for connections that can go, when all input that has arrived is read. */
  #search(): void {
    if (this.#searching) return;
    this.#searching = true;
    setImmediate(() => {
      this.#searching = false;
      if (this.#closed) return;
      this.#fill(true);
      this.#cancelSearch?.();
      this.#cancelSearch =
        this.#waiting === 0
          ? undefined
          : this.#clock.setTimer(() => {
              this.#cancelSearch = undefined;
              if (this.#waiting > 0) this.#search();
            }, SEARCH_MS);
    });
  }

  /** Admits those who wait, address by address, as long as there is room. */
  #fill(evicting: boolean): void {
    // An eviction releases a place in the middle of this.
    if (this.#filling || this.#waiting === 0) return;
    this.#filling = true;
    try {
      for (let failures = 0; failures < this.#queues.size; ) {
        if (!evicting && this.#table.full) return;
        const [next] = this.#queues;
        const waiting = next?.[1][0];
        if (next === undefined || waiting === undefined) return;
        const { newcomer } = waiting;
        // The next turn is that of another address.
        this.#queues.delete(waiting.group);
        this.#queues.set(...next);
        const slot =
          evicting || this.#table.hasRoom(newcomer.address)
            ? this.#table.admit(newcomer.address, newcomer.evicted)
            : undefined;
        if (slot !== undefined) {
          failures = 0;
          this.#leave(waiting);
          newcomer.admitted(slot);
          continue;
        }
        failures += 1;
        // The others are the first at the next search.
        if (evicting && failures >= MAX_SEARCHES) return;
      }
    } finally {
      this.#filling = false;
    }
  }
}
