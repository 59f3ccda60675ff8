// The changes and totals of one bulk transfer.
import { RESULT_CODE } from '../../protocols/broker/index.js';
import { type BulkEvent, type ChangeKind, parseTransferTime } from '../../protocols/bulk/index.js';
import { ConnectionError, type KitError, PeerError, StateError } from '../../protocols/errors.js';
import type { ByteSource, SoifObject, SoifOutline } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { BulkWarning } from './reply.js';

/** A change that a Broker sent. */
export interface BulkChange {
  readonly kind: ChangeKind;
  /** Of a large object only its bookkeeping attributes and the beginning of its description. */
  readonly object: SoifObject;
  /** The object as received. Shares memory with the stream: copy it to keep it. */
  readonly bytes: Uint8Array;
  /** Whether the object has the layout of SOIF-2.2 and so can be passed on unchanged. */
  readonly exact: boolean;
  /**
   * A large object as received, instead of `bytes`, which are empty; valid until the next change is requested.
   */
  readonly large?: ByteSource;
  /** Where the attributes of a large object are. */
  readonly outline?: SoifOutline;
  /** The object's Update-Time; undefined if it is absent (BT-24). */
  readonly time: UnixSeconds | undefined;
}

/** The totals of a transfer so far. */
export interface BulkTotals {
  /** Changes received, by kind. */
  readonly received: Readonly<Record<ChangeKind, number>>;
  /** Bytes of the objects. */
  readonly bytes: number;
  /** Whether everything was received (BT-19). */
  readonly complete: boolean;
  /**
   * The `since` of the next transfer (BT-5); undefined unless complete. It is the time that the Broker
   * announced, else the second before the request by our clock: an object that changes within that second is
   * then sent twice rather than never.
   */
  readonly next: UnixSeconds | undefined;
  /** The interface of the Broker's answer; undefined before the answer. */
  readonly interface: 1 | 2 | undefined;
}

const NOTHING = new Uint8Array(0);

interface Options {
  readonly now: () => UnixSeconds;
  readonly onWarning: (warning: BulkWarning) => void;
  readonly sourceOf: (item: { readonly offset: number; readonly length: number }) => ByteSource;
  readonly signal: AbortSignal | undefined;
}

/**
 * The changes of one transfer, as they arrive. It can be iterated once, change by change or in {@link batches};
 * if the reader stops, backpressure stops the Broker.
 *
 * The iteration throws after the changes that arrived before the error: PeerError if the Broker refuses (status
 * 400, 111, or the number of BP-23), ConnectionError if it cannot be reached, breaks the connection, is silent
 * for too long, or the transfer is incomplete (BT-19), ProtocolError if it does not speak this protocol, the
 * signal's reason if aborted.
 */
export class BulkTransfer implements AsyncIterable<BulkChange> {
  readonly #request: () => AsyncIterable<readonly BulkEvent[]>;
  readonly #options: Options;
  readonly #received: Record<ChangeKind, number> = { delete: 0, refresh: 0, update: 0 };
  #bytes = 0;
  #complete = false;
  #startedAt: UnixSeconds | undefined;
  #announcedTime: UnixSeconds | undefined;
  #interface: 1 | 2 | undefined;
  #failure: KitError | undefined;
  readonly #messages: string[] = [];

  /** Called by `BulkClient`. */
  constructor(request: () => AsyncIterable<readonly BulkEvent[]>, options: Options) {
    this.#request = request;
    this.#options = options;
  }

  /**
   * The Broker's messages to the user so far: MESSAGE_TO_USER (BP-12), `101` and `103` (BRK-4.1); at most
   * {@link MAX_MESSAGES}.
   */
  get messages(): readonly string[] {
    return this.#messages;
  }

  get totals(): BulkTotals {
    const next =
      this.#announcedTime ?? (this.#startedAt === undefined ? undefined : Math.max(0, this.#startedAt - 1));
    return {
      received: { ...this.#received },
      bytes: this.#bytes,
      complete: this.#complete,
      next: this.#complete ? next : undefined,
      interface: this.#interface,
    };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<BulkChange, void, undefined> {
    for await (const batch of this.batches()) {
      for (const change of batch) {
        // The rest of a batch that was received before the abort is not delivered.
        this.#options.signal?.throwIfAborted();
        yield change;
      }
    }
  }

  /** Yields the changes of one network chunk together, at least one. */
  async *batches(): AsyncGenerator<readonly BulkChange[], void, undefined> {
    if (this.#startedAt !== undefined) throw new StateError('a transfer can be iterated once');
    this.#startedAt = this.#options.now();
    for await (const events of this.#request()) {
      const batch: BulkChange[] = [];
      for (const event of events) {
        if (event.kind === 'change') batch.push(this.#receive(event));
        else if (event.kind === 'large') batch.push(...this.#receiveLarge(event));
        else this.#handle(event);
      }
      if (batch.length > 0) yield batch;
    }
    this.#options.signal?.throwIfAborted();
    if (!this.#complete)
      throw (
        this.#failure ?? new ConnectionError('the Broker closed the connection in the middle of its reply')
      );
  }

  #receive({ change, object, bytes, exact }: Extract<BulkEvent, { kind: 'change' }>): BulkChange {
    this.#received[change]++;
    this.#bytes += bytes.length;
    return { kind: change, object, bytes, exact, time: object.number('Update-Time') };
  }

  #receiveLarge({ item }: Extract<BulkEvent, { kind: 'large' }>): BulkChange[] {
    if (item.kind !== 'large') return [];
    const { section: kind, outline, length } = item;
    const { head: object, exact } = outline;
    this.#received[kind]++;
    this.#bytes += length;
    const large = this.#options.sourceOf(item);
    const time = object.number('Update-Time');
    return [{ kind, object, bytes: NOTHING, exact, large, outline, time }];
  }

  #handle(event: BulkEvent): void {
    switch (event.kind) {
      case 'version':
        this.#interface = event.interface;
        break;
      case 'status':
        if (event.code === 0) this.#announcedTime ??= parseTransferTime(event.text);
        else if (REFUSALS.has(event.code)) this.#failure ??= new PeerError(event.text, event.code);
        else if (event.code === RESULT_CODE.message || event.code === RESULT_CODE.error)
          this.#note(event.text);
        break;
      case 'info':
        if (event.info.field !== 'message') break;
        if (this.#announcedTime === undefined) this.#announcedTime = parseTransferTime(event.info.text);
        if (parseTransferTime(event.info.text) === undefined) this.#note(event.info.text);
        break;
      case 'trailer':
        if (event.trailer.kind === 'error') {
          this.#failure ??= new PeerError(event.trailer.text, event.trailer.number);
        }
        break;
      case 'warning': {
        const { rule, offset, message } = event;
        this.#options.onWarning({ rule, offset, message });
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

  #note(text: string): void {
    if (this.#messages.length < MAX_MESSAGES) this.#messages.push(text);
  }
}

/** Messages that are kept; a Broker that sends more is at fault. */
const MAX_MESSAGES = 100;

/** Status codes for no transfer or a failed one (BT-10). */
const REFUSALS: ReadonlySet<number> = new Set([400, 111]);
