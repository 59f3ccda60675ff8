import { crc32 } from 'node:zlib';
import type { UnixSeconds } from '../../../protocols/time.js';

/** Bytes of objects after which a block may end, and before which it does end. A larger object is a block alone. */
const MIN_BLOCK_BYTES = 32 * 1024;
export const MAX_BLOCK_BYTES = 128 * 1024;
/** Beyond the minimum, one object in so many is the last of its block. */
const ENDS_ONE_IN = 16;

/**
 * Says where one block of an export ends and the next begins. Where that is depends on the objects around it, not on how
 * many stand before: so a few changes leave most blocks of a large database as they were, and those need not be
 * compressed again.
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
    // GATHERD-4.3: objects without an Update-Time are sent always, so no block has both kinds.
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
