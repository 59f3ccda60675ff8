import { OidSet } from '../../../broker/oid-set.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { type IndexDatabase, RANK } from './index-file.js';

/** Largest number of rows of one statement. */
const PAGE_ROWS = 20_000;
const RANK_ROWS = 4_000;
/** Rows of the smallest statement that scores them. */
const MIN_RANK_ROWS = 500;
/**
 * Terms united by one statement, at first, at least and at most. FTS5 compares all terms of a statement for
 * each row: frequent terms are read faster by few, rare ones by many.
 */
const FIRST_TERMS = 16;
const MIN_TERMS = 4;
const MAX_TERMS = 64;
/** Milliseconds that one statement aims at while other queries use the thread: it cannot be interrupted. */
const SHARED_MS = 1;
/**
 * The same while no other query does. Each statement begins to read its posting lists anew: a few large ones
 * cost less.
 */
const ALONE_MS = 16;
/** The same for statements that unite terms, which cost no more when they are short. */
const UNITING_MS = 1;
/** Number of rows or OIDs of the first statement beside other queries, and of the smallest one. */
const FIRST_ROWS = 4_000;
const MIN_ROWS = 2_000;
/** Scores are passed as integers; the scores of very frequent words differ by millionths. */
const SCORE_UNIT = 1e12;
/** Largest range of OIDs that one statement scans. */
const WINDOW = 32_768;
/** Maximum number of ranges of a search. */
const MAX_WINDOWS = 64;

/** An OID with FTS5's rank as a score, higher is better. */
export interface Scored {
  readonly oid: number;
  readonly score: number;
}

/**
 * Reads the word index in steps. SQLite returns a page of OIDs as one text, because passing a row to JavaScript
 * costs more than finding it.
 */
export class Postings {
  readonly #pageOf;
  readonly #window;
  readonly #all;
  readonly #rank;
  readonly #top;
  readonly #count;
  readonly #since;
  readonly #countSince;
  readonly #after;
  readonly #range;

  constructor(db: IndexDatabase) {
    const packed = 'SELECT group_concat(oid), count(*), max(oid) FROM';
    this.#pageOf = db
      .prepare(`${packed} (SELECT rowid AS oid FROM words WHERE words MATCH ? AND rowid > ? LIMIT ?)`)
      .raw();
    this.#window = db
      .prepare(
        `${packed} (SELECT rowid AS oid FROM words WHERE words MATCH ? AND rowid > ? AND rowid <= ? LIMIT ?)`,
      )
      .raw();
    this.#all = db.prepare(`${packed} (SELECT oid FROM object WHERE oid > ? ORDER BY oid LIMIT ?)`).raw();
    this.#range = db.prepare('SELECT (SELECT min(oid) FROM object), (SELECT max(oid) FROM object)').raw();
    this.#since = db.prepare(`${packed} (SELECT oid FROM object WHERE batch > ? LIMIT -1)`).raw();
    this.#countSince = db
      .prepare('SELECT count(*) FROM (SELECT 1 FROM object WHERE batch > ? LIMIT ?)')
      .raw();
    this.#after = db.prepare('SELECT min(oid) FROM object WHERE oid > ?').raw();
    const scored = `SELECT rowid AS oid, CAST(${RANK} * -${SCORE_UNIT} AS INTEGER) AS score FROM words`;
    const packedScores = "SELECT group_concat(oid || ',' || score), count(*), max(oid) FROM";
    this.#rank = db.prepare(`${packedScores} (${scored} WHERE words MATCH ? AND rowid > ? LIMIT ?)`).raw();
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

  /** Adds the objects after OID `from` that match to `into`. */
  async ofWord(match: string, into: OidSet, slice: TimeSlice, from = 0): Promise<void> {
    const pace = rowPace(slice, FIRST_ROWS, MIN_ROWS, PAGE_ROWS);
    for (let after = from; ; ) {
      const rows = pace.size;
      const { oids, count, last } = pageOf(pace.run(() => this.#pageOf.get(match, after, rows)));
      addPacked(oids, into);
      if (count < rows) return;
      after = last;
      await slice.yield();
    }
  }

  /** The objects that match, ascending. */
  async matching(match: string, slice: TimeSlice): Promise<Uint32Array> {
    const found = new OidSet();
    await this.ofWord(match, found, slice);
    return found.toArray();
  }

  /**
   * Adds the objects that have one of the terms in the column of `filter` (`name : `, or empty for all
   * columns).
   */
  async ofTerms(terms: readonly string[], filter: string, into: OidSet, slice: TimeSlice): Promise<void> {
    const pace = new StatementPace(FIRST_TERMS, MIN_TERMS, MAX_TERMS, () => UNITING_MS);
    for (let start = 0; start < terms.length; ) {
      const any = terms.slice(start, start + pace.size).map((term) => `"${term}"`);
      start += any.length;
      const match = `${filter}(${any.join(' OR ')})`;
      const { oids, count, last } = pageOf(pace.run(() => this.#pageOf.get(match, 0, PAGE_ROWS)));
      addPacked(oids, into);
      const pause = slice.yield();
      if (pause !== undefined) await pause;
      if (count === PAGE_ROWS) await this.ofWord(match, into, slice, last);
    }
  }

  /** Number of objects that match; counts up to `limit`. */
  async countOf(match: string, limit: number, slice: TimeSlice): Promise<number> {
    let total = 0;
    for (const { after, last, run } of this.windows(slice)) {
      const [count] = run(() => this.#count.get(match, after, last, limit - total)) as readonly [number];
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
    for (const { after, last, run } of this.windows(slice)) {
      const row = run(() => this.#window.get(match, after, last, limit - count));
      count += addPacked(pageOf(row).oids, found);
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

  /**
   * Divides the OIDs of the index into ranges `(after, last]` whose statements take a few milliseconds each.
   */
  *windows(slice: TimeSlice): Generator<Window> {
    const [first, end] = (this.#range.get() as readonly [number | null, number | null]).map(Number) as [
      number,
      number,
    ];
    // Removed objects leave gaps between OIDs: then windows are wider, not more numerous.
    const least = Math.max(MIN_ROWS, Math.ceil((end - first + 1) / MAX_WINDOWS));
    const pace = rowPace(slice, Math.max(least, FIRST_ROWS), least, Math.max(least, WINDOW));
    for (let after = first - 1; after < end; ) {
      const last = after + pace.size;
      yield { after, last, run: (statement) => pace.run(statement) };
      after = last;
    }
  }

  /**
   * Returns the objects of a phrase. FTS5 compares positions in every object that has the words, hence the
   * windows.
   */
  async ofPhrase(match: string, slice: TimeSlice): Promise<OidSet> {
    const found = new OidSet();
    const [, last] = (this.#range.get() as readonly [number | null, number | null]).map(Number) as [
      number,
      number,
    ];
    const pace = rowPace(slice, FIRST_ROWS, MIN_ROWS, WINDOW);
    for (let after = 0; after < last; ) {
      // Removed objects leave gaps between OIDs.
      const [next] = this.#after.get(after) as readonly [number | null];
      const first = next ?? last;
      const end = first + pace.size - 1;
      const from = after;
      addPacked(pageOf(pace.run(() => this.#window.get(match, from, end, -1))).oids, found);
      after = end;
      await slice.yield();
    }
    return found;
  }

  /** All objects in the index. */
  async all(slice: TimeSlice): Promise<OidSet> {
    const found = new OidSet();
    const pace = rowPace(slice, FIRST_ROWS, MIN_ROWS, PAGE_ROWS);
    for (let after = 0; ; ) {
      const rows = pace.size;
      const { oids, count, last } = pageOf(pace.run(() => this.#all.get(after, rows)));
      addPacked(oids, found);
      if (count < rows) return found;
      after = last;
      await slice.yield();
    }
  }

  /**
   * Number of OIDs in the range of the index: at least the number of objects, and found without reading them.
   */
  get span(): number {
    const [first, last] = this.#range.get() as readonly [number | null, number | null];
    return first === null || last === null ? 0 : Number(last) - Number(first) + 1;
  }

  /** Number of objects indexed after transaction `batch`, at most `limit`. */
  countSince(batch: number, limit: number): number {
    const [count] = this.#countSince.get(batch, limit) as readonly [number];
    return count;
  }

  /** Returns the objects indexed after transaction `batch`. */
  since(batch: number): OidSet {
    const found = new OidSet();
    addPacked(pageOf(this.#since.get(batch)).oids, found);
    return found;
  }

  /** Yields the objects that match with their scores, in the order of OIDs. */
  async *ranked(match: string, slice: TimeSlice): AsyncGenerator<Scored> {
    const pace = rowPace(slice, MIN_RANK_ROWS, MIN_RANK_ROWS, RANK_ROWS);
    for (let after = 0; ; ) {
      const rows = pace.size;
      const { oids, count, last } = pageOf(pace.run(() => this.#rank.get(match, after, rows)));
      yield* unpackScores(oids);
      if (count < rows) return;
      after = last;
      await slice.yield();
    }
  }
}

/** A range of OIDs, and what runs the statement over it. */
export interface Window {
  readonly after: number;
  readonly last: number;
  run<T>(statement: () => T): T;
}

/** Sizes statements by the time that the former ones took: a statement cannot be interrupted. */
class StatementPace {
  readonly #least: number;
  readonly #most: number;
  /** Milliseconds that the next statement aims at. */
  readonly #aimMs: () => number;

  constructor(
    public size: number,
    least: number,
    most: number,
    aimMs: () => number,
  ) {
    this.#least = least;
    this.#most = most;
    this.#aimMs = aimMs;
  }

  run<T>(statement: () => T): T {
    const started = performance.now();
    const result = statement();
    const factor = this.#aimMs() / Math.max(0.01, performance.now() - started);
    const size = this.size * Math.max(0.25, Math.min(4, factor));
    this.size = Math.round(Math.max(this.#least, Math.min(this.#most, size)));
    return result;
  }
}

/** The pace of statements that read rows: small ones beside other queries, else large ones. */
export function rowPace(slice: TimeSlice, first: number, least: number, most: number): StatementPace {
  const aimMs = () => (slice.isShared ? SHARED_MS : ALONE_MS);
  return new StatementPace(slice.isShared ? first : most, least, most, aimMs);
}

function pageOf(row: unknown): { oids: string; count: number; last: number } {
  const [oids, count, last] = row as readonly [string | null, number, number | null];
  return { oids: oids ?? '', count, last: last ?? 0 };
}

/** Compares by descending score, then by OID. */
function byScore(a: Scored, b: Scored): number {
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
