// Decides which parts of a Glimpse index are kept, and which objects are indexed again.
import { OidSet } from '../../broker/oid-set.js';
import type { Part } from './parts.js';

/** A part of at most this many files is indexed again together with new objects. */
const SMALL_PART = 1000;
/** More parts than this are joined, because a query runs glimpse on each. */
const MAX_PARTS = 8;

/** The changes of a run. */
export interface Run {
  readonly written: OidSet;
  readonly removed: OidSet;
  readonly words: OidSet;
  readonly lines: OidSet;
  /** Whether the run replaces the index. */
  readonly isRebuild: boolean;
}

/** Begins a run. */
export function newRun(isRebuild: boolean): Run {
  return {
    written: new OidSet(),
    removed: new OidSet(),
    words: new OidSet(),
    lines: new OidSet(),
    isRebuild,
  };
}

/** What the next index consists of. */
export interface Plan {
  readonly kept: readonly Part[];
  /** Objects of the new part; empty if no part is written. */
  readonly fresh: OidSet;
}

/**
 * Decides which parts the next index keeps. glimpseindex can also add files to an index (`-a`), but it then
 * drops files that are gone and numbers the others anew, so that it finds wrong objects: here no index is ever
 * changed. A new part takes in the parts that are not more than twice as large, so their number grows with the
 * logarithm of the number of objects.
 */
export function planParts(former: readonly Part[], written: OidSet, live: OidSet): Plan {
  const kept = [...former];
  const fresh = written.clone();
  let size = fresh.size;
  for (let last = kept.at(-1); size > 0 && last !== undefined; last = kept.at(-1)) {
    if (last.count > Math.max(SMALL_PART, 2 * size)) break;
    fresh.unite(last.oids).intersect(live);
    size = fresh.size;
    kept.pop();
  }
  const entries = kept.reduce((sum, { count }) => sum + count, size);
  // Removed and replaced objects are in the way of every query.
  if (kept.length >= MAX_PARTS || entries > 2 * live.size) return { kept: [], fresh: live };
  return { kept, fresh };
}
