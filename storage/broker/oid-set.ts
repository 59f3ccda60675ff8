/** OIDs that share their upper 16 bits share one bitmap of 65 536 bits (8 KiB). */
const CHUNK_BITS = 16;
const CHUNK_WORDS = 1 << (CHUNK_BITS - 5);

/**
 * A set of OIDs (u32) as bitmaps, so that a Boolean operation costs one machine operation for 32 objects. A
 * Broker allocates OIDs in rising order, so the set costs about one bit per object.
 */
export class OidSet {
  readonly #chunks = new Map<number, Uint32Array>();

  static of(oids: Iterable<number>): OidSet {
    const set = new OidSet();
    for (const oid of oids) set.add(oid);
    return set;
  }

  /** Makes the set that {@link toRanges} returned. */
  static ofRanges(ranges: readonly number[]): OidSet {
    const set = new OidSet();
    for (let i = 0; i + 1 < ranges.length; i += 2)
      for (let oid = ranges[i]!; oid <= ranges[i + 1]!; oid++) set.add(oid);
    return set;
  }

  add(oid: number): void {
    const key = oid >>> CHUNK_BITS;
    let chunk = this.#chunks.get(key);
    if (chunk === undefined) {
      chunk = new Uint32Array(CHUNK_WORDS);
      this.#chunks.set(key, chunk);
    }
    const word = (oid >>> 5) & (CHUNK_WORDS - 1);
    chunk[word] = chunk[word]! | (1 << (oid & 31));
  }

  delete(oid: number): void {
    const chunk = this.#chunks.get(oid >>> CHUNK_BITS);
    if (chunk === undefined) return;
    const word = (oid >>> 5) & (CHUNK_WORDS - 1);
    chunk[word] = chunk[word]! & ~(1 << (oid & 31));
  }

  has(oid: number): boolean {
    const word = this.#chunks.get(oid >>> CHUNK_BITS)?.[(oid >>> 5) & (CHUNK_WORDS - 1)];
    return word !== undefined && (word & (1 << (oid & 31))) !== 0;
  }

  get isEmpty(): boolean {
    for (const chunk of this.#chunks.values()) if (chunk.some((word) => word !== 0)) return false;
    return true;
  }

  get size(): number {
    let count = 0;
    for (const chunk of this.#chunks.values()) for (const word of chunk) count += bitCount(word);
    return count;
  }

  /** Keeps the elements that are also in `other`. */
  intersect(other: OidSet): this {
    for (const [key, chunk] of this.#chunks) {
      const otherChunk = other.#chunks.get(key);
      if (otherChunk === undefined) this.#chunks.delete(key);
      else for (let i = 0; i < CHUNK_WORDS; i++) chunk[i] = chunk[i]! & otherChunk[i]!;
    }
    return this;
  }

  /** Adds the elements of `other`. */
  unite(other: OidSet): this {
    for (const [key, otherChunk] of other.#chunks) {
      const chunk = this.#chunks.get(key);
      if (chunk === undefined) this.#chunks.set(key, otherChunk.slice());
      else for (let i = 0; i < CHUNK_WORDS; i++) chunk[i] = chunk[i]! | otherChunk[i]!;
    }
    return this;
  }

  /** Removes the elements of `other`. */
  subtract(other: OidSet): this {
    for (const [key, chunk] of this.#chunks) {
      const otherChunk = other.#chunks.get(key);
      if (otherChunk !== undefined)
        for (let i = 0; i < CHUNK_WORDS; i++) chunk[i] = chunk[i]! & ~otherChunk[i]!;
    }
    return this;
  }

  clone(): OidSet {
    return new OidSet().unite(this);
  }

  /** The runs of consecutive OIDs, each by its first and last one, in rising order. */
  toRanges(): number[] {
    const ranges: number[] = [];
    let last: number | undefined;
    for (const oid of this.toArray()) {
      if (last !== undefined && oid === last + 1) ranges[ranges.length - 1] = oid;
      else ranges.push(oid, oid);
      last = oid;
    }
    return ranges;
  }

  /** The OIDs in rising order. */
  toArray(): Uint32Array {
    const oids = new Uint32Array(this.size);
    let n = 0;
    for (const key of [...this.#chunks.keys()].sort((a, b) => a - b)) {
      const chunk = this.#chunks.get(key)!;
      for (let i = 0; i < CHUNK_WORDS; i++) {
        for (let word = chunk[i]!; word !== 0; word &= word - 1) {
          oids[n++] = key * 65_536 + i * 32 + (31 - Math.clz32(word & -word));
        }
      }
    }
    return oids;
  }
}

function bitCount(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
