// What an object says first, and what it calls the objects that it links to: the order of the best objects of a query
// looks at it.
import { cutText, decodeText, type SoifObject } from '../../../../protocols/soif/index.js';
import { fold, wordsOf } from '../../query/words.js';
import { IndexCache, type IndexVersion } from './index-cache.js';
import type { IndexDatabase } from './index-file.js';
import { hashOf, type LinkLine } from './link-texts.js';

/** The outline of one object in the index. */
export interface Outline {
  /** Hashes of the words of its title, and of the first ones of its text. */
  readonly beginning: Uint32Array;
  /**
   * Its links, one after the other: the number of words, and above them the first 16 bits of the target's digest; its other 32
   * bits; the hashes of the words.
   */
  readonly links: Uint32Array;
}

/** An outline that was read, with the digest of its object's URL. */
export interface ReadOutline extends Outline {
  readonly url: number;
}

/** Words of the title, and of the text. */
const MAX_TITLE_WORDS = 20;
const MAX_TEXT_WORDS = 40;
/** Bytes in which they are looked for. */
const MAX_BYTES = 2_000;
/** The attributes with a text; the first one that an object has counts. */
const TEXTS = ['body', 'full-text', 'partial-text', 'abstract', 'description'];
const CACHE_BYTES = 8 << 20;
const HIGH = 2 ** 32;

/** The outline of an object with these links. */
export function outlineOf(object: SoifObject, lines: readonly LinkLine[]): Outline {
  const text = TEXTS.find((name) => object.has(name));
  const words = [
    ...firstWords(object.get('title'), MAX_TITLE_WORDS),
    ...firstWords(text === undefined ? undefined : object.get(text), MAX_TEXT_WORDS),
  ];
  const links: number[] = [];
  for (const { target, words: called } of lines)
    links.push(((target / HIGH) | 0) + called.length * 0x1_0000, target % HIGH, ...called);
  return { beginning: Uint32Array.from(new Set(words.map(hashOf))), links: Uint32Array.from(links) };
}

function firstWords(value: Uint8Array | undefined, most: number): string[] {
  if (value === undefined) return [];
  const text = decodeText(cutText(value, MAX_BYTES));
  return wordsOf(fold(text))
    .slice(0, most)
    .map((word) => word.text);
}

/** Calls back for each link of an outline: the digest of its target, and where its words are. */
export function eachLink(
  links: Uint32Array,
  found: (target: number, start: number, end: number) => void,
): void {
  for (let i = 0; i < links.length; ) {
    const head = links[i]!;
    const start = i + 2;
    i = start + (head >>> 16);
    found((head & 0xffff) * HIGH + links[start - 1]!, start, i);
  }
}

/** Keeps the outlines of the objects that a transaction changes. */
export class OutlineWriter {
  readonly #db: IndexDatabase;
  readonly #changes = new Map<number, Outline | undefined>();
  readonly #put;
  readonly #remove;

  constructor(db: IndexDatabase) {
    this.#db = db;
    this.#put = db.prepare('INSERT OR REPLACE INTO outline(oid, beginning, links) VALUES(?, ?, ?)');
    this.#remove = db.prepare('DELETE FROM outline WHERE oid = ?');
  }

  /** Replaces the outline of an object, or removes it, at the end of the transaction. */
  set(oid: number, outline: Outline | undefined): void {
    this.#changes.set(oid, outline);
  }

  write(): void {
    for (const [oid, outline] of this.#changes) {
      if (outline === undefined) this.#remove.run(oid);
      else this.#put.run(oid, bytesOf(outline.beginning), bytesOf(outline.links));
    }
    this.#changes.clear();
  }

  clear(): void {
    this.#changes.clear();
    this.#db.exec('DELETE FROM outline');
  }
}

/** Reads outlines. */
export class OutlineReader {
  readonly #version: IndexVersion;
  readonly #cache: IndexCache<ReadOutline>;
  readonly #read;

  constructor(db: IndexDatabase, version: IndexVersion) {
    this.#version = version;
    this.#cache = new IndexCache(
      version,
      CACHE_BYTES,
      ({ beginning, links }) => beginning.byteLength + links.byteLength,
    );
    this.#read = db
      .prepare('SELECT url, beginning, links FROM object JOIN outline USING(oid) WHERE oid = ?')
      .raw();
  }

  /** Returns undefined if the index has not the object. */
  read(oid: number): ReadOutline | undefined {
    const key = String(oid);
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const { epoch } = this.#version;
    const row = this.#read.get(oid) as readonly [number, Buffer, Buffer] | undefined;
    if (row === undefined) return undefined;
    const outline = { url: row[0], beginning: numbersOf(row[1]), links: numbersOf(row[2]) };
    this.#cache.set(key, outline, epoch);
    return outline;
  }
}

function bytesOf(numbers: Uint32Array): Buffer {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** A copy, because the bytes need not begin at a multiple of four. */
function numbersOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}
