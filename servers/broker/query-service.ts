// Queries, bulk transfers and digests of a broker.
import type { Query, QueryFlags, ResultItem } from '../../protocols/broker/index.js';
import type { DigestReport } from '../../protocols/bulk/index.js';
import type { BrokerConfig } from '../../protocols/config/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { Debug } from '../host/index.js';
import type { BrokerParts } from './broker-parts.js';
import { DigestCache } from './bulk-digest.js';
import { type BulkRefusal, type BulkTransfer, prepareTransfer } from './bulk-transfer.js';
import { limitedSearch } from './limited-search.js';
import type { PublishedUrls } from './published-urls.js';
import { QuerySlots } from './query-slots.js';
import type { SearchSummary } from './search.js';

/** Context of {@link QueryService}. */
export interface QueryServiceContext extends BrokerParts {
  /** Returns the current configuration. */
  readonly config: () => BrokerConfig;
  readonly urls: PublishedUrls;
  readonly debug: Debug;
  readonly now: () => UnixSeconds;
  /** Aborted when the broker closes. */
  readonly closing: AbortSignal;
}

/** Searches, bulk transfers and digests, within the slots of `Max-Queries`. */
export class QueryService {
  readonly slots: QuerySlots;
  readonly #context: QueryServiceContext;
  readonly #digests: DigestCache;

  constructor(context: QueryServiceContext) {
    this.#context = context;
    this.slots = new QuerySlots(() => context.config().maxQueries);
    this.#digests = new DigestCache(context.store, context.now);
  }

  /** BRK-3.2: what `#opaque` means to this broker. */
  get opaqueMode(): 'suppress' | 'show' {
    return this.#context.config().opaqueMode === 'show' ? 'show' : 'suppress';
  }

  search(
    query: Query,
    flags: QueryFlags,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly ResultItem[], SearchSummary, void> | undefined {
    const { store, indexer, urls, debug, closing } = this.#context;
    const { maxResults, glimpseMaxLife } = this.#context.config();
    const context = {
      store,
      indexer,
      objectUrl: (oid: number) => urls.objectUrl(oid),
      homePage: urls.homePage,
      maxResults,
      maxLife: glimpseMaxLife,
      opaqueMode: this.opaqueMode,
      slots: this.slots,
      debug,
      closing,
    };
    return limitedSearch(query, flags, context, signal);
  }

  bulkTransfer(query: Query, flags: QueryFlags, signal: AbortSignal): Promise<BulkTransfer | BulkRefusal> {
    const { store, indexer, keeper, now, closing } = this.#context;
    return prepareTransfer(query, flags, {
      store,
      indexer,
      settle: () => keeper.settle(),
      acquireSlot: () => this.slots.acquire(),
      maxLife: this.#context.config().glimpseMaxLife,
      now,
      signal: AbortSignal.any([signal, closing]),
    });
  }

  digest(prefix: string, signal: AbortSignal): Promise<DigestReport> {
    return this.#digests.report(prefix, AbortSignal.any([signal, this.#context.closing]));
  }
}
