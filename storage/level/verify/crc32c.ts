// CRC-32C (Castagnoli), the checksum of LevelDB's blocks and log records. zlib has only the CRC-32 of gzip.

const POLYNOMIAL = 0x82f6_3b78;
const SLICES = 8;

/**
 * Table `k` advances a byte over `k` further zero bytes: eight bytes of input cost eight independent look-ups.
 */
const TABLES = makeTables();

function makeTables(): Int32Array {
  const tables = new Int32Array(256 * SLICES);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[byte] = crc;
  }
  for (let i = 256; i < tables.length; i++) {
    const before = tables[i - 256] ?? 0;
    tables[i] = (before >>> 8) ^ (tables[before & 0xff] ?? 0);
  }
  return tables;
}

/** The CRC-32C of `bytes` from `start` to `end`, as an unsigned number. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const t = TABLES;
  let crc = -1;
  let at = start;
  for (const last = end - 8; at <= last; at += 8) {
    crc =
      t[1792 + ((crc ^ bytes[at]!) & 0xff)]! ^
      t[1536 + (((crc >>> 8) ^ bytes[at + 1]!) & 0xff)]! ^
      t[1280 + (((crc >>> 16) ^ bytes[at + 2]!) & 0xff)]! ^
      t[1024 + ((crc >>> 24) ^ bytes[at + 3]!)]! ^
      t[768 + bytes[at + 4]!]! ^
      t[512 + bytes[at + 5]!]! ^
      t[256 + bytes[at + 6]!]! ^
      t[bytes[at + 7]!]!;
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ t[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}

/**
 * The form in which LevelDB stores a checksum: rotated, plus a constant, so that a checksum of checksums
 * differs.
 */
export function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282_ead8) >>> 0;
}
