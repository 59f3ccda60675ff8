// Applies the changes of a collection to the store in batches.
import { encodeSoif, identityOf, isExpired, type SoifObject } from '../../protocols/soif/index.js';
import type { ApplyOptions, CollectedChange, CollectionPointState } from '../../storage/index.js';
import type { CollectContext } from './collect-context.js';
import type { Tally } from './collect-report.js';

/** A change as a peer sent it. */
export interface ReceivedChange {
  readonly kind: CollectedChange['kind'];
  readonly object: SoifObject;
  readonly bytes: Uint8Array;
  /** Whether `bytes` is exactly the encoded object, so that it need not be encoded again. */
  readonly exact: boolean;
}

/** Applies the changes of a collection to the store in batches. One batch is applied while the next is received. */
export class Applier {
  #batch: CollectedChange[] = [];
  #bytes = 0;
  /** Resolves when the batch in flight, of which there is at most one, is applied. The next caller that waits gets its error. */
  #inFlight: Promise<void> = Promise.resolve();
  readonly #maxObjects: number;
  readonly #maxBytes: number;

  constructor(
    readonly context: CollectContext,
    readonly tally: Tally,
    readonly options: ApplyOptions = {},
  ) {
    this.#maxObjects = context.limits?.batchObjects ?? 256;
    this.#maxBytes = context.limits?.batchBytes ?? 1024 * 1024;
  }

  /** Adds a change that arrived from a peer. */
  async receive({ kind, object, bytes, exact }: ReceivedChange): Promise<void> {
    this.tally.countReceived();
    // SOIF-3.1: an object that only a lenient reader understands is stored in a form that every reader understands.
    const stored = exact ? bytes : encodeSoif(object);
    const expired =
      kind === 'update' && isExpired(object, this.context.now()) && identityOf(object) !== undefined;
    // BRK-7.14: the next cleaning would delete an expired object. The object that it replaces is outdated in any case.
    if (expired) this.tally.expired += 1;
    await this.add({ kind: expired ? 'delete' : kind, object, bytes: stored });
  }

  async add(change: CollectedChange): Promise<void> {
    this.#batch.push(change);
    this.#bytes += change.bytes.length;
    if (this.#batch.length < this.#maxObjects && this.#bytes < this.#maxBytes) return;
    await this.#inFlight;
    this.#start();
  }

  /** Waits for the batch in flight. @throws the error that it failed with */
  drain(): Promise<void> {
    return this.#inFlight;
  }

  /** Applies the rest, together with the point's state if it is given. */
  async finish(state: CollectionPointState | undefined): Promise<void> {
    await this.#inFlight;
    if (this.#batch.length > 0 || state !== undefined) this.#start(state);
    await this.#inFlight;
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
    const result = await this.context.store.apply(batch, state, this.context.observe, this.options);
    this.tally.addResult(result);
    await this.context.applied();
  }
}
