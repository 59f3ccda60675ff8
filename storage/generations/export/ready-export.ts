// Reads an export: selects objects by Update-Time, sends compressed blocks as they are, and reads single
// blocks.

import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32, inflateRaw, inflateRawSync, type ZlibOptions, constants as zlib } from 'node:zlib';
import { firstIndex } from '../../../protocols/binary-search.js';
import { StorageError } from '../../../protocols/errors.js';
import { combineCrc32 } from '../../../protocols/gatherd/index.js';
import { SoifDecoder } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { type PieceSums, pieceSums, SUM_PIECE_BYTES } from '../../files/checksums.js';
import { readFully } from '../../files/read-fully.js';
import { openRegular, readRegular } from '../../files/regular-file.js';
import { type ExportIndex, exportIndexCodec } from '../../records/records.js';
import type { ExportChunk, ExportOptions } from '../../summaries/summary-store.js';
import { type BlockRange, ClearBlocks } from './clear-blocks.js';
import { COMPRESSED_FILE, DIGEST_BYTES, deflatePiece, EXPORT_VERSION, INDEX_FILE } from './format.js';
import type { GathererNames } from './survey.js';

/** The blocks with the objects that have `Update-Time >= since` (GATHERD-4.3), in their order. */
export interface BlockSelection {
  /** Objects without an Update-Time, which are always sent; they are before all others. */
  readonly timeless: BlockRange;
  /** A block of which only the last objects are selected. */
  readonly partial: number | undefined;
  readonly rest: BlockRange;
}

/** The sums of consecutive blocks, known without reading them. Lengths and positions are bytes. */
export interface BlockSum {
  readonly objects: number;
  readonly rawLength: number;
  /** Of the raw bytes. */
  readonly crc: number;
  /** Position of the deflated blocks in the file. */
  readonly start: number;
  readonly end: number;
}

/** Objects ready to be put into a gzip member. */
export interface DeflatedPiece {
  readonly objects: number;
  /** Of the raw bytes. */
  readonly length: number;
  readonly crc: number;
  readonly deflated: Uint8Array;
}

/** Maximum bytes of deflated blocks in one read, unless one block is larger. */
const GROUP_BYTES = 128 * 1024;
/** Larger blocks are inflated in the thread pool. */
const MAX_SYNC_INFLATE_BYTES = 256 * 1024;

const inflateInPool = promisify(inflateRaw) as (
  deflated: Uint8Array,
  options: ZlibOptions,
) => Promise<Buffer>;

/**
 * A generation's objects, deflated in blocks (see format.ts). Any sequence of whole blocks is a range of one
 * file, with known count, length and CRC. Keeps the file open, so that it can be read after the generation's
 * directory was removed. Memory: about 44 bytes a block.
 */
export class ReadyExport implements AsyncDisposable {
  readonly #file: FileHandle;
  /** Of the compressed file; undefined in a generation of an earlier version. */
  readonly #pieces: PieceSums | undefined;
  readonly #index: ExportIndex;
  /** Sums over the blocks before the one of that number; one more entry than blocks. */
  readonly #positions: Float64Array;
  readonly #rawPositions: Float64Array;
  readonly #objects: Float64Array;
  readonly #refreshed: Float64Array;
  /** CRC of all raw bytes from that block to the end. */
  readonly #crcToEnd: Uint32Array;
  readonly #firstTimed: number;
  /** The clear bytes of the blocks, in their order. */
  readonly clear: ClearBlocks;
  #lastPiece: { readonly key: string; readonly piece: Promise<DeflatedPiece> } | undefined;

  private constructor(
    directory: string,
    file: FileHandle,
    index: ExportIndex,
    pieces: PieceSums | undefined,
  ) {
    this.#file = file;
    this.#pieces = pieces;
    this.#index = index;
    this.#positions = sums(index.lengths, index.start);
    this.#rawPositions = sums(index.rawLengths, 0);
    this.#objects = sums(index.objects, 0);
    this.#refreshed = sums(index.refreshed, 0);
    const count = index.lengths.length;
    this.#crcToEnd = new Uint32Array(count + 1);
    for (let i = count - 1; i >= 0; i--) {
      const lengthAfter = this.#rawPositions[count]! - this.#rawPositions[i + 1]!;
      this.#crcToEnd[i] = combineCrc32(index.crcs[i]!, this.#crcToEnd[i + 1]!, lengthAfter);
    }
    const timed = index.firstTimes.findIndex((time) => time > 0);
    this.#firstTimed = timed < 0 ? count : timed;
    this.clear = new ClearBlocks({
      directory,
      positions: this.#rawPositions,
      inflate: (range) => this.#inflated(range),
    });
  }

  /**
   * Opens the export that {@link writeExport} wrote into a directory.
   *
   * @throws StorageError if it is damaged; an error with code ENOENT if the directory has no export.
   */
  static async open(directory: string): Promise<ReadyExport> {
    const index = exportIndexCodec.decode(await readRegular(join(directory, INDEX_FILE)));
    const columns = [
      index.rawLengths,
      index.crcs,
      index.objects,
      index.refreshed,
      index.firstTimes,
      index.lastTimes,
    ];
    const count = index.lengths.length;
    const consistent = columns.every(({ length }) => length === count);
    if (index.version !== EXPORT_VERSION || !consistent || index.digests.length !== count * DIGEST_BYTES) {
      throw new StorageError(`${join(directory, INDEX_FILE)} is damaged or of another version`);
    }
    const sums = await pieceSums(directory, COMPRESSED_FILE);
    return new ReadyExport(directory, await openRegular(join(directory, COMPRESSED_FILE)), index, sums);
  }

  get blocks(): BlockRange {
    return { first: 0, end: this.#index.lengths.length };
  }

  /** Attribute names, the most frequent first (GATHERD-8.4). */
  get attributes(): readonly string[] {
    return this.#index.attributes;
  }

  /** Smallest and largest Update-Time; undefined when no object has one. */
  get oldest(): UnixSeconds | undefined {
    return this.#index.firstTimes[this.#firstTimed];
  }

  get newest(): UnixSeconds | undefined {
    return this.oldest === undefined ? undefined : this.#index.lastTimes.at(-1);
  }

  /** The Gatherer of the newest object, if the object names it. */
  get gatherer(): GathererNames | undefined {
    const { gathererName, gathererHost, gathererVersion } = this.#index;
    return gathererName === '' ? undefined : { gathererName, gathererHost, gathererVersion };
  }

  /** The Gatherer that was added to objects that name none (GATHERD-13.9). */
  get defaults(): GathererNames | undefined {
    const {
      defaultName: gathererName,
      defaultHost: gathererHost,
      defaultVersion: gathererVersion,
    } = this.#index;
    const given = gathererName !== '' || gathererHost !== '' || gathererVersion !== '';
    return given ? { gathererName, gathererHost, gathererVersion } : undefined;
  }

  /** Finds the blocks by bisection. */
  select(since: UnixSeconds): BlockSelection {
    const { firstTimes, lastTimes } = this.#index;
    const { end } = this.blocks;
    const low = firstIndex(this.#firstTimed, end, (i) => lastTimes[i]! >= since);
    const partial = low < end && firstTimes[low]! < since ? low : undefined;
    return {
      timeless: { first: 0, end: this.#firstTimed },
      partial,
      rest: { first: partial === undefined ? low : low + 1, end },
    };
  }

  /** The sums over consecutive blocks. */
  sum({ first, end }: BlockRange): BlockSum {
    const rawLength = this.#rawPositions[end]! - this.#rawPositions[first]!;
    const { end: last } = this.blocks;
    return {
      objects: this.#objects[end]! - this.#objects[first]!,
      rawLength,
      crc: end === last ? this.#crcToEnd[first]! : this.#crcOf(first, end),
      start: this.#positions[first]!,
      end: this.#positions[end]!,
    };
  }

  /** The range of the blocks' objects in {@link clear}. */
  clearRange({ first, end }: BlockRange): { readonly start: number; readonly end: number } {
    return { start: this.#rawPositions[first]!, end: this.#rawPositions[end]! };
  }

  /** Number of objects in these blocks whose content is older than their Update-Time. */
  refreshedIn({ first, end }: BlockRange): number {
    return this.#refreshed[end]! - this.#refreshed[first]!;
  }

  /**
   * Fills `target` from the file; returns fewer bytes only at the end of the file.
   *
   * @param position a multiple of {@link SUM_PIECE_BYTES}
   * @throws StorageError if the file was damaged since it was opened
   */
  async read(target: Uint8Array, position: number): Promise<number> {
    const length = await readFully(this.#file, target, position);
    this.#pieces?.require(target.subarray(0, length), position);
    return length;
  }

  /** The deflated bytes of a block. */
  async deflatedBlock(block: number): Promise<Uint8Array> {
    return (await this.#group(block, block + 1)).bytes;
  }

  /**
   * The objects with `Update-Time >= since` (GATHERD-4.3), ascending by (Update-Time, URL) (GATHERD-4.6), as
   * bytes ready for the wire. The next few blocks are read ahead.
   */
  async *objectsSince(
    since: UnixSeconds,
    options: ExportOptions = {},
  ): AsyncGenerator<ExportChunk, void, undefined> {
    const { timeless, partial, rest } = this.select(since);
    yield* this.#objectsOf(timeless, options);
    if (partial !== undefined) {
      const { bytes, objects } = await this.lastObjects(partial, since);
      yield { bytes, objects, updateTime: this.#index.lastTimes[partial]! };
    }
    yield* this.#objectsOf(rest, options);
  }

  /**
   * The last objects of a block, from `since` on, deflated. Caches the last result: all Brokers that have the
   * former generation request the same time.
   */
  lastPiece(block: number, since: UnixSeconds): Promise<DeflatedPiece> {
    const key = `${block} ${since}`;
    if (this.#lastPiece?.key !== key) {
      const piece = this.#deflateLast(block, since);
      this.#lastPiece = { key, piece };
      piece.catch(() => {
        if (this.#lastPiece?.key === key) this.#lastPiece = undefined;
      });
    }
    return this.#lastPiece.piece;
  }

  /** Block numbers by digest, for another export with the same blocks. */
  byDigest(): Map<string, number> {
    const digests = Buffer.from(this.#index.digests);
    const found = new Map<string, number>();
    for (let i = 0; i < this.blocks.end; i++) {
      found.set(digests.toString('hex', i * DIGEST_BYTES, (i + 1) * DIGEST_BYTES), i);
    }
    return found;
  }

  async close(): Promise<void> {
    await this.clear[Symbol.asyncDispose]();
    await this.#file.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The last objects of a block, from `since` on. */
  async lastObjects(
    block: number,
    since: UnixSeconds,
  ): Promise<{ readonly bytes: Uint8Array; readonly objects: number }> {
    return objectsFrom(await this.#rawBlock(block), since);
  }

  async #deflateLast(block: number, since: UnixSeconds): Promise<DeflatedPiece> {
    const { bytes, objects } = await this.lastObjects(block, since);
    return { objects, length: bytes.length, crc: crc32(bytes), deflated: deflatePiece(bytes) };
  }

  async *#objectsOf(
    { first, end }: BlockRange,
    { signal }: ExportOptions,
  ): AsyncGenerator<ExportChunk, void, undefined> {
    const { objects, lastTimes } = this.#index;
    if (first >= end) return;
    let ahead = this.#group(first, this.#groupEnd(first, end));
    try {
      for (let block = first; block < end; ) {
        const group = await ahead;
        if (group.end < end) ahead = this.#group(group.end, this.#groupEnd(group.end, end));
        for (; block < group.end; block++) {
          signal?.throwIfAborted();
          const bytes = await this.#inflate(group, block);
          yield { bytes, objects: objects[block]!, updateTime: lastTimes[block]! };
        }
      }
    } finally {
      // The read ahead may fail, and must end before the file is closed.
      await ahead.catch(() => undefined);
    }
  }

  async *#inflated({ first, end }: BlockRange): AsyncGenerator<Uint8Array, void, undefined> {
    for (let block = first; block < end; ) {
      const group = await this.#group(block, this.#groupEnd(block, end));
      for (; block < group.end; block++) yield await this.#inflate(group, block);
    }
  }

  async #rawBlock(block: number): Promise<Uint8Array> {
    return this.#inflate(await this.#group(block, block + 1), block);
  }

  /** The end of the blocks that one read includes. */
  #groupEnd(first: number, end: number): number {
    let last = first + 1;
    while (last < end && this.#positions[last + 1]! - this.#positions[first]! <= GROUP_BYTES) last++;
    return last;
  }

  async #group(first: number, end: number): Promise<BlockRange & { readonly bytes: Uint8Array }> {
    const [start, stop] = [this.#positions[first]!, this.#positions[end]!];
    // Whole pieces, which have sums.
    const position = start - (start % SUM_PIECE_BYTES);
    const bytes = Buffer.allocUnsafeSlow(Math.ceil(stop / SUM_PIECE_BYTES) * SUM_PIECE_BYTES - position);
    if (position + (await this.read(bytes, position)) < stop) {
      throw new StorageError(`${COMPRESSED_FILE} ends before block ${end}`);
    }
    return { first, end, bytes: bytes.subarray(start - position, stop - position) };
  }

  /**
   * Inflates a block, synchronously if it is small, as nearly all are: a trip to the thread pool would take
   * longer.
   */
  async #inflate(group: BlockRange & { readonly bytes: Uint8Array }, block: number): Promise<Uint8Array> {
    const origin = this.#positions[group.first]!;
    const deflated = group.bytes.subarray(
      this.#positions[block]! - origin,
      this.#positions[block + 1]! - origin,
    );
    const length = this.#index.rawLengths[block]!;
    const options = {
      finishFlush: zlib.Z_SYNC_FLUSH,
      chunkSize: Math.max(64, length),
      maxOutputLength: Math.max(1, length),
    };
    try {
      const raw =
        length <= MAX_SYNC_INFLATE_BYTES
          ? inflateRawSync(deflated, options)
          : await inflateInPool(deflated, options);
      if (raw.length === length && crc32(raw) === this.#index.crcs[block]) return raw;
    } catch (cause) {
      throw new StorageError(`block ${block} of ${COMPRESSED_FILE} is damaged`, { cause });
    }
    throw new StorageError(`block ${block} of ${COMPRESSED_FILE} is damaged`);
  }

  #crcOf(first: number, end: number): number {
    let crc = 0;
    for (let i = first; i < end; i++) {
      crc = combineCrc32(crc, this.#index.crcs[i]!, this.#index.rawLengths[i]!);
    }
    return crc;
  }
}

/** The running sums of `values`, from `start`; one more entry than values. */
function sums(values: readonly number[], start: number): Float64Array {
  const result = new Float64Array(values.length + 1);
  result[0] = start;
  values.forEach((value, i) => {
    result[i + 1] = result[i]! + value;
  });
  return result;
}

/**
 * Returns the last objects of an inflated block, from the first one with `Update-Time >= since`. The objects
 * ascend by Update-Time, and each contains this attribute. The result is a view of the block.
 */
function objectsFrom(
  block: Uint8Array,
  since: UnixSeconds,
): { readonly bytes: Uint8Array; readonly objects: number } {
  const decoder = new SoifDecoder({ maxObjectBytes: Math.max(1, block.length) });
  let start = block.length;
  let objects = 0;
  for (const item of decoder.push(block)) {
    if (item.kind !== 'object') continue;
    // An object without a time is kept: it is sent with every update (GATHERD-4.3).
    if (objects === 0 && (item.object.number('Update-Time') ?? since) < since) continue;
    if (objects === 0) start = item.offset;
    objects++;
  }
  return { bytes: block.subarray(start), objects };
}
