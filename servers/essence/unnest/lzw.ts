import { UnnestError } from '../errors.js';
import type { Chunks } from './chunks.js';

/** Code that clears the table, in block mode. */
const CLEAR = 256;
/** Size of an output chunk. */
const OUTPUT_BYTES = 64 * 1024;

/**
 * Decompresses a file of compress(1), `.Z` (E-43): LZW with codes of 9 to 16 bits. compress pads a group of
 * eight codes whenever the width changes or the table is cleared, so the input is read in groups of `width`
 * bytes.
 *
 * @throws UnnestError for other data. The input may end in the middle of a code.
 */
export async function* decompressLzw(chunks: Chunks): Chunks {
  const decoder = new LzwDecoder();
  for await (const chunk of chunks) yield* decoder.push(chunk);
  yield* decoder.end();
}

/** The decoder (E-43): bytes in, bytes out. */
class LzwDecoder {
  #head: number[] = [];
  #maxBits = 0;
  #blockMode = false;
  #prefix = new Uint16Array(0);
  #suffix = new Uint8Array(0);
  #stack = new Uint8Array(0);
  #free = 0;
  #bits = 9;
  #previous = -1;
  #first = 0;
  #group = new Uint8Array(16);
  #filled = 0;
  #out = new Uint8Array(OUTPUT_BYTES);
  #length = 0;

  *push(chunk: Uint8Array): Generator<Uint8Array> {
    let offset = 0;
    while (this.#head.length < 3 && offset < chunk.length) {
      this.#head.push(chunk[offset++]!);
      if (this.#head.length === 3) this.#begin();
    }
    while (offset < chunk.length) {
      const needed = Math.min(this.#bits - this.#filled, chunk.length - offset);
      this.#group.set(chunk.subarray(offset, offset + needed), this.#filled);
      offset += needed;
      this.#filled += needed;
      if (this.#filled === this.#bits) yield* this.#codes();
    }
  }

  *end(): Generator<Uint8Array> {
    if (this.#head.length < 3) throw new UnnestError('the file ends inside its header of 3 bytes', 'E-43');
    if (this.#filled > 0) yield* this.#codes();
    if (this.#length > 0) yield this.#flush();
  }

  #begin(): void {
    const [a, b, flags = 0] = this.#head;
    if (a !== 0x1f || b !== 0x9d) throw new UnnestError('not data of compress(1)', 'E-43');
    this.#maxBits = flags & 0x1f;
    this.#blockMode = (flags & 0x80) !== 0;
    if (this.#maxBits < 9 || this.#maxBits > 16) {
      throw new UnnestError(`codes of ${this.#maxBits} bits; 9 to 16 are possible`, 'E-43');
    }
    const size = 1 << this.#maxBits;
    this.#prefix = new Uint16Array(size);
    this.#suffix = new Uint8Array(size);
    this.#stack = new Uint8Array(size);
    this.#free = this.#blockMode ? CLEAR + 1 : CLEAR;
  }

  /**
   * Decodes one group of codes. After a change of the width, the rest of the group is padding and is dropped.
   */
  *#codes(): Generator<Uint8Array> {
    const width = this.#bits;
    const count = Math.floor((this.#filled * 8) / width);
    this.#filled = 0;
    for (let i = 0; i < count; i++) {
      const code = this.#code(i * width, width);
      if (this.#blockMode && code === CLEAR) {
        this.#free = CLEAR + 1;
        this.#bits = 9;
        this.#previous = -1;
        return;
      }
      yield* this.#string(code);
      if (this.#free >= 1 << width && width < this.#maxBits) {
        this.#bits = width + 1;
        return;
      }
    }
  }

  #code(bit: number, width: number): number {
    const offset = bit >> 3;
    const three = this.#group[offset]! | (this.#group[offset + 1]! << 8) | (this.#group[offset + 2]! << 16);
    return (three >> (bit & 7)) & ((1 << width) - 1);
  }

  *#string(code: number): Generator<Uint8Array> {
    const { previous, stack } = { previous: this.#previous, stack: this.#stack };
    if (previous < 0) {
      if (code > 255) throw new UnnestError(`code ${code} precedes its string`, 'E-43');
      this.#first = code;
      this.#previous = code;
      yield* this.#write(code);
      return;
    }
    let top = stack.length;
    let entry = code;
    if (code >= this.#free) {
      if (code > this.#free) throw new UnnestError(`code ${code} precedes its string`, 'E-43');
      stack[--top] = this.#first;
      entry = previous;
    }
    while (entry > 255) {
      stack[--top] = this.#suffix[entry]!;
      entry = this.#prefix[entry]!;
    }
    this.#first = entry;
    stack[--top] = entry;
    for (; top < stack.length; top++) yield* this.#write(stack[top]!);
    if (this.#free < 1 << this.#maxBits) {
      this.#prefix[this.#free] = previous;
      this.#suffix[this.#free] = this.#first;
      this.#free++;
    }
    this.#previous = code;
  }

  *#write(byte: number): Generator<Uint8Array> {
    this.#out[this.#length++] = byte;
    if (this.#length === OUTPUT_BYTES) yield this.#flush();
  }

  #flush(): Uint8Array {
    const full = this.#out.subarray(0, this.#length);
    this.#out = new Uint8Array(OUTPUT_BYTES);
    this.#length = 0;
    return full;
  }
}
