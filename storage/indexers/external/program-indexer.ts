// What the engines that are programs have in common: queries against the stored objects, and their end.
import type { Expression } from '../../../protocols/broker/index.js';
import { StateError } from '../../../protocols/errors.js';
import type { ObjectReader } from '../../broker/object-reader.js';
import type { IndexerCapabilities, SearchOptions, SearchResults } from '../contract.js';
import {
  type Candidate,
  type CandidateEngine,
  type CandidateOptions,
  type CandidateSearchLimits,
  searchCandidates,
} from './candidate-search.js';

/** An engine whose program names candidates, which are matched against the stored objects. */
export abstract class ProgramIndexer implements CandidateEngine {
  abstract readonly name: string;
  abstract readonly capabilities: IndexerCapabilities;
  readonly #reader: ObjectReader;
  readonly #limits: CandidateSearchLimits;
  readonly #closing = new AbortController();
  /** Aborted by {@link close}: the programs end. */
  protected readonly closing: AbortSignal = this.#closing.signal;

  /** @param reader is closed with the engine */
  constructor(reader: ObjectReader, limits: CandidateSearchLimits) {
    this.#reader = reader;
    this.#limits = limits;
  }

  abstract candidates(expression: Expression, options: CandidateOptions): AsyncIterable<readonly Candidate[]>;

  query(expression: Expression, options: SearchOptions): SearchResults {
    this.assertOpen();
    const { closing } = this;
    const signal = options.signal === undefined ? closing : AbortSignal.any([options.signal, closing]);
    return searchCandidates(this, this.#reader, expression, { ...options, signal }, this.#limits);
  }

  async close(): Promise<void> {
    if (this.closing.aborted) return;
    this.#closing.abort();
    await this.end();
    await this.#reader.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Ends a run that is not flushed, and what else the engine runs. */
  protected abstract end(): Promise<void>;

  protected assertOpen(): void {
    if (this.closing.aborted) throw new StateError('the index is closed');
  }
}
