// Suggestions and forms of words from an index in OpenSearch, by the rules of the embedded engine.
import { lettersOf } from '../../../protocols/broker/index.js';
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import type { IndexedWord, WordRequest } from '../contract.js';
import type { IndexTotals } from '../embedded/ranking/relevance-statements.js';
import { FormFinder, type FormSources } from '../embedded/words/form-finder.js';
import { listWords, type NeighborSearch, type WordSources } from '../embedded/words/word-list.js';
import { wordsOf } from '../query/words.js';
import { Scheduler } from '../scheduling/scheduler.js';
import { QueryStopped, TimeSlice } from '../scheduling/time-slice.js';
import type { ClusterClient } from './client.js';
import { ALL, SPELLED, SPELLED_AS } from './documents.js';
import { IndexTerms } from './index-terms.js';

/** Milliseconds of work between two pauses, and of all work for one request. */
const SLICE_MS = 2;
const MAX_WORK_MS = 1_000;
/** Words that are counted before a request may end with those found. */
const COUNTED_AT_ONCE = 2_000;

/** The words of an index. */
export class IndexWords {
  readonly terms: IndexTerms;
  readonly forms: FormFinder;
  readonly #scheduler = new Scheduler();
  readonly #objects: () => number;
  #totals: { readonly epoch: number; readonly value: Promise<IndexTotals> } | undefined;

  /** @param version its epoch changes with the index */
  constructor(
    client: ClusterClient,
    alias: string,
    readonly version: { readonly epoch: number },
    objects: () => number,
    /** Ends all requests. */
    readonly closing: AbortSignal,
  ) {
    this.#objects = objects;
    this.terms = new IndexTerms(client, alias, version);
    this.forms = new FormFinder(formSources(this.terms, objects), version);
  }

  /** Numbers of the whole index. */
  async totals(): Promise<IndexTotals> {
    const { epoch } = this.version;
    if (this.#totals?.epoch !== epoch) this.#totals = { epoch, value: this.terms.totals(this.#objects()) };
    try {
      return await this.#totals.value;
    } catch (error) {
      this.#totals = undefined;
      throw error;
    }
  }

  /** Lists the words of a request; those found until its time is over. */
  async list({ signal, ...request }: WordRequest): Promise<IndexedWord[]> {
    signal?.throwIfAborted();
    const { lifetimeMs, client } = request;
    const options = {
      sliceMs: SLICE_MS,
      lifetimeMs,
      maxWorkMs: MAX_WORK_MS,
      scheduler: this.#scheduler,
      client,
    };
    const slice = new TimeSlice(options);
    using stop = new LinkedAbort(this.closing, signal);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new QueryStopped('lifetime')), lifetimeMs);
    using all = new LinkedAbort(stop.signal, late.signal);
    await slice.begin();
    try {
      return await listWords(request, wordSources(this.terms, this.forms, all.signal), slice);
    } finally {
      clearTimeout(timer);
      slice.end();
    }
  }
}

function isWord(text: string): boolean {
  return wordsOf(text)[0]?.text === text;
}

function formSources(terms: IndexTerms, objects: () => number): FormSources {
  return {
    objects,
    async startingWith(text, limit, slice) {
      return isWord(text) ? slice.wait(terms.startingWith(ALL, text, limit)) : [];
    },
    async endingTitleWords(text, limit, slice) {
      if (!isWord(text)) return [];
      const found = await slice.wait(terms.matching('title', `.+${text}`));
      return found.length > limit ? [] : found;
    },
    async withLetters(letters, limit, slice) {
      if (!isWord(letters)) return [];
      const spelled = await slice.wait(terms.matching(SPELLED, `${letters}${SPELLED_AS}.*`));
      return [letters, ...spelled.map(wordOf)].slice(0, limit);
    },
    async countWithAll(words, limit, slice) {
      const query = { bool: { filter: words.map((word) => ({ term: { [ALL]: word } })) } };
      const [count = 0] = await slice.wait(terms.count([query], limit));
      return count;
    },
  };
}

function wordSources(terms: IndexTerms, forms: FormFinder, signal: AbortSignal): WordSources {
  return {
    forms,
    async completions(beginning, limit, slice) {
      if (!isWord(beginning)) return [];
      const spelled = terms.startingWith(SPELLED, lettersOf(beginning), limit, signal);
      const found = await slice.wait(
        Promise.all([terms.startingWith(ALL, beginning, limit, signal), spelled]),
      );
      return [...found[0], ...found[1].map(wordOf)];
    },
    async *withPart({ word, places, parts }, limit, slice) {
      const near = await slice.wait(terms.near(ALL, word, places, signal));
      yield* near.filter((term) => parts.some((part) => hasPart(term, part))).slice(0, limit);
    },
    async *counts(words, limit, slice) {
      for (let i = 0; i < words.length; i += COUNTED_AT_ONCE)
        yield* await slice.wait(terms.counts(words.slice(i, i + COUNTED_AT_ONCE), limit, signal));
    },
  };
}

/** The word of a term that has its letters before it. */
function wordOf(term: string): string {
  return term.slice(term.indexOf(SPELLED_AS) + 1);
}

function hasPart(term: string, [text, position]: NeighborSearch['parts'][number]): boolean {
  if (position === 'start') return term.startsWith(text);
  return position === 'end' ? term.endsWith(text) : term.includes(text);
}
