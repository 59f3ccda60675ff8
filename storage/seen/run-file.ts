import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { firstIndex } from '../../protocols/binary-search.js';
import { rethrowAs, StorageError } from '../../protocols/errors.js';
import { readFully } from '../files/read-fully.js';
import { openRegular } from '../files/regular-file.js';
import { writeFully } from '../files/write-fully.js';
import { BloomBits } from './bloom-set.js';
import { compareKeys, fromFileBytes, KEY_BYTES, type KeyWords, toFileBytes } from './key-list.js';

/** The file that names the runs, with their checksums. */
export const MANIFEST = 'runs.json';
/** Keys of a block, which a look-up reads as a whole: 4 KiB. */
const BLOCK_KEYS = 512;
const BLOCK_BYTES = BLOCK_KEYS * KEY_BYTES;
/** Blocks at most this far apart are read together, up to a maximum. */
const MAX_BLOCK_GAP = 8;
const MAX_READ_BLOCKS = 64;
/** Concurrent reads. */
const PARALLEL_READS = 8;
/** Keys in one read or write of a whole run. */
const STREAM_KEYS = 1 << 15;
/** Seven hash functions at ten bits for each key: one new key in about 120 costs a read. */
const HASHES = 7;

/**
 * A file of sorted keys. In memory it has a Bloom filter of ten bits for each key, and the first key of each
 * block.
 */
export class RunFile {
  readonly #file: FileHandle;
  readonly #bloom: BloomBits;
  /** The first key of each block. */
  readonly #fences: KeyWords;

  private constructor(
    readonly path: string,
    readonly count: number,
    /** CRC-32 of the file. */
    readonly sum: number,
    file: FileHandle,
    bloom: BloomBits,
    fences: KeyWords,
  ) {
    this.#file = file;
    this.#bloom = bloom;
    this.#fences = fences;
  }

  get memoryBytes(): number {
    return this.#bloom.memoryBytes + this.#fences.byteLength;
  }

  /** Writes sorted keys to a new file and flushes it to the disk. */
  static async write(path: string, count: number, pieces: AsyncIterable<KeyWords>): Promise<RunFile> {
    const index = new RunIndex(count);
    let sum = 0;
    const file = await open(path, 'w+');
    try {
      for await (const keys of pieces) {
        index.add(keys);
        const bytes = toFileBytes(keys);
        sum = crc32(bytes, sum);
        await writeFully(file, bytes);
      }
      await file.sync();
      return new RunFile(path, count, sum, file, index.bloom, index.fences);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /**
   * @param expected the CRC-32 of the file; undefined if an earlier version wrote it
   * @throws StorageError if the file does not hold `count` sorted keys, or has changed
   */
  static async open(path: string, count: number, expected: number | undefined): Promise<RunFile> {
    const file = await openRegular(path).catch(rethrowAs(StorageError, `${path} cannot be read`));
    try {
      const { size } = await file.stat();
      if (size !== count * KEY_BYTES)
        throw new StorageError(`${path} has ${size} bytes, not ${count * KEY_BYTES}`);
      const index = new RunIndex(count);
      let sum = 0;
      let offset = 0;
      for await (const keys of streamKeys(file, count)) {
        if (!index.add(keys))
          throw new StorageError(`${path} is damaged: its keys are not in order after byte ${offset}`);
        sum = crc32(toFileBytes(keys), sum);
        offset += keys.byteLength;
      }
      if (expected !== undefined && sum !== expected)
        throw new StorageError(`${path} is damaged: its checksum is not that of ${MANIFEST}`);
      return new RunFile(path, count, sum, file, index.bloom, index.fences);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** All keys in order, in pieces, which the caller owns. */
  keys(): AsyncGenerator<KeyWords, void, undefined> {
    return streamKeys(this.#file, this.count);
  }

  /** Sets `found[i]` to 1 for each key that is in the file. Skips keys whose `found[i]` is 1 already. */
  async find(keys: KeyWords, found: Uint8Array): Promise<void> {
    const keysByBlock = new Map<number, number[]>();
    for (let i = 0; i < found.length; i++) {
      const low = keys[2 * i]!;
      const high = keys[2 * i + 1]!;
      if (found[i] === 1 || !this.#bloom.has(low, high)) continue;
      const block = this.#blockOf(low, high);
      if (block < 0) continue;
      const list = keysByBlock.get(block);
      if (list === undefined) keysByBlock.set(block, [i]);
      else list.push(i);
    }
    const spans = spansOf([...keysByBlock.keys()].sort((a, b) => a - b));
    const next = spans.values();
    const worker = async (): Promise<void> => {
      for (const span of next) await this.#findIn(span, keysByBlock, keys, found);
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_READS, spans.length) }, worker));
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #findIn(
    { first, last }: BlockSpan,
    keysByBlock: ReadonlyMap<number, readonly number[]>,
    keys: KeyWords,
    found: Uint8Array,
  ): Promise<void> {
    const from = first * BLOCK_BYTES;
    const end = Math.min((last + 1) * BLOCK_BYTES, this.count * KEY_BYTES);
    const words = fromFileBytes(await readBytes(this.#file, from, end - from));
    for (let block = first; block <= last; block++) {
      const start = (block - first) * BLOCK_KEYS;
      const stop = Math.min(start + BLOCK_KEYS, words.length / 2);
      for (const i of keysByBlock.get(block) ?? []) {
        if (includesKey(words, start, stop, keys[2 * i]!, keys[2 * i + 1]!)) found[i] = 1;
      }
    }
  }

  /** The last block whose first key is at most the key; -1 if all first keys are greater. */
  #blockOf(low: number, high: number): number {
    return lastAtMost(this.#fences, 0, this.#fences.length / 2, low, high);
  }
}

/** The index of a run, which stays in memory. It is built while the keys are read or written. */
class RunIndex {
  readonly bloom: BloomBits;
  readonly fences: Uint32Array;
  #position = 0;
  #lastLow = 0;
  #lastHigh = -1;

  constructor(count: number) {
    this.bloom = new BloomBits(count, HASHES);
    this.fences = new Uint32Array(2 * Math.ceil(count / BLOCK_KEYS));
  }

  /** Returns false if the keys are not in ascending order. */
  add(keys: KeyWords): boolean {
    for (let offset = 0; offset < keys.length; offset += 2) {
      const low = keys[offset]!;
      const high = keys[offset + 1]!;
      if (compareKeys(this.#lastLow, this.#lastHigh, low, high) >= 0) return false;
      this.#lastLow = low;
      this.#lastHigh = high;
      this.bloom.add(low, high);
      if (this.#position % BLOCK_KEYS === 0) this.fences.set([low, high], (2 * this.#position) / BLOCK_KEYS);
      this.#position++;
    }
    return true;
  }
}

interface BlockSpan {
  readonly first: number;
  readonly last: number;
}

/** @param blocks in ascending order */
function spansOf(blocks: readonly number[]): BlockSpan[] {
  const spans: { first: number; last: number }[] = [];
  for (const block of blocks) {
    const span = spans.at(-1);
    if (span !== undefined && block - span.last <= MAX_BLOCK_GAP && block - span.first < MAX_READ_BLOCKS)
      span.last = block;
    else spans.push({ first: block, last: block });
  }
  return spans;
}

/** Whether the sorted keys from..to include the key. */
function includesKey(words: KeyWords, from: number, to: number, low: number, high: number): boolean {
  const index = lastAtMost(words, from, to, low, high);
  return index >= from && words[2 * index] === low && words[2 * index + 1] === high;
}

/** Index of the last of the sorted keys from..to that is at most the key; from - 1 if all keys are greater. */
function lastAtMost(words: KeyWords, from: number, to: number, low: number, high: number): number {
  return firstIndex(from, to, (i) => compareKeys(words[2 * i]!, words[2 * i + 1]!, low, high) > 0) - 1;
}

async function* streamKeys(file: FileHandle, count: number): AsyncGenerator<KeyWords, void, undefined> {
  for (let from = 0; from < count; from += STREAM_KEYS) {
    const keys = Math.min(STREAM_KEYS, count - from);
    yield fromFileBytes(await readBytes(file, from * KEY_BYTES, keys * KEY_BYTES));
  }
}

async function readBytes(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  if ((await readFully(file, bytes, position)) < length)
    throw new StorageError('a file of seen keys was truncated while it was open');
  return bytes;
}

/** Merges runs that have no key in common into one sorted stream. */
export async function* mergeRuns(runs: readonly RunFile[]): AsyncGenerator<KeyWords, void, undefined> {
  const cursors = await Promise.all(runs.map((run) => RunCursor.open(run.keys())));
  let out = new Uint32Array(2 * STREAM_KEYS);
  let used = 0;
  for (;;) {
    let smallest: RunCursor | undefined;
    for (const cursor of cursors) {
      if (cursor.ended) continue;
      if (smallest === undefined || compareKeys(cursor.low, cursor.high, smallest.low, smallest.high) < 0)
        smallest = cursor;
    }
    if (smallest === undefined) break;
    out[used++] = smallest.low;
    out[used++] = smallest.high;
    if (!smallest.step()) await smallest.refill();
    if (used === out.length) {
      yield out;
      out = new Uint32Array(2 * STREAM_KEYS);
      used = 0;
    }
  }
  if (used > 0) yield out.slice(0, used);
}

/** A cursor at the next key of a run. */
class RunCursor {
  readonly #pieces: AsyncGenerator<KeyWords, void, undefined>;
  ended = false;
  low = 0;
  high = 0;
  #piece: KeyWords = new Uint32Array(0);
  #position = 0;

  private constructor(pieces: AsyncGenerator<KeyWords, void, undefined>) {
    this.#pieces = pieces;
  }

  static async open(pieces: AsyncGenerator<KeyWords, void, undefined>): Promise<RunCursor> {
    const cursor = new RunCursor(pieces);
    await cursor.refill();
    return cursor;
  }

  /** Moves to the next key; returns false at the end of the piece. */
  step(): boolean {
    if (this.#position >= this.#piece.length) return false;
    this.low = this.#piece[this.#position]!;
    this.high = this.#piece[this.#position + 1]!;
    this.#position += 2;
    return true;
  }

  async refill(): Promise<void> {
    const next = await this.#pieces.next();
    if (next.done === true) {
      this.ended = true;
      return;
    }
    this.#piece = next.value;
    this.#position = 0;
    this.step();
  }
}
