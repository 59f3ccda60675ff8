// The clock of a crawl that goes on after the clock of the system was set back.
import { monotonicClock, steadyTime } from '../../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../../protocols/clock.js';
import { MONTH } from '../../../protocols/time.js';
import type { GathererStore } from '../../../storage/index.js';

/**
 * A clock that goes on from the last object of the store: the stored waits of queues are by the clock of then, and would
 * last for as long as it was set back. One that was years ahead does not count.
 */
export async function continuedClock(store: Pick<GathererStore, 'summaries'>): Promise<Clock> {
  const behind = (await store.summaries.newest()) * 1000 - steadyTime();
  const ahead = behind > 0 && behind <= MONTH * 1000 ? behind : 0;
  return { ...monotonicClock, now: () => steadyTime() + ahead };
}
