import type { Expression } from '../../protocols/broker/index.js';
import { decodeSoif, type SoifObject } from '../../protocols/soif/index.js';
import type { ObjectReader } from '../broker/object-reader.js';
import { CandidateFinder, type CandidateLimits } from './candidates.js';
import type { Hit, SearchOptions, SearchOutcome, StopReason } from './contract.js';
import type { IndexDatabase } from './index-file.js';
import { Matcher, type QueryLimits } from './matcher.js';
import { Postings } from './postings.js';
import { type CandidateRun, candidateRuns } from './search-order.js';
import { QueryStopped, TimeSlice } from './time-slice.js';
import { Vocabulary } from './vocabulary.js';

/** Limits on the work of searches. */
export interface SearchLimits extends CandidateLimits {
  /** Maximum number of bytes of vocabulary cached in memory; a larger one is read from the file by each search for parts of words. */
  readonly vocabularyBytes: number;
  /** Maximum number of candidates for which hits are ordered best first. */
  readonly maxRanked: number;
  /** Milliseconds one query works before it yields to the others. */
  readonly sliceMs: number;
  /** Approximate number of objects, and of bytes, in one read from the store. */
  readonly readObjects: number;
  readonly readBytes: number;
}

/** Number of objects in the first read: small, so that the first hit arrives soon. */
const FIRST_READ = 8;

const NOTHING: Promise<(Uint8Array | undefined)[]> = Promise.resolve([]);

/** The query side of an index: runs any number of concurrent searches in one thread. */
export class SearchEngine {
  readonly #reader: Pick<ObjectReader, 'objects'>;
  readonly #queryLimits: QueryLimits;
  readonly #limits: SearchLimits;
  readonly #postings: Postings;
  readonly #finder: CandidateFinder;

  constructor(
    db: IndexDatabase,
    reader: Pick<ObjectReader, 'objects'>,
    queryLimits: QueryLimits,
    limits: SearchLimits,
  ) {
    this.#reader = reader;
    this.#queryLimits = queryLimits;
    this.#limits = limits;
    this.#postings = new Postings(db);
    this.#finder = new CandidateFinder(
      this.#postings,
      new Vocabulary(db, this.#postings, limits.vocabularyBytes),
      limits,
    );
  }

  /**
   * Prepares a search.
   * @throws PeerError (111) if the query cannot be answered (BRK-2.19)
   */
  search(expression: Expression, options: Omit<SearchOptions, 'signal'>): Search {
    const matcher = new Matcher(expression, options, this.#queryLimits);
    return new Search(matcher, options, this.#reader, this.#limits, this.#postings, this.#finder);
  }
}

/** One running query. */
export class Search {
  readonly #matcher: Matcher;
  readonly #options: Omit<SearchOptions, 'signal'>;
  readonly #reader: Pick<ObjectReader, 'objects'>;
  readonly #limits: SearchLimits;
  readonly #postings: Postings;
  readonly #finder: CandidateFinder;
  readonly #slice: TimeSlice;
  readonly #warnings: Set<string>;

  constructor(
    matcher: Matcher,
    options: Omit<SearchOptions, 'signal'>,
    reader: Pick<ObjectReader, 'objects'>,
    limits: SearchLimits,
    postings: Postings,
    finder: CandidateFinder,
  ) {
    this.#matcher = matcher;
    this.#options = options;
    this.#reader = reader;
    this.#limits = limits;
    this.#postings = postings;
    this.#finder = finder;
    this.#slice = new TimeSlice(limits.sliceMs, options.lifetimeMs);
    this.#warnings = new Set(matcher.warnings);
  }

  /** Makes {@link hits} end soon, with reason `aborted`. */
  cancel(): void {
    this.#slice.cancel();
  }

  /** Finds the hits on demand. Returns how the search ended (BRK-8.13 (4), 8.16). */
  async *hits(): AsyncGenerator<Hit, SearchOutcome> {
    let reason: StopReason | undefined;
    try {
      reason = (yield* this.#run()) ? 'limit' : undefined;
    } catch (error) {
      if (!(error instanceof QueryStopped)) throw error;
      reason = error.reason;
    }
    const outcome = { complete: reason === undefined, warnings: [...this.#warnings] };
    return reason === undefined ? outcome : { ...outcome, reason };
  }

  /** Returns true when a limit ended the search before the last candidate. */
  async *#run(): AsyncGenerator<Hit, boolean> {
    const maxFiles = this.#options.maxFiles || Number.POSITIVE_INFINITY;
    let results = this.#options.maxResults || Number.POSITIVE_INFINITY;
    let files = 0;
    const runs = candidateRuns({
      matcher: this.#matcher,
      postings: this.#postings,
      finder: this.#finder,
      maxRanked: this.#limits.maxRanked,
      slice: this.#slice,
      wantedHits: Math.min(maxFiles, results),
    });
    for await (const run of runs) {
      for await (const { hit, last } of this.#matches(run, () => results)) {
        yield hit;
        files++;
        results -= Math.max(1, hit.lines.length);
        if (results <= 0 || files >= maxFiles) return !(last && run.last);
      }
    }
    return false;
  }

  async *#matches(
    { oids, scores, isCertain }: CandidateRun,
    results: () => number,
  ): AsyncGenerator<{ hit: Hit; last: boolean }> {
    const hit = (i: number, lines: Hit['lines']): { hit: Hit; last: boolean } => {
      const score = scores.get(oids[i]!);
      const last = i === oids.length - 1;
      return { hit: score === undefined ? { oid: oids[i]!, lines } : { oid: oids[i]!, lines, score }, last };
    };
    let from = 0;
    if (!this.#options.wantLines) {
      for (; from < oids.length && isCertain(oids[from]!); from++) {
        const pause = this.#slice.yield();
        if (pause !== undefined) await pause;
        yield hit(from, []);
      }
    }
    const maxLines = this.#options.maxLines || Number.POSITIVE_INFINITY;
    for await (const { index, object } of this.#objects(oids.subarray(from))) {
      const lineLimit = this.#options.wantLines ? Math.min(maxLines, results()) : 0;
      const lines = await this.#matcher.match(object, lineLimit, this.#slice);
      if (lines !== undefined) yield hit(from + index, lines);
    }
  }

  /** Reads the objects of the candidates; the next read runs while the current objects are matched. */
  async *#objects(oids: Uint32Array): AsyncGenerator<{ index: number; object: SoifObject }> {
    let size = Math.min(FIRST_READ, this.#limits.readObjects);
    const read = (from: number) => {
      if (from >= oids.length) return { from, promise: NOTHING };
      const promise = this.#reader.objects([...oids.subarray(from, from + size)]);
      promise.catch(() => undefined); // reported when awaited, which a stopped search does not do
      return { from, promise };
    };
    let next = read(0);
    while (next.from < oids.length) {
      const { from, promise } = next;
      const objects = await promise;
      await this.#slice.yield();
      const bytes = objects.reduce((sum, object) => sum + (object?.length ?? 0), 0);
      // A few hits need a few objects: the reads grow, so that a short search does not read objects that it does not need.
      size = Math.min(2 * size, fittingSize(objects.length, bytes, this.#limits));
      next = read(from + objects.length);
      for (const [i, object] of objects.entries()) {
        const decoded = object === undefined ? undefined : this.#decode(object);
        if (decoded !== undefined) yield { index: from + i, object: decoded };
        await this.#slice.yield();
      }
    }
  }

  #decode(bytes: Uint8Array): SoifObject | undefined {
    try {
      return decodeSoif(bytes);
    } catch {
      this.#warnings.add('A stored object could not be read and was skipped.');
      return undefined;
    }
  }
}

/** Number of objects in the next read, from the mean size of the last ones. */
function fittingSize(objects: number, bytes: number, limits: SearchLimits): number {
  if (bytes === 0) return limits.readObjects;
  return Math.max(1, Math.min(limits.readObjects, Math.floor((limits.readBytes * objects) / bytes)));
}
