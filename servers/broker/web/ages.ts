import type { UnixSeconds } from '../../../protocols/time.js';
import type { BrokerStore } from '../../../storage/index.js';

/** One span of ages. */
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

/** Seconds for which the numbers are given out again although the store has changed. */
const MAX_AGE = 300;

/**
 * How old the documents are (BRK-9.12), by their Last-Modification-Time, or without one by their Update-Time. One walk over
 * the registry at most every five minutes, however often it is asked for.
 */
export class AgeStatistics {
  #latest: readonly AgeSpan[] = [];
  #computedAt: UnixSeconds | undefined;
  #sequence = -1;
  #running: Promise<readonly AgeSpan[]> | undefined;

  constructor(readonly store: Pick<BrokerStore, 'all' | 'lastSequence'>) {}

  /** Counts by span, the youngest first. `now` is the moment ages are counted from. */
  async get(now: UnixSeconds): Promise<readonly AgeSpan[]> {
    const fresh = this.#computedAt !== undefined && now - this.#computedAt < MAX_AGE;
    if (fresh || (this.#computedAt !== undefined && this.#sequence === this.store.lastSequence)) {
      return this.#latest;
    }
    this.#running ??= this.#compute(now).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #compute(now: UnixSeconds): Promise<readonly AgeSpan[]> {
    const sequence = this.store.lastSequence;
    const counts = SPANS.map(() => 0);
    for await (const page of this.store.all()) {
      for (const { lastModificationTime, updateTime } of page) {
        const age = now - (lastModificationTime > 0 ? lastModificationTime : updateTime);
        const span = SPANS.findIndex(([, end]) => age <= end);
        counts[span] = (counts[span] ?? 0) + 1;
      }
    }
    this.#latest = SPANS.map(([title], i) => ({ title, objects: counts[i] ?? 0 }));
    this.#computedAt = now;
    this.#sequence = sequence;
    return this.#latest;
  }
}
