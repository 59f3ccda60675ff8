// Decides which connections a server keeps: limits for all and for each address, and which one goes when a
// limit is reached.
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { addressGroup, isLoopbackGroup } from './address-group.js';

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

/**
 * A connection that has been served less than this many milliseconds ago is not evicted: its next request may
 * be on the way.
 */
const SERVED_GRACE_MS = 1000;

/** A peer that accepts nothing for this many milliseconds is evicted if no idle connection is left. */
const STALLED_MS = 10_000;

/** Groups that are examined for one eviction. More are examined only if so many have no connection to evict. */
const MAX_EXAMINED = 64;

type List = 'unserved' | 'served' | 'stalled';

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

/** The connections of one address. */
class Group {
  count = 0;
  /** Connections that may be evicted, the longest waiting first. */
  readonly lists: Readonly<Record<List, Set<TableSlot>>> = {
    unserved: new Set(),
    served: new Set(),
    stalled: new Set(),
  };

  constructor(readonly name: string) {}

  get hasWaiting(): boolean {
    const { unserved, served, stalled } = this.lists;
    return unserved.size + served.size + stalled.size > 0;
  }
}

class TableSlot implements ConnectionSlot {
  since = 0;
  #list: List | undefined;
  #released = false;
  #served = false;
  readonly #table: {
    now(): number;
    changed(group: Group, had: boolean): void;
    released(group: Group): void;
  };

  constructor(
    readonly group: Group,
    readonly evict: (idleMs: number) => void,
    table: {
      now(): number;
      changed(group: Group, had: boolean): void;
      released(group: Group): void;
    },
  ) {
    this.#table = table;
  }

  waitForInput(served: boolean): void {
    this.#served ||= served;
    this.#move(this.#served ? 'served' : 'unserved');
  }

  waitForOutput(): void {
    this.#move('stalled');
  }

  work(): void {
    this.#move(undefined);
  }

  release(): void {
    if (this.#released) return;
    this.#move(undefined);
    this.#released = true;
    this.#table.released(this.group);
  }

  #move(list: List | undefined): void {
    if (this.#released || (list === undefined && this.#list === undefined)) return;
    const { group } = this;
    const had = group.hasWaiting;
    if (this.#list !== undefined) group.lists[this.#list].delete(this);
    this.#list = list;
    if (list !== undefined) {
      this.since = this.#table.now();
      group.lists[list].add(this);
    }
    if (had !== group.hasWaiting) this.#table.changed(group, had);
  }
}

/**
 * The open connections of a server. A connection that waits for its peer may be closed to make room for
 * another: when the table is full, the one that has waited longest of the address with the most connections;
 * when an address reaches its limit, one of its own. A newcomer is refused only if none can go. Every operation
 * takes constant time.
 */
export class ConnectionTable {
  readonly #limits: () => TableLimits;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #groups = new Map<string, Group>();
  /** Groups with waiting connections, by their number of connections. */
  readonly #byCount: Set<Group>[] = [];
  /** No set of `#byCount` above this index has a group. */
  #highest = 0;
  #size = 0;

  /** @param limits is called for each newcomer: a reload may change them */
  constructor(limits: () => TableLimits, clock: Pick<Clock, 'now'> = monotonicClock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Connections open now. */
  get size(): number {
    return this.#size;
  }

  /** Addresses with open connections. */
  get addresses(): number {
    return this.#groups.size;
  }

  /**
   * Admits a connection, which at first waits for input.
   *
   * @param evict is called, with the milliseconds it has waited, when the connection must close; it is then
   *   released already
   * @returns undefined if the newcomer must be refused
   */
  admit(address: string, evict: (waitedMs: number) => void): ConnectionSlot | undefined {
    const { maxConnections, maxPerAddress } = this.#limits();
    const name = addressGroup(address);
    const group = this.#groups.get(name) ?? new Group(name);
    const limit =
      maxPerAddress ?? (isLoopbackGroup(name) ? maxConnections : Math.max(1, Math.ceil(maxConnections / 4)));
    if (group.count >= limit) {
      if (!this.#evictFrom(group)) return undefined;
    } else if (this.#size >= maxConnections && !this.#evictFromLargest()) return undefined;
    this.#groups.set(name, group);
    this.#resize(group, 1);
    const slot = new TableSlot(group, evict, this.#events);
    slot.waitForInput(false);
    return slot;
  }

  readonly #events = {
    now: (): number => this.#clock.now(),
    changed: (group: Group, had: boolean): void => {
      if (had) this.#byCount[group.count]?.delete(group);
      else this.#list(group);
    },
    released: (group: Group): void => {
      this.#resize(group, -1);
      if (group.count === 0) this.#groups.delete(group.name);
    },
  };

  #resize(group: Group, change: 1 | -1): void {
    if (group.hasWaiting) this.#byCount[group.count]?.delete(group);
    group.count += change;
    this.#size += change;
    if (group.hasWaiting) this.#list(group);
  }

  #list(group: Group): void {
    this.#byCount[group.count] ??= new Set();
    this.#byCount[group.count]?.add(group);
    this.#highest = Math.max(this.#highest, group.count);
  }

  #evictFromLargest(): boolean {
    let examined = 0;
    for (let count = this.#highest; count > 0; count--) {
      const groups = this.#byCount[count];
      if (groups === undefined || groups.size === 0) {
        if (count === this.#highest) this.#highest = count - 1;
        continue;
      }
      for (const group of groups) {
        if (this.#evictFrom(group)) return true;
        if (++examined >= MAX_EXAMINED) return false;
      }
    }
    return false;
  }

  #evictFrom({ lists }: Group): boolean {
    const now = this.#clock.now();
    const [unserved] = lists.unserved;
    const served = first(lists.served, now - SERVED_GRACE_MS);
    const slot =
      unserved !== undefined && (served === undefined || unserved.since <= served.since)
        ? unserved
        : (served ?? first(lists.stalled, now - STALLED_MS));
    if (slot === undefined) return false;
    slot.release();
    slot.evict(now - slot.since);
    return true;
  }
}

/** Returns the first slot of a list if it has waited since `latest` or longer. */
function first(list: ReadonlySet<TableSlot>, latest: number): TableSlot | undefined {
  const [slot] = list;
  return slot !== undefined && slot.since <= latest ? slot : undefined;
}
