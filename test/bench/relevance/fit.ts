// What the weights of the order reach at best: those fitted to a corpus itself, with its answers known.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseMessage } from '../../../protocols/broker/index.js';
import { SEARCH_LIMITS } from '../../../storage/indexers/embedded/embedded-indexer.js';
import { type IndexDatabase, openIndexFile } from '../../../storage/indexers/embedded/index/index-file.js';
import { urlDigest } from '../../../storage/indexers/embedded/index/link-texts.js';
import {
  RELEVANCE_MODEL,
  type RelevanceModel,
} from '../../../storage/indexers/embedded/ranking/relevance.js';
import { SearchEngine } from '../../../storage/indexers/embedded/search/search.js';
import { QUERY_LIMITS } from '../../../storage/indexers/query/matcher.js';
import { foldCopies, type Judged, measure, ranksOf } from './judgments.js';
import type { Kit } from './kit.js';

/** What a weight is multiplied with, one after the other; one that is 0 becomes one of `FROM_ZERO`. */
const FACTORS = [0, 0.5, 0.75, 1.35, 2];
const FROM_ZERO = [0.2, 0.5];
/** Weights that are shares, at most 1. */
const SHARES: ReadonlySet<string> = new Set(['length', 'form', 'partialTitle', 'missing']);
/** Times that all weights are tried, one after the other. */
const MAX_ROUNDS = 3;
/** Gains below are errors of rounding. */
const SMALL = 1e-9;
/** The index decides all queries of a corpus; no object is read. */
const NO_READER = { objects: (oids: readonly number[]) => Promise.resolve(oids.map(() => undefined)) };

/** A weight of the model, by the names that lead to it. */
type Path = readonly string[];

/** What {@link fitted} found. */
export interface Fit {
  /** The MRR of the weights as they are, and of the best that were found. */
  readonly before: number;
  readonly after: number;
  /** The weights that changed: their names, and their values before and after. */
  readonly changes: readonly { readonly name: string; readonly from: number; readonly to: number }[];
}

/**
 * Changes one weight after the other, each to the value with the highest MRR, until none gains. Such weights say nothing of
 * other queries: the MRR is what this formula can reach on these, as far as steps of single weights find it.
 */
export async function fitted(
  kit: Kit,
  judged: readonly Judged[],
  limit: number,
  progress: (text: string) => void,
): Promise<Fit> {
  const queries = await Queries.open(kit, judged, limit);
  try {
    let model = RELEVANCE_MODEL;
    const before = await queries.mrr(model);
    let best = before;
    for (let round = 1, last = -1; round <= MAX_ROUNDS && best > last + SMALL; round++) {
      last = best;
      for (const path of pathsOf(RELEVANCE_MODEL)) {
        let better = model;
        for (const value of valuesFor(path, valueAt(model, path))) {
          const tried = withValue(model, path, value);
          const mrr = await queries.mrr(tried);
          if (mrr <= best + SMALL) continue;
          best = mrr;
          better = tried;
        }
        model = better;
      }
      progress(`round ${round}: ${best.toFixed(3)}`);
    }
    const changes = pathsOf(RELEVANCE_MODEL)
      .map((path) => ({
        name: path.join('.'),
        from: valueAt(RELEVANCE_MODEL, path),
        to: valueAt(model, path),
      }))
      .filter(({ from, to }) => from !== to);
    return { before, after: best, changes };
  } finally {
    queries.close();
  }
}

/** The queries of a corpus as the search page asks them, answered by engines with any weights. */
class Queries {
  readonly #db: IndexDatabase;
  readonly #judged: readonly Judged[];
  readonly #messages: readonly (string | undefined)[];
  /** By OID. */
  readonly #pages: ReadonlyMap<number, string>;
  readonly #limit: number;

  private constructor(
    db: IndexDatabase,
    judged: readonly Judged[],
    messages: readonly (string | undefined)[],
    pages: ReadonlyMap<number, string>,
    limit: number,
  ) {
    this.#db = db;
    this.#judged = judged;
    this.#messages = messages;
    this.#pages = pages;
    this.#limit = limit;
  }

  static async open(kit: Kit, judged: readonly Judged[], limit: number): Promise<Queries> {
    const messages: (string | undefined)[] = [];
    for (const { query } of judged) messages.push(await kit.asked(query));
    const byDigest = new Map<number, string>();
    for (const [url, page] of await kit.pages()) byDigest.set(urlDigest(url), page);
    const indexes = join(kit.data, 'broker', 'index');
    const current = (await readFile(join(indexes, 'CURRENT'), 'utf8')).trim();
    const db = openIndexFile(join(indexes, current, 'index.sqlite'));
    const rows = db.prepare('SELECT oid, url FROM object').raw().all() as [number, number][];
    const pages = new Map(rows.map(([oid, url]) => [oid, byDigest.get(url) ?? '']));
    return new Queries(db, judged, messages, pages, limit);
  }

  async mrr(model: RelevanceModel): Promise<number> {
    const engine = new SearchEngine(this.#db, NO_READER, QUERY_LIMITS, SEARCH_LIMITS, model);
    const found: string[][] = [];
    for (const message of this.#messages) found.push(foldCopies(await this.#ask(engine, message)));
    return measure(ranksOf(this.#judged, found)).meanReciprocalRank;
  }

  async #ask(engine: SearchEngine, line: string | undefined): Promise<string[]> {
    const message = line === undefined ? undefined : parseMessage(Buffer.from(line));
    if (message?.kind !== 'user' || message.query.kind === 'all') return [];
    const options = { ...message.flags, wantLines: false, maxFiles: this.#limit, lifetimeMs: 60_000 };
    const search = engine.search(message.query, options);
    await search.begin();
    try {
      const pages: string[] = [];
      for await (const { oid } of search.hits()) pages.push(this.#pages.get(oid) ?? '');
      return pages;
    } finally {
      search.end();
    }
  }

  close(): void {
    this.#db.close();
  }
}

function pathsOf(value: object, before: Path = []): Path[] {
  return Object.entries(value).flatMap(([name, part]) =>
    typeof part === 'number' ? [[...before, name]] : pathsOf(part, [...before, name]),
  );
}

function valueAt(model: RelevanceModel, path: Path): number {
  return path.reduce<unknown>((part, name) => Reflect.get(Object(part), name), model) as number;
}

function withValue(model: RelevanceModel, path: Path, value: number): RelevanceModel {
  const changed = structuredClone(model);
  const parent = path.slice(0, -1).reduce<object>((part, name) => Reflect.get(part, name), changed);
  Reflect.set(parent, path.at(-1)!, value);
  return changed;
}

/** Other values of a weight. */
function valuesFor(path: Path, value: number): number[] {
  const name = path.at(-1)!;
  const values = value === 0 ? FROM_ZERO : FACTORS.map((factor) => value * factor);
  const most = SHARES.has(name) ? 1 : Number.POSITIVE_INFINITY;
  const possible = values.map((other) => Math.min(most, name === 'nearWords' ? Math.round(other) : other));
  return [...new Set(possible)].filter((other) => other !== value);
}
