// The input of a connection in pieces. Below the protocol engines: whatever they make of a piece, it is paid for.
import type { SessionShare } from './fair-share.js';

/**
 * Bytes of a piece. An engine's step over one is the unit in which sessions take turns: a thousand empty lines
 * or headers cost a tenth of a millisecond.
 */
export const PIECE_BYTES = 1024;

/** The cost of accepting and closing a connection, in milliseconds of processor time. */
export const CONNECTION_COST_MS = 0.2;

/** The cost of a step of an engine, and of each byte, in milliseconds of processor time. */
const STEP_COST_MS = 0.01;
const BYTE_COST_MS = 0.000_02;
/** Sending moves bytes only: a mebibyte a millisecond. */
const SENT_BYTE_COST_MS = 0.000_001;

/** Charges a session for the engine's step over a piece of its input. */
export function chargeStep(share: SessionShare, bytes: number): void {
  share.charge(STEP_COST_MS + bytes * BYTE_COST_MS);
}

/** Charges a session for bytes that it sends. */
export function chargeSent(share: SessionShare, bytes: number): void {
  share.charge(bytes * SENT_BYTE_COST_MS);
}

/** The members of a stream that is read on demand. */
export interface PulledStream {
  readonly readableEnded: boolean;
  read(): Uint8Array | null;
}

/** Reads a stream in pieces of at most {@link PIECE_BYTES}, each of which is charged to its session. */
export class InputPieces {
  readonly #stream: PulledStream;
  readonly #share: SessionShare;
  #chunk: Uint8Array | undefined;
  #at = 0;

  /** @param first bytes that were read already */
  constructor(stream: PulledStream, share: SessionShare, first?: Uint8Array) {
    this.#stream = stream;
    this.#share = share;
    this.#chunk = first;
  }

  /** Whether a piece has arrived. Reads the stream only when the last chunk is used up. */
  get available(): boolean {
    if (this.#chunk === undefined && !this.#stream.readableEnded) {
      this.#chunk = this.#stream.read() ?? undefined;
      this.#at = 0;
    }
    return this.#chunk !== undefined;
  }

  /** Takes the next piece and charges it; undefined if {@link available} is false. */
  take(): Uint8Array | undefined {
    if (!this.available) return undefined;
    const chunk = this.#chunk;
    const piece = chunk?.subarray(this.#at, this.#at + PIECE_BYTES);
    this.#at += PIECE_BYTES;
    if (chunk === undefined || this.#at >= chunk.length) this.#chunk = undefined;
    chargeStep(this.#share, piece?.length ?? 0);
    return piece;
  }
}
