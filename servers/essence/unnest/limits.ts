import { UnnestError } from '../errors.js';

/** How far unnesting goes (E-45). All of it counts for one gathered document. */
export interface UnnestLimits {
  /** Nested layers, each archive and each compression being one. Default 10. */
  readonly maxDepth: number;
  /** Components that are looked at. Default 10 000. */
  readonly maxComponents: number;
  /** Bytes that decoders and decompressors may give. Default 1 GiB. */
  readonly maxUnpackedBytes: number;
  /** Unpacked bytes for each gathered one. Default 200. */
  readonly maxRatio: number;
  /** Bytes that are unpacked whatever the ratio: small texts compress very well. Default 4 MiB. */
  readonly ratioFloorBytes: number;
  /** Bytes of one component that its summarizer sees; of a longer one, the beginning. Default 32 MiB. */
  readonly maxComponentBytes: number;
  /** Bytes of an archive or message that can only be read as a whole: zip, MIME. Default 128 MiB. */
  readonly maxArchiveBytes: number;
  /** Milliseconds for one document; must be less than the pool's limit to keep what was found. Default 20 000. */
  readonly timeLimitMs: number;
}

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

/** Keeps account of what one document's unnesting has cost. A reached limit ends it everywhere. */
export class UnnestMeter {
  /** A limit was reached: nothing more is read. */
  exhausted = false;
  #bytes = 0;
  #components = 0;
  readonly #ceiling: number;
  readonly #deadline: number;

  /** @param gathered - bytes of the document as it was gathered. */
  constructor(
    readonly limits: UnnestLimits,
    gathered: number,
    readonly now: () => number = () => performance.now(),
  ) {
    this.#ceiling = Math.max(limits.ratioFloorBytes, gathered * limits.maxRatio);
    this.#deadline = now() + limits.timeLimitMs;
  }

  /** Counts the bytes that a decoder gives on. @throws UnnestError at a limit. */
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

  /** One more component. @throws UnnestError at a limit. */
  component(): void {
    if (++this.#components > this.limits.maxComponents) {
      throw this.#reached(`more than ${this.limits.maxComponents} components`);
    }
    this.checkTime();
  }

  /** @throws UnnestError when the document's time is over. */
  checkTime(): void {
    if (this.now() > this.#deadline) throw this.#reached(`it took more than ${this.limits.timeLimitMs} ms`);
  }

  #reached(what: string): UnnestError {
    this.exhausted = true;
    return new UnnestError(`unnesting stopped: ${what}`, 'E-45');
  }
}
