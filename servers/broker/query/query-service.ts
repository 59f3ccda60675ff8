// Answers queries within the slots of `Max-Queries`.
import {
  clampLifetime,
  formatQuery,
  type Query,
  type QueryFlags,
  REPLY,
} from '../../../protocols/broker/index.js';
import type { BrokerConfig } from '../../../protocols/config/index.js';
import type { Debug } from '../../host/index.js';
import type { PageItem } from './page-items.js';
import { QuerySlots } from './query-slots.js';
import { ReplyMemory } from './reply-memory.js';
import { type Caller, RequestContext } from './request-context.js';
import { type SearchParts, type SearchSummary, search } from './search.js';

/** The parts of a Broker that {@link QueryService} works with. */
export interface QueryParts extends SearchParts {
  readonly settings: { readonly value: BrokerConfig };
  readonly debug: Debug;
  /** Aborted when the broker closes. */
  readonly closing: AbortSignal;
}

/** Time after the query's lifetime in which its last page may be computed. */
const GRACE_SECONDS = 5;

const NOTHING = { objects: 0, lines: 0, complete: false } as const;

/** The queries of a Broker, within the slots of `Max-Queries` and the memory for pages. */
export class QueryService {
  readonly slots: QuerySlots;
  readonly memory = new ReplyMemory();
  readonly #parts: QueryParts;

  constructor(parts: QueryParts) {
    this.#parts = parts;
    this.slots = new QuerySlots(() => parts.settings.value.maxQueries);
  }

  /** BRK-3.2: what `#opaque` means to this broker. */
  get opaqueMode(): 'suppress' | 'show' {
    return this.#parts.settings.value.opaqueMode === 'show' ? 'show' : 'suppress';
  }

  /** Work in progress for clients: slots in use, requests for a slot, and replies that are being sent. */
  get load(): { readonly running: number; readonly waiting: number; readonly replies: number } {
    return { running: this.slots.inUse, waiting: this.slots.waiting, replies: this.memory.replies };
  }

  /** Begins a request. The caller disposes of it. */
  begin(caller?: Caller): RequestContext {
    const { closing, settings } = this.#parts;
    const { slots, memory } = this;
    return new RequestContext({ slots, memory, closing, maxLife: settings.value.glimpseMaxLife }, caller);
  }

  /**
   * Answers a query (see {@link search}). It holds one of the slots of `Max-Queries` while a page is computed,
   * and none while the consumer reads, or when the engine has found everything; while others wait it takes turns with them. A query that got no slot in
   * time yields nothing and ends with reason `busy`. After the lifetime of the query, its search ends also if
   * the consumer still reads a page.
   *
   * @param given disposed of at the end. Default: a request of its own, which begins with the first `next()`
   */
  async *search(
    query: Query,
    flags: QueryFlags,
    given?: RequestContext,
  ): AsyncGenerator<readonly PageItem[], SearchSummary, void> {
    const { debug, settings } = this.#parts;
    using request = given ?? this.begin();
    const { slot, signal } = request;
    const lifetime = clampLifetime(flags.lifetime, settings.value.glimpseMaxLife);
    request.expireAfter((lifetime + GRACE_SECONDS) * 1000);
    debug(75, 5, () => `query: ${formatQuery(query)}, flags ${JSON.stringify(flags)}`);
    const pages = search(query, flags, this.#parts, request);
    let summary: SearchSummary | undefined;
    let isLate = false;
    try {
      for (let isFirst = true; summary === undefined; isFirst = false) {
        if (request.needsSlot && !(await slot.enter(isFirst ? request.waitMs : request.remainingMs))) {
          if (isFirst && !signal.aborted) {
            summary = { ...NOTHING, reason: 'busy' };
            return summary;
          }
          isLate = !signal.aborted;
          break;
        }
        debug(75, 4, () => `queries: ${this.slots.inUse} running, ${this.slots.waiting} waiting`);
        const step = await pages.next();
        slot.leave();
        if (step.done === true) {
          summary = step.value;
          break;
        }
        yield step.value;
      }
      const isOver = (isLate || request.hasExpired) && !request.isCanceled;
      if (isOver && summary?.complete !== true && summary?.reason !== 'lifetime') {
        yield [REPLY.lifetimeReached(lifetime)];
        summary = { ...(summary ?? NOTHING), reason: 'lifetime' };
      }
      summary ??= { ...NOTHING, reason: 'aborted' };
      return summary;
    } finally {
      request.abort();
      await pages.return({ ...NOTHING, reason: 'aborted' });
      debug(75, 1, () => `query done: ${summary?.reason ?? `${summary?.objects ?? 'no'} objects`}`);
    }
  }
}
