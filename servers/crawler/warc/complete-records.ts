import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { inflateMember, readAt } from '../inflate-member.js';

/** Bytes per read. */
const READ_BYTES = 1024 * 1024;
/** A shorter record is inflated in one step. */
const SHORT_BYTES = 256 * 1024;
/** Longest inflated record of one step. */
const MAX_INFLATED_BYTES = 16 * 1024 * 1024;
const GZIP_HEADER_BYTES = 10;
/** Beginnings of records that are tried after damage: a document may contain what looks like thousands of them. */
const MAX_ATTEMPTS = 1000;
const MEMBER_BEGIN = Buffer.from([0x1f, 0x8b, 8, 0]);
const RECORD_BEGIN = Buffer.from('WARC/1.');
const GZIP_TRAILER_BYTES = 8;

/** What {@link examineRecords} found in a WARC file. */
export interface RecordsReport {
  /** Offset after the last complete record; a killed writer may leave an incomplete one after it. */
  readonly length: number;
  /** Offsets of damage before the last complete record: a killed writer leaves none. */
  readonly damage: readonly number[];
}

export interface ExamineOptions {
  /** One gzip member for each record. */
  readonly compressed: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of bytes examined so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** Finds the complete records of a WARC file, also those after a damaged one. The file is read once, in bounded memory. */
export async function examineRecords(
  file: FileHandle,
  { compressed, signal, onProgress }: ExamineOptions,
): Promise<RecordsReport> {
  const window = new ReadWindow(file);
  const endOf = compressed ? endOfMember : endOfPlainRecord;
  const begin = compressed ? MEMBER_BEGIN : RECORD_BEGIN;
  const damage: number[] = [];
  let length = 0;
  /** Where damage begins that no complete record follows yet. */
  let bad: number | undefined;
  let attempts = 0;
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const end = await endOf(window, at);
    if (end !== undefined) {
      if (bad !== undefined) damage.push(bad);
      bad = undefined;
      length = end;
      at = end;
      onProgress?.(at);
      continue;
    }
    bad ??= at;
    if (++attempts > MAX_ATTEMPTS) {
      // What cannot be examined in reasonable time is kept.
      damage.push(bad);
      return { length: (await file.stat()).size, damage };
    }
    const next = await window.indexOf(begin, at + 1);
    if (next === undefined) return { length, damage };
    at = next;
  }
}

/** An inflated member: bytes consumed, checksum and length (modulo 2^32) of the output. */
interface Inflated {
  readonly consumed: number;
  readonly crc: number;
  readonly length: number;
}

/** Returns the end of the gzip member that begins at `at`; undefined if it is incomplete. */
async function endOfMember(window: ReadWindow, at: number): Promise<number | undefined> {
  const bytes = await window.from(at);
  // Deflate without optional fields: the header that the writer writes.
  if (bytes.length < GZIP_HEADER_BYTES || bytes.readUInt32BE(0) !== 0x1f8b0800) return undefined;
  const body =
    inflateShort(bytes.subarray(GZIP_HEADER_BYTES)) ?? (await inflateLong(window, at + GZIP_HEADER_BYTES));
  if (body === undefined) return undefined;
  const bodyEnd = at + GZIP_HEADER_BYTES + body.consumed;
  const trailer = await window.from(bodyEnd);
  if (trailer.length < GZIP_TRAILER_BYTES) return undefined;
  if (trailer.readUInt32LE(0) !== body.crc || trailer.readUInt32LE(4) !== body.length) return undefined;
  return bodyEnd + GZIP_TRAILER_BYTES;
}

/** Inflates a short member; returns undefined for a longer or damaged one. */
function inflateShort(bytes: Uint8Array): Inflated | undefined {
  const inflated = inflateMember(bytes, MAX_INFLATED_BYTES);
  if (inflated === undefined) return undefined;
  const { buffer, consumed } = inflated;
  return { consumed, crc: crc32(buffer), length: buffer.length };
}

/** Inflates a member of any length. */
async function inflateLong(window: ReadWindow, start: number): Promise<Inflated | undefined> {
  const source = Readable.from(pieces(window, start), { highWaterMark: 1 });
  const inflate = createInflateRaw();
  let crc = 0;
  let length = 0;
  source.on('error', (error) => inflate.destroy(error));
  source.pipe(inflate);
  try {
    for await (const piece of inflate) {
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

async function* pieces(window: ReadWindow, start: number): AsyncGenerator<Buffer> {
  for (let at = start; ; ) {
    const piece = await window.from(at);
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
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

/** The part of a file around the reading position, in memory. */
class ReadWindow {
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #atEnd = false;

  constructor(readonly file: FileHandle) {}

  /** The offset of the next occurrence of a text, from an offset on. */
  async indexOf(text: Buffer, from: number): Promise<number | undefined> {
    for (let at = from; ; ) {
      const bytes = await this.from(at);
      const found = bytes.indexOf(text);
      if (found >= 0) return at + found;
      if (bytes.length < SHORT_BYTES) return undefined;
      at += bytes.length - text.length;
    }
  }

  /** Returns the bytes from an offset: at least {@link SHORT_BYTES}, fewer only at the end of the file. They are not overwritten later. */
  async from(at: number): Promise<Buffer> {
    const left = this.#start + this.#bytes.length - at;
    if (at < this.#start || (left < SHORT_BYTES && !this.#atEnd)) {
      this.#bytes = await readAt(this.file, at, READ_BYTES);
      this.#start = at;
      this.#atEnd = this.#bytes.length < READ_BYTES;
    }
    return this.#bytes.subarray(at - this.#start);
  }
}
