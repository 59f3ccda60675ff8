// Those that follow the change log of a store, and what all of them have seen.
import { Table } from '../rows/table.js';
import type { RegistryRows } from './registry-rows.js';
import { FOLLOWERS } from './tables.js';

/** Seconds after which the log is not kept any more for a follower that is silent. */
const FOLLOWER_SECONDS = 7 * 86_400;

/** Records what a follower has seen, and returns what all have. */
export async function seenByAll(rows: RegistryRows, sequence: number, name: string): Promise<number> {
  rows.change(FOLLOWERS.put(name, { sequence, seen: rows.now }));
  let seen = sequence;
  for await (const page of new Table(rows.before, FOLLOWERS).entryPages()) {
    for (const [other, follower] of page) {
      if (other === name) continue;
      if (follower.seen < rows.now - FOLLOWER_SECONDS) rows.change(FOLLOWERS.delete(other));
      else seen = Math.min(seen, follower.sequence);
    }
  }
  return seen;
}
