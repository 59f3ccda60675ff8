import { keyOrder, orderedKey, TABLE, tableRange } from '../level/keys.js';
import type { Level } from '../level/level.js';
import { changeCodec } from '../records/records.js';

/** An entry of the change log. Only the last change of an OID matters to a follower. */
export interface StoreChange {
  readonly sequence: number;
  readonly oid: number;
  readonly kind: 'put' | 'remove';
}

/** Reads the next changes after `sequence`, oldest first, at most `limit`. */
export async function readChanges(level: Level, sequence: number, limit: number): Promise<StoreChange[]> {
  const range = { ...tableRange(TABLE.changes), gte: orderedKey(TABLE.changes, sequence + 1) };
  const changes: StoreChange[] = [];
  while (changes.length < limit) {
    const last = changes.at(-1);
    const after = last && orderedKey(TABLE.changes, last.sequence);
    const page = await level.page(range, { limit: limit - changes.length, after });
    if (page.length === 0) break;
    for (const [key, value] of page) {
      const { oid, removed } = changeCodec.decode(value);
      changes.push({ sequence: keyOrder(key), oid, kind: removed ? 'remove' : 'put' });
    }
  }
  return changes;
}
