// Orders links by PageRank.
import { LRUCache } from 'lru-cache';
import type { LinkList, References } from '../../storage/references/contract.js';
import { naturalOrder, type Pager } from './answers.js';

/** Longer lists keep their natural order, because a single page would require sorting all of the list. */
const MAX_SORTED = 1_000_000;
/** IDs of sorted lists in the cache. */
const MAX_CACHED_IDS = 2_000_000;

/**
 * orders by PageRank, highest first, equal ranks in natural order. An option, never the default. Lists of
 * a generation without ranks and very long lists keep their natural order.
 */
export function rankOrder(): Pager {
  const cache = new LRUCache<string, Uint32Array>({
    maxSize: MAX_CACHED_IDS,
    sizeCalculation: (ids) => Math.max(1, ids.length),
  });
  let generation: number | undefined;
  return (references, kind, id, list, start, count) => {
    if (!references.ranked || list.total > MAX_SORTED) {
      return naturalOrder(references, kind, id, list, start, count);
    }
    if (generation !== references.generation) {
      cache.clear();
      generation = references.generation;
    }
    const key = `${kind} ${id}`;
    let sorted = cache.get(key);
    if (sorted === undefined) {
      sorted = sortByRank(references, list);
      cache.set(key, sorted);
    }
    return sorted.subarray(start, start + count);
  };
}

function sortByRank(references: References, list: LinkList): Uint32Array {
  const ids = list.page(0, list.total);
  const ranks = Float64Array.from(ids, (id) => references.rank(id) ?? 0);
  const order = Uint32Array.from(ids, (_id, index) => index);
  order.sort((a, b) => ranks[b]! - ranks[a]! || a - b);
  return order.map((index) => ids[index]!);
}
