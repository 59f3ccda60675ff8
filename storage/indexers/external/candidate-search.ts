// Searches by engines that are programs: the engine names candidates, the matcher tests the stored objects.
import type { Expression } from '../../../protocols/broker/index.js';
import { Budget } from '../../../protocols/budget.js';
import { PeerError } from '../../../protocols/errors.js';
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import { decodeSoif, type SoifObject } from '../../../protocols/soif/index.js';
import type { ObjectReader } from '../../broker/object-reader.js';
import { OidSet } from '../../broker/oid-set.js';
import type {
  Hit,
  IndexerCapabilities,
  SearchOptions,
  SearchOutcome,
  SearchResults,
  StopReason,
} from '../contract.js';
import { unsupported } from '../query/leaf.js';
import { Matcher, QUERY_LIMITS, type QueryLimits } from '../query/matcher.js';
import { anyWord, type PlainWords, plainWordsOf } from '../query/plain-words.js';
import { parseTerm } from '../query/term-pattern.js';
import { EmbeddedResults } from '../scheduling/results.js';
import { Scheduler } from '../scheduling/scheduler.js';
import { QueryStopped, TimeSlice } from '../scheduling/time-slice.js';

/** An object that may satisfy the query. */
export interface Candidate {
  readonly oid: number;
  /** Higher is better. */
  readonly score?: number;
  /** Of a query for most of its words: the words that the object lacks, as in `Hit`. */
  readonly lacks?: number;
}

/** The part of an external engine that a search uses. */
export interface CandidateEngine {
  readonly name: string;
  readonly capabilities: IndexerCapabilities;
  /**
   * Yields the objects that may satisfy the query, in the order of the results, as they are found. They include
   * every object that satisfies it. Adds sentences for the user to `warnings`.
   */
  candidates(expression: Expression, options: CandidateOptions): AsyncIterable<readonly Candidate[]>;
  /**
   * Chooses the objects of a query for most of its words (BRK-2.27); undefined if those with all words are the answer. An
   * engine with the capability has it.
   */
  candidatesWithMost?(words: PlainWords, options: CandidateOptions): Promise<MostCandidates | undefined>;
}

/** Objects with most of the words of a query. */
export interface MostCandidates {
  /** The words with the forms that count as each. */
  readonly words: PlainWords;
  readonly pages: AsyncIterable<readonly Candidate[]>;
}

/** The settings of a query that an engine receives. */
export interface CandidateOptions
  extends Pick<
    SearchOptions,
    'ignoreCase' | 'ignoreAccents' | 'matchWord' | 'contentOnly' | 'errors' | 'lifetimeMs'
  > {
  /** Whether the order of the candidates matters: best first. */
  readonly isOrdered: boolean;
  /** Aborts at the deadline: the engine ends soon, and the candidates found until then count (BRK-8.13). */
  readonly deadline: AbortSignal;
  /** Aborts when the results are no longer needed. */
  readonly dropped: AbortSignal;
  readonly warnings: Set<string>;
}

/** The searches of all such engines share the owner's thread. */
const SCHEDULER = new Scheduler();

/** Options of an engine that is a program. */
export interface ProgramEngineOptions {
  /** Directory of the indexes (`index-directory.ts`). */
  readonly directory: string;
  /** Directory of the Broker's store; queries are matched against its objects. */
  readonly storeDirectory: string;
  /** Milliseconds between SIGTERM and SIGKILL (BRK-8.13). Default 3000. */
  readonly graceMs?: number;
  /**
   * Receives a sentence for each problem that does not stop the work, e.g. a glimpseserver that does not start.
   */
  readonly onWarning?: ((sentence: string) => void) | undefined;
}

/** Limits of a candidate search. */
export interface CandidateSearchLimits extends QueryLimits {
  /** Milliseconds one query works before it yields to the others. */
  readonly sliceMs: number;
  /** Milliseconds that the matching for one query may take; then it ends with reason `cost`. */
  readonly maxWorkMs: number;
  /** Number of objects in one read. */
  readonly readObjects: number;
  /** Milliseconds after the deadline for matching candidates that were found before it. */
  readonly drainMs: number;
}

export const CANDIDATE_SEARCH_LIMITS: CandidateSearchLimits = {
  ...QUERY_LIMITS,
  sliceMs: 2,
  maxWorkMs: 10_000,
  readObjects: 32,
  drainMs: 1_000,
};

/**
 * Answers a query: an external engine names candidates, which are matched against the stored objects. So every
 * engine follows the same rules (BRK-2.16 to 2.21, 4.8), whatever its own query language can express.
 */
export function searchCandidates(
  engine: CandidateEngine,
  reader: Pick<ObjectReader, 'objects'>,
  expression: Expression,
  options: SearchOptions,
  limits: CandidateSearchLimits = CANDIDATE_SEARCH_LIMITS,
): SearchResults {
  const search = new CandidateSearch(engine, reader, expression, options, limits);
  let pages: AsyncGenerator<readonly Hit[], SearchOutcome> | undefined;
  const fill = async (): Promise<void> => {
    pages ??= search.pages();
    await search.slice.begin();
    try {
      const { done, value } = await pages.next();
      if (done) results.deliver([], value);
      else results.deliver(value, undefined);
    } catch (error) {
      results.fail(error instanceof Error ? error : new Error(String(error)));
    } finally {
      search.slice.end();
    }
  };
  const work = () => void fill();
  const stop = () => {
    search.drop();
    // Unwinds the generator, also between two pages.
    void pages?.return({ complete: false, reason: 'aborted', warnings: [] }).catch(() => undefined);
  };
  const results = new EmbeddedResults({ start: work, pull: work, stop }, options.signal);
  return results;
}

class CandidateSearch {
  readonly #reader: Pick<ObjectReader, 'objects'>;
  readonly #dropped = new AbortController();
  readonly #seen = new OidSet();
  readonly #warnings = new Set<string>();
  readonly slice: TimeSlice;
  readonly options: SearchOptions;

  constructor(
    readonly engine: CandidateEngine,
    reader: Pick<ObjectReader, 'objects'>,
    readonly expression: Expression,
    options: SearchOptions,
    readonly limits: CandidateSearchLimits,
  ) {
    this.#reader = reader;
    this.options = engine.capabilities.accents ? options : { ...options, ignoreAccents: undefined };

    this.slice = new TimeSlice({
      sliceMs: limits.sliceMs,
      lifetimeMs: options.lifetimeMs + limits.drainMs,
      maxWorkMs: limits.maxWorkMs,
      scheduler: SCHEDULER,
      client: options.client,
    });
  }

  drop(): void {
    this.#dropped.abort();
    this.slice.cancel();
  }

  async *pages(): AsyncGenerator<readonly Hit[], SearchOutcome> {
    const { lifetimeMs } = this.options;
    const slice = this.slice;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), lifetimeMs);
    let reason: StopReason | undefined;
    try {
      const { engine, expression } = this;
      requireCapabilities(expression, this.options, engine.name, engine.capabilities);
      const candidateOptions = this.#candidateOptions(deadline.signal);
      const words = this.options.mostWords === true ? plainWordsOf(expression) : undefined;
      const chosen = words && (await slice.wait(this.#choose(words, candidateOptions)));
      const matcher = await this.#compile(chosen === undefined ? expression : anyWord(chosen.words));
      for (const warning of matcher.warnings) this.#warnings.add(warning);
      const candidates = () => chosen?.pages ?? engine.candidates(expression, candidateOptions);
      const full = yield* this.#matches(matcher, slice, candidateOptions, candidates);
      if (full) reason = 'limit';
      else if (deadline.signal.aborted) reason = 'lifetime';
    } catch (error) {
      if (!(error instanceof QueryStopped)) throw error;
      reason = error.reason;
    } finally {
      clearTimeout(timer);
      this.#dropped.abort();
    }
    const outcome = { complete: reason === undefined, warnings: [...this.#warnings] };
    return reason === undefined ? outcome : { ...outcome, reason };
  }

  #candidateOptions(deadline: AbortSignal): CandidateOptions {
    const { ignoreCase, ignoreAccents, matchWord, contentOnly, errors, lifetimeMs } = this.options;
    const matching = { ignoreCase, ignoreAccents, matchWord, contentOnly, errors };
    const isOrdered = this.options.ordered ?? true;
    const dropped = this.#dropped.signal;
    return { ...matching, isOrdered, lifetimeMs, deadline, dropped, warnings: this.#warnings };
  }

  async #choose(words: PlainWords, options: CandidateOptions): Promise<MostCandidates | undefined> {
    return this.engine.candidatesWithMost?.(words, options);
  }

  /** BRK-2.19: refuses queries that the engine or the matcher does not support, in the name of the engine. */
  async #compile(expression: Expression): Promise<Matcher> {
    const { engine, options } = this;
    const matchWord = options.matchWord || !engine.capabilities.substrings;
    try {
      return await Matcher.compile(expression, { ...options, matchWord }, this.limits, this.slice);
    } catch (error) {
      if (!(error instanceof PeerError)) throw error;
      throw new PeerError(error.message.replace('embedded does', `${engine.name} does`), error.status);
    }
  }

  /** Returns true if a limit ended the search (BRK-8.11). */
  async *#matches(
    matcher: Matcher,
    slice: TimeSlice,
    { deadline, dropped }: CandidateOptions,
    candidatesOf: () => AsyncIterable<readonly Candidate[]>,
  ): AsyncGenerator<readonly Hit[], boolean> {
    const { options, limits } = this;
    const maxLines = options.maxLines || Number.POSITIVE_INFINITY;
    const maxFiles = options.maxFiles || Number.POSITIVE_INFINITY;
    let results = options.maxResults || Number.POSITIVE_INFINITY;
    let files = 0;
    const source = earlyCandidates(candidatesOf, [deadline, dropped]);
    for (;;) {
      const step = await slice.wait(source.next());
      if (step.done === true) return false;
      const found = step.value;
      const unseen = found.filter(({ oid }) => !this.#seen.has(oid) && this.#seen.add(oid) === undefined);
      for (let start = 0; start < unseen.length; start += limits.readObjects) {
        const candidates = unseen.slice(start, start + limits.readObjects);
        const objects = await slice.wait(this.#reader.objects(candidates.map(({ oid }) => oid)));
        const hits: Hit[] = [];
        try {
          for (const [i, candidate] of candidates.entries()) {
            await slice.yield();
            const object = this.#decode(objects[i]);
            if (object === undefined) continue;
            const lineLimit = options.wantLines ? Math.min(maxLines, results) : 0;
            const lines = await matcher.match(object, lineLimit, slice);
            if (lines === undefined) continue;
            hits.push({ ...candidate, lines });
            files++;
            results -= Math.max(1, lines.length);
            if (results > 0 && files < maxFiles) continue;
            yield hits;
            return true;
          }
        } catch (error) {
          // BRK-8.13 (4): the hits found until then are the result.
          if (error instanceof QueryStopped && error.reason === 'lifetime' && hits.length > 0) yield hits;
          throw error;
        }
        if (hits.length > 0) yield hits;
      }
    }
  }

  #decode(bytes: Uint8Array | undefined): SoifObject | undefined {
    // An index may still name objects that were removed.
    if (bytes === undefined) return undefined;
    try {
      return decodeSoif(bytes, { maxObjectBytes: bytes.length });
    } catch {
      this.#warnings.add('A stored object could not be read and was skipped.');
      return undefined;
    }
  }
}

/**
 * BRK-2.19: refuses a query that the engine does not support, before any program starts.
 *
 * @throws PeerError (111) if the engine does not support the query
 */
function requireCapabilities(
  expression: Expression,
  options: Pick<SearchOptions, 'ignoreCase' | 'errors'>,
  name: string,
  can: IndexerCapabilities,
): void {
  if (options.errors > can.errors)
    throw unsupported(can.errors === 0 ? 'spelling errors' : `more than ${can.errors} spelling errors`, name);
  // An explicit stack: the nesting of a query may exceed the call stack.
  const open: Expression[] = [expression];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    switch (node.kind) {
      case 'not':
        if (!can.not) throw unsupported('NOT', name);
        open.push(node.operand);
        break;
      case 'and':
      case 'or':
      case 'except':
        if (node.kind === 'except' && !can.not) throw unsupported('EXCEPT', name);
        open.push(node.left, node.right);
        break;
      case 'term':
        requireWord(node.text, name, can);
        break;
      case 'select':
        if (!can.attributes) throw unsupported('queries within an attribute', name);
        if (node.operator === 'regexp' && !can.regexp) throw unsupported('regular expressions', name);
        if ((node.operator === 'less-than' || node.operator === 'greater-than') && !can.comparison)
          throw unsupported(node.operator, name);
        if (node.operator === 'contains') requireWord(node.value, name, can);
    }
  }
}

function requireWord(text: string, name: string, can: IndexerCapabilities): void {
  if (!can.regexp && parseTerm(text).kind === 'pattern') throw unsupported('pattern characters', name);
  if (!can.phrases && /\s/.test(text.trim())) throw unsupported('phrases', name);
}

/** Programs that run for queries at a time, for all engines of this process. */
const MAX_PROGRAMS = 20;

const PROGRAMS = new Budget(MAX_PROGRAMS);

/**
 * Yields the candidates of an engine. The engine's program runs on while the consumer does something else, so
 * that it ends soon: a client that reads slowly keeps OIDs in memory, not a process. Waits while too many
 * programs run; yields nothing if a signal aborts until then.
 *
 * @param signals the deadline of the query, and the signal that its results are no longer needed
 */
async function* earlyCandidates<T>(
  candidates: () => AsyncIterable<readonly T[]>,
  signals: readonly AbortSignal[],
): AsyncGenerator<readonly T[], void, undefined> {
  let found: T[] = [];
  let isOver = false;
  let wake = () => {};
  const run = async () => {
    try {
      using stop = new LinkedAbort(...signals);
      using place = await PROGRAMS.take(1, { signal: stop.signal }).catch(() => undefined);
      if (place === undefined) return;
      for await (const batch of candidates()) {
        for (const candidate of batch) found.push(candidate);
        wake();
      }
    } finally {
      isOver = true;
      wake();
    }
  };
  const running = run();
  // The rejection is thrown below, when everything found before it was taken.
  running.catch(() => undefined);
  for (;;) {
    if (found.length > 0) {
      const batch = found;
      found = [];
      yield batch;
    } else if (isOver) break;
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  await running;
}
