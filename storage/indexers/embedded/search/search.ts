import type { Expression } from '../../../../protocols/broker/index.js';
import { decodeSoif, type SoifObject } from '../../../../protocols/soif/index.js';
import type { ObjectReader } from '../../../broker/object-reader.js';
import { indexedPart } from '../../columns/indexed-part.js';
import type {
  Hit,
  IndexedWord,
  MatchedLine,
  SearchOptions,
  SearchOutcome,
  StopReason,
  WordRequest,
} from '../../contract.js';
import { mayBeCheap } from '../../query/first-price.js';
import { Matcher, type QueryLimits } from '../../query/matcher.js';
import { anyWord, plainWordsOf } from '../../query/plain-words.js';
import { Scheduler } from '../../scheduling/scheduler.js';
import { QueryStopped, TimeSlice } from '../../scheduling/time-slice.js';
import { IndexVersion } from '../index/index-cache.js';
import type { IndexDatabase } from '../index/index-file.js';
import { LinkTextReader } from '../index/link-texts.js';
import { OutlineReader } from '../index/outlines.js';
import { Postings } from '../index/postings.js';
import { Spellings } from '../index/spellings.js';
import { RELEVANCE_MODEL, Relevance, type RelevanceModel } from '../ranking/relevance.js';
import { RelevanceStatements } from '../ranking/relevance-statements.js';
import { WordLists } from '../ranking/word-lists.js';
import { FormFinder } from '../words/form-finder.js';
import { IndexWords } from '../words/index-words.js';
import { Vocabulary } from '../words/vocabulary.js';
import { listWords } from '../words/word-list.js';
import { CandidateFinder, type CandidateLimits } from './candidates.js';
import { MatchingObjects } from './matching-objects.js';
import { type MostWordsContext, mostWords } from './most-words.js';
import { withForms } from './query-forms.js';
import { type ReadLimits, ReadMemory } from './read-memory.js';
import { type CandidateRun, candidateRuns } from './search-order.js';

/** Limits on the work of searches. */
export interface SearchLimits extends CandidateLimits, ReadLimits {
  /**
   * Maximum number of bytes of vocabulary cached in memory; a larger one is read from the file by each search
   * for parts of words.
   */
  readonly vocabularyBytes: number;
  /** Maximum number of candidates for which hits are ordered best first. */
  readonly maxRanked: number;
  /** Milliseconds one query works before it yields to the others. */
  readonly sliceMs: number;
  /**
   * Milliseconds that one query may work in the query thread: the limit of its price, after which it ends with
   * reason `cost`.
   */
  readonly maxWorkMs: number;
  /**
   * Bytes of one object that are indexed and matched: the longest values of a larger one are cut to the same
   * length. Default 4 MiB.
   */
  readonly maxIndexedBytes: number;
}

/** The query side of an index: runs any number of concurrent searches in one thread. */
export class SearchEngine {
  readonly #reader: Pick<ObjectReader, 'objects'>;
  readonly #queryLimits: QueryLimits;
  readonly #limits: SearchLimits;
  readonly #postings: Postings;
  readonly #matching: MatchingObjects;
  readonly #vocabulary: Vocabulary;
  readonly #spellings: Spellings;
  readonly #finder: CandidateFinder;
  readonly #words: IndexWords;
  readonly #forms: FormFinder;
  readonly #relevance: Relevance;
  readonly #scheduler = new Scheduler();
  readonly #version: IndexVersion;
  readonly #memory: ReadMemory;

  /** @param model what orders hits; other than the default it is for measurements */
  constructor(
    db: IndexDatabase,
    reader: Pick<ObjectReader, 'objects'>,
    queryLimits: QueryLimits,
    limits: SearchLimits,
    model: RelevanceModel = RELEVANCE_MODEL,
  ) {
    this.#reader = reader;
    this.#queryLimits = queryLimits;
    this.#limits = limits;
    this.#memory = new ReadMemory(limits);
    this.#postings = new Postings(db);
    this.#vocabulary = new Vocabulary(db, this.#postings, limits.vocabularyBytes, () => this.#newSlice());
    this.#spellings = new Spellings(db);
    const statements = new RelevanceStatements(db);
    const version = new IndexVersion(db);
    this.#version = version;
    this.#finder = new CandidateFinder(this.#postings, this.#vocabulary, this.#spellings, version, limits);
    this.#matching = new MatchingObjects(this.#postings, version);
    const lists = new WordLists(this.#postings, statements, version, model.parts);
    const objects = () => statements.totals().objects;
    this.#words = new IndexWords(this.#vocabulary, this.#postings, this.#spellings, objects);
    this.#forms = new FormFinder(this.#words, version);
    this.#relevance = new Relevance(
      this.#forms,
      lists,
      new LinkTextReader(db),
      new OutlineReader(db, version),
      model,
    );
  }

  /** Prepares a search. */
  search(expression: Expression, options: Omit<SearchOptions, 'signal'>): Search {
    return new Search(expression, options, {
      version: this.#version,
      reader: this.#reader,
      queryLimits: this.#queryLimits,
      limits: this.#limits,
      postings: this.#postings,
      matching: this.#matching,
      finder: this.#finder,
      forms: this.#forms,
      spellings: this.#spellings,
      relevance: this.#relevance,
      scheduler: this.#scheduler,
      memory: this.#memory,
    });
  }

  /** Lists words of the index; those found until the request's time is over. */
  async words(request: Omit<WordRequest, 'signal'>): Promise<IndexedWord[]> {
    const { lifetimeMs, client } = request;
    const { sliceMs, maxWorkMs } = this.#limits;
    const slice = new TimeSlice({ sliceMs, lifetimeMs, maxWorkMs, client, scheduler: this.#scheduler });
    await slice.begin();
    try {
      this.#version.look();
      return await listWords(request, this.#words.sources(this.#forms), slice);
    } finally {
      slice.end();
    }
  }

  /** A slice for work that no client requested. */
  #newSlice(): TimeSlice {
    const { sliceMs } = this.#limits;
    return new TimeSlice({ sliceMs, lifetimeMs: Number.POSITIVE_INFINITY, scheduler: this.#scheduler });
  }
}

/** The parts of an engine that its searches use. */
interface SearchParts {
  readonly version: IndexVersion;
  readonly reader: Pick<ObjectReader, 'objects'>;
  readonly queryLimits: QueryLimits;
  readonly limits: SearchLimits;
  readonly postings: Postings;
  readonly matching: MatchingObjects;
  readonly finder: CandidateFinder;
  readonly forms: FormFinder;
  readonly spellings: Spellings;
  readonly relevance: Relevance;
  readonly scheduler: Scheduler;
  readonly memory: ReadMemory;
}

/** Objects that are read together. */
interface Chunk {
  readonly from: number;
  readonly objects: readonly (Uint8Array | undefined)[];
}

/** One running query. It works between {@link begin} and {@link end}. */
export class Search {
  readonly #expression: Expression;
  readonly #options: Omit<SearchOptions, 'signal'>;
  readonly #parts: SearchParts;
  /**
   * Its part of the thread: a canceled slice ends {@link hits} soon, with reason `aborted`; a held one waits.
   */
  readonly slice: TimeSlice;
  readonly #warnings = new Set<string>();
  #chunk: Chunk | undefined;
  /** Objects in the next read; undefined before the first one. */
  #readSize: number | undefined;
  #ahead: { readonly from: number; readonly promise: ReturnType<ObjectReader['objects']> } | undefined;

  constructor(expression: Expression, options: Omit<SearchOptions, 'signal'>, parts: SearchParts) {
    const { limits, scheduler } = parts;
    this.#expression = expression;
    this.#options = options;
    this.#parts = parts;
    this.slice = new TimeSlice({
      sliceMs: limits.sliceMs,
      lifetimeMs: options.lifetimeMs,
      maxWorkMs: limits.maxWorkMs,
      scheduler,
      client: options.client,
      isLikelyLong: !mayBeCheap(expression, options.errors),
    });
  }

  /** Takes the thread. */
  begin(): Promise<void> {
    this.#parts.memory.enter();
    return this.slice.begin();
  }

  /** Gives the thread to other searches. */
  end(): void {
    this.#parts.memory.leave();
    this.slice.end();
  }

  /** Drops the objects that were read and not yet matched; they are read again if the search continues. */
  shrink(): void {
    this.#chunk = undefined;
    this.#ahead = undefined;
    this.#readSize = undefined;
  }

  /**
   * Finds the hits on demand. Returns how the search ended (BRK-8.13 (4), 8.16).
   * @throws PeerError (111) if the query cannot be answered (BRK-2.19)
   */
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
    this.#parts.version.look();
    const typed = this.#options.mostWords === true ? plainWordsOf(this.#expression) : undefined;
    const words = typed && (await withForms(typed, this.#options, this.#parts.forms, this.slice));
    const most = words && (await mostWords(words, this.#mostWordsContext));
    const matcher = await Matcher.compile(
      most === undefined ? this.#expression : anyWord(words!),
      this.#options,
      this.#parts.queryLimits,
      this.slice,
    );
    for (const warning of matcher.warnings) this.#warnings.add(warning);
    const runs = candidateRuns({
      matcher,
      postings: this.#parts.postings,
      matching: this.#parts.matching,
      finder: this.#parts.finder,
      spellings: this.#parts.spellings,
      relevance: this.#parts.relevance,
      maxRanked: this.#parts.limits.maxRanked,
      slice: this.slice,
      wantedHits: Math.min(maxFiles, results),
      isOrdered: this.#options.ordered ?? true,
      most,
    });
    for await (const run of runs) {
      for await (const { hit, last } of this.#matches(matcher, run, () => results)) {
        yield hit;
        files++;
        results -= Math.max(1, hit.lines.length);
        if (results <= 0 || files >= maxFiles) return !(last && run.last);
      }
    }
    return false;
  }

  get #mostWordsContext(): MostWordsContext {
    const { queryLimits, limits } = this.#parts;
    return {
      ...this.#parts,
      options: this.#options,
      queryLimits,
      maxRanked: limits.maxRanked,
      slice: this.slice,
    };
  }

  async *#matches(
    matcher: Matcher,
    { oids, scores, isCertain, lacks }: CandidateRun,
    results: () => number,
  ): AsyncGenerator<{ hit: Hit; last: boolean }> {
    const hit = (i: number, lines: Hit['lines']): { hit: Hit; last: boolean } => {
      const score = scores?.[i];
      const oid = oids[i]!;
      const lacking = lacks?.(oid) ?? 0;
      const found = { oid, lines, ...(lacking === 0 ? {} : { lacks: lacking }) };
      return { hit: score === undefined ? found : { ...found, score }, last: i === oids.length - 1 };
    };
    let from = 0;
    if (!this.#options.wantLines) {
      for (; from < oids.length && isCertain(oids[from]!); from++) {
        const pause = this.slice.yield();
        if (pause !== undefined) await pause;
        yield hit(from, []);
      }
    }
    this.shrink();
    const rest = oids.subarray(from);
    for (let index = 0; index < rest.length; index++) {
      const lines = await this.#matchAt(matcher, rest, index, results);
      if (lines !== undefined) yield hit(from + index, lines);
      const pause = this.slice.yield();
      if (pause !== undefined) await pause;
    }
  }

  /**
   * Matches one candidate. A function of its own: while the reader pauses, the generator keeps no object in
   * memory.
   */
  async #matchAt(
    matcher: Matcher,
    oids: Uint32Array,
    index: number,
    results: () => number,
  ): Promise<MatchedLine[] | undefined> {
    if (!this.#hasRead(index)) await this.#readFrom(index, oids);
    const bytes = this.#chunk?.objects[index - this.#chunk.from];
    const object = bytes === undefined ? undefined : this.#decode(bytes);
    if (object === undefined) return undefined;
    const { wantLines, maxLines } = this.#options;
    const lineLimit = wantLines ? Math.min(maxLines || Number.POSITIVE_INFINITY, results()) : 0;
    return matcher.match(object, lineLimit, this.slice);
  }

  #hasRead(index: number): boolean {
    const chunk = this.#chunk;
    return chunk !== undefined && index >= chunk.from && index < chunk.from + chunk.objects.length;
  }

  /** Reads the objects of the next candidates; the read after it runs while they are matched. */
  async #readFrom(from: number, oids: Uint32Array): Promise<void> {
    const { reader, memory } = this.#parts;
    const read = (start: number, count: number) => {
      const promise = reader.objects([...oids.subarray(start, start + count)], memory.mostBytes);
      promise.catch(() => undefined); // reported when awaited, which a stopped search does not do
      return { from: start, promise };
    };
    // A few hits need a few objects: the reads grow, so that a short search does not read objects that it does
    // not need.
    const next = this.#ahead?.from === from ? this.#ahead : read(from, this.#readSize ?? memory.firstRead);
    this.#chunk = undefined;
    this.#ahead = undefined;
    const whole = await this.slice.wait(next.promise);
    const objects = whole.map((object) => object && this.#part(object));
    const pause = this.slice.yield();
    if (pause !== undefined) await pause;
    const size = memory.countRead(objects);
    this.#chunk = { from, objects };
    const end = from + objects.length;
    if (end < oids.length && memory.mayReadAhead) this.#ahead = read(end, size);
    this.#readSize = size;
  }

  /** The text that the index has. */
  #part(bytes: Uint8Array): Uint8Array {
    try {
      return indexedPart(bytes, this.#parts.limits.maxIndexedBytes);
    } catch {
      return bytes; // `#decode` warns of it
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
