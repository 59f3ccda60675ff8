// Reads from the word index how often a word or phrase occurs in the parts of each object, and how long these
// parts are.

import { COLUMN_WEIGHTS } from '../../columns/columns.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { IndexDatabase } from '../index/index-file.js';
import { rowPace, type Window } from '../index/postings.js';

/** One object with a word or phrase. */
export interface Occurrence {
  readonly oid: number;
  /** How often it occurs in each of the {@link PARTS}. */
  readonly counts: readonly number[];
  /** Words of each column: that of a part is {@link PART_COLUMNS}. */
  readonly lengths: readonly number[];
}

/** Some of the objects that have a word or phrase. */
export interface WantedObjects {
  /** Their OIDs as a JSON array. */
  readonly json: string;
  /** The number of all objects that have it in the columns. */
  readonly of: number;
  /** Divides the OIDs into ranges, each for one statement. */
  windows(): Iterable<Window>;
}

/** Numbers of the whole index. */
export interface IndexTotals {
  readonly objects: number;
  /** Objects that FTS5 has ever added: it does not subtract those that it removes. */
  readonly added: number;
  /** Words of each column of an object, on average. */
  readonly lengths: readonly number[];
  /** Words of all columns of an object, on average. */
  readonly words: number;
}

const NAMES = COLUMN_WEIGHTS.map(({ name }) => name);
/** The parts of an object that are counted, each a column; `other` is all other columns together. */
export const PARTS = ['title', 'url', 'description', 'headings', 'other', 'body'] as const;
const TITLE = NAMES.indexOf('title');
const BODY = PARTS.indexOf('body');
const OTHER = PARTS.indexOf('other');
const PART_NAMES: readonly string[] = PARTS;
/** The part of each column. */
export const PART_OF: readonly number[] = NAMES.map((name) => {
  const part = PART_NAMES.indexOf(name);
  return part < 0 ? OTHER : part;
});
/** The column of each part; -1 for `other`. */
export const PART_COLUMNS: readonly number[] = PARTS.map((part) => NAMES.indexOf(part));
/**
 * The parts before the text have few words: one score counts all of them, each in eight bits of the frequency.
 */
const DIGIT = 256;
const DIGITS = DIGIT ** (BODY - 1);
/** How far the last digit may be from an integer: scores have 15 decimal places. */
const MAX_ERROR = 0.05;
/** Attempts to read a word while the index changes. */
const MAX_ATTEMPTS = 3;

/**
 * Keywords are often those of a whole site, and the attributes without a column say little about the subject:
 * they count last.
 */
const LAST: ReadonlySet<string> = new Set(['keywords', 'rest']);

/**
 * Column filters of FTS5 for a word of any attribute: the columns that rank, and those that do so only if these
 * lack the word.
 */
export const RANKED_COLUMNS = filterOf((name, weight) => weight > 0 && !LAST.has(name));
export const LAST_COLUMNS = filterOf((name) => LAST.has(name));

/** The constants of FTS5's `bm25`, which it does not let one choose. */
const FTS5 = { k1: 1.2, b: 0.75, leastIdf: 1e-6 };

/**
 * The least difference between FTS5's score and the one that it never reaches, as a share of the inverse
 * document frequency.
 */
const LEAST_REST = 1e-6;

/** Rows of one statement, which cannot be interrupted: at first and at least, and at most. */
const MIN_ROWS = 250;
const PAGE_ROWS = 2_000;
/** Objects whose frequencies are computed between two looks at the clock. */
const SOLVED_AT_ONCE = 256;
/** The largest OID. */
const LAST_OID = 0xffff_ffff;

/** A row: FTS5's score of the parts before the text, and of the text, and the lengths of the columns. */
interface Row {
  readonly oid: number;
  readonly short: number;
  readonly body: number;
  readonly columnLengths: readonly number[];
}

interface Page {
  readonly rows: readonly Row[];
  readonly count: number;
  /** The last OID. */
  readonly last: number;
}

/** The statements of one connection. */
export class RelevanceStatements {
  readonly #page;
  readonly #pageOfWanted;
  readonly #totals;
  readonly #titles;

  constructor(db: IndexDatabase) {
    const weigh = (weightOf: (part: number) => number) =>
      `bm25(words, ${PART_OF.map((part) => weightOf(part)).join(', ')})`;
    const short = weigh((part) => (part === BODY ? 0 : DIGIT ** -part));
    const body = weigh((part) => (part === BODY ? 1 : 0));
    const pageWhere = (condition: string) =>
      db
        .prepare(
          `SELECT group_concat(oid || ',' || s || ',' || b || ',' || hex(sz), ';'), count(*), max(oid)
          FROM (SELECT words.rowid AS oid, ${short} AS s, ${body} AS b, sz
            FROM words JOIN words_docsize ON id = words.rowid WHERE words MATCH ? AND words.rowid > ? AND words.rowid <= ? ${condition} LIMIT ?)`,
        )
        .raw();
    this.#page = pageWhere('');
    // The sign keeps FTS5 from looking for each of them: it reads a word's objects once, and only the wanted
    // ones are scored.
    this.#pageOfWanted = pageWhere('AND +words.rowid IN (SELECT value FROM json_each(?))');
    this.#titles = db
      .prepare(
        `SELECT group_concat(oid || ',' || hex(sz), ';')
        FROM (SELECT words.rowid AS oid, sz FROM words JOIN words_docsize ON id = words.rowid
          WHERE words MATCH ? AND words.rowid > ? AND words.rowid <= ? LIMIT ?)`,
      )
      .raw();
    // The averages of FTS5 are record 1: the number of rows, then the words of each column in all rows.
    this.#totals = db
      .prepare(
        "SELECT hex(block), (SELECT value FROM meta WHERE key = 'objects') FROM words_data WHERE id = 1",
      )
      .raw();
  }

  totals(): IndexTotals {
    const [record, objects] = (this.#totals.get() ?? ['', 0]) as readonly [string, number | null];
    const [added = 0, ...words] = readVarints(record);
    const average = (total: number) => total / Math.max(1, added);
    return {
      objects: objects ?? added,
      added,
      lengths: words.map(average),
      words: average(sum(words)),
    };
  }

  /** Returns the objects of a range that match, at most `limit`, with the lengths of their titles. */
  titles(
    match: string,
    { after, last, run }: Window,
    limit: number,
  ): { readonly oid: number; readonly titleWords: number }[] {
    const [packed] = run(() => this.#titles.get(match, after, last, limit)) as readonly [string | null];
    if (packed === null) return [];
    return packed.split(';').map((row) => {
      const [oid, lengths] = row.split(',');
      return { oid: Number(oid), titleWords: readVarints(lengths ?? '')[TITLE] ?? 0 };
    });
  }

  /**
   * Returns the objects with a word or phrase. FTS5's `bm25` of a single phrase is the only way to learn from
   * it how often the phrase occurs in a column without reading positions, and many times faster; it is solved
   * for the frequency.
   *
   * @param phrase words separated by blanks
   * @param columns the columns that count, as a filter of FTS5
   * @param wanted the only objects to return; default all
   */
  async occurrences(
    phrase: string,
    columns: string,
    slice: TimeSlice,
    wanted?: WantedObjects,
  ): Promise<Occurrence[]> {
    const match = `${columns} : "${phrase}"`;
    for (let attempt = 1; ; attempt++) {
      const totals = this.totals();
      const rows = await this.#rows(match, slice, wanted);
      const found = await this.#solve(
        rows,
        wanted?.of ?? rows.length,
        totals,
        attempt === MAX_ATTEMPTS,
        slice,
      );
      if (found !== undefined) return found;
    }
  }

  /** As {@link occurrences}, by one statement; undefined if `limit` objects or more have the phrase. */
  fewOccurrences(phrase: string, columns: string, limit: number): Occurrence[] | undefined {
    const totals = this.totals();
    const { rows, count } = this.#read(`${columns} : "${phrase}"`, 0, LAST_OID, limit);
    return count < limit ? solve(rows, rows.length, totals, false) : undefined;
  }

  async #solve(
    rows: readonly Row[],
    objects: number,
    totals: IndexTotals,
    isApproximate: boolean,
    slice: TimeSlice,
  ): Promise<Occurrence[] | undefined> {
    const found: Occurrence[] = [];
    for (let from = 0; from < rows.length; from += SOLVED_AT_ONCE) {
      const some = solve(rows.slice(from, from + SOLVED_AT_ONCE), objects, totals, isApproximate);
      if (some === undefined) return undefined;
      for (const occurrence of some) found.push(occurrence);
      const pause = slice.yield();
      if (pause !== undefined) await pause;
    }
    return found;
  }

  #read(match: string, after: number, until: number, limit: number, wanted?: WantedObjects): Page {
    const [packed, count, last] = (
      wanted === undefined
        ? this.#page.get(match, after, until, limit)
        : this.#pageOfWanted.get(match, after, until, wanted.json, limit)
    ) as readonly [string | null, number, number | null];
    return { rows: readRows(packed ?? '', count), count, last: last ?? 0 };
  }

  /** The wanted objects, of which there are no more than one statement returns, or all. */
  async #rows(match: string, slice: TimeSlice, wanted: WantedObjects | undefined): Promise<Row[]> {
    const rows: Row[] = [];
    if (wanted !== undefined) {
      for (const { after, last, run } of wanted.windows()) {
        for (const row of run(() => this.#read(match, after, last, PAGE_ROWS, wanted)).rows) rows.push(row);
        await slice.yield();
      }
      return rows;
    }
    const pace = rowPace(slice, MIN_ROWS, MIN_ROWS, PAGE_ROWS);
    for (let after = 0; ; ) {
      const limit = pace.size;
      const { rows: page, count, last } = pace.run(() => this.#read(match, after, LAST_OID, limit));
      for (const row of page) rows.push(row);
      await slice.yield();
      if (count < limit) return rows;
      after = last;
    }
  }
}

/**
 * Solves FTS5's scores for the frequencies. Returns undefined if they do not fit the number of objects and the
 * averages, because the index has changed meanwhile, unless approximate frequencies are good enough.
 *
 * @param objects the number of all objects that have the word or phrase
 */
function solve(
  rows: readonly Row[],
  objects: number,
  totals: IndexTotals,
  isApproximate: boolean,
): Occurrence[] | undefined {
  const idf = Math.max(FTS5.leastIdf, Math.log((totals.added - objects + 0.5) / (objects + 0.5)));
  const found: Occurrence[] = [];
  for (const { oid, short, body, columnLengths } of rows) {
    const saturation = FTS5.k1 * (1 - FTS5.b + FTS5.b * (sum(columnLengths) / totals.words));
    const frequency = (score: number) =>
      (-score * saturation) / Math.max(idf * LEAST_REST, idf * (FTS5.k1 + 1) + score);
    const digits = frequency(short) * DIGITS;
    if (!isApproximate && Math.abs(digits - Math.round(digits)) > MAX_ERROR) return undefined;
    const counts = readCounts(isApproximate ? Math.round(digits / DIGITS) * DIGITS : digits, frequency(body));
    found.push({ oid, counts, lengths: columnLengths });
  }
  return found;
}

/**
 * Returns the counts of all parts. The first has no limit; another one that exceeds its digit counts for the
 * one before it, too.
 *
 * @param digits those of the parts before the text
 */
function readCounts(digits: number, body: number): number[] {
  const counts = [0, 0, 0, 0, 0, body];
  let rest = Math.round(digits);
  for (let i = BODY - 1; rest > 0 && i > 0; i--) {
    const higher = Math.floor(rest / DIGIT);
    counts[i] = rest - higher * DIGIT;
    rest = higher;
  }
  counts[0] = rest;
  return counts;
}

function filterOf(includes: (name: string, weight: number) => boolean): string {
  const names = COLUMN_WEIGHTS.filter(({ name, weight }) => includes(name, weight)).map(({ name }) => name);
  return `{${names.join(' ')}}`;
}

/** Reads rows `oid,short,body,lengths` with `;` between them. */
function readRows(packed: string, count: number): Row[] {
  const rows: Row[] = new Array(count);
  let start = 0;
  for (let i = 0; i < count; i++) {
    const short = packed.indexOf(',', start) + 1;
    const body = packed.indexOf(',', short) + 1;
    const lengths = packed.indexOf(',', body) + 1;
    const next = packed.indexOf(';', lengths);
    const end = next < 0 ? packed.length : next;
    rows[i] = {
      oid: Number(packed.slice(start, short - 1)),
      short: Number(packed.slice(short, body - 1)),
      body: Number(packed.slice(body, lengths - 1)),
      columnLengths: readVarints(packed, lengths, end),
    };
    start = end + 1;
  }
  return rows;
}

/** SQLite's integers of variable length, here at most four bytes, from hexadecimal digits. */
function readVarints(hex: string, start = 0, end = hex.length): number[] {
  const numbers: number[] = [];
  let value = 0;
  for (let i = start; i < end; i += 2) {
    const byte = digit(hex.charCodeAt(i)) * 16 + digit(hex.charCodeAt(i + 1));
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      numbers.push(value);
      value = 0;
    }
  }
  return numbers;
}

function digit(code: number): number {
  return code <= 0x39 ? code - 0x30 : code - 0x37;
}

function sum(numbers: readonly number[]): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
