// Divides the time of one thread among queries: short ones first, then the clients that have used least.
import { LRUCache } from 'lru-cache';
import { FairQueue, RecentWork, type TurnRule } from '../../../protocols/fair-queue.js';

/**
 * Milliseconds of work up to which a query has the first priority; each doubling of it lowers the priority by
 * one.
 */
const FIRST_LEVEL_MS = 2;

/**
 * Each turn of this number goes to the query that has waited longest, so that long queries end although short
 * ones keep coming.
 */
const TURNS_PER_OLDEST = 8;

/**
 * Each turn of this number goes to the client that has worked least, so that a stream of short queries of
 * others takes no more than its part.
 */
const TURNS_PER_CLIENT = 2;

/** Milliseconds in which half of the work of a client is forgotten. */
const HALF_LIFE_MS = 5_000;

/**
 * Milliseconds by which the work of a client that begins a query may be below that of the least active one, and
 * above it. One that comes for the first time is not preferred until it has had as much; one that was busy alone,
 * or had many short queries, waits for one turn of the others, not until they have had as much.
 */
const MAX_CREDIT_MS = 8;
const MAX_DEBT_MS = 1;

/** Clients whose work is remembered; the least recently active is forgotten first. */
const MAX_CLIENTS = 4_096;

/** Milliseconds for which the thread counts as shared after two queries have worked at a time. */
const SHARED_MS = 1_000;

/** The name under which work without a client is counted. */
const NO_CLIENT = '';

/** One query's part of a thread. */
export interface ThreadShare {
  readonly client: string;
  /** Ascends with the beginning of queries. */
  readonly order: number;
  /** Milliseconds of work so far. */
  work: number;
  /** When the current turn began; undefined while the query does not have the thread. */
  since: number | undefined;
}

/**
 * Lets one query at a time work in a thread. A query takes a turn, works for some milliseconds, and releases
 * the thread; then the next turn goes to the query that has worked least (in steps of a factor of two), and
 * among those to the client that has worked least recently. So a cheap query waits for one turn of an expensive
 * one, however many of them there are, and a client with many queries gets one part. Every second turn goes to
 * the client that has worked least, whatever its query has worked, and to the first of its queries: beside n
 * clients with any number of short queries a longer one takes about 2n times its own work at most. Every eighth
 * turn goes to the query that has waited longest.
 */
export class Scheduler {
  /** By client and level of work. */
  readonly #queue = new FairQueue<string, { readonly share: ThreadShare; readonly resume: () => void }>();
  readonly #work = new LRUCache<string, RecentWork>({ max: MAX_CLIENTS });
  #holder: ThreadShare | undefined;
  #turns = 0;
  #entered = 0;
  #isChoosing = false;
  /** Number of queries that work, by client. */
  readonly #active = new Map<string, number>();
  #working = 0;
  #sharedUntil = 0;

  /**
   * Begins a query.
   *
   * @param isLikelyLong it has the priority of a query that has had its first turn. Default false
   */
  enter(client: string | undefined, isLikelyLong = false): ThreadShare {
    const work = isLikelyLong ? FIRST_LEVEL_MS : 0;
    return { client: client ?? NO_CLIENT, order: ++this.#entered, work, since: undefined };
  }

  /** A query begins to work, with turns and waits for the disk in between. */
  join({ client }: ThreadShare): void {
    this.#settle(client);
    this.#active.set(client, (this.#active.get(client) ?? 0) + 1);
    this.#working += 1;
    this.#noteSharing();
  }

  /** It pauses or ends. */
  leave({ client }: ThreadShare): void {
    this.#noteSharing();
    this.#working -= 1;
    const left = (this.#active.get(client) ?? 1) - 1;
    if (left > 0) this.#active.set(client, left);
    else this.#active.delete(client);
  }

  /**
   * Whether other queries work too, or did a moment ago: then a piece of work that cannot be interrupted must
   * be short.
   */
  get isShared(): boolean {
    return this.#working > 1 || performance.now() < this.#sharedUntil;
  }

  /** Takes a turn: immediately, or when the returned promise resolves. */
  take(share: ThreadShare): Promise<void> | undefined {
    if (this.#holder === undefined && this.#queue.size === 0) {
      this.#grant(share);
      return undefined;
    }
    return this.#wait(share);
  }

  /** Ends a turn and resolves with the next one; in between the thread handles other events. */
  pass(share: ThreadShare): Promise<void> {
    const turn = this.#wait(share);
    this.release(share);
    return turn;
  }

  /** Ends a turn. Does nothing if the query does not have the thread. */
  release(share: ThreadShare): void {
    if (share.since === undefined) return;
    const now = performance.now();
    const milliseconds = now - share.since;
    share.work += milliseconds;
    this.#workOf(share.client).add(milliseconds, now);
    share.since = undefined;
    this.#holder = undefined;
    this.#choose();
  }

  /** Limits the difference of a client's work to that of the others that are active. */
  #settle(client: string): void {
    const now = performance.now();
    const others = [...this.#active.keys()].filter((other) => other !== client);
    if (others.length === 0) return;
    const least = Math.min(...others.map((other) => this.#workAt(other, now)));
    const work = this.#workAt(client, now);
    this.#workOf(client).set(Math.max(least - MAX_CREDIT_MS, Math.min(least + MAX_DEBT_MS, work)), now);
  }

  #noteSharing(): void {
    if (this.#working > 1) this.#sharedUntil = performance.now() + SHARED_MS;
  }

  #wait(share: ThreadShare): Promise<void> {
    return new Promise((resume) => {
      this.#queue.add(share.client, { share, resume }, levelOf(share.work), share.order);
      this.#choose();
    });
  }

  #grant(share: ThreadShare): void {
    this.#holder = share;
    share.since = performance.now();
  }

  /** Gives the next turn after the events that have arrived meanwhile, such as new queries. */
  #choose(): void {
    if (this.#isChoosing || this.#holder !== undefined || this.#queue.size === 0) return;
    this.#isChoosing = true;
    setImmediate(() => {
      this.#isChoosing = false;
      if (this.#holder !== undefined) return;
      this.#turns += 1;
      const now = performance.now();
      const next = this.#queue.take(this.#rule, (client) => this.#workAt(client, now))?.item;
      if (next === undefined) return;
      this.#grant(next.share);
      next.resume();
    });
  }

  get #rule(): TurnRule {
    if (this.#turns % TURNS_PER_OLDEST === 0) return 'oldest';
    // If the queries of a client took turns, all but the shortest would end when the last one does.
    return this.#turns % TURNS_PER_CLIENT === 0 ? 'key' : 'level';
  }

  #workAt(client: string, now: number): number {
    return this.#work.peek(client)?.at(now) ?? 0;
  }

  #workOf(client: string): RecentWork {
    const known = this.#work.get(client) ?? new RecentWork(HALF_LIFE_MS);
    this.#work.set(client, known);
    return known;
  }
}

function levelOf(work: number): number {
  if (work < FIRST_LEVEL_MS) return 0;
  return 1 + Math.floor(Math.log2(work / FIRST_LEVEL_MS));
}
