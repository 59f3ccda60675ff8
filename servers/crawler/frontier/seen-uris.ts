import type { GathererBatch } from '../../../storage/index.js';
import { LevelFilter, type SeenFilter } from '../../../storage/seen/index.js';

/** Failures of one URI in a crawl after which it stays seen: a page that links to a dead one must not revive it for ever. */
const MAX_REVIVALS = 2;
/** URIs whose failures are counted; beyond it nothing is forgotten any more. */
const MAX_COUNTED = 65_536;

/**
 * The seen filter as the frontier uses it: what it takes in and what is queued reach the disk together (for the filter in the store), or
 * the filter's part later (for the others): then the frontier adds what is queued when it opens.
 */
export class SeenUris {
  readonly #revivals = new Map<string, number>();
  readonly #inStore: LevelFilter | undefined;

  constructor(private readonly filter: SeenFilter) {
    this.#inStore = filter instanceof LevelFilter && !filter.hasOwnFiles ? filter : undefined;
  }

  get inStore(): boolean {
    return this.#inStore !== undefined;
  }

  get count(): number {
    return this.filter.count;
  }

  add(keys: readonly string[]): Promise<Uint8Array> {
    return this.filter.add(keys);
  }

  /** Takes back what {@link add} has just said to be new. */
  async refuse(keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await this.filter.forget(keys);
  }

  /** CRAWL-4.2, 21: a failure that may pass leaves the URI new, a few times. */
  async forget(key: string): Promise<void> {
    const revivals = this.#revivals.get(key) ?? 0;
    if (revivals >= MAX_REVIVALS || (revivals === 0 && this.#revivals.size >= MAX_COUNTED)) return;
    this.#revivals.set(key, revivals + 1);
    await this.filter.forget([key]);
  }

  /** Puts what changed into the batch; what is returned is to be called when that is written. */
  into(batch: GathererBatch): () => void {
    const changes = this.#inStore?.takeChanges();
    if (changes === undefined || changes.rows.length === 0) return () => undefined;
    batch.putSeen(changes.rows);
    return changes.written;
  }

  /** The batches before are on disk: now the filter may be. */
  async written(): Promise<void> {
    if (this.#inStore === undefined && this.filter.uncommitted > 0) await this.filter.commit();
  }
}
