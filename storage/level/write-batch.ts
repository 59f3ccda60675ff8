// Batches of rows.
import type { ClassicLevel } from 'classic-level';
import type { RowChange } from '../rows/contract.js';

/** Mean bytes of a batch's rows from which its memory costs more than its time. */
const LARGE_ROW_BYTES = 4096;

/**
 * Writes a batch. Of its two forms in the library, the chained one costs a third less for each row, but its
 * copy of the rows is freed only by a garbage collection, which does not count it: writing an object of 60 MB
 * would take 60 MB.
 */
export async function writeBatch(
  db: ClassicLevel<Uint8Array, Uint8Array>,
  changes: readonly RowChange[],
): Promise<void> {
  let bytes = 0;
  for (const { value } of changes) bytes += value?.length ?? 0;
  if (bytes >= LARGE_ROW_BYTES * changes.length) {
    await db.batch(
      changes.map(({ key, value }) =>
        value === undefined ? { type: 'del', key } : { type: 'put', key, value },
      ),
    );
    return;
  }
  const batch = db.batch();
  for (const { key, value } of changes) {
    if (value === undefined) batch.del(key);
    else batch.put(key, value);
  }
  await batch.write();
}
