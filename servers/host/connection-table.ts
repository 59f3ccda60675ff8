// Decides which connections a server keeps: limits for all and for each address, and which one goes when a
// limit is reached.
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { addressGroup, isLoopbackGroup } from './address-group.js';
import { garbagePace } from './garbage-pace.js';
import { idleCollection } from './idle-collection.js';

/** The limits of a {@link ConnectionTable}. */
export interface TableLimits {
  /** Connections at once, from 1. */
  readonly maxConnections: number;
  /**
   * Connections at once of one IPv4 address or one IPv6 /64. Default: a quarter of `maxConnections`, because a
   * whole office may connect from one address; for this machine (127.0.0.0/8, ::1) all of them, because a proxy
   * connects from there.
   */
  readonly maxPerAddress?: number | undefined;
  /**
   * Milliseconds in which a connection is never evicted: from the time when it was admitted, and from the last
   * reply on, because its next request may be on the way. Default 5000.
   */
  readonly graceMs?: number | undefined;
}

/**
 * Limits of the connections of a server, as its program takes them. What is undefined is the server's own
 * default.
 */
export interface PeerLimits {
  /** Connections of each port at once. */
  readonly maxConnections?: number | undefined;
  /**
   * Connections of each port at once of one IPv4 address or IPv6 /64. Default: a quarter of them; for this
   * machine all.
   */
  readonly maxPerAddress?: number | undefined;
  /**
   * Bytes per second that a peer must accept on average over `timeoutMs`. Default 100; 0: any progress
   * suffices.
   */
  readonly minBytesPerSecond?: number | undefined;
  /** Milliseconds after which a peer is cut that sends nothing that was expected, or accepts nothing. */
  readonly timeoutMs?: number | undefined;
}

/** Default of `graceMs`. */
const GRACE_MS = 5000;

/** A peer that accepts nothing for this many milliseconds is evicted if no idle connection is left. */
const STALLED_MS = 10_000;

/**
 * The place of one connection in a {@link ConnectionTable}. It tells the table whether the server waits for the
 * peer.
 */
export interface ConnectionSlot {
  /** The server waits for input. `served` says whether it has answered a request since the last call. */
  waitForInput(served: boolean): void;
  /** The server waits until the peer accepts output. */
  waitForOutput(): void;
  /** The server works for this connection: it is not evicted. */
  work(): void;
  /** The connection is closed. Further calls have no effect. */
  release(): void;
}

type SlotState = 'input' | 'output' | 'work' | 'released';

/** The connections of one address. */
class Group {
  readonly slots = new Set<TableSlot>();

  constructor(readonly name: string) {}
}

class TableSlot implements ConnectionSlot {
  state: SlotState = 'input';
  /** When it was admitted, or last answered a request. Bytes of an incomplete request change nothing. */
  servedAt: number;
  /** When the server began to wait for the peer to accept output. */
  stalledAt = 0;
  readonly #table: { readonly clock: Pick<Clock, 'now'>; released(slot: TableSlot): void };

  constructor(
    readonly group: Group,
    readonly evict: (idleMs: number) => void,
    table: { readonly clock: Pick<Clock, 'now'>; released(slot: TableSlot): void },
  ) {
    this.#table = table;
    this.servedAt = table.clock.now();
  }

  waitForInput(served: boolean): void {
    if (this.state === 'released') return;
    this.state = 'input';
    if (served) this.servedAt = this.#table.clock.now();
  }

  waitForOutput(): void {
    if (this.state === 'released') return;
    this.state = 'output';
    this.stalledAt = this.#table.clock.now();
  }

  work(): void {
    if (this.state !== 'released') this.state = 'work';
  }

  release(): void {
    if (this.state === 'released') return;
    this.state = 'released';
    this.#table.released(this);
  }
}

/**
 * The open connections of a server. A connection that waits for its peer may be closed to make room for
 * another, unless it is in its first seconds: when the table is full, the one that has waited longest of the
 * address with the most connections, which are no fewer than those of the newcomer's address; when an address
 * reaches its limit, one of its own. A change of a
 * connection's state takes constant time; the search for one that can go looks at all of them.
 */
export class ConnectionTable {
  readonly #limits: () => TableLimits;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onRelease: () => void;
  readonly #groups = new Map<string, Group>();
  #size = 0;

  /**
   * @param limits is called for each newcomer: a reload may change them
   * @param onRelease is called when a connection has left the table
   */
  constructor(
    limits: () => TableLimits,
    clock: Pick<Clock, 'now'> = monotonicClock,
    onRelease: () => void = () => undefined,
  ) {
    this.#limits = limits;
    this.#clock = clock;
    this.#onRelease = onRelease;
  }

  /** Connections open now. */
  get size(): number {
    return this.#size;
  }

  /** Addresses with open connections. */
  get addresses(): number {
    return this.#groups.size;
  }

  /** Whether all places are taken. */
  get full(): boolean {
    return this.#size >= this.#limits().maxConnections;
  }

  /** Whether a connection of this address is admitted without another one being closed. */
  hasRoom(address: string): boolean {
    return !this.full && !this.isAtLimit(address);
  }

  /** Whether this address has all connections that it may have. */
  isAtLimit(address: string): boolean {
    const name = addressGroup(address);
    const { maxConnections, maxPerAddress } = this.#limits();
    return (this.#groups.get(name)?.slots.size ?? 0) >= (maxPerAddress ?? shareOf(name, maxConnections));
  }

  /**
   * Admits a connection, which at first waits for input. Another one may be evicted for it.
   *
   * @param evict is called, with the milliseconds it has waited, when the connection must close; it is then
   *   released already
   * @returns undefined if there is no room
   */
  admit(address: string, evict: (waitedMs: number) => void): ConnectionSlot | undefined {
    const name = addressGroup(address);
    const isAtLimit = this.isAtLimit(address);
    if (isAtLimit || this.full) {
      const candidate = isAtLimit
        ? this.#longestOf(this.#groups.get(name)?.slots ?? [])
        : this.#longestOfLargest(this.#groups.get(name)?.slots.size ?? 0);
      if (candidate === undefined) return undefined;
      candidate.slot.release();
      candidate.slot.evict(candidate.waitedMs);
    }
    const group = this.#groups.get(name) ?? new Group(name);
    this.#groups.set(name, group);
    const slot = new TableSlot(group, evict, this.#events);
    group.slots.add(slot);
    this.#size += 1;
    garbagePace.opened();
    idleCollection.used();
    return slot;
  }

  readonly #events = {
    clock: { now: (): number => this.#clock.now() },
    released: (slot: TableSlot): void => {
      const { group } = slot;
      group.slots.delete(slot);
      this.#size -= 1;
      garbagePace.closed();
      idleCollection.used();
      if (group.slots.size === 0) this.#groups.delete(group.name);
      this.#onRelease();
    },
  };

  /**
   * The one that has waited longest, among those of the address with the most connections, of which it must have
   * at least `least`: a client with many does not get the place of one with few.
   */
  #longestOfLargest(least: number): Candidate | undefined {
    let best: Candidate | undefined;
    for (const { slots } of this.#groups.values()) {
      const size = best?.slot.group.slots.size ?? least;
      if (slots.size < size) continue;
      const candidate = this.#longestOf(slots);
      if (candidate === undefined) continue;
      if (slots.size > size || candidate.waitedMs > (best?.waitedMs ?? 0)) best = candidate;
    }
    return best;
  }

  /** The one that has waited longest for input; if none may go, the one that has accepted nothing for longest. */
  #longestOf(slots: Iterable<TableSlot>): Candidate | undefined {
    let idle: TableSlot | undefined;
    let stalled: TableSlot | undefined;
    for (const slot of slots) {
      if (slot.state === 'input' && slot.servedAt < (idle?.servedAt ?? Number.POSITIVE_INFINITY)) idle = slot;
      if (slot.state === 'output' && slot.stalledAt < (stalled?.stalledAt ?? Number.POSITIVE_INFINITY))
        stalled = slot;
    }
    const now = this.#clock.now();
    const { graceMs = GRACE_MS } = this.#limits();
    if (idle !== undefined && now - idle.servedAt >= graceMs)
      return { slot: idle, waitedMs: now - idle.servedAt };
    if (stalled !== undefined && now - stalled.stalledAt >= Math.max(STALLED_MS, graceMs))
      return { slot: stalled, waitedMs: now - stalled.stalledAt };
    return undefined;
  }
}

/** A connection that may be evicted. */
interface Candidate {
  readonly slot: TableSlot;
  readonly waitedMs: number;
}

/** The part of all places that the group of an address may take: a quarter, and all for this machine. */
export function shareOf(group: string, places: number): number {
  return isLoopbackGroup(group) ? places : Math.max(1, Math.ceil(places / 4));
}
