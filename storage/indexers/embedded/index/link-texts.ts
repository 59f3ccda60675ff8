// What other pages call a page: the texts of the links to it, from the attribute `Link-Text` of the pages that
// link.
import { hash } from 'node:crypto';
import type { SoifObject } from '../../../../protocols/soif/index.js';
import { fold, wordsOf } from '../../query/words.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { IndexDatabase } from './index-file.js';

/** Longest text that is kept, in characters, and texts of one page. */
const MAX_TEXT = 120;
const MAX_LINKS = 1_000;
/** Pages that link with one text, above which they are not counted. */
export const MAX_COUNT = 100;
/** Lines whose names are remembered: most pages of a site have the same links. */
const KNOWN_LINES = 16_384;
/** Longer lines are not remembered. */
const MAX_KNOWN_LINE = 400;

/** A link of a page: a line with a text. */
export interface LinkLine {
  /** The digest of its target's URL. */
  readonly target: number;
  /** The words of its text ({@link hashOf}). */
  readonly words: readonly number[];
  /** The names under which it is counted: the text with its target, and the text alone. */
  readonly link: number;
  readonly text: number;
}

const known = new Map<string, LinkLine | undefined>();

/** The first 48 bits of the digest of a text of bytes or words: its name in the tables. */
function digest48(text: string, encoding: 'latin1' | 'utf8'): number {
  return Number.parseInt(hash('sha1', Buffer.from(text, encoding), 'hex').slice(0, 12), 16);
}

/** The name of a URL in the tables. */
export function urlDigest(url: string): number {
  return digest48(url, 'latin1');
}

/** The name of a text of folded words. */
export function textKey(text: string): number {
  return digest48(text, 'utf8');
}

/** The name of a text with the name of the URL that it leads to. */
export function linkKey(text: string, target: number): number {
  return digest48(`${target} ${text}`, 'utf8');
}

/** The name of a folded word in outlines (`outlines.ts`): FNV-1a. */
export function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** The words of a text, folded. */
function foldedWords(text: string): string[] {
  return wordsOf(fold(text)).map((word) => word.text);
}

/** The links of an object, each once; lines without a text are left out. */
export function linkLinesOf(object: SoifObject): LinkLine[] {
  const found = new Map<number, LinkLine>();
  for (const written of (object.text('link-text') ?? '').split('\n')) {
    if (found.size >= MAX_LINKS) break;
    const line = lineOf(written);
    if (line !== undefined && !found.has(line.link)) found.set(line.link, line);
  }
  return [...found.values()];
}

/** What an object with these links counts for: their names and those of their texts, each once. */
export function linkKeysOf(lines: readonly LinkLine[]): number[] {
  return [...new Set(lines.flatMap(({ link, text }) => [link, text]))];
}

function lineOf(written: string): LinkLine | undefined {
  if (written.length > MAX_KNOWN_LINE) return readLine(written);
  if (known.has(written)) return known.get(written);
  if (known.size >= KNOWN_LINES) known.clear();
  const line = readLine(written);
  // A part of a text keeps all of it in memory.
  known.set(Buffer.from(written, 'utf8').toString('utf8'), line);
  return line;
}

function readLine(line: string): LinkLine | undefined {
  const blank = line.indexOf(' ');
  const written = line.slice(blank + 1);
  const words = blank <= 0 || written.length > MAX_TEXT ? [] : foldedWords(written);
  if (words.length === 0) return undefined;
  const text = words.join(' ');
  const target = urlDigest(line.slice(0, blank));
  return { target, words: words.map(hashOf), link: linkKey(text, target), text: textKey(text) };
}

/** Counts the links of the objects that a transaction changes. */
export class LinkTextWriter {
  readonly #db: IndexDatabase;
  readonly #pages = new Map<number, readonly number[]>();
  readonly #isEmpty;
  readonly #former;
  readonly #put;
  readonly #remove;
  readonly #add;
  readonly #trim;

  constructor(db: IndexDatabase) {
    this.#db = db;
    this.#isEmpty = db.prepare('SELECT NOT EXISTS (SELECT 1 FROM link_page)').raw();
    this.#former = db
      .prepare('SELECT keys FROM link_page WHERE oid IN (SELECT value FROM json_each(?))')
      .raw();
    this.#remove = db.prepare('DELETE FROM link_page WHERE oid IN (SELECT value FROM json_each(?))');
    this.#put = db.prepare('INSERT INTO link_page(oid, keys) VALUES(?, ?)');
    this.#add = db.prepare(
      `INSERT INTO link_count(key, pages)
      SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?) WHERE true
      ON CONFLICT(key) DO UPDATE SET pages = pages + excluded.pages`,
    );
    this.#trim = db.prepare(
      'DELETE FROM link_count WHERE pages <= 0 AND key IN (SELECT value FROM json_each(?))',
    );
  }

  /** Replaces the links of an object, at the end of the transaction. */
  set(oid: number, keys: readonly number[]): void {
    this.#pages.set(oid, keys);
  }

  write(): void {
    if (this.#pages.size === 0) return;
    const changes = new Map<number, number>();
    const count = (key: number, pages: number) => changes.set(key, (changes.get(key) ?? 0) + pages);
    const [isEmpty] = this.#isEmpty.get() as readonly [number];
    if (isEmpty === 0) this.#forget(count);
    for (const [oid, keys] of this.#pages) {
      if (keys.length === 0) continue;
      for (const key of keys) count(key, 1);
      this.#put.run(oid, Buffer.from(Float64Array.from(keys).buffer));
    }
    this.#pages.clear();
    this.#count(changes);
  }

  clear(): void {
    this.#pages.clear();
    this.#db.exec('DELETE FROM link_page; DELETE FROM link_count');
  }

  /** Subtracts what the index has of the objects that change. */
  #forget(count: (key: number, pages: number) => void): void {
    const oids = JSON.stringify([...this.#pages.keys()]);
    for (const [bytes] of this.#former.iterate(oids) as Iterable<readonly [Buffer]>) {
      // A copy, because it need not begin at a multiple of eight bytes.
      for (const key of new Float64Array(new Uint8Array(bytes).buffer)) count(key, -1);
    }
    this.#remove.run(oids);
  }

  /** In the order of the keys, so that each page of the table is written once. */
  #count(changes: ReadonlyMap<number, number>): void {
    const keys = Float64Array.from(changes.keys()).sort();
    const rows: (readonly [number, number])[] = [];
    const lost: number[] = [];
    for (const key of keys) {
      const pages = changes.get(key) ?? 0;
      if (pages !== 0) rows.push([key, pages]);
      if (pages < 0) lost.push(key);
    }
    if (rows.length > 0) this.#add.run(JSON.stringify(rows));
    if (lost.length > 0) this.#trim.run(JSON.stringify(lost));
  }
}

/** Counts links. */
export class LinkTextReader {
  readonly #pages;
  readonly #url;

  constructor(db: IndexDatabase) {
    this.#pages = db.prepare('SELECT pages FROM link_count WHERE key = ?').raw();
    this.#url = db.prepare('SELECT url FROM object WHERE oid = ?').raw();
  }

  /** Those of some texts, of folded words, that some link has. */
  async known(texts: readonly string[]): Promise<readonly string[]> {
    return texts.filter((text) => this.#pages.get(textKey(text)) !== undefined);
  }

  /** The number of pages that link to each object with one of the texts, 100 at most for each text. */
  async counts(texts: readonly string[], oids: readonly number[], slice: TimeSlice): Promise<number[]> {
    const counts: number[] = [];
    for (const oid of oids) {
      counts.push(texts.reduce((sum, text) => sum + this.#count(text, oid), 0));
      const pause = slice.yield();
      if (pause !== undefined) await pause;
    }
    return counts;
  }

  /** Returns the number of pages that link to an object with a text, or 100 if there are more. */
  #count(text: string, oid: number): number {
    const [url] = (this.#url.get(oid) ?? []) as readonly number[];
    if (url === undefined) return 0;
    const [pages = 0] = (this.#pages.get(linkKey(text, url)) ?? []) as readonly number[];
    return Math.min(pages, MAX_COUNT);
  }
}
