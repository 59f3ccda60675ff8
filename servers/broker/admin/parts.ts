// The resources that the parts of a Broker share.
import type { UnixSeconds } from '../../../protocols/time.js';
import type { BrokerStore } from '../../../storage/index.js';
import type { Indexer } from '../../../storage/indexers/index.js';
import type { Debug, Logger } from '../../host/index.js';
import type { CurrentConfig } from './current-config.js';
import type { EventLog } from './event-log.js';
import type { IndexKeeper } from './index-keeper.js';
import type { StoreDamage } from './store-damage.js';
import type { Timetable } from './timetable.js';

/** The resources that the parts of a Broker share: made once, when it opens. */
export interface BrokerParts {
  readonly store: BrokerStore;
  readonly indexer: Indexer;
  /** Keeps the index up to date with the store. */
  readonly keeper: IndexKeeper;
  /** What is known to be damaged of the store. */
  readonly damage: StoreDamage;
  /** `admin/LOG`. */
  readonly events: EventLog;
  /** The configuration, which `#set` and `#restart` change. */
  readonly settings: CurrentConfig;
  /** BRK-7.10: the timed events. */
  readonly timetable: Timetable;
  /** `broker.out` (BRK-5.8). */
  readonly log: Logger;
  readonly debug: Debug;
  readonly now: () => UnixSeconds;
  /** Called with the latest Update-Time that a point has sent, see {@link PassedClock.witness}. */
  readonly witness: (newest: UnixSeconds) => boolean;
  /** Aborted when the broker closes. */
  readonly closing: AbortSignal;
}
