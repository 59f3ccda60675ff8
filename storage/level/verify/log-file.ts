// Reads LevelDB's log format, that of the write-ahead log and of the MANIFEST: blocks of 32 KiB, with a
// checksum in each record.
import { crc32c, maskCrc } from './crc32c.js';
import { u32 } from './wire.js';

const BLOCK_BYTES = 32_768;
const HEADER_BYTES = 7;
/** What a disk writes as a whole. */
const SECTOR_BYTES = 512;
/** Zeros before the end of a sector that are no accident. */
const MIN_ZEROS = 4;
const TYPE = { full: 1, first: 2, middle: 3, last: 4 } as const;

/** What {@link readLog} found in a log. */
export interface LogContent {
  readonly records: readonly Uint8Array[];
  /** Sentences about damage; records after it may be missing. */
  readonly problems: readonly string[];
  /** Whether records are missing that a power failure cut or kept from the disk. */
  readonly torn: boolean;
  /** Offset of the first byte that belongs to no whole record before it. */
  readonly end: number;
}

/**
 * Reads all whole records.
 *
 * A record that the end of the file cuts, or whose rest is zeros up to the end of the file, is torn: LevelDB
 * drops it, and so it must, because the write was not acknowledged as durable. So is a record with a sector of
 * zeros: the disk wrote a later sector first, and the rest of the log was not flushed either. Any other
 * difference is damage. LevelDB skips damaged records of its write-ahead log without an error, which is why
 * they are looked for here.
 */
export function readLog(bytes: Uint8Array): LogContent {
  const records: Uint8Array[] = [];
  const problems: string[] = [];
  const dataEnd = lengthWithoutZeros(bytes);
  let parts: Uint8Array[] | undefined;
  let at = 0;
  while (at < dataEnd) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES);
    if (left < HEADER_BYTES) {
      at += left;
      continue;
    }
    if (at + HEADER_BYTES > bytes.length) return { records, problems, torn: true, end: at };
    const length = bytes[at + 4]! | (bytes[at + 5]! << 8);
    const type = bytes[at + 6]!;
    const end = at + HEADER_BYTES + length;
    const fits = HEADER_BYTES + length <= left;
    if (fits && end > bytes.length) {
      // A damaged length looks like a torn record; but then the bytes that are there match the checksum.
      if (maskCrc(crc32c(bytes, at + 6, bytes.length)) === u32(bytes, at))
        problems.push(`the record at offset ${at} has a damaged length`);
      return { records, problems, torn: true, end: at };
    }
    const sound = fits && maskCrc(crc32c(bytes, at + 6, end)) === u32(bytes, at);
    if (!sound) {
      const cut = end > dataEnd && dataEnd < bytes.length;
      if (cut || hasUnwrittenSector(bytes, at, fits ? end : at + left))
        return { records, problems, torn: true, end: at };
      problems.push(`the record at offset ${at} does not match its checksum`);
      // The length cannot be trusted: the next block is the next place where a record surely begins.
      parts = undefined;
      at += left;
      continue;
    }
    const content = bytes.subarray(at + HEADER_BYTES, end);
    if (type === TYPE.full || type === TYPE.first) {
      if (parts !== undefined) problems.push(`the record before offset ${at} has no end`);
      parts = type === TYPE.first ? [content] : undefined;
      if (type === TYPE.full) records.push(content);
    } else if (parts !== undefined) {
      parts.push(content);
      if (type === TYPE.last) {
        records.push(Buffer.concat(parts));
        parts = undefined;
      }
    } else if (problems.length === 0) {
      problems.push(`the record at offset ${at} has no beginning`);
    }
    at = end;
  }
  return { records, problems, torn: parts !== undefined, end: Math.min(bytes.length, at) };
}

/**
 * Whether the bytes from a record's start on are zeros up to the end of a sector, or those of a whole sector
 * are.
 */
function hasUnwrittenSector(bytes: Uint8Array, start: number, end: number): boolean {
  // A record whose length cannot be trusted may claim more than there is.
  const last = Math.min(end, bytes.length);
  let from = start;
  while (from < last) {
    const to = Math.min(bytes.length, from - (from % SECTOR_BYTES) + SECTOR_BYTES);
    if (to - from >= MIN_ZEROS && bytes.subarray(from, to).every((byte) => byte === 0)) return true;
    from = to;
  }
  return false;
}

function lengthWithoutZeros(bytes: Uint8Array): number {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length--;
  return length;
}
