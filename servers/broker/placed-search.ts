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

/** Longest wait of a timer, milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Seconds that a stalled reader may keep a query's place after the query's lifetime. */
const GRACE = 5;

/** What a query needs to run. */
export interface PlacedSearchContext extends SearchContext {
  readonly places: QuerySlots;
  readonly debug: Debug;
  /** Aborted when the broker closes. */
  readonly closing: AbortSignal;
}

/**
 * Answers a query (see {@link search}) that takes one of the places of `Max-Queries`, and gives it back when it ends in
 * whatever way.
 *
 * @returns undefined when no place is free
 */
export function placedSearch(
  query: Query,
  flags: QueryFlags,
  context: PlacedSearchContext,
  signal?: AbortSignal,
): AsyncGenerator<readonly ResultItem[], SearchSummary, void> | undefined {
  const { places, debug, closing } = context;
  const giveBack = places.take();
  if (giveBack === undefined) return undefined;
  debug(75, 4, () => `queries: ${places.taken} running, ${places.waiting} waiting`);
  debug(75, 5, () => `query: ${formatQuery(query)}, flags ${JSON.stringify(flags)}`);
  const late = new AbortController();
  const release = () => {
    clearTimeout(timer);
    giveBack();
  };
  // A reader that takes a byte a second must not keep others out: past its lifetime a query gives up its place
  // and what it holds, wherever its reader is.
  const seconds = clampLifetime(flags.lifetime, context.maxLife) + GRACE;
  const timer = setTimeout(
    () => {
      release();
      late.abort();
    },
    Math.min(seconds * 1000, LONGEST_TIMER),
  ).unref();
  const stop = AbortSignal.any([late.signal, closing, ...(signal === undefined ? [] : [signal])]);
  return releasing(search(query, flags, context, stop), (summary) => {
    release();
    debug(75, 1, () => `query done: ${summary === undefined ? 'given up' : `${summary.objects} objects`}`);
  });
}

/** The generator, releasing when it ends in whatever way. */
async function* releasing<T>(
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
