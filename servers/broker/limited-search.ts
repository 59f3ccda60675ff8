// Runs a query within a slot of `Max-Queries`.
import {
  clampLifetime,
  formatQuery,
  type Query,
  type QueryFlags,
  type ResultItem,
} from '../../protocols/broker/index.js';
import type { Debug } from '../host/index.js';
import type { QuerySlots } from './query-slots.js';
import { type SearchContext, type SearchSummary, search } from './search.js';

/** Longest delay of a timer, milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Time for which a slow reader may occupy a query's slot after the query's lifetime. */
const GRACE_SECONDS = 5;

/** Context of {@link limitedSearch}. */
export interface LimitedSearchContext extends SearchContext {
  readonly slots: QuerySlots;
  readonly debug: Debug;
  /** Aborted when the broker closes. */
  readonly closing: AbortSignal;
}

/**
 * Runs a query (see {@link search}) in one of the slots of `Max-Queries`. The slot is released when the generator ends, and in any
 * case a few seconds after the query's lifetime, so that a client that reads one byte per second does not block others.
 *
 * @returns undefined if no slot is free
 */
export function limitedSearch(
  query: Query,
  flags: QueryFlags,
  context: LimitedSearchContext,
  signal?: AbortSignal,
): AsyncGenerator<readonly ResultItem[], SearchSummary, void> | undefined {
  const { slots, debug, closing } = context;
  const releaseSlot = slots.acquire();
  if (releaseSlot === undefined) return undefined;
  debug(75, 4, () => `queries: ${slots.inUse} running, ${slots.waiting} waiting`);
  debug(75, 5, () => `query: ${formatQuery(query)}, flags ${JSON.stringify(flags)}`);
  const expired = new AbortController();
  const release = () => {
    clearTimeout(timer);
    releaseSlot();
  };
  const seconds = clampLifetime(flags.lifetime, context.maxLife) + GRACE_SECONDS;
  const timer = setTimeout(
    () => {
      release();
      expired.abort();
    },
    Math.min(seconds * 1000, MAX_TIMER_MS),
  ).unref();
  const stop = AbortSignal.any([expired.signal, closing, ...(signal === undefined ? [] : [signal])]);
  return releaseAtEnd(search(query, flags, context, stop), (summary) => {
    release();
    debug(75, 1, () => `query done: ${summary === undefined ? 'aborted' : `${summary.objects} objects`}`);
  });
}

/** Yields the items of `inner`, and calls `release` when it ends, fails or is closed by the consumer. */
async function* releaseAtEnd<T>(
  inner: AsyncGenerator<T, SearchSummary, void>,
  release: (summary: SearchSummary | undefined) => void,
): AsyncGenerator<T, SearchSummary, void> {
  let summary: SearchSummary | undefined;
  try {
    summary = yield* inner;
    return summary;
  } finally {
    release(summary);
  }
}
