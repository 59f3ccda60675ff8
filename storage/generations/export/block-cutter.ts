import { crc32 } from 'node:zlib';
import type { UnixSeconds } from '../../../protocols/time.js';

/** The minimum and maximum size of a block, in bytes of objects. A larger object is a block alone. */
const MIN_BLOCK_BYTES = 32 * 1024;
export const MAX_BLOCK_BYTES = 128 * 1024;
/** Above the minimum size, one object in this many ends its block. */
const OBJECTS_PER_END = 16;

/**
 * Decides where the blocks of an export end. A boundary depends on the objects next to it, not on the number of objects before it: after
 * a few changes most blocks of a large database are the same and need not be compressed again.
 */
export class BlockCutter {
  #bytes = 0;
  #objects = 0;
  #timeless = false;
  #canEnd = false;

  /** Adds the next object in the order of (Update-Time, URL). Returns true if a new block begins with it. */
  add(url: string, updateTime: UnixSeconds, length: number): boolean {
    const full = this.#bytes + length > MAX_BLOCK_BYTES;
    const ended = this.#canEnd && this.#bytes >= MIN_BLOCK_BYTES;
    // GATHERD-4.3: objects without an Update-Time are always sent, so no block has both kinds.
    const otherKind = this.#timeless !== (updateTime === 0);
    const cut = this.#objects > 0 && (full || ended || otherKind);
    if (cut) {
      this.#bytes = 0;
      this.#objects = 0;
    }
    this.#bytes += length;
    this.#objects++;
    this.#timeless = updateTime === 0;
    this.#canEnd = crc32(url) % OBJECTS_PER_END === 0;
    return cut;
  }
}
