// The `OpenSearch` engine: an index in a cluster names candidates, which are matched against the stored objects.
import { resolve } from 'node:path';
import type { Expression } from '../../../protocols/broker/index.js';
import type { Clock } from '../../../protocols/clock.js';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { type ObjectReader, openObjectReader } from '../../broker/object-reader.js';
import { indexedPart, indexedPartOf } from '../columns/indexed-part.js';
import {
  type IndexedWord,
  type Indexer,
  type IndexerCapabilities,
  type IndexTerm,
  MATCHER_CAPABILITIES,
  type SharedIndex,
  type WordRequest,
} from '../contract.js';
import type { QueryWord } from '../embedded/ranking/relevance.js';
import { queryWords } from '../embedded/search/search-order.js';
import {
  CANDIDATE_SEARCH_LIMITS,
  type Candidate,
  type CandidateOptions,
  type CandidateSearchLimits,
  type MostCandidates,
} from '../external/candidate-search.js';
import { ProgramIndexer } from '../external/program-indexer.js';
import type { Leaf } from '../query/leaf.js';
import { Matcher } from '../query/matcher.js';
import { anyWord, type PlainWords } from '../query/plain-words.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import { aliasOf, readAccess, readOwner } from './access.js';
import { BestFirst } from './best-first.js';
import { BulkLoader } from './bulk-loader.js';
import { ClusterClient } from './client.js';
import { requireOpenSearch } from './cluster-version.js';
import { documentOf } from './documents.js';
import { isPassing } from './failures.js';
import { readPages } from './index-pages.js';
import type { IndexQuery } from './index-query.js';
import { IndexSet } from './index-state.js';
import { type IndexView, readView } from './index-view.js';
import { IndexWords } from './index-words.js';
import { type MostWords, mostWords } from './most-words.js';
import { type RankedWord, rankingOf } from './ranking.js';
import { translate } from './translate.js';
import { Turn } from './turn.js';

/** Options of {@link openOpenSearchIndexer}. */
export interface OpenSearchIndexerOptions {
  /** Directory for what the Broker itself keeps about its index. */
  readonly directory: string;
  /** Directory of the Broker's store; queries are matched against its objects. */
  readonly storeDirectory: string;
  /** A random name of the store, if several Brokers share it, and the index with it. */
  readonly storeName?: string | undefined;
  /** URLs of nodes of the cluster. */
  readonly nodes: readonly string[];
  /** The alias of the index: lower-case letters, digits, `.`, `_` and `-`. Other characters are replaced by `-`. */
  readonly index: string;
  /** File whose first line is `user:password`; absent if the cluster needs no login. */
  readonly loginFile?: string | undefined;
  /** File with the certificates (PEM) of the authorities that sign those of the nodes. Default: those of the system. */
  readonly authorityFile?: string | undefined;
  /** Bytes of one object that are indexed. Default 4 MiB. */
  readonly maxIndexedBytes?: number;
  /** Bytes of one bulk request; two are in memory. Default 2 MiB. */
  readonly requestBytes?: number;
  /** Objects of one page of a search. Default 1000. */
  readonly pageObjects?: number;
  /** Objects of one query that are ordered; the others follow. Default 10 000. */
  readonly maxRanked?: number;
  /** Milliseconds for which changes that no node accepts are repeated. Default 60 000. */
  readonly patienceMs?: number;
  readonly limits?: Partial<CandidateSearchLimits>;
  /** The clock of delays, for tests. */
  readonly clock?: Clock;
  /** Receives a sentence for each problem that does not stop the work. */
  readonly onWarning?: ((sentence: string) => void) | undefined;
}

const CAPABILITIES: IndexerCapabilities = { ...MATCHER_CAPABILITIES, mostWords: true, score: true };
const DEFAULTS = {
  maxIndexedBytes: 4 * 1024 * 1024,
  requestBytes: 2 * 1024 * 1024,
  pageObjects: 1000,
  maxRanked: 10_000,
  patienceMs: 60_000,
};
/** Epochs and their changes are one number, the version of a document: of two writers the later one wins. */
const CHANGES_OF_EPOCH = 2 ** 32;

/**
 * Opens the OpenSearch engine.
 *
 * @throws StorageError if no node answers, it is not OpenSearch from 2.4, it refuses the login, or the index is one of
 *   another Broker or a newer version
 */
export async function openOpenSearchIndexer(options: OpenSearchIndexerOptions): Promise<Indexer> {
  const directory = resolve(options.directory);
  const { clock, storeDirectory } = options;
  const { maxIndexedBytes, patienceMs } = { ...DEFAULTS, ...options };
  const access = await readAccess(options);
  const client = new ClusterClient({ ...access, patienceMs, ...(clock === undefined ? {} : { clock }) });
  try {
    await requireOpenSearch(client);
    const indexes = new IndexSet(
      client,
      aliasOf(options.index),
      await readOwner(directory, options.storeName),
    );
    const state = await readView(indexes);
    const reader = await openObjectReader(storeDirectory, (object) => indexedPartOf(object, maxIndexedBytes));
    return new OpenSearchIndexer(options, client, indexes, reader, state);
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** A run that has changes. */
interface Run {
  readonly index: string;
  readonly loader: BulkLoader;
  /** Whether its index is to replace the one in use. */
  readonly isNew: boolean;
}

class OpenSearchIndexer extends ProgramIndexer implements Indexer {
  readonly name = 'opensearch';
  readonly capabilities = CAPABILITIES;
  readonly maxIndexedBytes: number;
  readonly shared: SharedIndex | undefined;
  readonly #options: OpenSearchIndexerOptions & typeof DEFAULTS;
  readonly #client: ClusterClient;
  readonly #indexes: IndexSet;
  #state: IndexView;
  #updating = false;
  #rebuilding = false;
  #run: Promise<Run> | undefined;
  /** Whether this process has taken the next epoch of the index in use. */
  #hasEpoch = false;
  /** Of a shared index: aborted when this process writes it no more; undefined before it has. */
  #term: AbortSignal | undefined;
  /** Changes in this epoch. */
  #changes = 0;
  /** Queries that read pages. */
  readonly #reading = new Set<Promise<void>>();
  readonly #words: IndexWords;
  readonly #bestFirst: BestFirst;
  /** Changes with the index in use. */
  #version = 0;

  constructor(
    options: OpenSearchIndexerOptions,
    client: ClusterClient,
    indexes: IndexSet,
    reader: ObjectReader,
    state: IndexView,
  ) {
    super(reader, { ...CANDIDATE_SEARCH_LIMITS, ...options.limits });
    this.#options = { ...DEFAULTS, ...options };
    this.maxIndexedBytes = this.#options.maxIndexedBytes;
    this.#client = client;
    this.#indexes = indexes;
    this.#state = state;
    if (options.storeName !== undefined)
      this.shared = {
        name: `opensearch ${indexes.alias}`,
        refresh: () => this.#refresh(),
        lead: (term) => this.#lead(term),
      };
    const epoch = () => this.#version;
    const version = {
      get epoch() {
        return epoch();
      },
    };
    this.#words = new IndexWords(client, indexes.alias, version, () => this.objects, this.closing);
    this.#bestFirst = new BestFirst(reader, this.#words);
  }

  get watermark(): number {
    return this.#state.watermark;
  }

  get objects(): number {
    return this.#state.objects;
  }

  async beginUpdate(): Promise<void> {
    this.assertOpen();
    if (this.shared !== undefined && this.#term?.aborted !== false)
      throw new StateError('another Broker writes the index');
    this.#updating = true;
  }

  async add(oid: number, object: Uint8Array): Promise<void> {
    this.#assertUpdating();
    const part = indexedPart(object, this.maxIndexedBytes);
    const document = documentOf(oid, decodeSoif(part, { maxObjectBytes: part.length }));
    await this.#change((loader) => loader.index(oid, document));
  }

  async remove(oid: number): Promise<void> {
    this.#assertUpdating();
    await this.#change((loader) => loader.remove(oid));
  }

  async words(request: WordRequest): Promise<readonly IndexedWord[]> {
    this.assertOpen();
    return this.#state.isUsable ? this.#words.list(request) : [];
  }

  async clear(): Promise<void> {
    await this.#abandon();
    await this.beginUpdate();
    this.#rebuilding = true;
  }

  async flush(watermark: number): Promise<void> {
    this.#assertUpdating();
    await this.#guard(async () => {
      const { index, loader, isNew } = await this.#begin();
      await loader.finish();
      await this.#indexes.refresh(index);
      const { epoch } = this.#state;
      const meta = await this.#indexes.meta(index);
      if (meta === undefined) {
        // The first change has made another index of this name, without the fields.
        await this.#indexes.remove(index);
        throw new StorageError(lostSentence(index));
      }
      this.#term?.throwIfAborted();
      // Of a shared index a late message of an earlier writer may have set it back.
      if (this.#term === undefined ? meta.epoch !== epoch : meta.epoch > epoch)
        throw new StorageError(
          `another Broker writes the index ${index} of OpenSearch: set OpenSearch-Index to a name of its own`,
        );
      const objects = await this.#indexes.count(index);
      await this.#indexes.write(index, watermark, epoch);
      this.#term?.throwIfAborted();
      if (isNew) await this.#indexes.publish(index, this.#state.name);
      this.#state = { name: index, watermark, objects, epoch, isUsable: true };
      this.#version++;
      this.#endRun();
    });
  }

  /** Yields the objects that OpenSearch finds, best first. */
  async *candidates(expression: Expression, options: CandidateOptions): AsyncGenerator<readonly Candidate[]> {
    if (this.#state.name === undefined) return;
    using stop = this.#stopOf(options);
    await using turn = await Turn.begin(options);
    const { slice } = turn;
    const matcher = await Matcher.compile(expression, options, CANDIDATE_SEARCH_LIMITS, slice);
    yield* this.#pages(translate(matcher.plan), matcher.positive, options.isOrdered, stop.signal, slice);
  }

  async candidatesWithMost(
    words: PlainWords,
    options: CandidateOptions,
  ): Promise<MostCandidates | undefined> {
    if (this.#state.name === undefined) return undefined;
    using stop = this.#stopOf(options);
    await using turn = await Turn.begin(options);
    const { terms, forms } = this.#words;
    const context = { options, terms, forms, objects: this.objects, signal: stop.signal, slice: turn.slice };
    const chosen = await mostWords(words, context);
    return chosen && { words: chosen.words, pages: this.#chosen(chosen, options) };
  }

  /** Yields the objects of a query for most of its words. */
  async *#chosen(
    { words, lacks }: MostWords,
    options: CandidateOptions,
  ): AsyncGenerator<readonly Candidate[]> {
    using stop = this.#stopOf(options);
    await using turn = await Turn.begin(options);
    const { slice } = turn;
    const matcher = await Matcher.compile(anyWord(words), options, CANDIDATE_SEARCH_LIMITS, slice);
    const query = { ids: { values: [...lacks.keys()].map(String) } };
    for await (const page of this.#pages(query, matcher.positive, options.isOrdered, stop.signal, slice))
      yield page.map((candidate) => {
        const lacking = lacks.get(candidate.oid) ?? 0;
        return lacking === 0 ? candidate : { ...candidate, lacks: lacking };
      });
  }

  /** Yields the objects of a query of OpenSearch, those first that answer the terms best. */
  async *#pages(
    query: IndexQuery | undefined,
    positive: readonly Leaf[],
    isOrdered: boolean,
    stop: AbortSignal,
    slice: TimeSlice,
  ): AsyncGenerator<readonly Candidate[]> {
    const words = isOrdered ? queryWords(positive) : [];
    const ranking = rankingOf(await this.#withForms(words, slice));
    let end = () => {};
    const reading = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#reading.add(reading);
    try {
      const limits = { ...this.#options, stop, patienceMs: this.#client.queryPatienceMs };
      const pages = readPages(this.#client, this.#indexes.alias, { query, ranking }, limits);
      if (ranking === undefined) yield* pages;
      else yield* this.#bestFirst.pages(pages, words, slice);
    } finally {
      this.#reading.delete(reading);
      end();
    }
  }

  /** The words with their forms; without, if OpenSearch fails at present: then the order is another one. */
  async #withForms(words: readonly QueryWord[], slice: TimeSlice): Promise<readonly RankedWord[]> {
    try {
      const found: RankedWord[] = [];
      for (const { text } of words) found.push({ text, ...(await this.#words.forms.read(text, slice)) });
      return found;
    } catch (error) {
      if (!isPassing(error)) throw error;
      return words.map(({ text }) => ({ text, forms: [], isStopWord: false }));
    }
  }

  #stopOf({ deadline, dropped }: CandidateOptions): LinkedAbort {
    return new LinkedAbort(deadline, dropped, this.closing);
  }

  protected async end(): Promise<void> {
    this.#endRun();
    // Each closes its state of the index.
    await Promise.all(this.#reading);
    await this.#client.close();
  }

  async #change(change: (loader: BulkLoader) => Promise<void>): Promise<void> {
    await this.#guard(async () => {
      const { loader } = await this.#begin();
      await change(loader);
    });
  }

  /** An error ends the run, and what it has changed is changed again after the watermark. */
  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.#abandon();
      throw error;
    }
  }

  #begin(): Promise<Run> {
    this.#run ??= this.#open();
    return this.#run;
  }

  async #open(): Promise<Run> {
    const { name, isUsable } = this.#state;
    const isNew = this.#rebuilding || name === undefined || !isUsable;
    if (isNew || !this.#hasEpoch) await this.#takeEpoch();
    const { epoch, watermark } = this.#state;
    let index = name ?? '';
    if (isNew) index = await this.#indexes.createNext(epoch);
    else if (!this.#hasEpoch) await this.#indexes.write(index, watermark, epoch);
    this.#hasEpoch = true;
    const { requestBytes, patienceMs } = this.#options;
    const loader = new BulkLoader(this.#client, {
      index,
      nextVersion: () => epoch * CHANGES_OF_EPOCH + this.#changes++,
      requestBytes,
      patienceMs,
      signal: this.#term === undefined ? this.closing : AbortSignal.any([this.closing, this.#term]),
    });
    return { index, loader, isNew };
  }

  /** Makes this process the writer: what an earlier one still sends changes nothing from now on. */
  async #takeEpoch(): Promise<void> {
    const { name, epoch } = this.#state;
    const meta = name === undefined ? undefined : await this.#indexes.meta(name);
    if (name !== undefined && meta === undefined) throw new StorageError(lostSentence(name));
    // A term is an epoch.
    if (this.#term !== undefined) return;
    this.#state = { ...this.#state, epoch: Math.max(epoch, meta?.epoch ?? 0) + 1 };
    this.#changes = 0;
  }

  async #refresh(): Promise<void> {
    this.assertOpen();
    const before = this.#state;
    const state = await readView(this.#indexes, before);
    this.#state = { ...state, epoch: Math.max(state.epoch, before.epoch) };
    if (this.#state.name !== before.name || this.#state.watermark !== before.watermark) this.#version++;
  }

  async #lead({ epoch, signal }: IndexTerm): Promise<void> {
    await this.#abandon();
    await this.#refresh();
    // What a former writer has not finished must not come into use.
    await this.#indexes.removeUnfinished();
    this.#state = { ...this.#state, epoch: Math.max(epoch, this.#state.epoch + 1) };
    this.#hasEpoch = false;
    this.#changes = 0;
    this.#term = signal;
  }

  /** Ends the run. An index that was to replace the one in use is removed. */
  async #abandon(): Promise<void> {
    const run = await this.#run?.catch(() => undefined);
    this.#endRun();
    if (run?.isNew !== true) return;
    this.#hasEpoch = false;
    // The next writer may have made another one of the same name.
    if (this.#term?.aborted === true) return;
    await this.#indexes.remove(run.index).catch(() => undefined);
  }

  #endRun(): void {
    this.#run = undefined;
    this.#updating = false;
    this.#rebuilding = false;
  }

  #assertUpdating(): void {
    this.assertOpen();
    if (!this.#updating) throw new StateError('beginUpdate() must be called before changes');
  }
}

function lostSentence(index: string): string {
  return `cannot use the index: ${index} of OpenSearch was removed`;
}
