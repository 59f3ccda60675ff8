// Repairs the times that a wrong clock has left in the store, and says how many.
import { isDiskFull, messageOf } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { BrokerStore } from '../../../storage/index.js';
import type { Logger } from '../../host/index.js';
import type { SetBackWatch } from './clock-watch.js';

/** GATHERD-13.10: called at the start and before each collection. A full disk postpones it. */
export async function repairStoredTimes(parts: {
  readonly store: BrokerStore;
  readonly log: Logger;
  readonly now: () => UnixSeconds;
  /** At the start the store knows when it changed last. */
  readonly setBackWatch?: Pick<SetBackWatch, 'lastRightTime'> | undefined;
}): Promise<void> {
  const { store, log, now, setBackWatch } = parts;
  try {
    const time = now();
    const { objects, removals, points } = await store.repairFutureTimes(time);
    if (objects + removals + points > 0)
      log.warn(
        `times more than a day in the future, from a wrong clock, are replaced, and decide nothing: ${objects} objects, ${removals} deletions; ${points} collection points are asked for everything`,
      );
    const lastTime = setBackWatch?.lastRightTime(time);
    if (lastTime === undefined) return;
    const doubted = await store.doubtTimes(lastTime);
    log.warn(
      `the clock was set back since the last collection: the times of ${doubted.objects} objects decide nothing; ${doubted.points} collection points are asked for everything`,
    );
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    log.warn(`stored times of the future are not repaired: ${messageOf(error)}`);
  }
}
