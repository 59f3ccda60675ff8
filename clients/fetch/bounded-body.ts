// Collects a body of unknown length up to a size.
import { joinBytes } from './join-bytes.js';
import type { BodyBytes } from './stored-body.js';

/** Smaller pieces are copied, because an object of its own would cost more than their bytes. */
const COPIED_BYTES = 4096;
const BLOCK_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);

/** Collects a body. */
export interface BodyCollector {
  /** Bytes received. */
  readonly length: number;
  /** More bytes were received than are kept. */
  readonly truncated: boolean;
  /** Whether the sender must pause. */
  readonly isFull: boolean;
  /** @param chunk may be kept and must not change after the call */
  push(chunk: Uint8Array): void;
  /** Calls back when the sender may continue, perhaps at once; with the error if the disk failed. */
  whenRoom(callback: (error?: Error) => void): void;
  /** Returns the bytes that were kept. The caller closes what is on disk. @throws the errors of the disk */
  finish(): Promise<BodyBytes>;
  /** Forgets what was collected. */
  drop(): Promise<void>;
}

/**
 * Collects a body up to a size; bytes above it are counted and dropped. Its memory is at most a small multiple
 * of the bytes kept, however small the pieces are and however large the buffers that they are cut from.
 */
export class BoundedBody implements BodyCollector {
  readonly #maxBytes: number;
  /** The only piece so far, which is not copied before the next one: most bodies have one. */
  #first: Uint8Array | undefined;
  readonly #chunks: Uint8Array[] = [];
  /** The end of the last block of copied pieces that is still free. */
  #free = NOTHING;
  #kept = 0;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes received. */
  get length(): number {
    return this.#length;
  }

  get truncated(): boolean {
    return this.#length > this.#maxBytes;
  }

  /** @param chunk may be kept and must not change after the call */
  push(chunk: Uint8Array): void {
    this.#length += chunk.length;
    const piece = chunk.subarray(0, this.#maxBytes - this.#kept);
    if (piece.length === 0) return;
    this.#kept += piece.length;
    if (this.#kept === piece.length) {
      this.#first = piece;
      return;
    }
    if (this.#first !== undefined) this.#add(this.#first);
    this.#first = undefined;
    this.#add(piece);
  }

  #add(piece: Uint8Array): void {
    // A piece keeps the whole buffer that it is a part of.
    const isWasteful = piece.length < COPIED_BYTES || piece.length < piece.buffer.byteLength / 4;
    if (isWasteful) this.#copy(piece);
    else {
      this.#chunks.push(piece);
      this.#free = NOTHING;
    }
  }

  readonly isFull = false;

  whenRoom(callback: () => void): void {
    callback();
  }

  async finish(): Promise<Uint8Array> {
    return this.bytes();
  }

  async drop(): Promise<void> {}

  /** A copy of the bytes that were kept. */
  bytes(): Uint8Array {
    return joinBytes(this.#first === undefined ? this.#chunks : [this.#first], this.#kept);
  }

  #copy(piece: Uint8Array): void {
    // A short body does not need a whole block; a body of many pieces gets blocks that double.
    if (this.#free.length < piece.length) {
      const size = Math.max(piece.length, Math.min(BLOCK_BYTES, Math.max(COPIED_BYTES, this.#kept)));
      this.#free = new Uint8Array(size);
    }
    const target = this.#free.subarray(0, piece.length);
    target.set(piece);
    this.#free = this.#free.subarray(piece.length);
    const last = this.#chunks.at(-1);
    const isContinuation =
      last !== undefined &&
      last.buffer === target.buffer &&
      last.byteOffset + last.length === target.byteOffset;
    if (!isContinuation) this.#chunks.push(target);
    else {
      this.#chunks[this.#chunks.length - 1] = new Uint8Array(
        target.buffer,
        last.byteOffset,
        last.length + target.length,
      );
    }
  }
}
