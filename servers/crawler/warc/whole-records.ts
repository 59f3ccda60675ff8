import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';

/** Bytes read at once. */
const READ_BYTES = 1024 * 1024;
/** A record that is shorter than this is looked at in one step. */
const SHORT_BYTES = 256 * 1024;
/** What a short record may become. */
const MAX_INFLATED_BYTES = 16 * 1024 * 1024;
const GZIP_HEADER_BYTES = 10;
const GZIP_TRAILER_BYTES = 8;

/**
 * How many bytes of a WARC file are whole records: what a killed writer leaves behind them is cut off. The file is read once,
 * from its start, with a bounded memory.
 */
export async function wholeRecords(
  file: FileHandle,
  { compressed, signal }: { readonly compressed: boolean; readonly signal?: AbortSignal | undefined },
): Promise<number> {
  const window = new ReadWindow(file);
  const endOf = compressed ? endOfMember : endOfPlainRecord;
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const end = await endOf(window, at);
    if (end === undefined) return at;
    at = end;
  }
}

/** What was inflated: bytes taken, checksum and length (modulo 2^32) of what came out. */
interface Inflated {
  readonly consumed: number;
  readonly crc: number;
  readonly length: number;
}

/** Where the gzip member that begins at `at` ends; undefined when it is not there as a whole. */
async function endOfMember(window: ReadWindow, at: number): Promise<number | undefined> {
  const bytes = await window.from(at);
  // Deflate, and none of the optional fields: we write none.
  if (bytes.length < GZIP_HEADER_BYTES || bytes.readUInt32BE(0) !== 0x1f8b0800) return undefined;
  const body =
    inflatedAtOnce(bytes.subarray(GZIP_HEADER_BYTES)) ?? (await inflated(window, at + GZIP_HEADER_BYTES));
  if (body === undefined) return undefined;
  const bodyEnd = at + GZIP_HEADER_BYTES + body.consumed;
  const trailer = await window.from(bodyEnd);
  if (trailer.length < GZIP_TRAILER_BYTES) return undefined;
  if (trailer.readUInt32LE(0) !== body.crc || trailer.readUInt32LE(4) !== body.length) return undefined;
  return bodyEnd + GZIP_TRAILER_BYTES;
}

/** Inflates a short member; undefined when it is none. */
function inflatedAtOnce(bytes: Uint8Array): Inflated | undefined {
  try {
    const result: unknown = inflateRawSync(bytes, { info: true, maxOutputLength: MAX_INFLATED_BYTES });
    if (!hasInfo(result)) return undefined;
    const { buffer, engine } = result;
    return { consumed: engine.bytesWritten, crc: crc32(buffer), length: buffer.length };
  } catch {
    return undefined; // it goes on behind the window, or is damaged: the other way tells
  }
}

/** `info` makes Node give the engine along with what it made; its types do not say so. */
function hasInfo(
  result: unknown,
): result is { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } } {
  return typeof result === 'object' && result !== null && 'engine' in result;
}

/** Inflates a member of any length. */
async function inflated(window: ReadWindow, start: number): Promise<Inflated | undefined> {
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

/** Where the uncompressed record that begins at `at` ends. */
async function endOfPlainRecord(window: ReadWindow, at: number): Promise<number | undefined> {
  const head = (await window.from(at)).subarray(0, SHORT_BYTES).toString('latin1');
  const headEnd = head.indexOf('\r\n\r\n');
  if (!head.startsWith('WARC/') || headEnd < 0) return undefined;
  const said = /\r\nContent-Length: (\d{1,15})\r\n/i.exec(head.slice(0, headEnd + 2))?.[1];
  if (said === undefined) return undefined;
  const blockEnd = at + headEnd + 4 + Number(said);
  return (await window.from(blockEnd)).subarray(0, 4).toString('latin1') === '\r\n\r\n'
    ? blockEnd + 4
    : undefined;
}

/** A part of the file in memory that moves ahead with the reader. */
class ReadWindow {
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #atEnd = false;

  constructor(readonly file: FileHandle) {}

  /** What begins there: {@link SHORT_BYTES} at least, less only at the end of the file. It stays as it is. */
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

/** At most `length` bytes: fewer at the end of the file. */
async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let got = 0;
  while (got < length) {
    const { bytesRead } = await file.read(buffer, got, length - got, position + got);
    if (bytesRead === 0) break;
    got += bytesRead;
  }
  return buffer.subarray(0, got);
}
