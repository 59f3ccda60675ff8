// Reads the numbers of LevelDB's files: varints, length-prefixed bytes, little-endian words.
import { StorageError } from '../../../protocols/errors.js';

/** Reads numbers and byte strings one after the other. */
export class WireReader {
  #at: number;
  readonly #end: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** An unsigned varint up to 2^53 - 1. @throws StorageError if the bytes end, or the number is larger */
  varint(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 56; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
    }
    throw new StorageError(`a number at offset ${this.#at} is too large`);
  }

  byte(): number {
    if (this.#at >= this.#end) throw new StorageError(`the bytes end at offset ${this.#at}`);
    return this.#bytes[this.#at++]!;
  }

  take(length: number): Uint8Array {
    if (length > this.#end - this.#at) throw new StorageError(`the bytes end at offset ${this.#end}`);
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  /** Bytes after their length. */
  prefixed(): Uint8Array {
    return this.take(this.varint());
  }
}

/** The little-endian u32 at `at`. */
export function u32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}
