import { type IndexDatabase, RANK, scalar } from './index-file.js';
import { OidSet } from './oid-set.js';
import type { Pace } from './pace.js';

/** Rows of one statement: a few milliseconds of work, after which other queries have a turn. */
const PAGE_ROWS = 20_000;
const RANK_ROWS = 2_000;
/** OIDs that one statement of a phrase search may look through. */
const WINDOW = 32_768;

/** An OID with FTS5's rank as a score, higher is better. */
export interface Scored {
  readonly oid: number;
  readonly score: number;
}

/**
 * Reads the word index in steps. A page of OIDs comes as one text from SQLite, because a row across the language
 * border costs more than finding it.
 */
export class Postings {
  readonly #db: IndexDatabase;
  readonly #page;
  readonly #window;
  readonly #all;
  readonly #rank;
  readonly #since;

  constructor(db: IndexDatabase) {
    this.#db = db;
    const packed = 'SELECT group_concat(oid), count(*), max(oid) FROM';
    this.#page = db
      .prepare(
        `${packed} (SELECT rowid AS oid FROM words WHERE words MATCH ? AND rowid > ? LIMIT ${PAGE_ROWS})`,
      )
      .raw();
    this.#window = db
      .prepare(
        `${packed} (SELECT rowid AS oid FROM words WHERE words MATCH ? AND rowid > ? AND rowid <= ? LIMIT -1)`,
      )
      .raw();
    this.#all = db
      .prepare(`${packed} (SELECT oid FROM object WHERE oid > ? ORDER BY oid LIMIT ${PAGE_ROWS})`)
      .raw();
    this.#since = db.prepare(`${packed} (SELECT oid FROM object WHERE batch > ? LIMIT -1)`).raw();
    this.#rank = db
      .prepare(`SELECT rowid, ${RANK} FROM words WHERE words MATCH ? AND rowid > ? LIMIT ${RANK_ROWS}`)
      .raw();
  }

  /** Adds the objects of one word to `into`; gives up above `limit` objects. Returns how many there are at least. */
  async ofWord(match: string, into: OidSet, pace: Pace, limit = Number.POSITIVE_INFINITY): Promise<number> {
    let total = 0;
    for (let after = 0; total <= limit; ) {
      const { oids, count, last } = page(this.#page.get(match, after));
      total += addPacked(oids, into);
      if (count < PAGE_ROWS) break;
      after = last;
      await pace.rest();
    }
    return total;
  }

  /** The objects of a phrase. Places are compared for every object that has the words, hence the windows. */
  async ofPhrase(match: string, pace: Pace): Promise<OidSet> {
    const found = new OidSet();
    const last = Number(scalar(this.#db, 'SELECT max(oid) FROM object') ?? 0);
    for (let after = 0; after < last; ) {
      // OIDs may be far apart where objects were removed.
      const first = Number(scalar(this.#db, 'SELECT min(oid) FROM object WHERE oid > ?', after) ?? last);
      const end = first + WINDOW - 1;
      addPacked(page(this.#window.get(match, after, end)).oids, found);
      after = end;
      await pace.rest();
    }
    return found;
  }

  /** Every object in the index. */
  async all(pace: Pace): Promise<OidSet> {
    const found = new OidSet();
    for (let after = 0; ; ) {
      const { oids, count, last } = page(this.#all.get(after));
      addPacked(oids, found);
      if (count < PAGE_ROWS) return found;
      after = last;
      await pace.rest();
    }
  }

  get count(): number {
    return Number(scalar(this.#db, 'SELECT count(*) FROM object'));
  }

  /** How many objects were put into the index after transaction `batch`; counts no further than `limit`. */
  countSince(batch: number, limit: number): number {
    return Number(
      scalar(this.#db, 'SELECT count(*) FROM (SELECT 1 FROM object WHERE batch > ? LIMIT ?)', batch, limit),
    );
  }

  /** The objects put into the index after transaction `batch`. */
  since(batch: number): OidSet {
    const found = new OidSet();
    addPacked(page(this.#since.get(batch)).oids, found);
    return found;
  }

  /** The objects that match, with their scores, by OID. */
  async *ranked(match: string, pace: Pace): AsyncGenerator<Scored> {
    for (let after = 0; ; ) {
      const rows = this.#rank.all(match, after) as readonly (readonly [number, number])[];
      for (const [oid, rank] of rows) yield { oid, score: -rank };
      if (rows.length < RANK_ROWS) return;
      after = rows.at(-1)![0];
      await pace.rest();
    }
  }
}

function page(row: unknown): { oids: string; count: number; last: number } {
  const [oids, count, last] = row as readonly [string | null, number, number | null];
  return { oids: oids ?? '', count, last: last ?? 0 };
}

/** Adds OIDs written as `1,2,3`; returns how many. */
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
