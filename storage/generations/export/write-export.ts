// Writes the export of a generation. Blocks that the export of an earlier generation has are copied from it.
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32, deflateRaw, constants as zlib } from 'node:zlib';
import { combineCrc32, encodeGzipTrailer, GZIP_HEADER } from '../../../protocols/gatherd/index.js';
import { SoifDecoder } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { writeFully } from '../../files/write-fully.js';
import { type ExportIndex, exportIndexCodec } from '../../records/records.js';
import type { SummaryStore } from '../../summaries/summary-store.js';
import {
  COMPRESSED_FILE,
  DIGEST_BYTES,
  deflateEnd,
  deflatePiece,
  EXPORT_HEAD,
  EXPORT_TAIL,
  EXPORT_VERSION,
  INDEX_FILE,
} from './format.js';
import { addGatherer } from './gatherer-defaults.js';
import type { ReadyExport } from './ready-export.js';
import { type GathererNames, Survey } from './survey.js';

export interface WriteExportOptions {
  /** An earlier export; unchanged blocks are copied from it. */
  readonly previous?: ReadyExport | undefined;
  /** GATHERD-13.9: the Gatherer of objects that do not name one. */
  readonly gatherer?: GathererNames | undefined;
}

const deflateInPool = promisify(deflateRaw) as (
  raw: Uint8Array,
  options: { finishFlush: number },
) => Promise<Buffer>;

/** Blocks that the thread pool compresses concurrently. */
const BLOCKS_IN_FLIGHT = 4;

/**
 * Writes {@link COMPRESSED_FILE} and {@link INDEX_FILE} into a directory and flushes them to the disk (DESIGN
 * 5), in a single walk over all objects, which also collects the data for INFO. Needs memory for a few blocks
 * and for the index.
 */
export async function writeExport(
  summaries: SummaryStore,
  directory: string,
  options: WriteExportOptions = {},
): Promise<void> {
  await using file = await open(join(directory, COMPRESSED_FILE), 'w');
  const writer = new ExportWriter(file, options);
  const index = await writer.write(summaries);
  await file.sync();
  await using indexFile = await open(join(directory, INDEX_FILE), 'w');
  await indexFile.writeFile(exportIndexCodec.encode(index));
  await indexFile.sync();
}

/** A block that is being filled. */
interface Block {
  readonly objects: Uint8Array[];
  refreshed: number;
  readonly firstTime: UnixSeconds;
  lastTime: UnixSeconds;
}

/** A block's entry in the index. */
interface BlockEntry extends Omit<Block, 'objects'> {
  readonly objects: number;
  readonly rawLength: number;
  readonly crc: number;
  /** In hexadecimal digits. */
  readonly digest: string;
}

interface FinishedBlock extends BlockEntry {
  readonly deflated: Uint8Array;
}

class ExportWriter {
  readonly #file: FileHandle;
  readonly #options: WriteExportOptions;
  /** Numbers of the blocks of the earlier export, by digest. */
  readonly #reusable: ReadonlyMap<string, number>;
  readonly #survey = new Survey();
  #decoder = new SoifDecoder();
  readonly #inFlight: Promise<FinishedBlock>[] = [];
  readonly #entries: (BlockEntry & { readonly length: number })[] = [];

  constructor(file: FileHandle, options: WriteExportOptions) {
    this.#file = file;
    this.#options = options;
    this.#reusable = options.previous?.byDigest() ?? new Map();
  }

  async write(summaries: SummaryStore): Promise<ExportIndex> {
    const start = [GZIP_HEADER, deflatePiece(EXPORT_HEAD)];
    for (const piece of start) await writeFully(this.#file, piece);
    try {
      await this.#writeBlocks(summaries);
    } finally {
      await Promise.allSettled(this.#inFlight);
    }
    const sum = { crc: crc32(EXPORT_HEAD), size: EXPORT_HEAD.length };
    for (const { crc, rawLength } of this.#entries) {
      sum.crc = combineCrc32(sum.crc, crc, rawLength);
      sum.size += rawLength;
    }
    const crc = crc32(EXPORT_TAIL, sum.crc);
    await writeFully(this.#file, deflateEnd(EXPORT_TAIL));
    await writeFully(this.#file, encodeGzipTrailer(crc, sum.size + EXPORT_TAIL.length));
    return this.#index(start.reduce((bytes, piece) => bytes + piece.length, 0));
  }

  async #writeBlocks(summaries: SummaryStore): Promise<void> {
    const cutter = new BlockCutter();
    let block: Block | undefined;
    for await (const page of summaries.iterate()) {
      for (const { url, updateTime, contentTime, soif } of page) {
        const bytes = this.#exportedBytes(soif);
        if (block !== undefined && cutter.add(url, updateTime, bytes.length)) {
          await this.#compress(block);
          block = undefined;
        } else if (block === undefined) {
          cutter.add(url, updateTime, bytes.length);
        }
        block ??= { objects: [], refreshed: 0, firstTime: updateTime, lastTime: updateTime };
        block.objects.push(bytes);
        block.lastTime = updateTime;
        if (contentTime < updateTime) block.refreshed++;
      }
    }
    if (block !== undefined) await this.#compress(block);
    while (this.#inFlight.length > 0) await this.#writeOldest();
  }

  /** The object's bytes as they are exported. */
  #exportedBytes(soif: Uint8Array): Uint8Array {
    const { gatherer } = this.#options;
    const items = this.#decoder.push(soif);
    const [item] = items;
    if (items.length !== 1 || item?.kind !== 'object') {
      // An object in another layout is passed on unchanged; the decoder starts again with the next one.
      this.#decoder = new SoifDecoder();
      return soif;
    }
    this.#survey.add(item.object);
    return gatherer === undefined ? soif : (addGatherer(item.object, gatherer) ?? soif);
  }

  async #compress(block: Block): Promise<void> {
    this.#inFlight.push(this.#finish(block));
    if (this.#inFlight.length >= BLOCKS_IN_FLIGHT) await this.#writeOldest();
  }

  async #finish({ objects, ...block }: Block): Promise<FinishedBlock> {
    const raw = Buffer.concat(objects);
    const digest = createHash('sha256')
      .update(raw)
      .digest('hex')
      .slice(0, 2 * DIGEST_BYTES);
    const reusable = this.#reusable.get(digest);
    // A former export that was damaged since it was opened is not used.
    const former =
      reusable === undefined
        ? undefined
        : await this.#options.previous?.deflatedBlock(reusable).catch(() => undefined);
    const deflated = former ?? (await deflateInPool(raw, { finishFlush: zlib.Z_FULL_FLUSH }));
    return { ...block, objects: objects.length, rawLength: raw.length, crc: crc32(raw), digest, deflated };
  }

  /** Writes the oldest block in flight. */
  async #writeOldest(): Promise<void> {
    const { deflated, ...entry } = await this.#inFlight.shift()!;
    await writeFully(this.#file, deflated);
    this.#entries.push({ ...entry, length: deflated.length });
  }

  #index(start: number): ExportIndex {
    const blocks = this.#entries;
    const identity = this.#survey.gatherer();
    const { gatherer } = this.#options;
    return {
      version: EXPORT_VERSION,
      start,
      lengths: blocks.map(({ length }) => length),
      rawLengths: blocks.map(({ rawLength }) => rawLength),
      crcs: blocks.map(({ crc }) => crc),
      objects: blocks.map(({ objects }) => objects),
      refreshed: blocks.map(({ refreshed }) => refreshed),
      firstTimes: blocks.map(({ firstTime }) => firstTime),
      lastTimes: blocks.map(({ lastTime }) => lastTime),
      digests: Buffer.from(blocks.map(({ digest }) => digest).join(''), 'hex'),
      attributes: this.#survey.attributes(),
      gathererName: identity?.gathererName ?? '',
      gathererHost: identity?.gathererHost ?? '',
      gathererVersion: identity?.gathererVersion ?? '',
      defaultName: gatherer?.gathererName ?? '',
      defaultHost: gatherer?.gathererHost ?? '',
      defaultVersion: gatherer?.gathererVersion ?? '',
    };
  }
}

/** Maximum size of a block, in bytes of objects. A larger object is a block alone. */
export const MAX_BLOCK_BYTES = 128 * 1024;
/**
 * Size from which an object can end its block, chosen by the hash of its URL. A block is smaller if the next
 * object would exceed the maximum or is of the other kind (with or without an Update-Time), or if the export
 * ends.
 */
const CHOSEN_END_BYTES = 32 * 1024;
/** The hash chooses one object in 16 on average. */
const OBJECTS_PER_END = 16;

/**
 * Decides where the blocks of an export end. A boundary depends on the objects next to it, not on the number of
 * objects before it: after a few changes most blocks of a large database are the same and need not be
 * compressed again.
 */
export class BlockCutter {
  #bytes = 0;
  #objects = 0;
  /** Whether the objects of this block have no Update-Time. */
  #lacksUpdateTime = false;
  /** Whether the hash of the last object chooses it as the end of its block. */
  #isChosenEnd = false;

  /** Adds the next object in the order of (Update-Time, URL). Returns true if a new block begins with it. */
  add(url: string, updateTime: UnixSeconds, length: number): boolean {
    const full = this.#bytes + length > MAX_BLOCK_BYTES;
    const ended = this.#isChosenEnd && this.#bytes >= CHOSEN_END_BYTES;
    // GATHERD-4.3: objects without an Update-Time are always sent, so no block has both kinds.
    const otherKind = this.#lacksUpdateTime !== (updateTime === 0);
    const cut = this.#objects > 0 && (full || ended || otherKind);
    if (cut) {
      this.#bytes = 0;
      this.#objects = 0;
    }
    this.#bytes += length;
    this.#objects++;
    this.#lacksUpdateTime = updateTime === 0;
    this.#isChosenEnd = crc32(url) % OBJECTS_PER_END === 0;
    return cut;
  }
}
