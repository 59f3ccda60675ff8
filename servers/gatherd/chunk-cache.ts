/** Where the chunks come from; a generation's compressed file is one. */
export interface ChunkSource {
  /** Fills `target`; fewer bytes only at the end. */
  read(target: Uint8Array, position: number): Promise<number>;
}

/** Bytes that somebody uses; they are overwritten some time after the release. */
export interface ChunkLease {
  readonly bytes: Uint8Array;
  release(): void;
}

export interface ChunkCacheOptions {
  /** Bytes of one chunk. Default 256 KiB. */
  readonly chunkBytes?: number;
  /** Bytes of all chunks kept. Default 48 MiB. */
  readonly maxBytes?: number;
}

interface Slot {
  readonly memory: Uint8Array;
  users: number;
  /** What it holds, for {@link ChunkCache}'s map. */
  source: ChunkSource | undefined;
  chunk: number;
  filled: Promise<number>;
}

/**
 * The chunks of files that transfers are sending, in memory that is allocated once: what one client has just been sent is
 * there for the next, however many there are, and nothing is left to the garbage collector. Chunks that are asked for
 * together are read once. When all are in use by slow clients, further ones get memory of their own for the moment.
 */
export class ChunkCache {
  readonly chunkBytes: number;
  readonly #maxSlots: number;
  readonly #bySource = new WeakMap<ChunkSource, Map<number, Slot>>();
  /** Not in use, longest not used first. */
  readonly #idle = new Set<Slot>();
  #slots = 0;

  constructor(options: ChunkCacheOptions = {}) {
    this.chunkBytes = options.chunkBytes ?? 256 * 1024;
    this.#maxSlots = Math.max(1, Math.floor((options.maxBytes ?? 48 << 20) / this.chunkBytes));
  }

  /** The number of the chunk that holds the byte at a position. */
  chunkAt(position: number): number {
    return Math.floor(position / this.chunkBytes);
  }

  /** The chunk of that number: bytes from `chunk * chunkBytes` on. */
  async acquire(source: ChunkSource, chunk: number): Promise<ChunkLease> {
    const chunks = this.#chunksOf(source);
    let slot = chunks.get(chunk);
    if (slot === undefined) {
      slot = this.#takeSlot();
      slot.source = source;
      slot.chunk = chunk;
      slot.filled = source.read(slot.memory, chunk * this.chunkBytes);
      chunks.set(chunk, slot);
    }
    slot.users++;
    this.#idle.delete(slot);
    try {
      const length = await slot.filled;
      return { bytes: slot.memory.subarray(0, length), release: once(() => this.#release(slot)) };
    } catch (error) {
      this.#forget(slot);
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

  #takeSlot(): Slot {
    if (this.#slots >= this.#maxSlots) {
      const [oldest] = this.#idle;
      if (oldest !== undefined) {
        this.#idle.delete(oldest);
        this.#forget(oldest);
        return oldest;
      }
    }
    this.#slots++;
    const memory = Buffer.allocUnsafeSlow(this.chunkBytes);
    return { memory, users: 0, source: undefined, chunk: 0, filled: Promise.resolve(0) };
  }

  #forget(slot: Slot): void {
    if (slot.source !== undefined) this.#bySource.get(slot.source)?.delete(slot.chunk);
    slot.source = undefined;
  }

  #release(slot: Slot): void {
    if (--slot.users > 0) return;
    if (this.#slots > this.#maxSlots) {
      this.#slots--;
      this.#forget(slot);
    } else {
      this.#idle.add(slot);
    }
  }
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}
