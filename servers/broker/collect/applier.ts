// Applies the changes of a collection to the store in batches.
import { isDiskFull, messageOf, StorageError } from '../../../protocols/errors.js';
import {
  type ByteSource,
  encodeSoif,
  hasEmptyValue,
  identityOf,
  isExpired,
  readOutline,
  rewriteLarge,
  type SoifBytes,
  type SoifObject,
  timesOf,
  urlProblem,
} from '../../../protocols/soif/index.js';
import { MAX_AHEAD, type UnixSeconds } from '../../../protocols/time.js';
import { lifeFrom, placeOfWrongTime } from '../../../storage/broker/wrong-times.js';
import { collectGarbage, LARGE_BYTES } from '../../../storage/files/collect-garbage.js';
import type { ApplyOptions, CollectedChange, CollectionPointState } from '../../../storage/index.js';
import type { CollectContext } from './context.js';
import type { Tally } from './report.js';

/** A change as a peer sent it. */
export interface ReceivedChange {
  readonly kind: CollectedChange['kind'];
  readonly object: SoifObject;
  readonly bytes: Uint8Array;
  /** Whether the object came in the layout of SOIF-2.2, so that it need not be encoded again. */
  readonly exact: boolean;
  /** A large object, instead of `bytes`; valid until {@link Applier.receive} resolves. */
  readonly large?: ByteSource;
}

/** What the next collection requests from. */
export type ReceivedUpTo = Omit<CollectionPointState, 'key'>;

/** Bytes applied in one batch. */
const BATCH_BYTES = 1024 * 1024;

/**
 * Applies the changes of a collection to the store in batches. One batch is applied while the next is received,
 * unless an object is large.
 */
export class Applier {
  #options: ApplyOptions;
  /** The largest Update-Time that earlier collections received from the point. */
  readonly #known: UnixSeconds;
  #batch: CollectedChange[] = [];
  #bytes = 0;
  /** The latest Update-Time received. */
  #newest: UnixSeconds = 0;
  /**
   * Resolves when the batch in flight, of which there is at most one, is applied. The next caller that waits
   * gets its error.
   */
  #inFlight: Promise<void> = Promise.resolve();
  readonly #maxObjects: number;

  constructor(
    readonly context: CollectContext,
    readonly tally: Tally,
    options: ApplyOptions = {},
    known: UnixSeconds = 0,
  ) {
    this.#options = { ...options, allow: context.allow };
    this.#known = known;
    this.#maxObjects = context.limits.batchObjects ?? 256;
  }

  /** Sets whether the changes that follow are newer than what is stored (GATHERD-6.13). */
  set numbered(numbered: boolean) {
    if (numbered !== (this.#options.numbered ?? false)) this.#options = { ...this.#options, numbered };
  }

  /** Adds a change that arrived from a peer. */
  async receive(change: ReceivedChange): Promise<void> {
    const { kind, object, bytes, exact, large } = change;
    this.tally.countReceived();
    if (!this.#isWritable(kind, object)) return;
    // Nearly every object is stored as it came, without another turn of the event loop.
    const stored =
      exact && large === undefined && !hasEmptyValue(object) ? bytes : await bytesToStore(change);
    const expired =
      kind === 'update' && isExpired(object, this.context.now()) && identityOf(object) !== undefined;
    // BRK-7.14: the next cleaning would delete an expired object. The object that it replaces is outdated in
    // any case.
    if (expired) this.tally.arrived.expired += 1;
    await this.add({ kind: expired ? 'delete' : kind, object, bytes: stored, expired });
  }

  /**
   * Adds an object that was requested because a refresh of it arrived (GATHERD-4.4), and is counted as such.
   */
  async fetched(change: ReceivedChange): Promise<void> {
    const { object } = change;
    if (this.#isWritable('update', object))
      await this.add({ kind: 'update', object, bytes: await bytesToStore(change) });
  }

  /** Adds a change; an Update-Time far ahead of our clock becomes the time of arrival. */
  async add(received: CollectedChange): Promise<void> {
    const checked = this.#withTimeOfArrival(received);
    const change = checked instanceof Promise ? await checked : checked;
    // The next object may overwrite a source.
    const isLarge = !(change.bytes instanceof Uint8Array) || change.bytes.length >= LARGE_BYTES;
    this.#batch.push(change);
    this.#bytes += change.bytes.length;
    if (this.#batch.length < this.#maxObjects && this.#bytes < BATCH_BYTES && !isLarge) return;
    await this.#inFlight;
    this.#start();
    if (!isLarge) return;
    await this.#inFlight;
    collectGarbage();
  }

  /**
   * Receives from a point and applies the rest. `<last>` goes into the same atomic batch as the last objects,
   * and only if all have arrived (GATHERD-13.6, BT-19).
   *
   * @param key of the point's `<last>`
   * @param receive returns the time for the next request; undefined if the transfer is not complete
   * @returns why the transfer is not complete; undefined if it is
   * @throws StorageError when the store or the index fails
   */
  async collect(key: string, receive: () => Promise<ReceivedUpTo | undefined>): Promise<string | undefined> {
    let next: ReceivedUpTo | undefined;
    let error: string | undefined;
    try {
      next = await receive();
    } catch (cause) {
      if (cause instanceof StorageError) throw cause;
      error = messageOf(cause);
    }
    // A failure of the store or the index is thrown here and ends the collection.
    await this.#inFlight;
    this.context.signal.throwIfAborted();
    await this.finish(next === undefined ? undefined : { key, ...next });
    return error;
  }

  /** Applies the rest, together with the point's state if it is given. */
  async finish(state: CollectionPointState | undefined): Promise<void> {
    await this.#inFlight;
    if (this.#batch.length > 0 || state !== undefined) this.#start(state);
    await this.#inFlight;
    if (this.#newest > 0) this.context.witness(this.#newest);
  }

  /** SOIF-2.9: an object whose URL no reader of ours would get back unchanged is not stored, and named. */
  #isWritable(kind: CollectedChange['kind'], object: SoifObject): boolean {
    const problem = urlProblem(object.urlBytes, object.type);
    if (problem === undefined) return true;
    const reason = `${kind}: ${problem} (SOIF-2.9)`;
    this.tally.countRejected(reason);
    this.context.onUnwritable(reason);
    return false;
  }

  #withTimeOfArrival(change: CollectedChange): CollectedChange | Promise<CollectedChange> {
    const now = this.context.now();
    const updateTime = change.object.number('Update-Time');
    if (updateTime === undefined) return change;
    this.#newest = Math.max(this.#newest, updateTime);
    if (updateTime > now + MAX_AHEAD) this.tally.countAhead(change.object.url, updateTime);
    else if (change.expired !== true || !this.#isBehind(updateTime)) return change;
    const renewed = this.#timesOfArrival(change, updateTime, now);
    const object = change.object.with(renewed);
    const kind = change.expired === true ? 'update' : change.kind;
    const arrived = { ...change, kind, expired: false, object, arrivalTime: true };
    if (change.bytes instanceof Uint8Array) return { ...arrived, bytes: encodeSoif(object) };
    return rewritten(change.bytes, renewed).then((bytes) => ({ ...arrived, bytes }));
  }

  /**
   * Another Broker does not send a version when it arrives there: one that is newer may come from elsewhere, so the time
   * of arrival must not win over it.
   */
  #timesOfArrival(
    { kind, object }: CollectedChange,
    updateTime: UnixSeconds,
    now: UnixSeconds,
  ): [string, string][] {
    if (this.#options.relayed !== true || updateTime <= now) return [['Update-Time', String(now)]];
    const place = placeOfWrongTime({ updateTime }, now);
    if (kind !== 'update') return [['Update-Time', String(place)]];
    const { timeToLive } = timesOf(object);
    return [
      ['Update-Time', String(place)],
      ['Time-to-Live', String(lifeFrom(place, timeToLive, now))],
    ];
  }

  /** Whether a change that came after those of a later time was made with a clock that was behind. */
  #isBehind(updateTime: UnixSeconds): boolean {
    return this.#options.numbered === true && updateTime + MAX_AHEAD < this.#known;
  }

  #start(state?: CollectionPointState): void {
    const batch = this.#batch;
    this.#batch = [];
    this.#bytes = 0;
    this.#inFlight = this.#apply(batch, state);
    // Until the next caller waits, a rejection would count as unhandled.
    this.#inFlight.catch(() => undefined);
  }

  async #apply(batch: CollectedChange[], state?: CollectionPointState): Promise<void> {
    try {
      const result = await this.context.store.apply(batch, state, this.context.observe, this.#options);
      this.tally.addResult(result);
    } catch (cause) {
      if (!isDiskFull(cause)) throw cause;
      const count = batch.length + this.#batch.length;
      throw new StorageError(`${messageOf(cause)}: ${count} received objects are not stored`, { cause });
    }
    await this.context.applied();
  }
}

/**
 * SOIF-3.1: an object that only a lenient reader understands is stored in a form that every reader understands.
 * SOIF-3.2: so is one with values of no bytes, because the stored bytes are those that are sent (BT-16).
 */
async function bytesToStore({ object, bytes, exact, large }: ReceivedChange): Promise<SoifBytes> {
  if (large === undefined) return exact && !hasEmptyValue(object) ? bytes : encodeSoif(object);
  return exact && !hasEmptyValue(await readOutline(large)) ? large : await rewritten(large);
}

/** A large object in the layout of SOIF-2.2, with changed values. */
async function rewritten(
  source: ByteSource,
  changes: readonly (readonly [name: string, value: string])[] = [],
): Promise<ByteSource> {
  return rewriteLarge(source, await readOutline(source), changes);
}
