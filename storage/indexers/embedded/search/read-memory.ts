// Divides the memory for objects among the searches of one thread.

/** The limits of searches that bound their reads. */
export interface ReadLimits {
  /** Approximate number of objects, and of bytes, in one read from the store. */
  readonly readObjects: number;
  readonly readBytes: number;
  /** Approximate number of bytes that the reads of all searches together keep in memory. */
  readonly totalReadBytes: number;
}

/** Number of objects in the first read of a search: small, so that the first hit arrives soon. */
const FIRST_READ = 8;

/** Parts of the former mean size of an object in the new one. */
const MEAN_INERTIA = 0.75;

/**
 * Sizes the reads of the searches that work, so that all of them together keep about `totalReadBytes` in
 * memory.
 */
export class ReadMemory {
  readonly #limits: ReadLimits;
  #working = 0;
  /** Bytes of an object in the last reads. */
  #mean = 0;

  constructor(limits: ReadLimits) {
    this.#limits = limits;
  }

  /** A search begins to work. */
  enter(): void {
    this.#working += 1;
  }

  /** It pauses or ends. */
  leave(): void {
    this.#working -= 1;
  }

  /** Number of objects in the first read of a search. */
  get firstRead(): number {
    return Math.min(FIRST_READ, this.objectsOf(this.#mean));
  }

  /** Bytes after which a read ends early: the objects may be larger than those before. */
  get mostBytes(): number {
    return 4 * this.#limits.readBytes;
  }

  /** Whether searches may read the next objects while they match the current ones. */
  get mayReadAhead(): boolean {
    return this.#bytes >= this.#limits.readBytes && this.#mean <= this.#limits.readBytes;
  }

  /** Number of objects in one read, from the mean size of an object, bytes. */
  objectsOf(meanBytes: number): number {
    const { readObjects } = this.#limits;
    if (meanBytes === 0) return readObjects;
    return Math.max(1, Math.min(readObjects, Math.floor(this.#bytes / meanBytes)));
  }

  /** Counts the objects of a read, and returns the number for the next read of the same search. */
  countRead(objects: readonly (Uint8Array | undefined)[]): number {
    const bytes = objects.reduce((sum, object) => sum + (object?.length ?? 0), 0);
    const mean = bytes / Math.max(1, objects.length);
    this.#mean = this.#mean === 0 ? mean : this.#mean * MEAN_INERTIA + mean * (1 - MEAN_INERTIA);
    return Math.min(2 * objects.length, this.objectsOf(mean));
  }

  /** Bytes of one read; a search that reads ahead has two. */
  get #bytes(): number {
    const { readBytes, totalReadBytes } = this.#limits;
    return Math.min(readBytes, totalReadBytes / (2 * Math.max(1, this.#working)));
  }
}
