// The query engine that runs inside the Broker (Indexer-Type Embedded): the part in the owner's thread.
import type { Expression } from '../../../protocols/broker/index.js';
import { StateError } from '../../../protocols/errors.js';
import { indexedPart } from '../columns/indexed-part.js';
import {
  type IndexedWord,
  type Indexer,
  type IndexerCapabilities,
  MATCHER_CAPABILITIES,
  type SearchOptions,
  type SearchResults,
  type WordRequest,
} from '../contract.js';
import { withDefaults } from '../engine.js';
import { checkQuery, QUERY_LIMITS, type QueryLimits, requireErrorCount } from '../query/matcher.js';
import { EmbeddedResults } from '../scheduling/results.js';
import { type ClosedIndex, checkClosedIndex, sealIndex } from './index/index-file.js';
import { IndexRest } from './index/index-rest.js';
import { type QueryReply, type QueryRequest, type QueryWorkerData, revivedError } from './messages.js';
import { type QuickAnswer, QuickSearch } from './search/quick-search.js';
import type { SearchLimits } from './search/search.js';
import { UpdateChannel } from './update-channel.js';
import { WorkerChannel } from './worker-channel.js';

/** Options of {@link openEmbeddedIndexer}; every limit has a default. */
export interface EmbeddedIndexerOptions extends Partial<QueryLimits>, Partial<SearchLimits> {
  /** The index; two more files with the suffixes `-wal` and `-shm` are next to it. */
  readonly file: string;
  /** Directory of the Broker's store; queries are matched against its objects. */
  readonly storeDirectory: string;
  /** Replace a damaged index by an empty one, with watermark 0. Default false. */
  readonly rebuildOnError?: boolean;
  /** Page cache of each database connection, in KiB. Default 16 MiB. */
  readonly cacheKiB?: number;
  /** Milliseconds to wait for another writer of the file; normally there is no other. Default 10 000. */
  readonly busyTimeoutMs?: number;
  /** Approximate bytes of objects in one transaction. Default 16 MiB. */
  readonly transactionBytes?: number;
}

/** Defaults of the limits on searches. */
export const SEARCH_LIMITS: SearchLimits = {
  vocabularyBytes: 64 * 1024 * 1024,
  maxTermsPerPart: 2_000,
  maxRanked: 20_000,
  sliceMs: 1,
  maxWorkMs: 10_000,
  readObjects: 64,
  readBytes: 1024 * 1024,
  maxIndexedBytes: 4 * 1024 * 1024,
  totalReadBytes: 24 * 1024 * 1024,
};

const CAPABILITIES: IndexerCapabilities = { ...MATCHER_CAPABILITIES, mostWords: true, score: true };

/**
 * Opens the engine that runs inside the Broker: SQLite FTS5 names candidates, the stored objects decide.
 * Queries and updates have a thread each, so neither blocks the event loop or the other.
 *
 * @throws StorageError if the index is damaged, foreign or of another version and `rebuildOnError` is not set,
 *   or if `storeDirectory` holds no store. To recover, delete the file (or set the option) and add all objects
 *   again.
 */
export async function openEmbeddedIndexer(options: EmbeddedIndexerOptions): Promise<Indexer> {
  const closed = await checkClosedIndex(options.file, options.rebuildOnError ?? false);
  const data: QueryWorkerData = {
    file: options.file,
    storeDirectory: options.storeDirectory,
    rebuildOnError: options.rebuildOnError ?? false,
    checkPages: closed.checkPages,
    cacheKiB: options.cacheKiB ?? 16_384,
    busyTimeoutMs: options.busyTimeoutMs ?? 10_000,
    queryLimits: withDefaults(QUERY_LIMITS, options),
    searchLimits: withDefaults(SEARCH_LIMITS, options),
  };
  const indexer = new EmbeddedIndexer(data, options.transactionBytes ?? 16 * 1024 * 1024, closed);
  await indexer.ready;
  // Another index took its place.
  if (indexer.watermark === 0) await indexer.endRest();
  return indexer;
}

class EmbeddedIndexer implements Indexer {
  readonly name = 'embedded';
  readonly capabilities = CAPABILITIES;
  readonly ready: Promise<void>;
  readonly #data: QueryWorkerData;
  readonly #transactionBytes: number;
  readonly #queries: WorkerChannel<QueryRequest, QueryReply>;
  readonly #results = new Map<number, EmbeddedResults>();
  readonly #words = new WordReplies();
  #updates: UpdateChannel | undefined;
  #quick: QuickSearch | undefined;
  readonly #rest: IndexRest;
  #watermark = 0;
  #objects = 0;
  #lastId = 0;
  #closing: Promise<void> | undefined;

  constructor(data: QueryWorkerData, transactionBytes: number, closed: ClosedIndex) {
    this.#data = data;
    this.#rest = new IndexRest(data.file, closed, async () => await this.#updates?.merge());
    this.#transactionBytes = transactionBytes;
    let opened: () => void = () => undefined;
    let refused: (error: Error) => void = () => undefined;
    this.ready = new Promise((resolve, reject) => {
      opened = resolve;
      refused = reject;
    });
    this.#queries = new WorkerChannel(
      new URL('./query-worker.js', import.meta.url),
      data,
      (reply) => {
        if (reply.kind === 'ready') {
          this.#watermark = reply.watermark;
          this.#objects = reply.objects;
          opened();
        } else if (reply.kind === 'unusable') refused(revivedError(reply.error));
        else if (reply.kind === 'words') this.#words.deliver(reply.id, reply.words);
        else this.#receive(reply);
      },
      (error) => {
        refused(error);
        for (const results of this.#results.values()) results.fail(error);
        this.#results.clear();
        this.#words.failAll(error);
      },
    );
  }

  get maxIndexedBytes(): number {
    return this.#data.searchLimits.maxIndexedBytes;
  }

  get watermark(): number {
    return this.#watermark;
  }

  get objects(): number {
    return this.#objects;
  }

  async beginUpdate(): Promise<void> {
    this.#assertOpen();
    this.#updates ??= new UpdateChannel({
      file: this.#data.file,
      cacheKiB: this.#data.cacheKiB,
      busyTimeoutMs: this.#data.busyTimeoutMs,
      transactionBytes: this.#transactionBytes,
    });
  }

  async add(oid: number, object: Uint8Array): Promise<void> {
    requireOid(oid);
    const part = partOf(object, this.maxIndexedBytes);
    await this.#run((updates) => updates.change(oid, part));
  }

  async remove(oid: number): Promise<void> {
    requireOid(oid);
    await this.#run((updates) => updates.change(oid));
  }

  async flush(watermark: number): Promise<void> {
    this.#objects = await this.#run((updates) => updates.flush(watermark));
    this.#watermark = watermark;
    this.#rest.begin();
  }

  /** Before a change: the sums of the file are no longer right. */
  endRest(): Promise<void> {
    return this.#rest.end();
  }

  query(expression: Expression, options: SearchOptions): SearchResults {
    this.#assertOpen();
    requireErrorCount(options.errors);
    const { signal, pause, ...plain } = options;
    const id = ++this.#lastId;
    const results = new EmbeddedResults(
      {
        start: () => {
          const quick = this.#quickAnswer(expression, plain);
          if (quick !== undefined) {
            results.deliver(quick.hits, quick.outcome);
            return;
          }
          // A refused query costs the query thread nothing.
          checkQuery(expression, plain, this.#data.queryLimits);
          this.#results.set(id, results);
          this.#queries.send({ kind: 'query', id, expression, options: plain });
          pause?.watch((isPaused) => {
            if (this.#results.has(id)) this.#queries.send({ kind: isPaused ? 'pause' : 'resume', id });
          });
        },
        pull: () => this.#queries.send({ kind: 'pull', id }),
        stop: () => {
          this.#results.delete(id);
          this.#queries.send({ kind: 'stop', id });
        },
      },
      signal,
    );
    return results;
  }

  async words({ signal, ...request }: WordRequest): Promise<readonly IndexedWord[]> {
    this.#assertOpen();
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const words = this.#words.expect(id, signal);
    this.#queries.send({ kind: 'words', id, request });
    return words;
  }

  async clear(): Promise<void> {
    await this.beginUpdate();
    await this.#run((updates) => updates.clear());
    this.#watermark = 0;
    this.#objects = 0;
  }

  /** Ends the running queries as aborted, then both threads. Unflushed changes are lost. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Returns undefined on errors too: the query thread then fails in the same way and reports them. */
  #quickAnswer(expression: Expression, options: Omit<SearchOptions, 'signal'>): QuickAnswer | undefined {
    try {
      const { file, cacheKiB, queryLimits } = this.#data;
      this.#quick ??= new QuickSearch(file, cacheKiB, queryLimits);
      return this.#quick.answer(expression, options);
    } catch {
      return undefined;
    }
  }

  async #close(): Promise<void> {
    for (const results of this.#results.values()) results.abort();
    await this.#rest.stop();
    try {
      this.#queries.send({ kind: 'close' });
    } catch {
      // The thread has exited already.
    }
    try {
      this.#quick?.close();
    } finally {
      await Promise.all([this.#queries.ended(), this.#updates?.close()]);
    }
    await sealIndex(this.#data.file);
  }

  #receive(reply: Extract<QueryReply, { kind: 'batch' | 'failed' }>): void {
    const results = this.#results.get(reply.id);
    if (reply.kind === 'failed') {
      this.#results.delete(reply.id);
      const error = revivedError(reply.error);
      results?.fail(error);
      this.#words.fail(reply.id, error);
    } else {
      if (reply.outcome !== undefined) this.#results.delete(reply.id);
      results?.deliver(reply.hits, reply.outcome);
    }
  }

  /** Ends the run after a failure: unflushed changes are lost, and the watermark stays before them. */
  async #run<T>(work: (updates: UpdateChannel) => Promise<T>): Promise<T> {
    this.#assertOpen();
    const updates = this.#updates;
    if (updates === undefined) throw new StateError('beginUpdate() must be called before changes');
    if (this.#rest.isResting) await this.#rest.end();
    try {
      return await work(updates);
    } catch (error) {
      if (this.#updates === updates) this.#updates = undefined;
      await updates.close();
      throw error;
    }
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new StateError('the index is closed');
  }
}

/** The update thread removes an object that is not valid SOIF, which a few bytes of it show as well. */
function partOf(object: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return indexedPart(object, maxBytes);
  } catch {
    return object.subarray(0, 1);
  }
}

function requireOid(oid: number): void {
  if (!Number.isInteger(oid) || oid < 0 || oid > 0xffff_ffff) throw new RangeError(`not an OID: ${oid}`);
}

interface Expected {
  readonly resolve: (words: readonly IndexedWord[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The owner's side of requests for words: each has one reply. */
class WordReplies {
  readonly #expected = new Map<number, Expected>();

  /**
   * Resolves with the reply. Rejects with the reason of the signal as soon as it is aborted; the reply is then
   * ignored.
   */
  expect(id: number, signal: AbortSignal | undefined): Promise<readonly IndexedWord[]> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#expected.delete(id);
        reject(signal?.reason);
      };
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          signal?.removeEventListener('abort', abort);
          settle(value);
        };
      signal?.addEventListener('abort', abort, { once: true });
      this.#expected.set(id, { resolve: settled(resolve), reject: settled(reject) });
    });
  }

  deliver(id: number, words: readonly IndexedWord[]): void {
    this.#take(id)?.resolve(words);
  }

  /** Ignores the numbers of other requests. */
  fail(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  /** The thread has ended: no more replies will arrive. */
  failAll(error: Error): void {
    for (const { reject } of this.#expected.values()) reject(error);
    this.#expected.clear();
  }

  #take(id: number): Expected | undefined {
    const expected = this.#expected.get(id);
    this.#expected.delete(id);
    return expected;
  }
}
