import { type BloomOptions, BloomSet } from './bloom-set.js';
import type { SeenFilter, SeenKind, SeenOptions } from './contract.js';
import { DiskMergeFilter } from './disk-merge.js';
import { KeyTable } from './key-table.js';
import { LevelFilter } from './level-filter.js';
import { type KeySet, LoggedFilter } from './logged-filter.js';
import { SortedSet } from './sorted-set.js';

export interface OpenSeenOptions extends SeenOptions, BloomOptions {
  /** Default `level` (CRAWL-4.4). */
  readonly kind?: SeenKind;
  /** `disk-merge`: keys in memory before they become a run on disk. Default 262 144. */
  readonly pendingKeys?: number;
}

/**
 * Opens a seen filter (CRAWL-4.4) with the keys that its directory holds.
 *
 * @throws TypeError if the kind requires a directory and has none; RangeError for sizes of a Bloom filter that
 *   are out of range; StorageError if the directory holds something else
 */
export async function openSeenFilter(options: OpenSeenOptions): Promise<SeenFilter> {
  const { kind = 'level', directory } = options;
  switch (kind) {
    case 'memory-set':
      return LoggedFilter.open(new MemorySet(), options);
    case 'memory-merge':
      return LoggedFilter.open(new SortedSet(), options);
    case 'bloom':
      return LoggedFilter.open(new BloomSet(options), options);
    case 'level':
      return LevelFilter.open(requireDirectory(directory, kind), options);
    case 'disk-merge':
      return DiskMergeFilter.open({ ...options, directory: requireDirectory(directory, kind) });
  }
}

function requireDirectory(directory: string | undefined, kind: SeenKind): string {
  if (directory === undefined) throw new TypeError(`the seen filter ${kind} requires a directory`);
  return directory;
}

/**
 * CRAWL-4.4 FPUriUniqFilter: a table of fingerprints. Two URIs have the same fingerprint with probability
 * 2^-64.
 */
class MemorySet implements KeySet {
  readonly kind = 'memory-set';
  readonly #table = new KeyTable();

  get size(): number {
    return this.#table.size;
  }

  get memoryBytes(): number {
    return this.#table.memoryBytes;
  }

  add(low: number, high: number): boolean {
    return this.#table.add(low, high);
  }

  forget(low: number, high: number): boolean {
    return this.#table.delete(low, high);
  }
}
