import { joinBytes } from './decode-body.js';

/** Collects a body up to a size; bytes above it are counted and dropped. */
export class BoundedBody {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
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

  /** @param chunk is kept and must not change after the call */
  push(chunk: Uint8Array): void {
    this.#length += chunk.length;
    const piece = chunk.subarray(0, this.#maxBytes - this.#kept);
    if (piece.length === 0) return;
    this.#chunks.push(piece);
    this.#kept += piece.length;
  }

  /** A copy of the bytes that were kept. */
  bytes(): Uint8Array {
    return joinBytes(this.#chunks, this.#kept);
  }
}
