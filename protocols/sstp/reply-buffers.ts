// Memory that reply writers reuse.
const MIN_BYTES = 1024;
/** Larger buffers are not kept. */
const MAX_KEPT_BYTES = 512 * 1024;

/**
 * Memory for replies. One buffer is kept for the next writer: when the octets of a writer are sent, their owner
 * gives the buffer back. Connections that write one after the other then share the same few pages of memory.
 */
export class ReplyBuffers {
  #spare: Uint8Array<ArrayBuffer> | undefined;

  /** Returns a buffer of at least `octets` octets with arbitrary contents. */
  get(octets: number): Uint8Array<ArrayBuffer> {
    const spare = this.#spare;
    if (spare === undefined || spare.length < octets) return new Uint8Array(Math.max(octets, MIN_BYTES));
    this.#spare = undefined;
    return spare;
  }

  /** @param taken octets of a writer; nothing may use them, or other octets of their memory, after this call */
  giveBack(taken: Uint8Array<ArrayBuffer>): void {
    const whole = new Uint8Array(taken.buffer);
    if (whole.length <= MAX_KEPT_BYTES && whole.length > (this.#spare?.length ?? 0)) this.#spare = whole;
  }
}
