// Counts documents by age (BRK-9.12).
import type { UnixSeconds } from '../../../protocols/time.js';
import type { WalkedStore } from '../admin/walk-cache.js';
import { walkEntries } from '../walk-entries.js';

/** A range of ages and the number of documents in it. */
export interface AgeSpan {
  readonly title: string;
  readonly objects: number;
}

const DAY = 86_400;

/** Upper ends of the spans, seconds. */
const SPANS: readonly (readonly [string, number])[] = [
  ['up to a day', DAY],
  ['a week', 7 * DAY],
  ['a month', 30 * DAY],
  ['3 months', 91 * DAY],
  ['6 months', 182 * DAY],
  ['a year', 365 * DAY],
  ['2 years', 2 * 365 * DAY],
  ['5 years', 5 * 365 * DAY],
  ['10 years', 10 * 365 * DAY],
  ['older', Number.POSITIVE_INFINITY],
];

/**
 * Counts the documents by age (BRK-9.12), by their Last-Modification-Time, or without one by their Update-Time,
 * in one walk over the Registry, for a WalkCache. Ages are relative to `now`; the youngest span comes first.
 */
export async function countAges(store: WalkedStore, now: UnixSeconds): Promise<readonly AgeSpan[]> {
  const counts = SPANS.map(() => 0);
  for await (const page of walkEntries(store)) {
    for (const { lastModificationTime, updateTime } of page) {
      const age = now - (lastModificationTime > 0 ? lastModificationTime : updateTime);
      const span = SPANS.findIndex(([, end]) => age <= end);
      counts[span] = (counts[span] ?? 0) + 1;
    }
  }
  return SPANS.map(([title], i) => ({ title, objects: counts[i] ?? 0 }));
}
