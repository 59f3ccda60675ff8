import { StorageError } from '../../../protocols/errors.js';
import { hasExpired } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { GathererStore } from '../../../storage/index.js';
import type { Summary } from '../../../storage/summaries/summary-store.js';
import { MinTimeToLive } from './min-time-to-live.js';

/** When expired objects were last looked for. */
const LAST = 'expiry.last';
/** Whether expired objects were kept then. */
const HELD = 'expiry.held';

/** Seconds between two runs in which few objects expire, whatever their time to live. */
const USUAL_GAP = 2 * 86_400;

/**
 * Deletes the expired objects (G-103) and the tombstones that no Broker needs.
 *
 * Objects that the run has fetched or found unchanged stay, also if they do not live until its end: without them less
 * would be published than there is.
 *
 * After a longer time than objects live, most of which no run could refresh, the clock may be wrong: then they
 * stay until the next time, with a warning.
 *
 * @param begun when the run began; infinity if there was none
 */
export async function expireSummaries(
  store: GathererStore,
  now: UnixSeconds,
  onProblem: (problem: Error) => void,
  begun: UnixSeconds = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { seconds: shortest } = await MinTimeToLive.read(store.meta);
  const last = await store.meta.get(LAST);
  const wasHeld = (await store.meta.get(HELD)) !== undefined;
  await store.batch().putMeta(LAST, now).deleteMeta(HELD).commit();
  if (!wasHeld && last !== undefined && now - Number(last) > Math.max(2 * shortest, USUAL_GAP)) {
    let expired = 0;
    for await (const page of expiredSummaries(store, now, Math.min(now - shortest, begun)))
      expired += page.length;
    const { count } = store.summaries;
    if (expired >= MIN_HELD && expired > count / 2) {
      onProblem(
        new StorageError(
          `${expired} of ${count} objects have expired since the last run ${Math.round((now - Number(last)) / 86_400)} days ago: they are kept until the next run, in case the clock is wrong`,
        ),
      );
      await store.batch().putMeta(HELD, 1).commit();
      return;
    }
  }
  await store.purgeTombstones(now);
  for await (const page of expiredSummaries(store, now, Math.min(now - shortest, begun))) {
    const batch = store.batch();
    for (const { url, updateTime } of page)
      batch.deleteSummary(url, updateTime).deleteDocument(url).dropReferences(url);
    await batch.commit();
  }
}

/** Fewer objects are not held back. */
const MIN_HELD = 3;

/**
 * Rows are ordered by Update-Time.
 *
 * @param before objects that were updated at this time or later stay; within the shortest time to live none can have
 *   expired
 */
async function* expiredSummaries(
  store: GathererStore,
  now: UnixSeconds,
  before: UnixSeconds,
): AsyncGenerator<readonly Summary[], void, undefined> {
  for await (const page of store.summaries.iterate()) {
    if (page[0]!.updateTime >= before) return;
    const expired = page.filter((summary) => summary.updateTime < before && hasExpired(summary, now));
    if (expired.length > 0) yield expired;
  }
}
