import { bufferOf } from '../ascii.js';

const MIN_CAPACITY = 1024;
/**
 * Growth at one step towards an announced size, so that a false size costs no more memory than the peer has
 * sent a part of.
 */
const MAX_GROWTH = 16;
/** Room after an announced value, for the attributes that follow it. */
const ROOM_AFTER = 64 * 1024;

/**
 * The part of a stream that a decoder still needs.
 *
 *     data    0 ........ low ............ fill ..... capacity
 *                        ^ still needed   ^ next byte to arrive
 *     offset  base       base + low       base + fill
 *
 * A chunk that arrives while the window is empty is used without a copy. Otherwise it is appended to memory
 * that the window owns. Bytes before `fill` never change, because delivered objects point at them. The memory
 * doubles when it grows, so a byte is copied O(1) times even if bytes arrive one by one. Towards an announced
 * size it grows faster, and not beyond it.
 */
export class Window {
  data: Buffer = Buffer.alloc(0);
  /** The same memory as `data`. */
  words: DataView = new DataView(this.data.buffer, this.data.byteOffset, 0);
  /** Offset in the stream of `data[0]`. */
  base = 0;
  /** Index of the first byte that is still needed. */
  low = 0;
  /** Index after the last byte that arrived. */
  fill = 0;
  #owned = false;
  /** Offset in the stream up to which bytes were announced. */
  #expected = 0;
  readonly #maxHeld: number;

  /** @param maxHeld bytes that can be needed at once; doubling stops there. */
  constructor(maxHeld: number) {
    this.#maxHeld = maxHeld;
  }

  /** Offset in the stream after the last byte that arrived. */
  get end(): number {
    return this.base + this.fill;
  }

  /** The byte at an offset that is in the window. */
  byteAt(offset: number): number {
    return this.data[offset - this.base]!;
  }

  /** Releases the bytes before `offset`. */
  release(offset: number): void {
    this.low = Math.max(this.low, Math.min(this.fill, offset - this.base));
  }

  /** Copies the bytes that are still needed out of the last chunk, which the caller will overwrite. */
  own(): void {
    if (this.#owned || this.low === this.fill) return;
    const copy = Buffer.allocUnsafeSlow(Math.max(this.fill - this.low, MIN_CAPACITY));
    copy.set(this.data.subarray(this.low, this.fill), 0);
    this.base += this.low;
    this.fill -= this.low;
    this.low = 0;
    this.#use(copy);
    this.#owned = true;
  }

  /** Forgets all bytes: the next ones begin at `offset`. */
  restart(offset: number): void {
    this.#use(Buffer.alloc(0));
    this.base = offset;
    this.low = 0;
    this.fill = 0;
    this.#owned = false;
    this.#expected = 0;
  }

  /** Announces that the bytes up to `offset` are needed at once with those that are held. */
  expect(offset: number): void {
    this.#expected = offset;
  }

  append(chunk: Uint8Array): void {
    const held = this.fill - this.low;
    if (held === 0) {
      this.base += this.fill;
      this.#use(bufferOf(chunk));
      this.#owned = false;
      this.low = 0;
      this.fill = chunk.length;
      return;
    }
    const needed = held + chunk.length;
    if (!this.#owned || this.fill + chunk.length > this.data.length) {
      const announced = this.#expected - this.base - this.low;
      const larger =
        announced > needed
          ? Math.min(announced + ROOM_AFTER, MAX_GROWTH * needed)
          : Math.min(2 * held, this.#maxHeld + chunk.length);
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, larger, MIN_CAPACITY));
      grown.set(this.data.subarray(this.low, this.fill), 0);
      this.base += this.low;
      this.#use(grown);
      this.#owned = true;
      this.low = 0;
      this.fill = held;
    }
    this.data.set(chunk, this.fill);
    this.fill += chunk.length;
  }

  #use(data: Buffer): void {
    this.data = data;
    this.words = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  /** A view of the bytes between two offsets that are in the window. */
  view(start: number, end: number): Uint8Array {
    return new Uint8Array(this.data.buffer, this.data.byteOffset + start - this.base, end - start);
  }
}
