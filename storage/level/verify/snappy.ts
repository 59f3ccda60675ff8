// Decompresses Snappy, the compression of LevelDB's blocks.
import { StorageError } from '../../../protocols/errors.js';
import { WireReader } from './wire.js';

/**
 * Largest block that is decompressed. LevelDB cuts its blocks at 4 KiB, so that only a large row makes a larger
 * one.
 */
const MAX_BYTES = 1 << 30;

/** Bytes that a byte can stand for: an element of three bytes copies at most 64. */
const MAX_RATIO = 22;

/** @throws StorageError if the bytes are not Snappy */
export function decompressSnappy(bytes: Uint8Array): Uint8Array {
  const input = new WireReader(bytes);
  const length = input.varint();
  // A damaged length must not take memory that no content can fill.
  if (length > Math.min(MAX_BYTES, bytes.length * MAX_RATIO))
    throw new StorageError(`a block claims ${length} bytes`);
  const output = new Uint8Array(length);
  let at = 0;
  while (!input.done) {
    const tag = input.byte();
    const kind = tag & 3;
    if (kind === 0) {
      const literal = input.take(literalLength(tag >> 2, input));
      if (literal.length > length - at) throw new StorageError('a block is longer than it claims');
      output.set(literal, at);
      at += literal.length;
      continue;
    }
    const count = kind === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    const offset = kind === 1 ? ((tag >> 5) << 8) | input.byte() : littleEndian(input, kind === 2 ? 2 : 4);
    if (offset === 0 || offset > at || count > length - at)
      throw new StorageError('a block refers to bytes that it does not have');
    // Byte by byte: the ranges may overlap, which repeats them.
    for (let i = 0; i < count; i++, at++) output[at] = output[at - offset]!;
  }
  if (at !== length) throw new StorageError('a block is shorter than it claims');
  return output;
}

function literalLength(code: number, input: WireReader): number {
  return 1 + (code < 60 ? code : littleEndian(input, code - 59));
}

function littleEndian(input: WireReader, bytes: number): number {
  let value = 0;
  for (let i = 0, scale = 1; i < bytes; i++, scale *= 256) value += input.byte() * scale;
  return value;
}
