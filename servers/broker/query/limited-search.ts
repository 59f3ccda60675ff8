// Runs a query page by page within the slots of `Max-Queries`.
import {
  clampLifetime,
  formatQuery,
  type Query,
  type QueryFlags,
  REPLY,
} from '../../../protocols/broker/index.js';
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import type { Debug } from '../../host/index.js';
import type { PageItem } from './page-items.js';
import { QueryPlace } from './query-place.js';
import type { QuerySlots } from './query-slots.js';
import type { ReplyMemory, ReplyProgress } from './reply-memory.js';
import { type SearchContext, type SearchSummary, search } from './search.js';

/** Longest delay of a timer, milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Time after the query's lifetime in which its last page may be computed. */
const GRACE_SECONDS = 5;

/** Time for which a query waits for its first slot, unless the caller sets another (BRK-4.18). */
export const DEFAULT_WAIT_MS = 10_000;

/** Context of {@link limitedSearch}. */
export interface LimitedSearchContext extends Omit<SearchContext, 'share' | 'client' | 'pace'> {
  readonly slots: QuerySlots;
  readonly memory: ReplyMemory;
  readonly debug: Debug;
  /** Aborted when the broker closes. */
  readonly closing: AbortSignal;
}

/** Who sends a query. */
export interface SearchCaller {
  /** Its address: clients take turns (`servers/broker/query/query-slots.ts`). */
  readonly client?: string;
  /** Milliseconds for which the query waits for a slot when `Max-Queries` are running, default 10 000 (BRK-4.18). */
  readonly waitMs?: number | undefined;
  /** Aborts the query. */
  readonly signal?: AbortSignal;
  /** Ends the reply when it occupies memory that others wait for (`servers/broker/query/page-memory.ts`). Default: it is never ended. */
  readonly cut?: (reason: string) => void;
  /** Receives the query's share of the memory, to tell it the progress of its reader. */
  readonly onShare?: (share: ReplyProgress) => void;
}

const NOTHING = { objects: 0, lines: 0, complete: false } as const;

/**
 * Runs a query (see {@link search}). It holds one of the slots of `Max-Queries` while a page is computed, and none while the consumer
 * reads: nothing is held before the first `next()` and between two of them, and while others wait it takes turns with them. A query that got no slot in time yields nothing and ends with
 * reason `busy`. After the lifetime of the query, its search ends also if the consumer still reads a page.
 */
export async function* limitedSearch(
  query: Query,
  flags: QueryFlags,
  context: LimitedSearchContext,
  caller: SearchCaller = {},
): AsyncGenerator<readonly PageItem[], SearchSummary, void> {
  const { slots, debug, closing } = context;
  using stop = new LinkedAbort(caller.signal, closing);
  const { signal } = stop;
  const lifetime = clampLifetime(flags.lifetime, context.maxLife);
  using expiry = new Expiry((lifetime + GRACE_SECONDS) * 1000, stop);
  debug(75, 5, () => `query: ${formatQuery(query)}, flags ${JSON.stringify(flags)}`);
  using share = context.memory.enter({ client: caller.client, cut: caller.cut });
  caller.onShare?.(share);
  using place = new QueryPlace({
    slots,
    client: caller.client,
    signal,
    remainingMs: () => expiry.remainingMs,
  });
  const inner = {
    ...context,
    client: caller.client,
    pace: place.pace,
    share: {
      get pageBytes() {
        return share.pageBytes;
      },
      read: share.read,
      hold: (bytes: number) => {
        const held = share.tryHold(bytes);
        if (held !== undefined) return Promise.resolve(held);
        // No slot is held while others read their pages. The little work that is left for this page needs none.
        place.leave();
        return share.hold(bytes, signal);
      },
    },
  };
  const pages = search(query, flags, inner, signal);
  let summary: SearchSummary | undefined;
  let isLate = false;
  try {
    for (let isFirst = true; summary === undefined; isFirst = false) {
      const waitMs = isFirst ? (caller.waitMs ?? DEFAULT_WAIT_MS) : expiry.remainingMs;
      if (!(await place.enter(waitMs))) {
        if (isFirst && !signal.aborted) {
          summary = { ...NOTHING, reason: 'busy' };
          return summary;
        }
        isLate = !signal.aborted;
        break;
      }
      debug(75, 4, () => `queries: ${slots.inUse} running, ${slots.waiting} waiting`);
      const step = await pages.next();
      place.leave();
      if (step.done === true) {
        summary = step.value;
        break;
      }
      yield step.value;
    }
    const isAborted = caller.signal?.aborted === true || closing.aborted;
    if (
      (isLate || expiry.hasExpired) &&
      !isAborted &&
      summary?.complete !== true &&
      summary?.reason !== 'lifetime'
    ) {
      yield [REPLY.lifetimeReached(lifetime)];
      summary = { ...(summary ?? NOTHING), reason: 'lifetime' };
    }
    summary ??= { ...NOTHING, reason: 'aborted' };
    return summary;
  } finally {
    stop.abort();
    await pages.return({ ...NOTHING, reason: 'aborted' });
    debug(75, 1, () => `query done: ${summary?.reason ?? `${summary?.objects ?? 'no'} objects`}`);
  }
}

/** Aborts a query at the end of its lifetime. */
class Expiry implements Disposable {
  hasExpired = false;
  readonly #end: number;
  readonly #timer: NodeJS.Timeout;

  constructor(milliseconds: number, stop: LinkedAbort) {
    const delay = Math.min(milliseconds, MAX_TIMER_MS);
    this.#end = performance.now() + delay;
    this.#timer = setTimeout(() => {
      this.hasExpired = true;
      stop.abort();
    }, delay).unref();
  }

  get remainingMs(): number {
    return Math.max(1, this.#end - performance.now());
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
