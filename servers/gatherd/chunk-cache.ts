// Caches chunks of files that transfers are sending.
/** A file whose chunks are cached, e.g. the compressed file of a generation. */
export interface ChunkSource {
  /** Reads into `target` and returns the number of bytes: fewer than its length only at the end. */
  read(target: Uint8Array, position: number): Promise<number>;
}

/** The bytes of a chunk while they are in use. They may be overwritten after the release. */
export interface ChunkLease {
  readonly bytes: Uint8Array;
  release(): void;
}

/** Milliseconds without a transfer after which the memory is released. */
const KEEP_MS = 60_000;

export interface ChunkCacheOptions {
  /** Bytes of one chunk. Default 256 KiB. */
  readonly chunkBytes?: number;
  /** Bytes of all cached chunks. Default 48 MiB. */
  readonly maxBytes?: number;
}

interface Slot {
  readonly memory: Uint8Array;
  users: number;
  source: ChunkSource | undefined;
  chunk: number;
  filled: Promise<number>;
}

/**
 * Caches the chunks of files that transfers are sending, and evicts the least recently used. Its memory is
 * reused until no transfer has run for a while: a general cache would leave 256 KiB per chunk to the garbage
 * collector and could evict a chunk in use. Concurrent requests for a chunk read it once. When slow clients use
 * all slots, further chunks get temporary memory.
 */
export class ChunkCache {
  readonly chunkBytes: number;
  readonly #maxSlots: number;
  readonly #bySource = new WeakMap<ChunkSource, Map<number, Slot>>();
  /** Slots not in use, the least recently used first. */
  readonly #idle = new Set<Slot>();
  #slotCount = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ChunkCacheOptions = {}) {
    this.chunkBytes = options.chunkBytes ?? 256 * 1024;
    this.#maxSlots = Math.max(1, Math.floor((options.maxBytes ?? 48 << 20) / this.chunkBytes));
  }

  /** Returns the number of the chunk that contains the byte at a position. */
  chunkAt(position: number): number {
    return Math.floor(position / this.chunkBytes);
  }

  /** Returns a chunk, whose first byte is at `chunk * chunkBytes`. The caller must release it. */
  async acquire(source: ChunkSource, chunk: number): Promise<ChunkLease> {
    const chunks = this.#chunksOf(source);
    let slot = chunks.get(chunk);
    if (slot === undefined) {
      slot = this.#allocateSlot();
      slot.source = source;
      slot.chunk = chunk;
      slot.filled = source.read(slot.memory, chunk * this.chunkBytes);
      chunks.set(chunk, slot);
    }
    slot.users++;
    this.#idle.delete(slot);
    try {
      const length = await slot.filled;
      return { bytes: slot.memory.subarray(0, length), release: callOnce(() => this.#release(slot)) };
    } catch (error) {
      this.#unlink(slot);
      this.#release(slot);
      throw error;
    }
  }

  #chunksOf(source: ChunkSource): Map<number, Slot> {
    let chunks = this.#bySource.get(source);
    if (chunks === undefined) {
      chunks = new Map();
      this.#bySource.set(source, chunks);
    }
    return chunks;
  }

  #allocateSlot(): Slot {
    if (this.#slotCount >= this.#maxSlots) {
      const [oldest] = this.#idle;
      if (oldest !== undefined) {
        this.#idle.delete(oldest);
        this.#unlink(oldest);
        return oldest;
      }
    }
    this.#slotCount++;
    const memory = Buffer.allocUnsafeSlow(this.chunkBytes);
    return { memory, users: 0, source: undefined, chunk: 0, filled: Promise.resolve(0) };
  }

  #unlink(slot: Slot): void {
    if (slot.source !== undefined) this.#bySource.get(slot.source)?.delete(slot.chunk);
    slot.source = undefined;
  }

  #release(slot: Slot): void {
    if (--slot.users > 0) return;
    if (this.#slotCount > this.#maxSlots) {
      this.#slotCount--;
      this.#unlink(slot);
    } else {
      this.#idle.add(slot);
      if (this.#idle.size === this.#slotCount) this.#releaseLater();
    }
  }

  /** No transfer runs: releases the memory unless one begins in the meantime. */
  #releaseLater(): void {
    this.#timer ??= setTimeout(() => {
      if (this.#idle.size === this.#slotCount) {
        for (const slot of this.#idle) this.#unlink(slot);
        this.#idle.clear();
        this.#slotCount = 0;
      }
      this.#timer = undefined;
    }, KEEP_MS).unref();
    this.#timer.refresh();
  }
}

function callOnce(work: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}
