/**
 * The already-seen test (CRAWL section 4): has this URI been taken in before? Keys are the 8-byte keys of CRAWL-3.7
 * made from the canonical string. Whoever adds a key also writes it in the batch that queues the URI, so that
 * "seen" and "queued" are one fact on disk.
 */
export interface UriUniqFilter {
  /** Records the key; true when it was not there yet. */
  add(key: Uint8Array): boolean;
  has(key: Uint8Array): boolean;
  readonly count: number;
}

/** Slots at the start, a power of two; doubled when three quarters are taken (CRAWL-4.4, FPUriUniqFilter). */
const FIRST_SLOTS = 1024;

/**
 * A set of 64-bit fingerprints in open addressing: 9 bytes a slot, so 12 to 24 bytes a URI (CRAWL-4.4). The keys
 * are kept by the store; this is the part of them that answers without a disk read.
 */
export class FingerprintSet implements UriUniqFilter {
  #high = new Uint32Array(FIRST_SLOTS);
  #low = new Uint32Array(FIRST_SLOTS);
  #taken = new Uint8Array(FIRST_SLOTS);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(key: Uint8Array): boolean {
    const { high, low } = words(key);
    const slot = this.#find(high, low);
    if (slot >= 0) return false;
    if ((this.#count + 1) * 4 > this.#taken.length * 3) {
      this.#grow();
      return this.add(key);
    }
    this.#put(~slot, high, low);
    return true;
  }

  has(key: Uint8Array): boolean {
    const { high, low } = words(key);
    return this.#find(high, low) >= 0;
  }

  /** The slot that holds the key, or the complement of the free slot where it belongs. */
  #find(high: number, low: number): number {
    const mask = this.#taken.length - 1;
    let slot = (Math.imul(low ^ (high >>> 7), 0x9e3779b1) >>> 0) & mask;
    for (;;) {
      if (this.#taken[slot] === 0) return ~slot;
      if (this.#low[slot] === low && this.#high[slot] === high) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #put(slot: number, high: number, low: number): void {
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#taken[slot] = 1;
    this.#count++;
  }

  #grow(): void {
    const high = this.#high;
    const low = this.#low;
    const taken = this.#taken;
    const slots = taken.length * 2;
    this.#high = new Uint32Array(slots);
    this.#low = new Uint32Array(slots);
    this.#taken = new Uint8Array(slots);
    this.#count = 0;
    for (let i = 0; i < taken.length; i++) {
      if (taken[i] === 1) this.#put(~this.#find(high[i]!, low[i]!), high[i]!, low[i]!);
    }
  }
}

function words(key: Uint8Array): { high: number; low: number } {
  const high = ((key[0]! << 24) | (key[1]! << 16) | (key[2]! << 8) | key[3]!) >>> 0;
  const low = ((key[4]! << 24) | (key[5]! << 16) | (key[6]! << 8) | key[7]!) >>> 0;
  return { high, low };
}
