import { type BulkEvent, type ChangeKind, parseTransferTime } from '../../protocols/bulk/index.js';
import { ConnectionError, type KitError, PeerError, StateError } from '../../protocols/errors.js';
import type { SoifObject } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { BulkWarning } from './reply.js';

/** A change as a Broker sent it. */
export interface BulkReceived {
  readonly change: ChangeKind;
  readonly object: SoifObject;
  /** The object as received. Shares memory with the stream: copy what you keep. */
  readonly bytes: Uint8Array;
  /** Whether `bytes` have the layout of SOIF-2.2, so that they may be passed on as they are. */
  readonly exact: boolean;
  /** The object's Update-Time; undefined when it has none (BT-24). */
  readonly time: UnixSeconds | undefined;
}

/** What a transfer came to so far. */
export interface BulkTotals {
  /** Changes received, by kind. */
  readonly received: Readonly<Record<ChangeKind, number>>;
  /** Bytes of the objects. */
  readonly bytes: number;
  /** Whether everything has come (BT-19). */
  readonly complete: boolean;
  /**
   * What to pass as `since` the next time (BT-5); undefined unless complete. The time that the Broker announced, if it
   * did; else the second before the request by our clock, so that an object changed in that very second is sent twice
   * rather than never.
   */
  readonly next: UnixSeconds | undefined;
  /** The interface the Broker answered in; undefined before it did. */
  readonly interface: 1 | 2 | undefined;
}

interface Surroundings {
  readonly now: () => UnixSeconds;
  readonly onWarning: (warning: BulkWarning) => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * The changes of one transfer, as they arrive. It can be iterated once, change by change or in {@link batches}; a
 * reader that does not ask stops the Broker.
 *
 * The iteration throws, after the changes that came before: PeerError when the Broker refuses (status 400, 111, or the
 * number of BP-23), ConnectionError when it cannot be reached, breaks off, stalls, or the transfer is not complete
 * (BT-19), ProtocolError when it does not speak this protocol, the signal's reason when aborted.
 */
export class BulkTransfer implements AsyncIterable<BulkReceived> {
  readonly #ask: () => AsyncIterable<readonly BulkEvent[]>;
  readonly #surroundings: Surroundings;
  readonly #received: Record<ChangeKind, number> = { delete: 0, refresh: 0, update: 0 };
  #bytes = 0;
  #complete = false;
  #started: UnixSeconds | undefined;
  #announced: UnixSeconds | undefined;
  #interface: 1 | 2 | undefined;
  #failure: KitError | undefined;

  /** Made by `BulkClient`. */
  constructor(ask: () => AsyncIterable<readonly BulkEvent[]>, surroundings: Surroundings) {
    this.#ask = ask;
    this.#surroundings = surroundings;
  }

  get totals(): BulkTotals {
    const next =
      this.#announced ?? (this.#started === undefined ? undefined : Math.max(0, this.#started - 1));
    return {
      received: { ...this.#received },
      bytes: this.#bytes,
      complete: this.#complete,
      next: this.#complete ? next : undefined,
      interface: this.#interface,
    };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<BulkReceived, void, undefined> {
    for await (const batch of this.batches()) yield* batch;
  }

  /** The changes as they came in together: those of one chunk of the network, never none. */
  async *batches(): AsyncGenerator<readonly BulkReceived[], void, undefined> {
    if (this.#started !== undefined) throw new StateError('a transfer can be iterated once');
    this.#started = this.#surroundings.now();
    for await (const events of this.#ask()) {
      const batch: BulkReceived[] = [];
      for (const event of events) {
        if (event.kind === 'change') batch.push(this.#count(event));
        else this.#note(event);
      }
      if (batch.length > 0) yield batch;
    }
    this.#surroundings.signal?.throwIfAborted();
    if (!this.#complete) throw this.#failure ?? new ConnectionError('the broker broke off its reply');
  }

  #count({ change, object, bytes, exact }: Extract<BulkEvent, { kind: 'change' }>): BulkReceived {
    this.#received[change]++;
    this.#bytes += bytes.length;
    return { change, object, bytes, exact, time: object.number('Update-Time') };
  }

  #note(event: BulkEvent): void {
    switch (event.kind) {
      case 'version':
        this.#interface = event.interface;
        break;
      case 'status':
        if (event.code === 0) this.#announced ??= parseTransferTime(event.text);
        else if (REFUSALS.has(event.code)) this.#failure ??= new PeerError(event.text, event.code);
        break;
      case 'info':
        if (event.info.field === 'message') this.#announced ??= parseTransferTime(event.info.text);
        break;
      case 'trailer':
        if (event.trailer.kind === 'error') {
          this.#failure ??= new PeerError(event.trailer.text, event.trailer.number);
        }
        break;
      case 'warning': {
        const { rule, offset, message } = event;
        this.#surroundings.onWarning({ rule, offset, message });
        break;
      }
      case 'end':
        this.#complete = event.complete;
        if (event.reason !== undefined) {
          this.#failure ??= new ConnectionError(`the transfer is not complete: ${event.reason}`);
        }
        break;
      default:
    }
  }
}

/** Status codes by which a Broker says that there is no transfer, or that it failed (BT-10, BT-11). */
const REFUSALS: ReadonlySet<number> = new Set([400, 499, 111]);
