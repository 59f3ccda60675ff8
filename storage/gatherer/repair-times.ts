// Repairs the times that a wrong clock has left in a Gatherer's store.
import { decodeSoif, encodeSoif } from '../../protocols/soif/index.js';
import { isPlausiblePresent, MAX_AHEAD, type UnixSeconds } from '../../protocols/time.js';
import type { GathererStore } from './store.js';

/**
 * Gives objects whose Update-Time is more than a day in the future the present one. Collectors that select by
 * time would otherwise miss every change until then, and the objects would not expire. Nothing is repaired by a
 * clock that cannot be right.
 *
 * @returns the number of objects
 */
export async function repairFutureTimes(store: GathererStore, now: UnixSeconds): Promise<number> {
  if (!isPlausiblePresent(now)) return 0;
  const latest = now + MAX_AHEAD;
  let repaired = 0;
  for await (const page of store.summaries.iterate({ since: latest + 1 })) {
    const batch = store.batch();
    for (const { url, updateTime, timeToLive, soif } of page) {
      // Every iteration begins with the objects without a time.
      if (updateTime <= latest) continue;
      const object = decodeSoif(soif, { maxObjectBytes: soif.length }).withUrl(url);
      const renewed = encodeSoif(object.with([['Update-Time', String(now)]]));
      batch.putSummary({ url, updateTime: now, timeToLive, soif: renewed }, updateTime);
      repaired++;
    }
    if (batch.size > 0) await batch.commit();
  }
  return repaired;
}
