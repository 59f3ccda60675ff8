import type { UnixSeconds } from '../../protocols/time.js';
import type { BrokerStore, RegistryEntry } from '../../storage/index.js';

/** BRK-7.14: whether an object's summary is older than its Gatherer wants it to be. */
export function isDueForRefresh(entry: RegistryEntry, now: UnixSeconds): boolean {
  return now > entry.updateTime + entry.refreshRate;
}

/** The objects that are due for refresh, counted. */
export interface RefreshMarks {
  readonly markedAt: UnixSeconds;
  readonly due: number;
  /** By Gatherer, the most first. */
  readonly gatherers: readonly { readonly name: string; readonly due: number }[];
}

/** Gatherers that are told apart; the rest count in the sum only. */
const MAX_GATHERERS = 1000;

/**
 * BRK-7.14: looks which objects are due for refresh. The Broker regenerates none: the marks tell its administrator which
 * Gatherer is behind. One walk over the Registry.
 */
export async function markForRefresh(
  store: BrokerStore,
  now: UnixSeconds,
  signal: AbortSignal,
): Promise<RefreshMarks> {
  const gatherers = new Map<string, number>();
  let due = 0;
  for await (const page of store.all({ signal })) {
    for (const entry of page) {
      if (!isDueForRefresh(entry, now)) continue;
      due += 1;
      const name = `${entry.gathererName} (${entry.gathererHost})`;
      const count = gatherers.get(name);
      if (count !== undefined || gatherers.size < MAX_GATHERERS) gatherers.set(name, (count ?? 0) + 1);
    }
  }
  const sorted = [...gatherers].sort(([, a], [, b]) => b - a);
  return { markedAt: now, due, gatherers: sorted.map(([name, count]) => ({ name, due: count })) };
}
