import { UnnestError } from '../errors.js';
import type { UnnestLimits } from '../model.js';
import type { TimeBudget } from '../time-budget.js';

/** Counts the cost of unnesting one document. Reaching a limit ends it at all levels. */
export class UnnestMeter {
  readonly #time: TimeBudget;
  /** Whether a limit was reached; nothing more is read then. */
  exhausted = false;
  #bytes = 0;
  #components = 0;
  readonly #ceiling: number;

  /**
   * @param gathered - size of the document in bytes, as it was gathered
   * @param time - the time for it
   */
  constructor(
    readonly limits: UnnestLimits,
    gathered: number,
    time: TimeBudget,
  ) {
    this.#time = time;
    this.#ceiling = Math.max(limits.ratioFloorBytes, gathered * limits.maxRatio);
  }

  /** Counts a decoder's output. @throws UnnestError at a limit */
  async *unpacked(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const chunk of chunks) {
      this.#bytes += chunk.length;
      const { maxUnpackedBytes, maxRatio } = this.limits;
      if (this.#bytes > maxUnpackedBytes) throw this.#reached(`more than ${maxUnpackedBytes} unpacked bytes`);
      if (this.#bytes > this.#ceiling)
        throw this.#reached(`it unpacks to more than ${maxRatio} times its size`);
      this.checkTime();
      yield chunk;
    }
  }

  /**
   * Checks the time at each chunk of a decoder's input: a decoder can read much without any output. @throws
   * UnnestError at the limit
   */
  async *timed(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const chunk of chunks) {
      this.checkTime();
      yield chunk;
    }
  }

  /** Counts a component. @throws UnnestError at a limit */
  component(): void {
    if (++this.#components > this.limits.maxComponents) {
      throw this.#reached(`more than ${this.limits.maxComponents} components`);
    }
    this.checkTime();
  }

  /** @throws UnnestError after the document's time limit */
  checkTime(): void {
    const clause = this.#time.exceeded();
    if (clause !== undefined) throw this.#reached(`it took ${clause}`);
  }

  #reached(what: string): UnnestError {
    this.exhausted = true;
    return new UnnestError(`unnesting stopped: ${what}`, 'E-45');
  }
}
