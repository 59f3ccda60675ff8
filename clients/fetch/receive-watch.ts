// Limits on what a server sends besides the document, and on how little it sends: headers, chunk extensions,
// listings and replies can be endless.
import type { Clock } from '../../protocols/clock.js';
import { ConnectionError } from '../../protocols/errors.js';
import { monotonicClock } from '../connection/monotonic-clock.js';

/** Limits on what one retrieval receives. */
export interface ReceiveLimits {
  /**
   * Bytes that the server must send on average per second after its first byte, once {@link minRateGraceMs}
   * have passed. From then on the rate grows, up to the one that a document of the size limit needs to arrive
   * within `maxTransferMs`: the longer a server takes, the more it must have sent. Default 100; 0 turns the
   * limit off.
   */
  readonly minBytesPerSecond?: number | undefined;
  /** Milliseconds after the first byte before {@link minBytesPerSecond} applies. Default 300 000. */
  readonly minRateGraceMs?: number | undefined;
  /** The clock of the limits in milliseconds. Default: that of this process. */
  readonly clock?: Clock | undefined;
}

/** What a document may take as a whole. */
export interface WholeDocument {
  /** Bytes that are kept of it. */
  readonly maxBytes: number;
  /** Milliseconds that it may take. */
  readonly maxTransferMs: number;
}

/** Counters of a retrieval. */
export interface Received {
  /** Bytes that arrived on the connection for this retrieval. */
  readonly bytes: number;
  /**
   * Those of them that are the document, once they are known to be; undefined where a protocol limits the rest
   * itself.
   */
  readonly bodyBytes?: number | undefined;
}

/** Bytes of headers, chunk sizes, extensions and trailers that may come with a document of any size. */
const MAX_OVERHEAD_BYTES = 1024 * 1024;
/**
 * Bytes that may arrive for each byte of the document: a server that writes single bytes in chunks of their own
 * sends six.
 */
const MAX_WIRE_RATIO = 8;

const DEFAULT_MIN_RATE = 100;
const DEFAULT_GRACE_MS = 300_000;
const POLL_MS = 100;

/**
 * Examines the counters of a retrieval ten times per second, and calls `stop` once when they violate a limit.
 * Polling costs nothing per chunk; what arrives between two looks is dropped by the parsers, so that only the
 * network is burdened.
 */
export class ReceiveWatch implements Disposable {
  readonly #name: string;
  readonly #limits: ReceiveLimits;
  readonly #whole: WholeDocument;
  readonly #received: () => Received;
  readonly #stop: (reason: Error) => void;
  readonly #clock: Clock;
  #cancelTimer!: () => void;
  #firstByte: number | undefined;

  /** @param name of the server, for the error */
  constructor(
    name: string,
    limits: ReceiveLimits,
    whole: WholeDocument,
    received: () => Received,
    stop: (reason: Error) => void,
  ) {
    this.#name = name;
    this.#limits = limits;
    this.#whole = whole;
    this.#received = received;
    this.#stop = stop;
    this.#clock = limits.clock ?? monotonicClock;
    this.#lookLater();
  }

  [Symbol.dispose](): void {
    this.#cancelTimer();
  }

  #look(): void {
    const { bytes, bodyBytes } = this.#received();
    const problem = this.#problemOf(bytes, bodyBytes);
    if (problem === undefined) this.#lookLater();
    else this.#stop(new ConnectionError(`${this.#name}: ${problem}`));
  }

  #lookLater(): void {
    this.#cancelTimer = this.#clock.setTimer(() => this.#look(), POLL_MS);
  }

  #problemOf(bytes: number, bodyBytes: number | undefined): string | undefined {
    if (bytes === 0) return undefined;
    if (bodyBytes !== undefined && bytes > MAX_OVERHEAD_BYTES + bodyBytes * MAX_WIRE_RATIO) {
      return `the server sent ${bytes} bytes for ${bodyBytes} bytes of the document`;
    }
    const now = this.#clock.now();
    this.#firstByte ??= now;
    const elapsedMs = now - this.#firstByte;
    const rate = requiredRate(elapsedMs, this.#limits, this.#whole);
    if (bytes * 1000 >= rate * elapsedMs) return undefined;
    return `the server sent less than ${Math.ceil(rate)} bytes per second in ${Math.round(elapsedMs / 1000)} s`;
  }
}

/**
 * The bytes per second that a server must have sent on average after this time. With a constant rate a server
 * that sends a little more would occupy a connection for the whole of `maxTransferMs`; the rising rate leaves
 * that time only to documents that need it.
 */
function requiredRate(
  elapsedMs: number,
  { minBytesPerSecond = DEFAULT_MIN_RATE, minRateGraceMs = DEFAULT_GRACE_MS }: ReceiveLimits,
  { maxBytes, maxTransferMs }: WholeDocument,
): number {
  if (minBytesPerSecond === 0 || elapsedMs <= minRateGraceMs) return 0;
  const rise = (maxBytes * 1000) / maxTransferMs - minBytesPerSecond;
  if (!(rise > 0) || maxTransferMs <= minRateGraceMs) return minBytesPerSecond;
  const part = Math.min(1, (elapsedMs - minRateGraceMs) / (maxTransferMs - minRateGraceMs));
  return minBytesPerSecond + rise * part;
}
