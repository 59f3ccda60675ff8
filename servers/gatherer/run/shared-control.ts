// The state of a crawl that several processes share: what is ordered at one of them holds for all, and the limits of the
// crawl count what all of them have done.
import { z } from 'zod';
import type { Clock } from '../../../protocols/clock.js';
import { messageOf } from '../../../protocols/errors.js';
import type { GathererStore, MetaValue } from '../../../storage/index.js';
import type { CrawlCommand } from '../../crawler/controller.js';
import { announce } from '../../crawler/events.js';
import type { CrawlLimits } from '../../crawler/limits.js';
import { END_REASONS, type EndReason } from '../../crawler/states.js';

const CONTROL = 'run.control';

const count = z.number().min(0);
const stateSchema = z.object({
  /** Of the last order. */
  number: count,
  paused: z.boolean(),
  /** The number of the last order to stop; 0: none. A process that joins later continues. */
  stop: count,
  reason: z.enum(END_REASONS),
  /** Milliseconds of crawling, without pauses and without times in which no process took part. */
  elapsedMs: count,
  /** When a process added to it last, by the clock of the database. */
  at: count,
  /** What was done at the last stop: the limits count from there. */
  base: z.object({ documents: count, bytes: count, elapsedMs: count }),
});
type SharedState = z.infer<typeof stateSchema>;

const INITIAL: SharedState = {
  number: 0,
  paused: false,
  stop: 0,
  reason: 'finished',
  elapsedMs: 0,
  at: 0,
  base: { documents: 0, bytes: 0, elapsedMs: 0 },
};

/** What the orders of other processes are for. */
export interface Follower {
  /** Does what another process was told to. */
  follow(order: CrawlCommand): void;
}

/** Options of {@link SharedControl}. */
export interface SharedControlOptions {
  readonly store: GathererStore;
  /** Over all processes, since the run began or was stopped last. */
  readonly limits: Pick<CrawlLimits, 'maxBytes' | 'maxDocuments' | 'maxSeconds'>;
  /** Milliseconds between two calls of {@link SharedControl.tick}. */
  readonly tickMs: number;
  /** Of the database, milliseconds. */
  readonly clock: Clock;
  /** Whether this process begins the run, in the state `paused`; undefined: the run is in progress. */
  readonly begin?: { readonly paused: boolean } | undefined;
}

/** Ticks that may be missed before the time between two of them does not count. */
const MISSED_TICKS = 4;

/** The part of one process in the state of the crawl. */
export class SharedControl implements AsyncDisposable {
  readonly #options: SharedControlOptions;
  #state: SharedState;
  /** Orders up to this number are done here. */
  #done: number;
  #follower: Follower | undefined;
  /** An order of this process that the store does not have yet. */
  #ordered: CrawlCommand | undefined;
  #writing: Promise<void> | undefined;

  private constructor(options: SharedControlOptions, state: SharedState) {
    this.#options = options;
    this.#state = state;
    this.#done = state.number;
  }

  /** Reads the state of the run in progress, or writes that of one that begins. */
  static async open(options: SharedControlOptions): Promise<SharedControl> {
    const { store, begin } = options;
    if (begin === undefined) return new SharedControl(options, stateOf(await store.meta.get(CONTROL)));
    const state = { ...INITIAL, paused: begin.paused };
    await store.batch().putMeta(CONTROL, JSON.stringify(state)).commit();
    return new SharedControl(options, state);
  }

  /** Whether the crawl is paused, as far as this process knows. */
  get paused(): boolean {
    return this.#state.paused;
  }

  /** Seconds of crawling since the run began, pauses not counted, whichever processes took part. */
  get elapsed(): number {
    return this.#counted(this.#state, this.#options.clock.now()).elapsedMs / 1000;
  }

  /** From now on the orders of other processes are passed on; a crawl that is paused is paused here. */
  attach(follower: Follower): void {
    this.#follower = follower;
    if (this.#state.paused) follower.follow({ kind: 'pause' });
  }

  /** An operator has ordered something at this process, which does it at once. The others do it when they look. */
  order(order: CrawlCommand): void {
    this.#ordered = order;
    void this.#write();
  }

  /** Learns what was ordered elsewhere. @throws StorageError if the store cannot be read */
  async look(): Promise<void> {
    await this.#write();
    if (this.#ordered !== undefined || this.#follower === undefined) return;
    const state = stateOf(await this.#options.store.meta.get(CONTROL));
    // Ordered here while the state was read.
    if (this.#ordered !== undefined) return;
    this.#adopt(state);
    await this.#checkTotals();
  }

  /** Counts the time of crawling. @throws StorageError if the store cannot be written to */
  async tick(): Promise<void> {
    const state = await this.#change((now, state) => this.#counted(state, now));
    // The orders of others are learned by a look.
    this.#state = { ...this.#state, at: state.at, elapsedMs: state.elapsedMs };
    const { maxSeconds } = this.#options.limits;
    const elapsedMs = state.elapsedMs - state.base.elapsedMs;
    if (maxSeconds > 0 && elapsedMs >= maxSeconds * 1000) await this.#reach('time limit', state);
  }

  /** Tries once more to store what was ordered here. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#follower = undefined;
    await this.#write();
    if (this.#ordered !== undefined)
      announce(`the other processes of the crawl were not told: ${this.#ordered.kind}`);
  }

  #adopt(state: SharedState): void {
    const { stop, number, paused, reason } = state;
    const isStopped = stop > this.#done;
    const isNew = number > this.#done;
    this.#state = state;
    if (!isNew) return;
    this.#done = number;
    if (isStopped) this.#follower?.follow({ kind: 'stop', reason });
    else this.#follower?.follow({ kind: paused ? 'pause' : 'resume' });
  }

  /** CRAWL-20.2. */
  async #checkTotals(): Promise<void> {
    const { maxBytes, maxDocuments } = this.#options.limits;
    if (maxBytes <= 0 && maxDocuments <= 0) return;
    const state = this.#state;
    const { succeeded, bytes } = await this.#options.store.partitionTotals();
    if (maxBytes > 0 && bytes - state.base.bytes >= maxBytes) await this.#reach('data limit', state);
    else if (maxDocuments > 0 && succeeded - state.base.documents >= maxDocuments)
      await this.#reach('document limit', state);
  }

  /** A limit is reached: stops all processes, unless something else was ordered meanwhile. */
  async #reach(reason: EndReason, seen: SharedState): Promise<void> {
    const order: CrawlCommand = { kind: 'stop', reason };
    const base = await this.#base();
    await this.#change((now, state) =>
      state.number === seen.number ? this.#ordering(order, state, now, base) : state,
    );
    await this.look();
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeOrder().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeOrder(): Promise<void> {
    while (this.#ordered !== undefined) {
      const order = this.#ordered;
      try {
        const base = await this.#base();
        const state = await this.#change((now, state) => this.#ordering(order, state, now, base));
        this.#state = state;
        this.#done = state.number;
        if (this.#ordered === order) this.#ordered = undefined;
      } catch (error) {
        // The next look tries again.
        announce(`the order to ${order.kind} is not stored yet: ${messageOf(error)}`);
        return;
      }
    }
  }

  async #base(): Promise<SharedState['base']> {
    const { succeeded, bytes } = await this.#options.store.partitionTotals();
    return { documents: succeeded, bytes, elapsedMs: 0 };
  }

  #ordering(order: CrawlCommand, former: SharedState, now: number, base: SharedState['base']): SharedState {
    const state = this.#counted(former, now);
    const number = state.number + 1;
    if (order.kind !== 'stop') return { ...state, number, paused: order.kind === 'pause' };
    const { elapsedMs } = state;
    return {
      ...state,
      number,
      paused: false,
      stop: number,
      reason: order.reason,
      base: { ...base, elapsedMs },
    };
  }

  #counted(state: SharedState, now: number): SharedState {
    const passed = now - state.at;
    const counts = !state.paused && passed >= 0 && passed <= MISSED_TICKS * this.#options.tickMs;
    return { ...state, at: now, elapsedMs: state.elapsedMs + (counts ? passed : 0) };
  }

  #change(change: (now: number, state: SharedState) => SharedState): Promise<SharedState> {
    return this.#options.store.changeMeta(async (meta) => {
      const state = change(await meta.time(), stateOf(await meta.get(CONTROL)));
      meta.put(CONTROL, JSON.stringify(state));
      return state;
    });
  }
}

function stateOf(value: MetaValue | undefined): SharedState {
  // A run of an earlier version has none.
  return value === undefined ? INITIAL : stateSchema.parse(JSON.parse(String(value)));
}
