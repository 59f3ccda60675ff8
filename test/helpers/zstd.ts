// Zstandard frames (RFC 8878) without compression: Node.js 20 can read frames, and write none.

const MAX_BLOCK_BYTES = 128 * 1024;

/** Returns a frame of raw blocks, without a checksum. */
export function rawZstdFrame(bytes: Uint8Array): Buffer {
  // Magic number, then a descriptor: one segment, four bytes of content size.
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
  head.writeUInt32LE(bytes.length, 5);
  const pieces: Uint8Array[] = [head];
  let at = 0;
  do {
    const block = bytes.subarray(at, at + MAX_BLOCK_BYTES);
    at += block.length;
    const blockHead = Buffer.alloc(3);
    blockHead.writeUIntLE((block.length << 3) | (at >= bytes.length ? 1 : 0), 0, 3);
    pieces.push(blockHead, block);
  } while (at < bytes.length);
  return Buffer.concat(pieces);
}
