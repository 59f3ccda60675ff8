/**
 * The filters of this package (CRAWL-4.4). The default is `level`.
 * - `level`: LevelDB rows with the 24+40-bit key; memory for caches only
 * - `memory-set`: a table of 64-bit fingerprints
 * - `bloom`: a Bloom filter: fixed memory, loses a URI with a stated probability
 * - `memory-merge`: a sorted array of fingerprints, 8 bytes each
 * - `disk-merge`: sorted runs of fingerprints on disk, some bits of each in memory
 */
export const SEEN_KINDS = ['level', 'memory-set', 'bloom', 'memory-merge', 'disk-merge'] as const;

export type SeenKind = (typeof SEEN_KINDS)[number];

/**
 * The set of URIs that were scheduled before (CRAWL section 4). It has one owner. Calls may overlap and take
 * effect in their order; after the close they reject with a StateError.
 *
 * A key is on disk only after {@link commit}. A frontier writes its queue first and then commits the filter:
 * after a crash between the two a URI is scheduled twice, and none is lost. CRAWL-4.2: a frontier forgets a URI
 * that failed permanently, so that it is scheduled again when it is found again.
 */
export interface SeenFilter extends AsyncDisposable {
  /** Name of the implementation, e.g. one of {@link SEEN_KINDS}. */
  readonly kind: string;
  /** CRAWL-4.10: number of keys. */
  readonly count: number;
  /** Changes that {@link commit} would write. */
  readonly uncommitted: number;
  /** Bytes of memory for the keys, caches included. */
  readonly memoryBytes: number;

  /**
   * Adds URIs.
   *
   * @param uris canonical strings (CRAWL-4.1, `canonicalString`); a large batch is much cheaper than single
   *   calls
   * @returns for each URI 1 if it was new, else 0; of two equal ones in a batch the first is new
   */
  add(uris: readonly string[]): Promise<Uint8Array>;
  /** CRAWL-4.3: removes URIs, so that they are new again. Ignores absent ones. */
  forget(uris: readonly string[]): Promise<void>;
  /** Writes all changes to the disk. Does nothing for a filter without a directory. */
  commit(): Promise<void>;
  /** Commits and releases all resources. Further calls return the same promise. */
  close(): Promise<void>;
}

/** Options of every filter. */
export interface SeenOptions {
  /** Directory of the keys. Without it they are in memory only; `level` and `disk-merge` require it. */
  readonly directory?: string;
  /**
   * Flush each commit to the disk. Default false: a killed process loses no commit, a power failure may lose
   * the last ones.
   */
  readonly sync?: boolean;
  /**
   * Uncommitted changes above which a filter commits without a call, so that its memory stays bounded. Default
   * 1 000 000.
   */
  readonly maxUncommitted?: number;
}
