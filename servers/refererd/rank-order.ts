import type { LinkList, References } from '../../storage/references/index.js';
import { naturalOrder, type Pager } from './answers.js';

/** Longer lists keep their natural order: to show a page of one, all of it would have to be sorted. */
const MAX_SORTED = 1_000_000;
/** IDs of sorted lists that are kept for their next page. */
const MAX_KEPT = 2_000_000;

/**
 * highest PageRank first, equal ones in natural order; an option, never the default. Lists of a generation without
 * ranks, and very long ones, stay as they are.
 */
export function rankOrder(): Pager {
  const kept = new Map<string, Uint32Array>();
  let size = 0;
  let generation: number | undefined;
  return (references, kind, id, list, start, count) => {
    if (!references.ranked || list.total > MAX_SORTED) {
      return naturalOrder(references, kind, id, list, start, count);
    }
    if (generation !== references.generation) {
      kept.clear();
      size = 0;
      generation = references.generation;
    }
    const key = `${kind} ${id}`;
    const sorted = kept.get(key) ?? sortByRank(references, list);
    // The last one used is the last one to go.
    if (!kept.delete(key)) size += sorted.length;
    kept.set(key, sorted);
    for (const [oldest, ids] of kept) {
      if (size <= MAX_KEPT || oldest === key) break;
      kept.delete(oldest);
      size -= ids.length;
    }
    return sorted.subarray(start, start + count);
  };
}

function sortByRank(references: References, list: LinkList): Uint32Array {
  const ids = list.page(0, list.total);
  const ranks = Float64Array.from(ids, (id) => references.rank(id) ?? 0);
  const places = Uint32Array.from(ids, (_id, place) => place);
  places.sort((a, b) => ranks[b]! - ranks[a]! || a - b);
  return places.map((place) => ids[place]!);
}
