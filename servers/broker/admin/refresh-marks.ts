// Finds the objects that are due for refresh (BRK-7.14).
import type { UnixSeconds } from '../../../protocols/time.js';
import type { BrokerStore, RegistryEntry } from '../../../storage/index.js';
import { walkEntries } from '../walk-entries.js';
import { NameCounter } from './name-counter.js';

/** BRK-7.14: whether an object's summary is older than its Refresh-Rate. */
export function isDueForRefresh(entry: RegistryEntry, now: UnixSeconds): boolean {
  return now > entry.updateTime + entry.refreshRate;
}

/** Counts of the objects that are due for refresh. */
export interface RefreshMarks {
  readonly markedAt: UnixSeconds;
  readonly due: number;
  /** By Gatherer, the most first. */
  readonly gatherers: readonly { readonly name: string; readonly due: number }[];
}

/** Gatherers that are counted separately; others are only in the total. */
const MAX_GATHERERS = 1000;

/**
 * BRK-7.14: counts the objects that are due for refresh in one walk over the Registry. The Broker does not
 * refresh them itself; the counts show its administrator which Gatherer has not done so in time.
 */
export async function markForRefresh(
  store: BrokerStore,
  now: UnixSeconds,
  signal: AbortSignal,
): Promise<RefreshMarks> {
  const gatherers = new NameCounter(MAX_GATHERERS);
  let due = 0;
  for await (const page of walkEntries(store, { signal })) {
    for (const entry of page) {
      if (!isDueForRefresh(entry, now)) continue;
      due += 1;
      gatherers.add(`${entry.gathererName} (${entry.gathererHost})`);
    }
  }
  const { rows } = gatherers.top(MAX_GATHERERS);
  return { markedAt: now, due, gatherers: rows.map(({ name, objects }) => ({ name, due: objects })) };
}
