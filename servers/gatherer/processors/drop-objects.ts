import type { UnixSeconds } from '../../../protocols/time.js';
import type { DocumentRecord, GathererBatch } from '../../../storage/index.js';

/**
 * E-25: deletes the objects of a document and leaves tombstones, which inform Brokers (GATHERD-4.9).
 *
 * @param document its record, with its own object or several others (E-47)
 */
export function dropObjects(
  { url, objects, updateTime }: DocumentRecord,
  batch: GathererBatch,
  deletedAt: UnixSeconds,
): void {
  for (const object of objects) batch.deleteSummary(object, undefined, { deletedAt });
  if (objects.length === 0 && updateTime > 0) batch.deleteSummary(url, undefined, { deletedAt });
}
