import { UnnestError } from '../errors.js';
import { ByteReader, type Chunks } from './chunks.js';

/** Size of an output chunk. */
const OUTPUT_BYTES = 64 * 1024;
/** Maximum number of symbols of a block: two for runs, 255 for positions, one for the end. */
const MAX_SYMBOLS = 258;
const MAX_CODE_LENGTH = 20;
const BLOCK = 0x314159265359n;
const END = 0x177245385090n;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, i) => {
  let c = i << 24;
  for (let k = 0; k < 8; k++) c = c & 0x80000000 ? (c << 1) ^ 0x04c11db7 : c << 1;
  return c >>> 0;
});

/**
 * Decompresses a bzip2 file, also several concatenated ones (E-44). Its memory is one block of at most 900 000
 * bytes and the block's table, however large the output of the block is (in a hostile one a few bytes expand to
 * 45 MB).
 *
 * @throws UnnestError for other data, a wrong checksum, an early end
 */
export async function* decompressBzip2(chunks: Chunks): Chunks {
  const reader = new ByteReader(chunks);
  const bits = new BitReader(reader);
  let block: Block | undefined;
  for (let first = true; ; first = false) {
    const head = await bits.bytes(4);
    if (head === undefined || head[0] !== 0x42 || head[1] !== 0x5a || head[2] !== 0x68) {
      // After the end of a stream, anything but another stream is padding.
      if (first) throw new UnnestError('not bzip2 data', 'E-44');
      return;
    }
    const level = head[3]! - 0x30;
    if (level < 1 || level > 9) throw new UnnestError('not bzip2 data', 'E-44');
    const capacity = level * 100_000;
    for (;;) {
      // The longest possible encoding of a block; near the end of the file there are fewer bytes.
      await bits.fill(level * 250_000 + 50_000);
      const magic = (BigInt(bits.read(24)) << 24n) | BigInt(bits.read(24));
      const crc = ((bits.read(16) << 16) | bits.read(16)) >>> 0;
      if (magic === END) break;
      if (magic !== BLOCK) throw new UnnestError('a bzip2 block has no header', 'E-44');
      // An empty stream has no block, and concatenated streams share one: a file may have a stream in every 14
      // bytes.
      if (block?.capacity !== capacity) block = new Block(capacity);
      block.read(bits);
      yield* block.write();
      if (block.crc !== crc) throw new UnnestError('the checksum of a bzip2 block is wrong', 'E-44');
    }
    bits.align();
  }
}

/** Reads bits, the most significant first, from the bytes that {@link fill} has buffered. */
class BitReader {
  readonly #source: ByteReader;
  #bytes: Uint8Array = new Uint8Array();
  #bit = 0;
  /** Whether all input is in {@link #bytes}. */
  #ended = false;

  constructor(source: ByteReader) {
    this.#source = source;
  }

  /** Buffers at least `count` bytes, unless the input ends before. */
  async fill(count: number): Promise<void> {
    const used = this.#bit >> 3;
    if (this.#ended || this.#bytes.length - used >= count) return;
    const more = await this.#source.read(count * 2);
    // What remains is not copied again for each of the streams in it.
    this.#ended = more.length < count * 2;
    this.#bytes = Buffer.concat([this.#bytes.subarray(used), more]);
    this.#bit &= 7;
  }

  /** Reads bytes at a byte boundary; undefined if there are fewer. */
  async bytes(count: number): Promise<number[] | undefined> {
    await this.fill(count);
    if (this.#bytes.length - (this.#bit >> 3) < count) return undefined;
    return Array.from({ length: count }, () => this.read(8));
  }

  align(): void {
    this.#bit = (this.#bit + 7) & ~7;
  }

  /** Reads 1 to 24 bits. */
  read(count: number): number {
    const index = this.#bit >> 3;
    if (this.#bit + count > this.#bytes.length * 8)
      throw new UnnestError('the bzip2 file ends too early', 'E-45');
    const bytes = this.#bytes;
    const four =
      ((bytes[index]! << 24) |
        ((bytes[index + 1] ?? 0) << 16) |
        ((bytes[index + 2] ?? 0) << 8) |
        (bytes[index + 3] ?? 0)) >>>
      0;
    const value = (four << (this.#bit & 7)) >>> (32 - count);
    this.#bit += count;
    return value;
  }
}

/** A canonical Huffman code: the smallest code of each length, and the symbols in order. */
class Code {
  readonly #limit = new Int32Array(MAX_CODE_LENGTH + 2);
  readonly #base = new Int32Array(MAX_CODE_LENGTH + 2);
  readonly #symbols: Uint16Array;

  constructor(lengths: Uint8Array) {
    const counts = new Int32Array(MAX_CODE_LENGTH + 2);
    for (const length of lengths) counts[length]!++;
    this.#symbols = new Uint16Array(lengths.length);
    let index = 0;
    let code = 0;
    for (let length = 1; length <= MAX_CODE_LENGTH; length++) {
      this.#base[length] = index - code;
      for (let symbol = 0; symbol < lengths.length; symbol++) {
        if (lengths[symbol] === length) this.#symbols[index++] = symbol;
      }
      code += counts[length]!;
      this.#limit[length] = code;
      code <<= 1;
    }
  }

  decode(bits: BitReader): number {
    let code = 0;
    for (let length = 1; length <= MAX_CODE_LENGTH; length++) {
      code = (code << 1) | bits.read(1);
      if (code < this.#limit[length]!) {
        const symbol = this.#symbols[code + this.#base[length]!];
        if (symbol !== undefined) return symbol;
        break;
      }
    }
    throw damageError('an unused code');
  }
}

class Block {
  /** Lower 8 bits: the byte; upper bits: the index of the next one. */
  readonly #chain: Uint32Array;
  #length = 0;
  #start = 0;
  crc = 0;

  /** @param capacity bytes of a block at most */
  constructor(readonly capacity: number) {
    this.#chain = new Uint32Array(capacity);
  }

  read(bits: BitReader): void {
    if (bits.read(1) === 1) throw damageError('a randomized block');
    const origin = bits.read(24);
    const used = readUsed(bits);
    const { codes, selectors } = readCodes(bits, used.length + 2);
    const counts = this.#readSymbols(bits, used, codes, selectors);
    if (origin >= this.#length) throw damageError('a block whose start is outside of it');
    let sum = 0;
    for (let byte = 0; byte < 256; byte++) {
      const count = counts[byte]!;
      counts[byte] = sum;
      sum += count;
    }
    const chain = this.#chain;
    for (let i = 0; i < this.#length; i++) {
      const byte = chain[i]! & 0xff;
      chain[counts[byte]!++]! |= i << 8;
    }
    this.#start = chain[origin]! >>> 8;
  }

  /** Decodes runs and move-to-front; counts each byte. */
  #readSymbols(bits: BitReader, used: Uint8Array, codes: readonly Code[], selectors: Uint8Array): Int32Array {
    const front = Uint8Array.from(used);
    const counts = new Int32Array(256);
    const chain = this.#chain;
    const last = used.length + 1;
    let length = 0;
    let run = 0;
    let weight = 1;
    for (let group = 0; ; group++) {
      const code = codes[selectors[group] ?? codes.length];
      if (code === undefined) throw damageError('a block without an end');
      for (let i = 0; i < 50; i++) {
        const symbol = code.decode(bits);
        if (symbol < 2) {
          run += weight << symbol;
          weight *= 2;
          if (run > this.capacity) throw damageError('a block that is too long');
          continue;
        }
        if (run > 0) {
          if (length + run > this.capacity) throw damageError('a block that is too long');
          counts[front[0]!]! += run;
          chain.fill(front[0]!, length, length + run);
          length += run;
          run = 0;
        }
        weight = 1;
        if (symbol === last) {
          this.#length = length;
          return counts;
        }
        if (length >= this.capacity) throw damageError('a block that is too long');
        const byte = front[symbol - 1]!;
        front.copyWithin(1, 0, symbol - 1);
        front[0] = byte;
        counts[byte]!++;
        chain[length++] = byte;
      }
    }
  }

  /** Yields the block's bytes. After four equal bytes, the next byte is the number of further repetitions. */
  *write(): Generator<Uint8Array> {
    let out = new Uint8Array(OUTPUT_BYTES);
    let filled = 0;
    let crc = 0xffffffff;
    let index = this.#start;
    let same = 0;
    let previous = -1;
    for (let i = 0; i < this.#length; i++) {
      const link = this.#chain[index]!;
      const byte = link & 0xff;
      index = link >>> 8;
      let times = 1;
      let value = byte;
      if (same === 4) {
        times = byte;
        value = previous;
        same = 0;
        previous = -1;
      } else {
        same = byte === previous ? same + 1 : 1;
        previous = byte;
      }
      for (; times > 0; times--) {
        out[filled++] = value;
        crc = ((crc << 8) ^ CRC_TABLE[((crc >>> 24) ^ value) & 0xff]!) >>> 0;
        if (filled === OUTPUT_BYTES) {
          yield out;
          out = new Uint8Array(OUTPUT_BYTES);
          filled = 0;
        }
      }
    }
    this.crc = ~crc >>> 0;
    if (filled > 0) yield out.subarray(0, filled);
  }
}

function readUsed(bits: BitReader): Uint8Array {
  const rows = bits.read(16);
  const used: number[] = [];
  for (let row = 0; row < 16; row++) {
    if ((rows & (0x8000 >> row)) === 0) continue;
    const columns = bits.read(16);
    for (let column = 0; column < 16; column++) {
      if ((columns & (0x8000 >> column)) !== 0) used.push(row * 16 + column);
    }
  }
  if (used.length === 0) throw damageError('a block without bytes');
  return Uint8Array.from(used);
}

function readCodes(bits: BitReader, symbols: number): { codes: Code[]; selectors: Uint8Array } {
  const tables = bits.read(3);
  const count = bits.read(15);
  if (tables < 2 || tables > 6 || count === 0 || symbols > MAX_SYMBOLS)
    throw damageError('a wrong number of tables');
  const order = [0, 1, 2, 3, 4, 5].slice(0, tables);
  const selectors = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    let index = 0;
    while (bits.read(1) === 1) if (++index >= tables) throw damageError('a missing table');
    const [table = 0] = order.splice(index, 1);
    order.unshift(table);
    selectors[i] = table;
  }
  const codes: Code[] = [];
  for (let table = 0; table < tables; table++) {
    const lengths = new Uint8Array(symbols);
    let length = bits.read(5);
    for (let symbol = 0; symbol < symbols; symbol++) {
      for (;;) {
        if (length < 1 || length > MAX_CODE_LENGTH) throw damageError('a code of a wrong length');
        if (bits.read(1) === 0) break;
        length += bits.read(1) === 0 ? 1 : -1;
      }
      lengths[symbol] = length;
    }
    codes.push(new Code(lengths));
  }
  return { codes, selectors };
}

/** Returns the error for damaged data. */
function damageError(what: string): UnnestError {
  return new UnnestError(`damaged bzip2 data: ${what}`, 'E-44');
}
