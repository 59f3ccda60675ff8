// An external merge sort: records in memory by radix sort, sorted runs on the disk, a merge of the runs.
import { closeSync, openSync, rmSync } from 'node:fs';
import { StorageError } from '../../protocols/errors.js';
import { FileAppender, readNext } from './files.js';

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const PASSES = 3;
const INITIAL_CAPACITY = 1 << 12;
/** The maximum read buffer of a run during a merge; smaller if there are many runs. */
const MAX_RUN_BUFFER_BYTES = 1 << 20;
const MIN_RUN_BUFFER_BYTES = 1 << 12;

/** Iterates over sorted records. */
export interface RecordCursor extends Disposable {
  /**
   * The key of the current record; its words start at `words[offset]`. Valid after {@link next} returned true.
   */
  readonly key: number;
  readonly words: Uint32Array;
  readonly offset: number;
  /** Advances to the next record. Returns false at the end. */
  next(): boolean;
}

/**
 * Sorts records of a u32 key and a fixed number of words by their key. The sort is stable. Records that
 * do not fit in memory are written to the disk in sorted runs, which are then merged.
 */
export class RecordSorter implements Disposable {
  readonly #width: number;
  readonly #capacity: number;
  readonly #memoryBytes: number;
  readonly #runPath: (run: number) => string;
  readonly #runs: string[] = [];
  #keys = new Uint32Array(0);
  #used = 0;
  #count = 0;
  /** The words of the added records, see {@link add}. */
  words = new Uint32Array(0);

  /**
   * @param width the number of words of a record in addition to its key, at least 1
   * @param memoryBytes the memory limit; buffers take a little more
   * @param path the prefix of the paths of the runs
   */
  constructor(width: number, memoryBytes: number, path: string) {
    this.#width = width;
    this.#memoryBytes = memoryBytes;
    // Two copies of the key and of the record's index. A record of one word is sorted directly, without an
    // index.
    const bytes = width === 1 ? 16 : 16 + 4 * width;
    this.#capacity = Math.max(1, Math.floor(memoryBytes / bytes));
    this.#runPath = (run) => `${path}.${run}`;
  }

  /** The number of records added. */
  get count(): number {
    return this.#count;
  }

  /**
   * Adds a record. The caller writes its words to {@link words} at the returned offset before the next call.
   */
  add(key: number): number {
    if (this.#used === this.#keys.length) this.#growOrSpill();
    this.#keys[this.#used] = key;
    this.#count++;
    return this.#used++ * this.#width;
  }

  /** Returns the records in order. Nothing may be added afterwards; the cursor owns the sorter's memory. */
  sorted(): RecordCursor {
    if (this.#runs.length > 0 && this.#used > 0) this.#spill();
    if (this.#runs.length === 0) {
      const cursor = new MemoryCursor(this.#width, this.#sortRecords(), this.words);
      this.#free();
      return cursor;
    }
    this.#free();
    const share = this.#memoryBytes / this.#runs.length;
    return new MergeCursor(
      this.#width,
      this.#runs,
      Math.max(MIN_RUN_BUFFER_BYTES, Math.min(MAX_RUN_BUFFER_BYTES, share)),
    );
  }

  [Symbol.dispose](): void {
    this.#free();
    for (const run of this.#runs) rmSync(run, { force: true });
  }

  #free(): void {
    this.#keys = new Uint32Array(0);
    this.words = new Uint32Array(0);
    this.#used = 0;
  }

  #growOrSpill(): void {
    if (this.#used === this.#capacity) {
      this.#spill();
      return;
    }
    const capacity = Math.min(this.#capacity, Math.max(INITIAL_CAPACITY, this.#used * 2));
    const keys = new Uint32Array(capacity);
    keys.set(this.#keys);
    const words = new Uint32Array(capacity * this.#width);
    words.set(this.words);
    this.#keys = keys;
    this.words = words;
  }

  #sortRecords(): SortedKeys {
    const keys = this.#keys.subarray(0, this.#used);
    if (this.#width === 1) return radixSort(keys, this.words.subarray(0, this.#used));
    const indexes = new Uint32Array(this.#used);
    for (let i = 0; i < indexes.length; i++) indexes[i] = i;
    return radixSort(keys, indexes);
  }

  #spill(): void {
    const path = this.#runPath(this.#runs.length);
    using file = new FileAppender(path);
    this.#runs.push(path);
    const cursor = new MemoryCursor(this.#width, this.#sortRecords(), this.words);
    while (cursor.next()) {
      file.word(cursor.key);
      for (let i = 0; i < this.#width; i++) file.word(cursor.words[cursor.offset + i] ?? 0);
    }
    file.close();
    // Sorting may have moved the arrays' contents; both are refilled.
    this.#used = 0;
  }
}

interface SortedKeys {
  readonly keys: Uint32Array;
  readonly values: Uint32Array;
}

/** Sorts keys, each with a value, by a stable radix sort of 11 bits a pass. Overwrites the given arrays. */
function radixSort(keys: Uint32Array, values: Uint32Array): SortedKeys {
  const count = keys.length;
  const histogram = new Uint32Array(DIGITS * PASSES);
  for (let i = 0; i < count; i++) {
    const key = keys[i] ?? 0;
    histogram[key & (DIGITS - 1)]!++;
    histogram[DIGITS + ((key >>> DIGIT_BITS) & (DIGITS - 1))]!++;
    histogram[2 * DIGITS + (key >>> (2 * DIGIT_BITS))]!++;
  }
  let from: SortedKeys = { keys, values };
  let to: SortedKeys = { keys: new Uint32Array(count), values: new Uint32Array(count) };
  for (let pass = 0; pass < PASSES; pass++) {
    // The counts of the digits become the offsets of the next key with each digit.
    const offsets = histogram.subarray(pass * DIGITS, (pass + 1) * DIGITS);
    // All keys have the same digit, so this pass would not change the order.
    if (offsets.includes(count)) continue;
    let offset = 0;
    for (let digit = 0; digit < DIGITS; digit++) {
      const size = offsets[digit]!;
      offsets[digit] = offset;
      offset += size;
    }
    const shift = pass * DIGIT_BITS;
    const { keys: oldKeys, values: oldValues } = from;
    const { keys: newKeys, values: newValues } = to;
    for (let i = 0; i < count; i++) {
      const key = oldKeys[i]!;
      const target = offsets[(key >>> shift) & (DIGITS - 1)]!++;
      newKeys[target] = key;
      newValues[target] = oldValues[i]!;
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Iterates over records in memory. */
class MemoryCursor implements RecordCursor {
  key = 0;
  offset = 0;
  readonly words: Uint32Array;
  readonly #width: number;
  readonly #keys: Uint32Array;
  /** The index of each record's words, in records; undefined if the words themselves are sorted. */
  readonly #indexes: Uint32Array | undefined;
  #next = 0;

  constructor(width: number, { keys, values }: SortedKeys, words: Uint32Array) {
    this.#width = width;
    this.#keys = keys;
    this.#indexes = width === 1 ? undefined : values;
    this.words = width === 1 ? values : words;
  }

  next(): boolean {
    const index = this.#next;
    if (index >= this.#keys.length) return false;
    this.#next = index + 1;
    this.key = this.#keys[index]!;
    this.offset = this.#indexes === undefined ? index : this.#indexes[index]! * this.#width;
    return true;
  }

  [Symbol.dispose](): void {
    this.#next = this.#keys.length;
  }
}

/** Reads the records of a run in order: the key of a record, then its words. */
class RunReader {
  readonly #path: string;
  readonly words: Uint32Array;
  /** The offset of the current record in {@link words}. */
  offset = 0;
  readonly #bytes: Uint8Array;
  readonly #size: number;
  #filledWords = 0;
  readonly #fd: number;

  constructor(
    path: string,
    /** The number of the run. Of records with equal keys, those of the run with the lower rank come first. */
    readonly rank: number,
    /** The words of a record, its key included. */
    size: number,
    bufferBytes: number,
  ) {
    this.#path = path;
    this.#size = size;
    this.words = new Uint32Array(size * Math.max(1, Math.floor(bufferBytes / (4 * size))));
    this.#bytes = new Uint8Array(this.words.buffer);
    this.offset = -size;
    this.#fd = openSync(path, 'r');
  }

  get key(): number {
    return this.words[this.offset]!;
  }

  next(): boolean {
    this.offset += this.#size;
    if (this.offset < this.#filledWords) return true;
    const filled = readNext(this.#fd, this.#bytes);
    if (filled % (4 * this.#size) !== 0) throw new StorageError(`${this.#path} ends within a record`);
    this.#filledWords = filled / 4;
    this.offset = 0;
    return filled > 0;
  }

  close(): void {
    closeSync(this.#fd);
    rmSync(this.#path, { force: true });
  }
}

/** Merges runs with a binary heap. */
class MergeCursor implements RecordCursor {
  key = 0;
  words: Uint32Array = new Uint32Array(0);
  offset = 0;
  readonly #heap: RunReader[] = [];
  readonly #open = new Set<RunReader>();
  /** The run of the current record; it is still the top of the heap. */
  #current: RunReader | undefined;

  constructor(width: number, runs: readonly string[], bufferBytes: number) {
    for (const [rank, path] of runs.entries()) {
      const run = new RunReader(path, rank, width + 1, bufferBytes);
      this.#open.add(run);
      if (run.next()) this.#heap.push(run);
    }
    // A sorted array is a valid heap.
    this.#heap.sort((a, b) => a.key - b.key || a.rank - b.rank);
  }

  next(): boolean {
    const heap = this.#heap;
    if (this.#current !== undefined) {
      if (!this.#current.next()) {
        this.#close(this.#current);
        const last = heap.pop();
        if (heap.length > 0 && last !== undefined) heap[0] = last;
      }
      this.#siftDown();
    }
    const top = heap[0];
    this.#current = top;
    if (top === undefined) return false;
    this.key = top.key;
    this.words = top.words;
    this.offset = top.offset + 1;
    return true;
  }

  /** Restores the order of the heap after its first run has advanced. */
  #siftDown(): void {
    const heap = this.#heap;
    const run = heap[0];
    if (run === undefined) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, run)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = run;
  }

  #close(run: RunReader): void {
    this.#open.delete(run);
    run.close();
  }

  [Symbol.dispose](): void {
    for (const run of this.#open) this.#close(run);
    this.#heap.length = 0;
    this.#current = undefined;
  }
}

function isBefore(a: RunReader, b: RunReader): boolean {
  const keyA = a.key;
  const keyB = b.key;
  return keyA < keyB || (keyA === keyB && a.rank < b.rank);
}
