// The order of the first answers: what OpenSearch finds best is ordered again by the formula of the embedded engine.
import type { ObjectReader } from '../../broker/object-reader.js';
import { IndexCache } from '../embedded/index/index-cache.js';
import { linkKey, MAX_COUNT, textKey } from '../embedded/index/link-texts.js';
import { type LinkCounts, type QueryWord, Relevance } from '../embedded/ranking/relevance.js';
import type { Candidate } from '../external/candidate-search.js';
import { PART } from '../query/words.js';
import { QueryStopped, type TimeSlice } from '../scheduling/time-slice.js';
import { LINKS } from './documents.js';
import { isPassing } from './failures.js';
import type { IndexWords } from './index-words.js';
import { bytesOfText, type ObjectText, ObjectTexts } from './object-texts.js';

/** Objects that are ordered again. */
const MAX_ORDERED = 100;
const CACHE_BYTES = 32 << 20;

/** Orders the first candidates. */
export class BestFirst {
  readonly #reader: Pick<ObjectReader, 'objects'>;
  readonly #words: IndexWords;
  readonly #known: IndexCache<ObjectText>;

  constructor(reader: Pick<ObjectReader, 'objects'>, words: IndexWords) {
    this.#reader = reader;
    this.#words = words;
    this.#known = new IndexCache(words.version, CACHE_BYTES, bytesOfText);
  }

  /** Yields the candidates of pages, the first ones in another order. An object that occurs twice is yielded once at first. */
  async *pages(
    pages: AsyncIterable<readonly Candidate[]>,
    words: readonly QueryWord[],
    slice: TimeSlice,
  ): AsyncGenerator<readonly Candidate[]> {
    const first = new Map<number, Candidate>();
    let least: number | undefined;
    for await (const page of pages) {
      let rest = page;
      if (least === undefined) {
        let taken = 0;
        for (; taken < page.length && first.size < MAX_ORDERED; taken++) {
          const candidate = page[taken]!;
          first.set(candidate.oid, first.get(candidate.oid) ?? candidate);
        }
        if (first.size < MAX_ORDERED) continue;
        const ordered = await this.order([...first.values()], words, slice);
        least = ordered.at(-1)?.score ?? 0;
        yield ordered;
        rest = page.slice(taken);
      }
      const below = least;
      if (rest.length > 0) yield rest.map((candidate) => scoredBelow(candidate, below));
    }
    if (least === undefined && first.size > 0) yield await this.order([...first.values()], words, slice);
  }

  /** Orders some candidates by the objects themselves. Those that are gone, and those without the words, are last. */
  async order(
    candidates: readonly Candidate[],
    words: readonly QueryWord[],
    slice: TimeSlice,
  ): Promise<readonly Candidate[]> {
    try {
      return candidates.length < 2 ? candidates : await this.#order(candidates, words, slice);
    } catch (error) {
      // There is no time for another order, or OpenSearch fails at present.
      if (error instanceof QueryStopped || isPassing(error)) return candidates;
      throw error;
    }
  }

  async #order(
    candidates: readonly Candidate[],
    words: readonly QueryWord[],
    slice: TimeSlice,
  ): Promise<readonly Candidate[]> {
    const { terms, forms } = this.#words;
    const totals = await slice.wait(this.#words.totals());
    const oids = candidates.map(({ oid }) => oid);
    const { epoch } = this.#words.version;
    const texts = await ObjectTexts.read(oids, this.#reader, this.#known, terms, totals, epoch, slice);
    const all: string[] = [];
    for (const { text } of words) all.push(text, `${PART}${text}`, ...(await forms.read(text, slice)).forms);
    await texts.count(all, slice);
    const relevance = new Relevance(forms, texts, this.#links(texts), texts.outlines);
    const found = texts.oids;
    const scores = await relevance.scores(words, found, slice);
    if (scores === undefined) return candidates;
    const scoreOf = new Map(Array.from(found, (oid, i) => [oid, scores[i]!]));
    return candidates
      .map((candidate) => ({ ...candidate, score: scoreOf.get(candidate.oid) ?? 0 }))
      .sort((a, b) => b.score - a.score);
  }

  #links(texts: ObjectTexts): LinkCounts {
    const { terms } = this.#words;
    return {
      async known(linkTexts, slice) {
        const queries = linkTexts.map((text) => ({ term: { [LINKS]: String(textKey(text)) } }));
        const counts = await slice.wait(terms.count(queries, 1));
        return linkTexts.filter((_, i) => counts[i]! > 0);
      },
      async counts(linkTexts, oids, slice) {
        const keysOf = oids.map((oid) => {
          const url = texts.urlOf(oid);
          return url === undefined ? [] : linkTexts.map((text) => String(linkKey(text, url)));
        });
        const counts = await slice.wait(terms.countLinks(keysOf.flat()));
        return keysOf.map((keys) =>
          keys.reduce((sum, key) => sum + Math.min(MAX_COUNT, counts.get(key) ?? 0), 0),
        );
      },
    };
  }
}

/** Scores of OpenSearch are on another scale than those of the first candidates, which all others follow. */
function scoredBelow(candidate: Candidate, least: number): Candidate {
  const { score } = candidate;
  return score === undefined ? candidate : { ...candidate, score: (least * score) / (1 + score) };
}
