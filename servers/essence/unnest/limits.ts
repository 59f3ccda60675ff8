import { UnnestError } from '../errors.js';

/** Limits of unnesting one gathered document (E-45). */
export interface UnnestLimits {
  /** Nested layers; each archive and each compression counts as one. Default 10. */
  readonly maxDepth: number;
  /** Components that are read. Default 10 000. */
  readonly maxComponents: number;
  /** Bytes of output of all decoders and decompressors. Default 1 GiB. */
  readonly maxUnpackedBytes: number;
  /** Unpacked bytes per gathered byte. Default 200. */
  readonly maxRatio: number;
  /** Bytes that are unpacked regardless of the ratio: small texts compress very well. Default 4 MiB. */
  readonly ratioFloorBytes: number;
  /** Bytes of one component passed to its summarizer; a longer component is truncated. Default 32 MiB. */
  readonly maxComponentBytes: number;
  /** Bytes of an archive or message that can only be read as a whole: zip, MIME. Default 128 MiB. */
  readonly maxArchiveBytes: number;
  /** Milliseconds for one document; less than the pool's limit, so that the components found so far are kept. Default 20 000. */
  readonly timeLimitMs: number;
}

/** The defaults of all limits. */
export const DEFAULT_UNNEST_LIMITS: UnnestLimits = {
  maxDepth: 10,
  maxComponents: 10_000,
  maxUnpackedBytes: 1024 * 1024 * 1024,
  maxRatio: 200,
  ratioFloorBytes: 4 * 1024 * 1024,
  maxComponentBytes: 32 * 1024 * 1024,
  maxArchiveBytes: 128 * 1024 * 1024,
  timeLimitMs: 20_000,
};

/** Counts the cost of unnesting one document. Reaching a limit ends it at all levels. */
export class UnnestMeter {
  /** Whether a limit was reached; nothing more is read then. */
  exhausted = false;
  #bytes = 0;
  #components = 0;
  readonly #ceiling: number;
  readonly #deadline: number;

  /** @param gathered size of the document in bytes, as it was gathered */
  constructor(
    readonly limits: UnnestLimits,
    gathered: number,
    readonly now: () => number = () => performance.now(),
  ) {
    this.#ceiling = Math.max(limits.ratioFloorBytes, gathered * limits.maxRatio);
    this.#deadline = now() + limits.timeLimitMs;
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

  /** Counts a component. @throws UnnestError at a limit */
  component(): void {
    if (++this.#components > this.limits.maxComponents) {
      throw this.#reached(`more than ${this.limits.maxComponents} components`);
    }
    this.checkTime();
  }

  /** @throws UnnestError after the document's time limit */
  checkTime(): void {
    if (this.now() > this.#deadline) throw this.#reached(`it took more than ${this.limits.timeLimitMs} ms`);
  }

  #reached(what: string): UnnestError {
    this.exhausted = true;
    return new UnnestError(`unnesting stopped: ${what}`, 'E-45');
  }
}
