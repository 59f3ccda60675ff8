// The limits of unnesting and their defaults. They are part of a document's settings; `unnest/meter.ts`
// enforces them.

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
  /**
   * Bytes of the window or dictionary that a compressed file may claim; zstd's own limit is the same. Default
   * 128 MiB.
   */
  readonly maxWindowBytes: number;
  /**
   * Milliseconds of processor time for one document, and ten times as many by the clock; less than the pool's
   * limit, so that the components found so far are kept. Default 20 000.
   */
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
  maxWindowBytes: 128 * 1024 * 1024,
  timeLimitMs: 20_000,
};
