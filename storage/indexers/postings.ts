import { OidSet } from '../broker/oid-set.js';
import { type IndexDatabase, RANK, scalar } from './index-file.js';
import type { TimeSlice } from './time-slice.js';

/** Rows of one statement: a few milliseconds of work, after which other queries continue. */
const PAGE_ROWS = 20_000;
const RANK_ROWS = 4_000;
/** Terms united by one statement: many small statements cost five times as much. */
const UNITED_TERMS = 64;
/** Scores are passed as integers; the scores of very frequent words differ by millionths. */
export const SCORE_UNIT = 1e12;
/** Range of OIDs that one statement of a phrase search scans. */
const WINDOW = 32_768;
/** Maximum number of ranges of a search. */
const MAX_WINDOWS = 64;

/** An OID with FTS5's rank as a score, higher is better. */
export interface Scored {
  readonly oid: number;
  readonly score: number;
}

/**
 * Reads the word index in steps. SQLite returns a page of OIDs as one text, because passing a row to JavaScript costs more than finding it.
 */
export class Postings {
  readonly #db: IndexDatabase;
  readonly #pageOf;
  readonly #window;
  readonly #all;
  readonly #rank;
  readonly #top;
  readonly #count;
  readonly #since;
  readonly #range;

  constructor(db: IndexDatabase) {
    this.#db = db;
    const packed = 'SELECT group_concat(oid), count(*), max(oid) FROM';
    this.#pageOf = db
      .prepare(
        `${packed} (SELECT rowid AS oid FROM words WHERE words MATCH ? AND rowid > ? LIMIT ${PAGE_ROWS})`,
      )
      .raw();
    this.#window = db
      .prepare(
        `${packed} (SELECT rowid AS oid FROM words WHERE words MATCH ? AND rowid > ? AND rowid <= ? LIMIT ?)`,
      )
      .raw();
    this.#all = db
      .prepare(`${packed} (SELECT oid FROM object WHERE oid > ? ORDER BY oid LIMIT ${PAGE_ROWS})`)
      .raw();
    this.#range = db.prepare('SELECT (SELECT min(oid) FROM object), (SELECT max(oid) FROM object)').raw();
    this.#since = db.prepare(`${packed} (SELECT oid FROM object WHERE batch > ? LIMIT -1)`).raw();
    const scored = `SELECT rowid AS oid, CAST(${RANK} * -${SCORE_UNIT} AS INTEGER) AS score FROM words`;
    const packedScores = "SELECT group_concat(oid || ',' || score), count(*), max(oid) FROM";
    this.#rank = db
      .prepare(`${packedScores} (${scored} WHERE words MATCH ? AND rowid > ? LIMIT ${RANK_ROWS})`)
      .raw();
    this.#top = db
      .prepare(
        `${packedScores} (${scored} WHERE words MATCH ? AND rowid > ? AND rowid <= ?
          ORDER BY score DESC, oid LIMIT ?)`,
      )
      .raw();
    this.#count = db
      .prepare(
        'SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? AND rowid > ? AND rowid <= ? LIMIT ?)',
      )
      .raw();
  }

  /** Adds the objects of one word to `into`; stops above `limit` objects. Returns the number of objects found so far. */
  async ofWord(
    match: string,
    into: OidSet,
    slice: TimeSlice,
    limit = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    let total = 0;
    for (let after = 0; total <= limit; ) {
      const { oids, count, last } = pageOf(this.#pageOf.get(match, after));
      total += addPacked(oids, into);
      if (count < PAGE_ROWS) break;
      after = last;
      await slice.yield();
    }
    return total;
  }

  /** Adds the objects that have one of the terms in the column of `filter` (`name : `, or empty for all columns). */
  async ofTerms(terms: readonly string[], filter: string, into: OidSet, slice: TimeSlice): Promise<void> {
    for (let start = 0; start < terms.length; start += UNITED_TERMS) {
      const any = terms.slice(start, start + UNITED_TERMS).map((term) => `"${term}"`);
      await this.ofWord(`${filter}(${any.join(' OR ')})`, into, slice);
      await slice.yield();
    }
  }

  /** Number of objects that match; counts up to `limit`. */
  async countOf(match: string, limit: number, slice: TimeSlice): Promise<number> {
    let total = 0;
    for (const [after, last] of this.#windows(1)) {
      const [count] = this.#count.get(match, after, last, limit - total) as readonly [number];
      total += count;
      if (total >= limit) break;
      await slice.yield();
    }
    return total;
  }

  /** The best `limit` of the `total` objects that match, best first. */
  async top(match: string, limit: number, total: number, slice: TimeSlice): Promise<Scored[]> {
    const found: Scored[] = [];
    const windows = this.#windows(Math.ceil(total / RANK_ROWS));
    for (const [after, last] of windows) {
      const { oids } = pageOf(this.#top.get(match, after, last, limit));
      for (const scored of unpackScores(oids)) found.push(scored);
      await slice.yield();
    }
    // The results of a single window are sorted already.
    return windows.length === 1 ? found : found.sort(byScore).slice(0, limit);
  }

  /** The OIDs of the first objects that match, ascending. */
  async first(match: string, limit: number, slice: TimeSlice): Promise<Uint32Array> {
    const found = new OidSet();
    let count = 0;
    for (const [after, last] of this.#windows(1)) {
      count += addPacked(pageOf(this.#window.get(match, after, last, limit - count)).oids, found);
      if (count >= limit) break;
      await slice.yield();
    }
    return found.toArray();
  }

  /** Divides the OIDs of the index into at least `parts` ranges `(after, last]`, each for one statement. */
  #windows(parts: number): (readonly [number, number])[] {
    const [first, last] = (this.#range.get() as readonly [number | null, number | null]).map(Number) as [
      number,
      number,
    ];
    const range = last - first + 1;
    // Removed objects leave gaps between OIDs: then windows are wider, not more numerous.
    const count = Math.max(parts, Math.min(MAX_WINDOWS, Math.ceil(range / WINDOW)));
    const size = Math.max(1, Math.ceil(range / count));
    const windows: (readonly [number, number])[] = [];
    for (let after = first - 1; after < last; after += size) windows.push([after, after + size]);
    return windows;
  }

  /** Returns the objects of a phrase. FTS5 compares positions in every object that has the words, hence the windows. */
  async ofPhrase(match: string, slice: TimeSlice): Promise<OidSet> {
    const found = new OidSet();
    const last = Number(scalar(this.#db, 'SELECT max(oid) FROM object') ?? 0);
    for (let after = 0; after < last; ) {
      // Removed objects leave gaps between OIDs.
      const first = Number(scalar(this.#db, 'SELECT min(oid) FROM object WHERE oid > ?', after) ?? last);
      const end = first + WINDOW - 1;
      addPacked(pageOf(this.#window.get(match, after, end, -1)).oids, found);
      after = end;
      await slice.yield();
    }
    return found;
  }

  /** All objects in the index. */
  async all(slice: TimeSlice): Promise<OidSet> {
    const found = new OidSet();
    for (let after = 0; ; ) {
      const { oids, count, last } = pageOf(this.#all.get(after));
      addPacked(oids, found);
      if (count < PAGE_ROWS) return found;
      after = last;
      await slice.yield();
    }
  }

  get count(): number {
    return Number(scalar(this.#db, 'SELECT count(*) FROM object'));
  }

  /** Number of objects indexed after transaction `batch`, at most `limit`. */
  countSince(batch: number, limit: number): number {
    return Number(
      scalar(this.#db, 'SELECT count(*) FROM (SELECT 1 FROM object WHERE batch > ? LIMIT ?)', batch, limit),
    );
  }

  /** Returns the objects indexed after transaction `batch`. */
  since(batch: number): OidSet {
    const found = new OidSet();
    addPacked(pageOf(this.#since.get(batch)).oids, found);
    return found;
  }

  /** Yields the objects that match with their scores, in the order of OIDs. */
  async *ranked(match: string, slice: TimeSlice): AsyncGenerator<Scored> {
    for (let after = 0; ; ) {
      const { oids, count, last } = pageOf(this.#rank.get(match, after));
      yield* unpackScores(oids);
      if (count < RANK_ROWS) return;
      after = last;
      await slice.yield();
    }
  }
}

function pageOf(row: unknown): { oids: string; count: number; last: number } {
  const [oids, count, last] = row as readonly [string | null, number, number | null];
  return { oids: oids ?? '', count, last: last ?? 0 };
}

/** Compares by descending score, then by OID. */
export function byScore(a: Scored, b: Scored): number {
  return b.score - a.score || a.oid - b.oid;
}

/** Scored objects written as `oid,score,oid,score`. */
function unpackScores(packed: string): Scored[] {
  if (packed === '') return [];
  const numbers = packed.split(',');
  return Array.from({ length: numbers.length / 2 }, (_, i) => ({
    oid: Number(numbers[2 * i]),
    score: Number(numbers[2 * i + 1]) / SCORE_UNIT,
  }));
}

/** Adds OIDs written as `1,2,3`; returns their number. */
function addPacked(oids: string, into: OidSet): number {
  let count = 0;
  let oid = 0;
  for (let i = 0; i < oids.length; i++) {
    const digit = oids.charCodeAt(i) - 0x30;
    if (digit >= 0) oid = oid * 10 + digit;
    else {
      into.add(oid);
      count++;
      oid = 0;
    }
  }
  if (oids !== '') {
    into.add(oid);
    count++;
  }
  return count;
}
