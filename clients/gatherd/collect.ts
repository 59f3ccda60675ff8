import { setTimeout as pause } from 'node:timers/promises';
import { ConnectionError, StateError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import {
  type GatherdChange,
  GatherdClient,
  type GatherdClientConnectOptions,
  type UpdateRequest,
} from './client.js';
import { Seam } from './seam.js';

export interface CollectOptions
  extends GatherdClientConnectOptions,
    Pick<UpdateRequest, 'compression' | 'sections'> {
  /** Where the collection before this one ended ({@link CollectedTotals.next}). Default 0: everything. */
  readonly since?: UnixSeconds;
  /** Connections in a row that may fail without a new object. Default 5. */
  readonly maxFruitless?: number;
  /** Connections in all. Default 100. */
  readonly maxConnections?: number;
  /** Milliseconds before the first new connection; each further fruitless one waits twice as long. Default 1000. */
  readonly pauseMs?: number;
  /** Milliseconds of the longest pause. Default 60 000. */
  readonly maxPauseMs?: number;
  /**
   * Bytes that may be spent on remembering what came, so that nothing is given out twice. Default 64 MiB, which
   * is some 300 000 objects of a server whose order is unknown; one that is known to send in the order of
   * GATHERD-4.6 needs next to nothing. When they do not suffice, a transfer that breaks is not taken up again.
   */
  readonly maxMemoryBytes?: number;
  /**
   * Believes that a stream whose times ascend so far goes on like that, even from a server that has not accepted
   * `SET changes` and so may follow no such rule. Default false: such a server is asked for everything again.
   */
  readonly trustOrder?: boolean;
  /** Seconds an Update-Time may be ahead of our clock and still move {@link CollectedTotals.next}. Default 86 400. */
  readonly maxAheadSeconds?: number;
  /** Told before each pause. */
  readonly onRetry?: (retry: CollectRetry) => void;
  /** Gives up: connecting, reading, pausing. */
  readonly signal?: AbortSignal;
}

/** A transfer broke and will be taken up again. */
export interface CollectRetry {
  readonly error: ConnectionError;
  /** Milliseconds until the next connection. */
  readonly pauseMs: number;
  /** The time that will be asked for. */
  readonly since: UnixSeconds;
}

/** What a collection came to so far. */
export interface CollectedTotals {
  /** Changes given out. */
  readonly objects: number;
  /** Changes that came again after a transfer broke, and were dropped. */
  readonly repeated: number;
  readonly connections: number;
  /** Whether everything has come. */
  readonly complete: boolean;
  /**
   * What to ask for in the next collection: the largest Update-Time received, once the collection is complete;
   * until then the time this one was asked for (GATHERD-13.6). When a transfer was taken up in the middle, the
   * largest that was received before: deletions are told with the first request only (GATHERD-4.9).
   */
  readonly next: UnixSeconds;
}

/**
 * Collects the changes since a time over as many connections as it takes: when a transfer breaks, a new
 * connection goes on where everything before has surely come (GATHERD-4.6), and what was given out already is
 * dropped (same kind, URL and Update-Time). An iteration that ends normally has given every change once.
 *
 * It throws what {@link GatherdClient} throws, and {@link ConnectionError} only when the options allow no further
 * connection. Refusals (PeerError) and broken protocol (ProtocolError) are not tried again.
 */
export function collectChanges(options: CollectOptions): Collection {
  return new Collection(options);
}

/** A collection under way: iterate over it, once, and look at {@link totals} then. */
export class Collection implements AsyncIterable<GatherdChange> {
  readonly #options: CollectOptions;
  readonly #since: UnixSeconds;
  readonly #seam: Seam;
  #started = false;
  #objects = 0;
  #repeated = 0;
  #connections = 0;
  #complete = false;
  /** Whether the server has accepted `SET changes`: it follows GATHERD-4.4 and 4.6. */
  #accepted = false;
  #newest: UnixSeconds = 0;

  /** @throws RangeError for an option out of its range. */
  constructor(options: CollectOptions) {
    const { since = 0, maxMemoryBytes = 64 << 20, maxFruitless = 5, maxConnections = 100 } = options;
    const { pauseMs = 1000, maxPauseMs = 60_000, maxAheadSeconds = 86_400 } = options;
    const counts = {
      since,
      maxMemoryBytes,
      maxFruitless,
      maxConnections,
      pauseMs,
      maxPauseMs,
      maxAheadSeconds,
    };
    for (const [name, value] of Object.entries(counts)) {
      if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${name} cannot be ${value}`);
    }
    this.#options = options;
    this.#since = since;
    this.#seam = new Seam(since, maxMemoryBytes);
  }

  get totals(): CollectedTotals {
    return {
      objects: this.#objects,
      repeated: this.#repeated,
      connections: this.#connections,
      complete: this.#complete,
      next: this.#complete ? Math.max(this.#since, this.#newest) : this.#since,
    };
  }

  /** @throws StateError when it was iterated before. */
  [Symbol.asyncIterator](): AsyncGenerator<GatherdChange, void, undefined> {
    if (this.#started) throw new StateError('a collection can be iterated once');
    this.#started = true;
    return this.#collect();
  }

  async *#collect(): AsyncGenerator<GatherdChange, void, undefined> {
    const { signal } = this.#options;
    let fruitless = 0;
    while (!this.#complete) {
      const before = this.#objects;
      this.#connections += 1;
      try {
        yield* this.#connection();
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        fruitless = this.#objects > before ? 0 : fruitless + 1;
        const pauseMs = this.#pauseBefore(error, fruitless);
        await pause(pauseMs, undefined, signal === undefined ? {} : { signal }).catch((reason: Error) => {
          throw signal?.aborted === true ? signal.reason : reason;
        });
      }
    }
  }

  /** Decides whether there is to be another connection, and how long to wait for it. */
  #pauseBefore(error: ConnectionError, fruitless: number): number {
    const {
      maxFruitless = 5,
      maxConnections = 100,
      pauseMs: first = 1000,
      maxPauseMs = 60_000,
    } = this.#options;
    if (fruitless >= maxFruitless || this.#connections >= maxConnections || !this.#seam.resumable)
      throw error;
    const pauseMs = Math.min(first * 2 ** fruitless, maxPauseMs);
    this.#options.onRetry?.({ error, pauseMs, since: this.#seam.since });
    return pauseMs;
  }

  /** One connection's changes, as far as they are new. */
  async *#connection(): AsyncGenerator<GatherdChange, void, undefined> {
    const {
      compression = true,
      sections = true,
      trustOrder = false,
      signal,
      maxAheadSeconds = 86_400,
    } = this.#options;
    const seam = this.#seam;
    await using client = await GatherdClient.connect(this.#options);
    seam.reconnected();
    const request = {
      since: seam.since,
      compression,
      sections: sections && !seam.resumed,
      ...(signal === undefined ? {} : { signal }),
    };
    const latest = Math.floor(Date.now() / 1000) + maxAheadSeconds;
    for await (const change of client.changes(request)) {
      this.#accepted ||= client.changesAccepted;
      const updateTime = change.object.number('Update-Time');
      // What was deleted while a transfer was taken up again has not been told: the next collection asks for it.
      const counts = !(seam.resumed && this.#accepted) && updateTime !== undefined && updateTime <= latest;
      if (counts) this.#newest = Math.max(this.#newest, updateTime);
      if (seam.repeats(change.kind, change.object, updateTime, trustOrder || this.#accepted)) {
        this.#repeated += 1;
        continue;
      }
      this.#objects += 1;
      yield change;
    }
    this.#complete = true;
    // The transfer is whole; a server that closes instead of saying good-bye takes nothing from it.
    await client.quit().catch(() => undefined);
  }
}
