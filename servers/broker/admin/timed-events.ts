// The timed events of a broker (BRK-7.10).
import type { Maintenance } from './maintenance.js';
import type { BrokerParts } from './parts.js';
import { nextRun, type TimedEvent } from './timetable.js';

/** Seconds after which a Broker looks for what others have stored in the same store. */
const SHARED_STORE_SECONDS = 2;

/** The parts of a Broker that its timed events run. */
export interface TimedParts
  extends Pick<BrokerParts, 'debug' | 'keeper' | 'settings' | 'store' | 'timetable'> {
  readonly collections: { run(): Promise<unknown>; lookForDue(): Promise<void> };
  readonly maintenance: Maintenance;
}

/**
 * BRK-7.10: adds collection, cleaning, Registry compression and refresh marks. An interval of 0 turns an event
 * off.
 */
export function addTimedEvents(parts: TimedParts): void {
  const { collections, debug, keeper, maintenance, settings, store, timetable } = parts;
  const add = (event: Omit<TimedEvent, 'run'>, work: () => Promise<unknown>): void => {
    timetable.add({
      ...event,
      run: async () => {
        debug(76, 1, `${event.name} is due`);
        await work();
        debug(76, 1, `${event.name} is done`);
      },
    });
  };
  const afterCleanInterval = (now: number): number | undefined => {
    const { cleanInterval } = settings.value;
    return cleanInterval > 0 ? now + cleanInterval : undefined;
  };
  add(
    {
      name: 'Collection',
      description: 'collects from every point of Collection.conf',
      next: (now) => {
        const { collectionTime, collectionInterval } = settings.value;
        return collectionInterval > 0 ? nextRun(now, collectionTime, collectionInterval) : undefined;
      },
    },
    // The Brokers of a shared store divide the work; the event below looks for it, too.
    () => (store.isShared ? collections.lookForDue() : collections.run()),
  );
  add(
    {
      name: 'Cleaning',
      description: 'deletes objects whose time to live has passed',
      next: afterCleanInterval,
    },
    () => maintenance.clean(),
  );
  add(
    {
      name: 'Registry compression',
      description:
        'rewrites the store when Compress-Percent of its records are deleted; also after a collection',
      next: afterCleanInterval,
    },
    async () => {
      // REG-27.
      if (maintenance.compressible) await maintenance.compress();
    },
  );
  add(
    {
      name: 'Refresh marks',
      description: 'counts the objects whose Gatherers should have refreshed them',
      next: afterCleanInterval,
    },
    () => maintenance.markForRefresh(),
  );
  if (!store.isShared) return;
  timetable.add({
    name: 'Shared store',
    description: 'indexes what other brokers have stored, and joins their collections',
    next: (now) => now + SHARED_STORE_SECONDS,
    run: async () => {
      await keeper.followOthers();
      await collections.lookForDue();
    },
  });
}
