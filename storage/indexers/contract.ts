// The interface of a Broker's query engine (BRK-8.1 to 8.4).
import type { Expression, IndexFlags } from '../../protocols/broker/index.js';

/** The kinds of query that an engine answers; others fail with a `PeerError` of status 111 (BRK-2.19). */
export interface IndexerCapabilities {
  /** Parts of words (BRK-2.20). */
  readonly substrings: boolean;
  /** Whole words. */
  readonly words: boolean;
  readonly caseSensitive: boolean;
  /**
   * Words whatever code points spell them in the text, and on request without their accents. An engine without it
   * compares bytes, and ignores that request.
   */
  readonly accents: boolean;
  /** Maximum number of spelling errors, 0 to 8 (BRK-2.23). */
  readonly errors: number;
  readonly phrases: boolean;
  /** Queries within one attribute (BRK-2.14). */
  readonly attributes: boolean;
  readonly regexp: boolean;
  /** `less-than` and `greater-than` (BRK-2.17). */
  readonly comparison: boolean;
  readonly not: boolean;
  /** Queries for most of their words (BRK-2.27); an engine without it finds the objects with all words. */
  readonly mostWords: boolean;
  /** Hits have a score, and the best is first. */
  readonly score: boolean;
}

/** What the rooms below `query/` decide of stored objects: all that the query language has, and no order. */
export const MATCHER_CAPABILITIES: IndexerCapabilities = {
  substrings: true,
  words: true,
  caseSensitive: true,
  accents: true,
  errors: 8,
  phrases: true,
  attributes: true,
  regexp: true,
  comparison: true,
  not: true,
  mostWords: false,
  score: false,
};

/** One matched line of the object's SOIF text (BRK-4.7, 4.8). */
export interface MatchedLine {
  /** The attribute's name as the object spells it; `url` for the header line (BRK-2.18). */
  readonly attribute: string;
  /** The line of the SOIF text; an attribute's first line begins with `name{size}:` and a tab. */
  readonly text: string;
  /** The line is the first of its attribute. */
  readonly first: boolean;
}

/** An object that satisfies the query. */
export interface Hit {
  readonly oid: number;
  /** In the order of the object; empty if no lines were requested or only a `not` matched. */
  readonly lines: readonly MatchedLine[];
  /** Of a query for most of its words: bit i is set if the object lacks word i of `plainWordsOf`; absent for 0. */
  readonly lacks?: number;
  /** Higher is better; absent if the engine does not score this object. */
  readonly score?: number;
}

/**
 * How to match and when to stop: the `#index` flags, by their rows in `protocols/broker/flags.ts`. The limits
 * are those of BRK-8.11: 0 or absent means no limit; an object without lines counts as one matched line.
 */
export interface SearchOptions extends Omit<IndexFlags, 'lifetime'> {
  /** Return matched lines. Without them a query may be answered from the index alone. */
  readonly wantLines: boolean;
  /** False: the order does not matter, which is faster for large results. Default true: best first. */
  readonly ordered?: boolean;
  /** Milliseconds the query may run, counted from the first `next()` (BRK-8.13, 8.16). */
  readonly lifetimeMs: number;
  /**
   * Who asks, e.g. an address: engines that share a thread divide its time by client. Queries without a client
   * share one part.
   */
  readonly client?: string | undefined;
  /** Pauses the query while others have its slot. Engines that cannot pause ignore it. */
  readonly pause?: PauseSwitch | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why a result may be incomplete; `cost`: the query took more work than one query may. */
export type StopReason = 'lifetime' | 'limit' | 'cost' | 'aborted';

/** How a query ended. */
export interface SearchOutcome {
  /** All objects that match were delivered. */
  readonly complete: boolean;
  readonly reason?: StopReason;
  /** Sentences for the user (BRK-4.18 code 103). */
  readonly warnings: readonly string[];
}

/**
 * The hits of one query; can be iterated once. `outcome` resolves when the iteration ends, and never rejects.
 */
export interface SearchResults extends AsyncIterable<Hit> {
  /** Number of hits that the iteration has without waiting for the engine; absent if the engine does not know. */
  readonly arrived?: number | undefined;
  /** Whether the engine has delivered all hits, and works for this query no more; absent if that is not known. */
  readonly isDelivered?: boolean | undefined;
  readonly outcome: Promise<SearchOutcome>;
}

/** A request for words of the index. */
export interface WordRequest {
  /**
   * - `completions`: words that begin with the text
   * - `neighbors`: words that are spelled almost like it
   * - `forms`: the word itself, even if no object has it, then its other forms in the languages of the objects:
   *   `index`, `indexes`
   */
  readonly kind: 'completions' | 'neighbors' | 'forms';
  /** One word, or its beginning. Case is ignored. */
  readonly text: string;
  /** Maximum number of words. */
  readonly limit: number;
  /** Milliseconds after which the words found until then are the answer. */
  readonly lifetimeMs: number;
  /** Who asks, as in {@link SearchOptions}. */
  readonly client?: string;
  readonly signal?: AbortSignal;
}

/** A word of the index, in lower case. */
export interface IndexedWord {
  readonly word: string;
  /** Number of objects that have it; large numbers may be cut. */
  readonly objects: number;
  /** Of a request for forms: the word says nothing about the subject of a text, as `the` in English. */
  readonly isStopWord?: true;
}

/** The right to write an index that several processes share. */
export interface IndexTerm {
  /** Each term has a higher number than those before it. */
  readonly epoch: number;
  /** Aborted when another process may have the next term. */
  readonly signal: AbortSignal;
}

/** An index that the Brokers of one store share: one of them writes it at a time, all search in it. */
export interface SharedIndex {
  /** Its name among the indexes of the store. */
  readonly name: string;
  /** Reads what the writer has made of it: watermark, number of objects, and which index is in use. */
  refresh(): Promise<void>;
  /**
   * Like {@link refresh}, and makes this process the writer until the term ends. What writers of earlier terms still send
   * does not replace its changes. Ends an indexing run.
   */
  lead(term: IndexTerm): Promise<void>;
}

/** A query engine (BRK-8.1, 8.4). */
export interface Indexer extends AsyncDisposable {
  readonly name: string;
  readonly capabilities: IndexerCapabilities;
  /** The last change sequence that is durably in the index; 0 if it is empty. */
  readonly watermark: number;
  /** Number of objects in the index, without those that were removed; absent if the engine does not know it. */
  readonly objects?: number | undefined;
  /** Bytes of one object that are indexed and found; undefined if there is no limit. */
  readonly maxIndexedBytes?: number | undefined;
  /**
   * Of an index that the Brokers of one store share; it is changed only in a term of {@link SharedIndex.lead}. Absent: the
   * index is of one Broker.
   */
  readonly shared?: SharedIndex | undefined;
  /**
   * Starts an indexing run (BRK-8.2); a second call within a run does nothing. A flush may end the run. If a
   * call of the run fails with a `StorageError`, the run is over and unflushed changes are lost: begin again
   * after {@link watermark}.
   */
  beginUpdate(): Promise<void>;
  /**
   * Indexes an object, or replaces it, by its SOIF bytes, which are copied. Resolves when the engine accepts
   * the next change.
   */
  add(oid: number, object: Uint8Array): Promise<void>;
  /** Removes an object; ignores an unknown OID. */
  remove(oid: number): Promise<void>;
  /** Makes all changes of the run durable and searchable, together with the new watermark. */
  flush(watermark: number): Promise<void>;
  /**
   * Answers a query. A query that the engine does not support fails at the first `next()` with a `PeerError` of
   * status 111 and a text of BRK-4.18; a damaged index fails with a `StorageError`.
   */
  query(expression: Expression, options: SearchOptions): SearchResults;
  /**
   * Lists words of the index, the best first, for suggestions. Absent or without words if the engine does not
   * know its words.
   */
  words?(request: WordRequest): Promise<readonly IndexedWord[]>;
  /**
   * Starts a full rebuild (BRK-8.1 Index_Full) and an indexing run: the objects added after it replace the
   * index at the next flush. The engines of `openIndexer` answer from the old index until then; that of
   * `openEmbeddedIndexer` is empty immediately, with watermark 0.
   */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Tells an engine when a query may work. The owner of the query pauses and resumes it; an engine that can pause
 * watches. A paused query does no work and keeps its state.
 */
export class PauseSwitch {
  #isPaused = false;
  #listener: ((isPaused: boolean) => void) | undefined;

  /** Whether an engine obeys: without one, a pause has no effect. */
  get isWatched(): boolean {
    return this.#listener !== undefined;
  }

  /** Calls back at each change, and immediately if the query is paused. One listener at a time. */
  watch(listener: (isPaused: boolean) => void): void {
    this.#listener = listener;
    if (this.#isPaused) listener(true);
  }

  pause(): void {
    this.#set(true);
  }

  resume(): void {
    this.#set(false);
  }

  #set(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    this.#listener?.(isPaused);
  }
}
