import type { GathererBatch } from '../../../storage/index.js';
import { LevelFilter, type SeenFilter } from '../../../storage/seen/index.js';
import { announce } from '../crawl-channel.js';

/**
 * Number of temporary failures after which a URI stays seen, so that links to a dead page do not revive it
 * forever.
 */
const MAX_REVIVALS = 2;
/** Maximum number of URIs whose failures are counted; other URIs stay seen. */
const MAX_COUNTED = 65_536;
/** CRAWL-4.6: additions between two lines about the look-ups. */
const ADDITIONS_PER_LINE = 10_000;

/**
 * The seen filter of the frontier. A filter in the store is written in the batches that queue its URIs. A
 * filter with its own files is written later; when the frontier opens it adds the queued URIs.
 */
export class SeenUris {
  readonly #filter: SeenFilter;
  readonly #revivals = new Map<string, number>();
  readonly #inStore: LevelFilter | undefined;
  /** Since the last line about the look-ups. */
  #additions = 0;
  #lookups = 0;
  #lookupMs = 0;

  constructor(filter: SeenFilter) {
    this.#filter = filter;
    this.#inStore = filter instanceof LevelFilter && !filter.hasOwnFiles ? filter : undefined;
  }

  get inStore(): boolean {
    return this.#inStore !== undefined;
  }

  /**
   * Adds keys; returns a 1 for each that was new. CRAWL-4.6: every 10 000 additions the mean time of a look-up
   * is logged.
   */
  async add(keys: readonly string[]): Promise<Uint8Array> {
    const begin = performance.now();
    const isNew = await this.#filter.add(keys);
    this.#lookupMs += performance.now() - begin;
    this.#lookups += keys.length;
    for (const found of isNew) this.#additions += found;
    if (this.#additions >= ADDITIONS_PER_LINE) this.#reportLookups();
    return isNew;
  }

  #reportLookups(): void {
    const { kind, count } = this.#filter;
    const mean = ((this.#lookupMs * 1000) / this.#lookups).toFixed(1);
    const text = `seen filter ${kind}: ${count} URIs; the last ${this.#lookups} look-ups took ${mean} microseconds on average`;
    announce(text, false);
    this.#additions = 0;
    this.#lookups = 0;
    this.#lookupMs = 0;
  }

  /** Removes keys that {@link add} reported as new. */
  async remove(keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await this.#filter.forget(keys);
  }

  /** CRAWL-4.2, 21: makes a URI new again after a temporary failure, a limited number of times. */
  async forget(key: string): Promise<void> {
    const revivals = this.#revivals.get(key) ?? 0;
    if (revivals >= MAX_REVIVALS || (revivals === 0 && this.#revivals.size >= MAX_COUNTED)) return;
    this.#revivals.set(key, revivals + 1);
    await this.#filter.forget([key]);
  }

  /** Adds the filter's changes to the batch; returns a function to call after it is written. */
  addChangesTo(batch: GathererBatch): () => void {
    const changes = this.#inStore?.takeChanges();
    if (changes === undefined || changes.rows.length === 0) return () => undefined;
    batch.putSeen(changes.rows);
    return changes.written;
  }

  /** Commits a filter with its own files. All earlier batches must be on disk. */
  async commit(): Promise<void> {
    if (this.#inStore === undefined && this.#filter.uncommitted > 0) await this.#filter.commit();
  }
}
