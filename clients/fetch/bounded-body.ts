import { joinBytes } from './decode-body.js';

/** Collects a body up to a size; what is over it is counted, not kept. */
export class BoundedBody {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #kept = 0;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that came. */
  get length(): number {
    return this.#length;
  }

  get truncated(): boolean {
    return this.#length > this.#maxBytes;
  }

  /** @param chunk must not be changed afterwards */
  push(chunk: Uint8Array): void {
    this.#length += chunk.length;
    const piece = chunk.subarray(0, this.#maxBytes - this.#kept);
    if (piece.length === 0) return;
    this.#chunks.push(piece);
    this.#kept += piece.length;
  }

  /** What was kept, in an array of its own. */
  bytes(): Uint8Array {
    return joinBytes(this.#chunks, this.#kept);
  }
}
