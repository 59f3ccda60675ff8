const INITIAL_CAPACITY = 256;
const NOTHING = new Uint8Array(0);

/** Collects bytes that arrive in pieces. It grows by doubling, so input byte by byte takes linear time. */
export class ByteBuffer {
  #bytes = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.#bytes.length * 2, INITIAL_CAPACITY));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  /** The bytes so far; valid until the next call of another method. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Returns all bytes, which the caller then owns, and empties the buffer. */
  take(): Uint8Array {
    const bytes = this.view();
    this.#bytes = NOTHING;
    this.#length = 0;
    return bytes;
  }
}
