// The timed events of a broker (BRK-7.10).
import type { BrokerConfig } from '../../../protocols/config/index.js';
import type { Debug } from '../../host/index.js';
import { nextRun, type TimedEvent, type Timetable } from './timetable.js';

/** The members of a broker that the timed events use. */
export interface TimedBroker {
  readonly config: Pick<BrokerConfig, 'cleanInterval' | 'collectionInterval' | 'collectionTime'>;
  readonly debug: Debug;
  readonly maintenance: { readonly compressible: boolean };
  collect(): Promise<unknown>;
  clean(): Promise<unknown>;
  compress(): Promise<unknown>;
  markForRefresh(): Promise<unknown>;
}

/** BRK-7.10: adds collection, cleaning, Registry compression and refresh marks. An interval of 0 turns an event off. */
export function addTimedEvents(timetable: Timetable, broker: TimedBroker): void {
  const add = (event: Omit<TimedEvent, 'run'>, work: () => Promise<unknown>): void => {
    timetable.add({
      ...event,
      run: async () => {
        broker.debug(76, 1, `${event.name} is due`);
        await work();
        broker.debug(76, 1, `${event.name} is done`);
      },
    });
  };
  const afterCleanInterval = (now: number): number | undefined => {
    const { cleanInterval } = broker.config;
    return cleanInterval > 0 ? now + cleanInterval : undefined;
  };
  add(
    {
      name: 'Collection',
      description: 'collects from every point of Collection.conf',
      next: (now) => {
        const { collectionTime, collectionInterval } = broker.config;
        return collectionInterval > 0 ? nextRun(now, collectionTime, collectionInterval) : undefined;
      },
    },
    () => broker.collect(),
  );
  add(
    {
      name: 'Cleaning',
      description: 'deletes objects whose time to live has passed',
      next: afterCleanInterval,
    },
    () => broker.clean(),
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
      if (broker.maintenance.compressible) await broker.compress();
    },
  );
  add(
    {
      name: 'Refresh marks',
      description: 'counts the objects whose Gatherers should have refreshed them',
      next: afterCleanInterval,
    },
    () => broker.markForRefresh(),
  );
}
