/**
 * The members of the family (CRAWL-4.4): `level` is the default.
 * - `level`: LevelDB rows with the 24+40-bit key; memory for caches only
 * - `memory-set`: a table of 64-bit fingerprints
 * - `bloom`: a Bloom filter: fixed memory, a stated chance to lose a URI
 * - `memory-merge`: a sorted array of fingerprints, 8 bytes each
 * - `disk-merge`: sorted runs of fingerprints on disk, some bits of each in memory
 */
export const SEEN_KINDS = ['level', 'memory-set', 'bloom', 'memory-merge', 'disk-merge'] as const;

export type SeenKind = (typeof SEEN_KINDS)[number];

/**
 * Which URIs were taken in before (CRAWL section 4). One owner; calls may overlap, they take effect in their order.
 *
 * A key is on disk only after {@link commit}. Whoever queues what is new writes its queue first and commits the filter
 * then: a crash between the two lets a URI be found once more, and never loses one. To forget on failure is the cure
 * of CRAWL-4.2: a URI that failed for good may be scheduled again when it is found again.
 */
export interface SeenFilter extends AsyncDisposable {
  readonly kind: SeenKind;
  /** CRAWL-4.10: keys recorded. */
  readonly count: number;
  /** Changes that {@link commit} would write. */
  readonly uncommitted: number;
  /** Bytes of memory for what was recorded; caches of a fixed size are in it. */
  readonly memoryBytes: number;

  /**
   * Records URIs.
   * @param uris canonical strings (CRAWL-4.1, `canonicalString`); many at once are much cheaper
   * @returns a 1 for each that was new, else a 0; of two equal ones in a batch the first is new
   */
  add(uris: readonly string[]): Promise<Uint8Array>;
  /** CRAWL-4.3 forget: the URIs are new again. What was not recorded is left alone. */
  forget(uris: readonly string[]): Promise<void>;
  /** Puts everything recorded on disk; nothing to do for a filter without a directory. */
  commit(): Promise<void>;
  /** Commits and frees what is held. */
  close(): Promise<void>;
}

/** What all members understand. */
export interface SeenOptions {
  /** Where the keys rest. Without it they live in memory only; `level` and `disk-merge` need one. */
  readonly directory?: string;
  /** Wait at each commit until the disk has it. Without, a killed process loses nothing, a power cut may. Default false. */
  readonly sync?: boolean;
  /** Changes after which a filter commits by itself, so that its memory stays bounded. Default 1 000 000. */
  readonly maxUncommitted?: number;
}

export const DEFAULT_MAX_UNCOMMITTED = 1_000_000;
