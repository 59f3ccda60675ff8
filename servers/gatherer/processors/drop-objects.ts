import type { UnixSeconds } from '../../../protocols/time.js';
import type { DocumentRecord, GathererBatch } from '../../../storage/index.js';

/**
 * E-25: the objects that were made of a document go, with tombstones so that Brokers are told (GATHERD-4.9).
 *
 * @param document what is known of it: its own object, or several others (E-47)
 */
export function dropObjects(
  { url, objects, updateTime }: DocumentRecord,
  batch: GathererBatch,
  deletedAt: UnixSeconds,
): void {
  for (const object of objects) batch.deleteSummary(object, undefined, { deletedAt });
  if (objects.length === 0 && updateTime > 0) batch.deleteSummary(url, undefined, { deletedAt });
}
