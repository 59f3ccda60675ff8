import { firstIndex } from '../../../../protocols/binary-search.js';
import { OidSet } from '../../../broker/oid-set.js';
import type { WordPosition } from '../../query/lookup-words.js';
import type { TermLookup } from '../../query/term-lookup.js';
import { PART } from '../../query/words.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { type IndexDatabase, readBatch } from '../index/index-file.js';
import type { Postings } from '../index/postings.js';

/** The terms that decide about a leaf, by their verdict. */
export interface TermVerdicts {
  readonly certain: readonly string[];
  readonly possible: readonly string[];
  /** Whether the lists contain every term that has a verdict. */
  readonly all: boolean;
  /** Objects that changed after the searched vocabulary was read: it may lack their words. */
  readonly changed: OidSet;
}

/** The first term after `BREAK`, which is not a word, and the parts of identifiers. */
const FIRST_TERM = String.fromCharCode(PART.charCodeAt(0) + 1);
/** Terms read by one statement. */
const BLOCK_TERMS = 1_024;
/** Blocks that are searched for what ends terms: some milliseconds. */
const MAX_ENDING_BLOCKS = 500;
/**
 * The vocabulary is reloaded when this share of all objects has changed, but at least and at most these
 * numbers.
 */
const MIN_CHANGED = 1_000;
const MAX_CHANGED = 10_000;
const CHANGED_SHARE = 0.05;

/** Terms that follow each other in the index. */
interface Block {
  /** The terms, each between two line ends, so that a search is one `indexOf`. */
  readonly text: string;
  readonly first: string;
  readonly last: string;
}

interface Snapshot {
  readonly blocks: readonly Block[];
  /** Number of the last transaction whose words are in the blocks. */
  readonly batch: number;
}

/**
 * Searches the terms of the index for parts of words. The terms are cached in memory up to a size limit; a
 * larger vocabulary is read from the file. The cache may be older than the index: objects that changed since
 * are candidates of every search, until there are so many that a reload is cheaper.
 */
export class Vocabulary {
  readonly #db: IndexDatabase;
  readonly #postings: Postings;
  readonly #limitBytes: number;
  readonly #newSlice: () => TimeSlice;
  readonly #block;
  #snapshot: Snapshot | 'too-large' | undefined;
  #loading: Promise<void> | undefined;

  /** @param newSlice returns the time slice of one load of the cache */
  constructor(db: IndexDatabase, postings: Postings, limitBytes: number, newSlice: () => TimeSlice) {
    this.#newSlice = newSlice;
    this.#db = db;
    this.#postings = postings;
    this.#limitBytes = limitBytes;
    this.#block = db
      .prepare(`SELECT group_concat(term, char(10)), max(term), count(*)
        FROM (SELECT term FROM terms WHERE term >= ? ORDER BY term LIMIT ${BLOCK_TERMS})`)
      .raw();
  }

  /**
   * Returns the terms that contain `text` and the objects that changed after the searched vocabulary was read;
   * undefined if there are more than `limit` terms.
   */
  async find(
    text: string,
    position: WordPosition,
    limit: number,
    slice: TimeSlice,
  ): Promise<{ readonly terms: ReadonlySet<string>; readonly changed: OidSet } | undefined> {
    const searched = `${position === 'start' ? '\n' : ''}${text}${position === 'end' ? '\n' : ''}`;
    const terms = new Set<string>();
    await this.#refresh(slice);
    const snapshot = this.#snapshot;
    const cached = snapshot === undefined || snapshot === 'too-large' ? undefined : snapshot;
    const isBeginning = position === 'start' && text !== '';
    const blocks = isBeginning ? cached && blocksWith(cached.blocks, text) : cached?.blocks;
    for await (const block of blocks ?? this.#read(slice, isBeginning ? text : FIRST_TERM)) {
      collectTerms(block.text, searched, terms, limit);
      if (terms.size > limit) return undefined;
      if (isBeginning && !block.last.startsWith(text) && compareTerms(block.last, text) > 0) break;
      await slice.yield();
    }
    return { terms, changed: cached === undefined ? new OidSet() : this.#postings.since(cached.batch) };
  }

  /**
   * Returns the terms that end with a text; none if there are more than `limit`, or so many in all that to look
   * through them takes longer than what it is for is worth.
   */
  async endingWith(text: string, limit: number, slice: TimeSlice): Promise<Iterable<string>> {
    await this.#refresh(slice);
    const snapshot = this.#snapshot;
    if (snapshot === undefined || snapshot === 'too-large' || snapshot.blocks.length > MAX_ENDING_BLOCKS)
      return [];
    return (await this.find(text, 'end', limit, slice))?.terms ?? [];
  }

  /** Returns the terms that have a verdict on a leaf, about `limit` of them at most. */
  async classify(lookup: TermLookup, limit: number, slice: TimeSlice): Promise<TermVerdicts> {
    const certain: string[] = [];
    const possible: string[] = [];
    await this.#refresh(slice);
    const snapshot = this.#snapshot;
    const cached = snapshot === undefined || snapshot === 'too-large' ? undefined : snapshot;
    const changed = cached === undefined ? new OidSet() : this.#postings.since(cached.batch);
    for await (const block of cached?.blocks ?? this.#read(slice)) {
      const terms = new Set<string>();
      for (const text of lookup.containing) collectTerms(block.text, text, terms, BLOCK_TERMS);
      for (const term of terms) {
        const pause = slice.yield();
        if (pause !== undefined) await pause;
        const verdict = lookup.verdict(term);
        if (verdict !== undefined) (verdict === 'certain' ? certain : possible).push(term);
      }
      if (certain.length + possible.length > limit) return { certain, possible, all: false, changed };
      await slice.yield();
    }
    return { certain, possible, all: true, changed };
  }

  /** Reloads the cache if it is too old; concurrent queries share one load. */
  async #refresh(slice: TimeSlice): Promise<void> {
    const snapshot = this.#snapshot;
    if (snapshot !== undefined && snapshot !== 'too-large') {
      const few = Math.min(
        MAX_CHANGED,
        Math.max(MIN_CHANGED, Math.floor(this.#postings.span * CHANGED_SHARE)),
      );
      if (this.#postings.countSince(snapshot.batch, few + 1) <= few) return;
    }
    if (snapshot === 'too-large') return;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    await slice.wait(this.#loading);
  }

  async #load(): Promise<void> {
    const batch = readBatch(this.#db);
    const slice = this.#newSlice();
    await slice.begin();
    try {
      await this.#readAll(batch, slice);
    } finally {
      slice.end();
    }
  }

  async #readAll(batch: number, slice: TimeSlice): Promise<void> {
    const blocks: Block[] = [];
    let bytes = 0;
    for await (const block of this.#read(slice)) {
      blocks.push(block);
      // A JavaScript string takes one byte per character only if all of them are in Latin-1.
      bytes += /[^\0-\xff]/.test(block.text) ? block.text.length * 2 : block.text.length;
      if (bytes > this.#limitBytes) {
        this.#snapshot = 'too-large';
        return;
      }
    }
    this.#snapshot = { blocks, batch };
  }

  /** Reads the blocks from a term on. */
  async *#read(slice: TimeSlice, start = FIRST_TERM): AsyncGenerator<Block> {
    for (let from = start; ; ) {
      const [terms, last, count] = this.#block.get(from) as readonly [string | null, string | null, number];
      if (terms === null || last === null) return;
      yield { text: `\n${terms}\n`, first: terms.slice(0, `${terms}\n`.indexOf('\n')), last };
      if (count < BLOCK_TERMS) return;
      // The last term of a block is also the first of the next one; searches collect terms in a set.
      from = last;
      await slice.yield();
    }
  }
}

/** Compares terms as the index does: by the bytes of UTF-8, which is the order of the characters' numbers. */
function compareTerms(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === a.length || i === b.length) return a.length - b.length;
  return order(a.charCodeAt(i)) - order(b.charCodeAt(i));
}

/** Halves of characters beyond 0xffff come after all others. */
function order(code: number): number {
  return code >= 0xd800 && code < 0xe000 ? code + 0x10000 : code;
}

/** The blocks that may have terms that begin with a text. */
function blocksWith(blocks: readonly Block[], beginning: string): readonly Block[] {
  const low = firstIndex(0, blocks.length, (i) => compareTerms(blocks[i]!.last, beginning) >= 0);
  let end = low;
  while (
    end < blocks.length &&
    (blocks[end]!.first.startsWith(beginning) || compareTerms(blocks[end]!.first, beginning) < 0)
  )
    end++;
  return blocks.slice(low, end);
}

/** Adds the terms of a block that contain the text. */
function collectTerms(block: string, text: string, terms: Set<string>, limit: number): void {
  for (let offset = block.indexOf(text); offset >= 0 && terms.size <= limit; ) {
    const start = block.charCodeAt(offset) === 0x0a ? offset + 1 : block.lastIndexOf('\n', offset) + 1;
    const end = block.indexOf('\n', start);
    terms.add(block.slice(start, end));
    offset = block.indexOf(text, end);
  }
}
