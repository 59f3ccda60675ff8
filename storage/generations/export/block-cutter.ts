// Decides where the blocks of an export begin and end.
import { crc32 } from 'node:zlib';
import type { UnixSeconds } from '../../../protocols/time.js';

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
