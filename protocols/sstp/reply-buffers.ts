const SMALLEST = 1024;
/** Larger ones are not kept. */
const LARGEST_KEPT = 512 * 1024;

/**
 * Memory for replies. One buffer at a time is kept for the next writer: whoever knows that the octets it took from a writer are
 * used up gives them back, and many connections, which write one after the other, do with the same few pages of memory.
 */
export class ReplyBuffers {
  #spare: Uint8Array<ArrayBuffer> | undefined;

  /** A buffer of at least so many octets, with anything in it. */
  get(octets: number): Uint8Array<ArrayBuffer> {
    const spare = this.#spare;
    if (spare === undefined || spare.length < octets) return new Uint8Array(Math.max(octets, SMALLEST));
    this.#spare = undefined;
    return spare;
  }

  /** @param taken octets of a writer; nobody may use them, nor others of their memory, any more */
  giveBack(taken: Uint8Array<ArrayBuffer>): void {
    const whole = new Uint8Array(taken.buffer);
    if (whole.length <= LARGEST_KEPT && whole.length > (this.#spare?.length ?? 0)) this.#spare = whole;
  }
}
