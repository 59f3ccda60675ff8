import { StorageError } from '../../../protocols/errors.js';
import { MAX_AHEAD, type UnixSeconds } from '../../../protocols/time.js';
import { repairFutureTimes } from '../../../storage/gatherer/repair-times.js';
import type { GathererStore } from '../../../storage/index.js';

/** Repairs the times that a wrong clock has left, and reports it; or that the clock is wrong now. */
export async function repairTimes(
  store: GathererStore,
  now: UnixSeconds,
  onProblem: (problem: Error) => void,
): Promise<void> {
  const repaired = await repairFutureTimes(store, now);
  if (repaired > 0)
    onProblem(
      new StorageError(
        `${repaired} ${repaired === 1 ? 'object' : 'objects'} had an Update-Time more than a day in the future, from a run with a wrong clock: they have the present time now`,
      ),
    );
  const newest = await store.summaries.newest();
  if (newest > now + MAX_AHEAD)
    onProblem(
      new StorageError(
        `the clock of this machine says ${dateText(now)}, but the newest object is of ${dateText(newest)}: set the clock`,
      ),
    );
}

function dateText(time: UnixSeconds): string {
  return new Date(time * 1000).toISOString().slice(0, 10);
}
