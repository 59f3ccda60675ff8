import { crc32 } from 'node:zlib';
import type { UnixSeconds } from '../../../protocols/time.js';

/** Smallest and largest block, bytes of objects. A larger object is a block of its own. */
const MIN_BLOCK_BYTES = 32 * 1024;
export const MAX_BLOCK_BYTES = 128 * 1024;
/** Above the minimum, one object in this many ends its block. */
const ENDS_ONE_IN = 16;

/**
 * Decides where the blocks of an export end. A boundary depends on the objects next to it, not on the number of objects before it: after
 * a few changes most blocks of a large database are the same, and need not be compressed again.
 */
export class BlockCutter {
  #bytes = 0;
  #objects = 0;
  #timeless = false;
  #mayEnd = false;

  /** Whether a new block begins with this object, the next in order of (Update-Time, URL). */
  next(url: string, updateTime: UnixSeconds, length: number): boolean {
    const full = this.#bytes + length > MAX_BLOCK_BYTES;
    const ended = this.#mayEnd && this.#bytes >= MIN_BLOCK_BYTES;
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
    this.#mayEnd = crc32(url) % ENDS_ONE_IN === 0;
    return cut;
  }
}
