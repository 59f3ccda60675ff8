// What the kit's own documents leave in a store when they move: their URLs have the port of the run.
import type { Gatherer } from '../gatherer/index.js';

/** The meta value with the URL of the first page at the last run. */
const PLACE_META = 'ownDocuments';

/**
 * Notes where the kit's own documents are in this run. Those of an earlier run at another place, or of one before a run
 * of other roots, are deleted, with tombstones, by which Brokers learn of it: their URLs lead nowhere.
 *
 * @param url of the first page, which ends in a slash; undefined if this run does not serve them
 * @returns the number of deleted objects
 */
export async function forgetMovedDocuments({ store }: Gatherer, url: string | undefined): Promise<number> {
  const before = await store.meta.get(PLACE_META);
  if (before === url) return 0;
  let deleted = 0;
  if (typeof before === 'string') {
    const deletedAt = Math.floor(Date.now() / 1000);
    for await (const page of store.summaries.iterate()) {
      const batch = store.batch();
      for (const summary of page) {
        if (!summary.url.startsWith(before)) continue;
        batch.deleteSummary(summary.url, summary.updateTime, { deletedAt });
        batch.deleteDocument(summary.url).dropReferences(summary.url);
        deleted++;
      }
      if (batch.size > 0) await batch.commit();
    }
  }
  // Last, so that a run that was killed begins again.
  const batch = store.batch();
  await (url === undefined ? batch.deleteMeta(PLACE_META) : batch.putMeta(PLACE_META, url)).commit();
  return deleted;
}
