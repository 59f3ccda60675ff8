// Collects the changes of a gatherd over as many connections as it takes.
import { pauseFor } from '../../protocols/clock.js';
import { ConnectionError, StateError } from '../../protocols/errors.js';
import type { SequenceMark } from '../../protocols/gatherd/index.js';
import { MAX_AHEAD, type UnixSeconds } from '../../protocols/time.js';
import {
  callback,
  checkOptions,
  filledText,
  flag,
  milliseconds,
  optional,
  RECEIVE_LIMITS,
  record,
  type Shape,
  whole,
} from '../connection/arguments.js';
import { ReceiveBudget, type ReceiveLimits } from '../connection/index.js';
import { monotonicClock } from '../connection/monotonic-clock.js';
import {
  GATHERD_CLIENT_OPTIONS,
  type GatherdChange,
  GatherdClient,
  type GatherdClientOptions,
  type UpdateRequest,
} from './client.js';
import { ResumeState } from './resume-state.js';

export interface CollectOptions
  extends Omit<GatherdClientOptions, 'budget'>,
    ReceiveLimits,
    Pick<UpdateRequest, 'compression' | 'sections'> {
  /** {@link CollectedTotals.next} of the previous collection. Default 0: everything. */
  readonly since?: UnixSeconds;
  /** {@link CollectedTotals.mark} of the previous collection, which `since` replaces for servers without numbers. */
  readonly after?: SequenceMark | undefined;
  /** Asks for the numbers of changes (GATHERD-6.13), for {@link CollectedTotals.mark}. Default: with `after`. */
  readonly numbers?: boolean;
  /** Consecutive failed connections without a new object before the error is thrown. Default 5. */
  readonly maxFailures?: number;
  /** Connections in total. Default 100. */
  readonly maxConnections?: number;
  /**
   * Milliseconds before the first new connection; the pause doubles with each connection that yields nothing
   * new. Default 1000.
   */
  readonly pauseMs?: number;
  /** Milliseconds of the longest pause. Default 60 000. */
  readonly maxPauseMs?: number;
  /**
   * Bytes for remembering delivered changes, so that none is delivered twice. Default 64 MiB, enough for about
   * 300 000 objects of a server whose order is unknown. A server that is known to send in the order of
   * GATHERD-4.6 needs almost none. When the memory is full, a transfer that breaks is not resumed.
   */
  readonly maxMemoryBytes?: number;
  /**
   * Assumes that a stream whose times ascend so far continues to ascend, even from a server that did not accept
   * `SET changes` and so may follow no such rule. Default false: such a server has to send everything again.
   */
  readonly trustOrder?: boolean;
  /**
   * Seconds an Update-Time may be ahead of our clock and still move {@link CollectedTotals.next}, as far as the
   * present: the other clock may be set back, and changes until then would be left out. Default 86 400.
   */
  readonly maxAheadSeconds?: number;
  /** Returns the time in seconds since 1970. Default: the system clock. */
  readonly now?: () => UnixSeconds;
  /** Called before each pause. */
  readonly onRetry?: (retry: CollectRetry) => void;
  /** Aborts connecting, reading and pausing. */
  readonly signal?: AbortSignal | undefined;
}

const { budget: _, ...CONNECTION_OPTIONS } = GATHERD_CLIENT_OPTIONS;

const COLLECT_OPTIONS: Shape<CollectOptions> = {
  ...CONNECTION_OPTIONS,
  ...RECEIVE_LIMITS,
  compression: optional(flag),
  sections: optional(flag),
  since: optional(whole(0)),
  numbers: optional(flag),
  after: optional(record({ origin: filledText, sequence: whole(0) })),
  maxFailures: optional(whole(0)),
  maxConnections: optional(whole(0)),
  pauseMs: optional(milliseconds),
  maxPauseMs: optional(milliseconds),
  maxMemoryBytes: optional(whole(0)),
  trustOrder: optional(flag),
  maxAheadSeconds: optional(whole(0)),
  onRetry: optional(callback),
  now: optional(callback),
};

/** The options that are those of each connection. */
function connectionOptions(options: CollectOptions): GatherdClientOptions {
  const known = Object.entries(options).filter(([name]) => name in CONNECTION_OPTIONS);
  return Object.fromEntries(known) as unknown as GatherdClientOptions;
}

/** A transfer broke and will be resumed. */
export interface CollectRetry {
  readonly error: ConnectionError;
  /** Milliseconds until the next connection. */
  readonly pauseMs: number;
  /** The time that will be requested. */
  readonly since: UnixSeconds;
}

/** The totals of a collection so far. */
export interface CollectedTotals {
  /** Changes delivered. */
  readonly objects: number;
  /** Changes that arrived again after a transfer broke and were dropped. */
  readonly repeated: number;
  readonly connections: number;
  /** Whether everything was received. */
  readonly complete: boolean;
  /**
   * The `since` of the next collection: the latest Update-Time received that is not in the future, once the collection
   * is complete; until then the `since` of this one (GATHERD-13.6). After a transfer that was resumed in the middle, the latest
   * time before the break: only the first request reports deletions (GATHERD-4.9).
   */
  readonly next: UnixSeconds;
  /**
   * The `after` of the next collection (GATHERD-6.13): the last change of the server's database, once the
   * collection is complete; until then the `after` of this one. Undefined if the server has no numbers. With
   * the number 0 it asks for everything, because this collection was selected by time.
   */
  readonly mark?: SequenceMark;
}

/**
 * Collects the changes since a time over as many connections as it takes. When a transfer breaks, a new
 * connection requests the changes from the latest time up to which everything has arrived (GATHERD-4.6);
 * changes delivered before (same kind, URL and Update-Time) are dropped. An iteration that ends normally has
 * yielded every change once.
 *
 * It throws the errors of {@link GatherdClient}; a {@link ConnectionError} only if the options allow no other
 * connection. Refusals (PeerError), exceeded limits (RefusedError) and protocol errors (ProtocolError) are not
 * retried.
 */
export function collectChanges(options: CollectOptions): Collection {
  return new Collection(options);
}

/** A collection. Iterate over it, once; {@link totals} follows the iteration. */
export class Collection implements AsyncIterable<GatherdChange> {
  readonly #options: CollectOptions;
  readonly #connection: GatherdClientOptions;
  readonly #since: UnixSeconds;
  readonly #resume: ResumeState;
  #started = false;
  #objects = 0;
  #repeated = 0;
  #connections = 0;
  #complete = false;
  /** The server accepted `SET changes`: it follows GATHERD-4.4 and 4.6. */
  #accepted = false;
  #newest: UnixSeconds = 0;
  #numbered = false;
  #isWhole = false;
  #last: SequenceMark | undefined;

  /** @throws UsageError for options that it does not know or take */
  constructor(options: CollectOptions) {
    checkOptions('collectChanges', options, COLLECT_OPTIONS);
    const { since = 0, maxMemoryBytes = 64 << 20 } = options;
    this.#options = options;
    this.#connection = connectionOptions(options);
    this.#since = since;
    this.#resume = new ResumeState(since, maxMemoryBytes);
  }

  get totals(): CollectedTotals {
    const mark = this.#complete ? this.#nextMark() : this.#options.after;
    return {
      objects: this.#objects,
      repeated: this.#repeated,
      connections: this.#connections,
      complete: this.#complete,
      next: this.#complete ? Math.max(this.#since, this.#newest) : this.#since,
      ...(mark === undefined ? {} : { mark }),
    };
  }

  /**
   * Whether the changes are those after the `after` of the options, so that each is newer than the stored
   * object. Known from the first change.
   */
  get numbered(): boolean {
    return this.#numbered;
  }

  #nextMark(): SequenceMark | undefined {
    const last = this.#last;
    if (last === undefined) return undefined;
    return this.#numbered || this.#isWhole ? last : { origin: last.origin, sequence: 0 };
  }

  /** @throws StateError when it was iterated before. */
  [Symbol.asyncIterator](): AsyncGenerator<GatherdChange, void, undefined> {
    if (this.#started) throw new StateError('a collection can be iterated once');
    this.#started = true;
    return this.#collect();
  }

  async *#collect(): AsyncGenerator<GatherdChange, void, undefined> {
    const { signal, clock = monotonicClock } = this.#options;
    const budget = new ReceiveBudget(this.#options, () => clock.now());
    let fruitless = 0;
    while (!this.#complete) {
      const before = this.#objects;
      this.#connections += 1;
      try {
        yield* this.#receiveChanges(budget);
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        fruitless = this.#objects > before ? 0 : fruitless + 1;
        const pauseMs = this.#pauseAfter(error, fruitless);
        await pauseFor(clock, pauseMs, signal);
      }
    }
  }

  /** Milliseconds until the next connection. @throws `error` if the options allow none */
  #pauseAfter(error: ConnectionError, fruitless: number): number {
    const {
      maxFailures = 5,
      maxConnections = 100,
      pauseMs: first = 1000,
      maxPauseMs = 60_000,
    } = this.#options;
    if (fruitless >= maxFailures || this.#connections >= maxConnections || !this.#resume.resumable)
      throw error;
    const pauseMs = Math.min(first * 2 ** fruitless, maxPauseMs);
    this.#options.onRetry?.({ error, pauseMs, since: this.#resume.since });
    return pauseMs;
  }

  /** The new changes of one connection. */
  async *#receiveChanges(budget: ReceiveBudget): AsyncGenerator<GatherdChange, void, undefined> {
    const {
      compression = true,
      sections = true,
      trustOrder = false,
      signal,
      maxAheadSeconds = MAX_AHEAD,
      now = () => Math.floor(Date.now() / 1000),
    } = this.#options;
    const resume = this.#resume;
    await using client = new GatherdClient({ ...this.#connection, budget });
    await client.connect();
    resume.reconnected();
    const request = {
      since: resume.since,
      compression,
      sections: sections && !resume.resumed,
      numbers: this.#options.numbers ?? this.#options.after !== undefined,
      after: resume.resumed ? undefined : this.#options.after,
      signal,
    };
    const present = now();
    const latest = present + maxAheadSeconds;
    for await (const change of client.changes(request)) {
      this.#accepted ||= client.changesAccepted;
      this.#numbered = client.isNumbered;
      const updateTime = change.object.number('Update-Time');
      // A resumed transfer does not report deletions: the next collection requests them.
      const movesNext =
        !(resume.resumed && this.#accepted) && updateTime !== undefined && updateTime <= latest;
      if (movesNext) this.#newest = Math.max(this.#newest, Math.min(updateTime, present));
      const isOrdered = !this.#numbered && (trustOrder || this.#accepted);
      if (resume.repeats(change.kind, change.object, updateTime, isOrdered)) {
        this.#repeated += 1;
        continue;
      }
      this.#objects += 1;
      yield change;
    }
    this.#numbered = client.isNumbered;
    this.#isWhole = client.isWhole && !resume.resumed;
    this.#last = client.last;
    this.#complete = true;
    // The transfer is whole even if the server closes without answering QUIT.
    await client.quit().catch(() => undefined);
  }
}
