// Queries, bulk transfers and digests of a broker.
import type { Query, QueryFlags } from '../../../protocols/broker/index.js';
import type { DigestReport } from '../../../protocols/bulk/index.js';
import type { BrokerConfig } from '../../../protocols/config/index.js';
import type { StorageError } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { Debug } from '../../host/index.js';
import type { BrokerParts } from '../broker-parts.js';
import { DigestCache } from '../bulk/digest.js';
import { ReadyObjects } from '../bulk/ready-objects.js';
import { type BulkCaller, type BulkRefusal, type BulkTransfer, prepareTransfer } from '../bulk/transfer.js';
import { DEFAULT_WAIT_MS, limitedSearch, MAX_TIMER_MS, type SearchCaller } from './limited-search.js';
import type { PageItem } from './page-items.js';
import type { PublishedUrls } from './published-urls.js';
import { QueryPlace } from './query-place.js';
import { QuerySlots } from './query-slots.js';
import { ReplyMemory } from './reply-memory.js';
import type { SearchSummary } from './search.js';

/** Context of {@link QueryService}. */
export interface QueryServiceContext extends BrokerParts {
  /** Returns the current configuration. */
  readonly config: () => BrokerConfig;
  readonly urls: PublishedUrls;
  readonly debug: Debug;
  readonly now: () => UnixSeconds;
  /** Called when the index or the store fails. */
  readonly onFailure: (error: StorageError) => void;
  /** Aborted when the broker closes. */
  readonly closing: AbortSignal;
}

const MIB = 1 << 20;

/** Searches, bulk transfers and digests, within the slots of `Max-Queries`. */
export class QueryService implements AsyncDisposable {
  readonly slots: QuerySlots;
  readonly memory = new ReplyMemory();
  readonly #context: QueryServiceContext;
  readonly #digests: DigestCache;
  readonly #ready: ReadyObjects;

  constructor(context: QueryServiceContext) {
    this.#context = context;
    this.slots = new QuerySlots(() => context.config().maxQueries);
    this.#digests = new DigestCache(context.store, context.now);
    this.#ready = new ReadyObjects({
      store: context.store,
      directory: context.config().brokerDirectory,
      maxBytes: () => context.config().bulkCacheSize * MIB,
      now: context.now,
    });
  }

  /** BRK-3.2: what `#opaque` means to this broker. */
  get opaqueMode(): 'suppress' | 'show' {
    return this.#context.config().opaqueMode === 'show' ? 'show' : 'suppress';
  }

  search(
    query: Query,
    flags: QueryFlags,
    caller?: SearchCaller,
  ): AsyncGenerator<readonly PageItem[], SearchSummary, void> {
    const { store, indexer, keeper, urls, debug, onFailure, closing } = this.#context;
    const { maxResults, glimpseMaxLife } = this.#context.config();
    const context = {
      store,
      indexer,
      objectUrl: (oid: number) => urls.objectUrl(oid),
      homePage: urls.homePage,
      maxResults,
      maxLife: glimpseMaxLife,
      opaqueMode: this.opaqueMode,
      missing: () => keeper.missing,
      slots: this.slots,
      memory: this.memory,
      debug,
      onFailure,
      closing,
    };
    return limitedSearch(query, flags, context, caller);
  }

  bulkTransfer(query: Query, flags: QueryFlags, caller: BulkCaller): Promise<BulkTransfer | BulkRefusal> {
    const { store, indexer, keeper, now, onFailure } = this.#context;
    const { signal, client, share, waitMs = DEFAULT_WAIT_MS } = caller;
    const { glimpseMaxLife } = this.#context.config();
    // The engine counts the lifetime; a query that gets no turn for as long is over.
    const lifetimeMs = Math.min(glimpseMaxLife * 1000, MAX_TIMER_MS);
    return prepareTransfer(query, flags, {
      store,
      indexer,
      ready: this.#ready,
      settle: () => keeper.settle(),
      place: new QueryPlace({ slots: this.slots, client, signal, remainingMs: () => lifetimeMs }),
      waitMs,
      client,
      share,
      maxLife: glimpseMaxLife,
      now,
      signal,
      onFailure,
    });
  }

  digest(prefix: string, signal: AbortSignal): Promise<DigestReport> {
    return this.#digests.report(prefix, signal);
  }

  /** Closes the file of a complete transfer. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#ready[Symbol.asyncDispose]();
  }
}
