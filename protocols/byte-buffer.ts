const INITIAL_CAPACITY = 256;

/** Bytes that arrive in pieces and are taken as a whole. Grows by doubling, so input byte by byte stays linear. */
export class ByteBuffer {
  #bytes = new Uint8Array(0);
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

  /** All bytes, which the caller owns from now on; the buffer is empty afterwards. */
  take(): Uint8Array {
    const bytes = this.view();
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return bytes;
  }
}
