import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { inflateMember } from '../inflate-member.js';
import { endOfArcRecord, nextArcRecord } from './arc-reading.js';
import { ReadWindow, SHORT_BYTES } from './read-window.js';
import type { ArchiveFormat, Compression } from './record-compression.js';
import { type MemberProblem, RecordMeter } from './record-meter.js';
import { endOfFrame, ZSTD_BEGIN } from './zstd-frames.js';

/** Longest inflated record of one step. */
const MAX_INFLATED_BYTES = 16 * 1024 * 1024;
const GZIP_HEADER_BYTES = 10;
/**
 * Beginnings of records that are tried after damage: a document may contain what looks like thousands of them.
 */
const MAX_ATTEMPTS = 1000;
const GZIP_TRAILER_BYTES = 8;

/** Returns an offset, or undefined if nothing is found. */
type Finder = (window: ReadWindow, at: number) => Promise<number | undefined>;

/** How records are found: the end of one that is complete, and where the next one may begin. */
interface RecordFinders {
  /** @param meter gets the content of a compressed member */
  readonly endOf: (window: ReadWindow, at: number, meter: RecordMeter) => Promise<number | undefined>;
  readonly next: Finder;
}

const PLAIN_ARC: RecordFinders = { endOf: endOfArcRecord, next: nextArcRecord };
const FINDERS: Readonly<Record<Compression, RecordFinders>> = {
  none: { endOf: endOfPlainRecord, next: beginWith(Buffer.from('WARC/1.')) },
  gzip: { endOf: endOfMember, next: beginWith(Buffer.from([0x1f, 0x8b, 8])) },
  zstd: { endOf: endOfFrame, next: beginWith(ZSTD_BEGIN) },
};

/** Returns a function that finds records by their first bytes. */
function beginWith(bytes: Buffer): Finder {
  return (window, from) => window.indexOf(bytes, from);
}

/** A complete record, or the bytes between two of them. */
export interface ArchivePart {
  /** Offset of its first byte. */
  readonly start: number;
  /** Offset after its last byte. */
  readonly end: number;
  /** `mixed`: a sound member of compressed data that has not exactly one record. */
  readonly kind: 'record' | 'damage' | 'unexamined' | 'mixed';
  /** Of a compressed record: whether the line ends after it are those of WARC 1.1. */
  readonly isExact?: boolean;
  /** What it has instead; of `mixed` alone. */
  readonly problem?: MemberProblem;
}

/** What {@link examineRecords} found in a WARC file. */
export interface RecordsReport {
  /** Offset after the last complete record; a killed writer may leave an incomplete one after it. */
  readonly length: number;
  /**
   * Offsets of damage before the last complete record, and of members that have not exactly one: a killed writer
   * leaves none.
   */
  readonly damage: readonly number[];
}

export interface ExamineOptions {
  readonly compression: Compression;
  /** Default `warc`. */
  readonly format?: ArchiveFormat;
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of bytes examined so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/**
 * Finds the complete records of a WARC file, also those after a damaged one. The file is read once, in bounded
 * memory.
 */
export async function examineRecords(file: FileHandle, options: ExamineOptions): Promise<RecordsReport> {
  const damage: number[] = [];
  let length = 0;
  /** Where damage begins that no complete record follows yet. */
  let bad: number | undefined;
  for await (const { start, end, kind } of archiveParts(file, options)) {
    if (kind === 'damage') {
      bad = start;
      continue;
    }
    if (kind === 'unexamined') bad = start;
    if (kind === 'mixed') bad ??= start;
    if (bad !== undefined) damage.push(bad);
    bad = undefined;
    length = end;
    options.onProgress?.(end);
  }
  return { length, damage };
}

/**
 * Returns the parts of a WARC file in their order: its complete records, the damage between them, and an
 * incomplete record at its end. What cannot be examined in reasonable time, because damaged bytes look like the
 * beginnings of thousands of records, is one part, the last.
 */
export async function* archiveParts(
  file: FileHandle,
  { compression, format, signal }: ExamineOptions,
): AsyncGenerator<ArchivePart, void, undefined> {
  const { size } = await file.stat();
  const window = new ReadWindow(file);
  const { endOf, next: nextOf } =
    format === 'arc' && compression === 'none' ? PLAIN_ARC : FINDERS[compression];
  /** Where damage begins that no complete record follows yet. */
  let bad: number | undefined;
  let attempts = 0;
  for (let at = 0; at < size; ) {
    signal?.throwIfAborted();
    const meter = new RecordMeter(format ?? 'warc');
    const end = await endOf(window, at, meter);
    if (end !== undefined) {
      if (bad !== undefined) yield { start: bad, end: at, kind: 'damage' };
      bad = undefined;
      const { problem } = meter;
      if (problem === undefined) yield { start: at, end, kind: 'record', isExact: meter.isExact };
      else yield { start: at, end, kind: 'mixed', problem };
      at = end;
      continue;
    }
    bad ??= at;
    if (++attempts > MAX_ATTEMPTS) {
      yield { start: bad, end: size, kind: 'unexamined' };
      return;
    }
    const next = await nextOf(window, at + 1);
    if (next === undefined) break;
    at = next;
  }
  if (bad !== undefined) yield { start: bad, end: size, kind: 'damage' };
}

/** An inflated member: bytes consumed, checksum and length (modulo 2^32) of the output. */
interface Inflated {
  readonly consumed: number;
  readonly crc: number;
  readonly length: number;
}

/** Returns the end of the gzip member that begins at `at`; undefined if it is incomplete. */
async function endOfMember(window: ReadWindow, at: number, meter: RecordMeter): Promise<number | undefined> {
  const bytes = await window.from(at);
  const header = gzipHeaderBytes(bytes);
  if (header === undefined) return undefined;
  const body = inflateShort(bytes.subarray(header), meter) ?? (await inflateLong(window, at + header, meter));
  if (body === undefined) return undefined;
  const bodyEnd = at + header + body.consumed;
  const trailer = await window.from(bodyEnd);
  if (trailer.length < GZIP_TRAILER_BYTES) return undefined;
  if (trailer.readUInt32LE(0) !== body.crc || trailer.readUInt32LE(4) !== body.length) return undefined;
  return bodyEnd + GZIP_TRAILER_BYTES;
}

/**
 * Returns the length of a member's header (RFC 1952, 2.3), which other writers than this one give optional
 * fields; undefined if it is damaged.
 */
function gzipHeaderBytes(bytes: Buffer): number | undefined {
  if (bytes.length < GZIP_HEADER_BYTES || bytes.readUIntBE(0, 3) !== 0x1f8b08) return undefined;
  const flags = bytes.readUInt8(3);
  if (flags > 0x1f) return undefined;
  let length = GZIP_HEADER_BYTES;
  if ((flags & 4) !== 0) {
    if (bytes.length < length + 2) return undefined;
    length += 2 + bytes.readUInt16LE(length);
  }
  // File name and comment end with a zero byte.
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, length);
    if (end < 0) return undefined;
    length = end + 1;
  }
  if ((flags & 2) === 0) return length;
  // The lower half of the checksum of what precedes.
  if (bytes.length < length + 2) return undefined;
  const isSound = bytes.readUInt16LE(length) === (crc32(bytes.subarray(0, length)) & 0xffff);
  return isSound ? length + 2 : undefined;
}

/** Inflates a short member; returns undefined for a longer or damaged one. */
function inflateShort(bytes: Uint8Array, meter: RecordMeter): Inflated | undefined {
  const inflated = inflateMember(bytes, MAX_INFLATED_BYTES);
  if (inflated === undefined) return undefined;
  const { buffer, consumed } = inflated;
  meter.push(buffer);
  return { consumed, crc: crc32(buffer), length: buffer.length };
}

/** Inflates a member of any length. */
async function inflateLong(
  window: ReadWindow,
  start: number,
  meter: RecordMeter,
): Promise<Inflated | undefined> {
  const source = Readable.from(window.range(start, Number.POSITIVE_INFINITY), { highWaterMark: 1 });
  const inflate = createInflateRaw();
  let crc = 0;
  let length = 0;
  source.on('error', (error) => inflate.destroy(error));
  source.pipe(inflate);
  try {
    for await (const piece of inflate) {
      meter.push(piece);
      crc = crc32(piece, crc);
      length += piece.length;
    }
    return { consumed: inflate.bytesWritten, crc, length: length % 2 ** 32 };
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^Z_/.test(String(error.code))) return undefined;
    throw error;
  } finally {
    source.unpipe(inflate);
    source.destroy();
  }
}

/** Returns the end of the uncompressed record that begins at `at`; undefined if it is incomplete. */
async function endOfPlainRecord(window: ReadWindow, at: number): Promise<number | undefined> {
  const head = (await window.from(at)).subarray(0, SHORT_BYTES).toString('latin1');
  const headEnd = head.indexOf('\r\n\r\n');
  if (!head.startsWith('WARC/') || headEnd < 0) return undefined;
  const contentLength = /\r\nContent-Length: (\d{1,15})\r\n/i.exec(head.slice(0, headEnd + 2))?.[1];
  if (contentLength === undefined) return undefined;
  const blockEnd = at + headEnd + 4 + Number(contentLength);
  return (await window.from(blockEnd)).subarray(0, 4).toString('latin1') === '\r\n\r\n'
    ? blockEnd + 4
    : undefined;
}
