import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, inflateRawSync, type ZlibOptions } from 'node:zlib';
import { errorCode, StorageError } from '../../../protocols/errors.js';
import type { LineEncoder } from '../../host/append-file.js';

/**
 * The head of each of our gzip members (RFC 1952): deflate, no name, no time, Unix, and an empty extra field `HK`, which everybody
 * passes over and by which we know our own members when a file is mended.
 */
const MEMBER_HEAD = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, 4, 0, 0x48, 0x4b, 0, 0]);
/** An empty last block of deflate, which ends a member at any flush. */
const LAST_BLOCK = Buffer.from([3, 0]);
/** What a flush ends with: an empty stored block, at a byte's border. */
const FLUSH_END = Buffer.from([0, 0, 0xff, 0xff]);

const deflate = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw);

/** How far back deflate looks, bytes. */
const WINDOW_BYTES = 32_768;
/** Text in one member, bytes: so much is read to mend a torn file, so it stays small. */
const MEMBER_BYTES = 8_388_608;
/** Compressed bytes that are searched for the last member's head; more than one member can have. */
const SEARCH_BYTES = 12 * 1_048_576;
/** Text of a member at most: {@link MEMBER_BYTES} and one block of lines. */
const INFLATED_BYTES = 8 * MEMBER_BYTES;

/**
 * Text as gzip, flushed after every piece (Z_SYNC_FLUSH): a file that ends after any piece gives all of them back. A new member
 * begins after {@link MEMBER_BYTES} of text and after {@link finish}.
 */
export class GzipMembers implements LineEncoder {
  /** The end of the member's text so far, as far back as deflate can look. */
  #window: Buffer = Buffer.alloc(0);
  #crc = 0;
  #size = 0;

  async encode(text: string): Promise<Uint8Array> {
    const bytes = Buffer.from(text);
    if (bytes.length === 0) return bytes;
    const head = this.#size === 0 ? MEMBER_HEAD : Buffer.alloc(0);
    const body = await deflate(bytes, {
      finishFlush: constants.Z_SYNC_FLUSH,
      ...(this.#window.length > 0 && { dictionary: this.#window }),
    });
    this.#crc = crc32(bytes, this.#crc);
    this.#size += bytes.length;
    this.#window = Buffer.concat([this.#window, bytes.subarray(-WINDOW_BYTES)]).subarray(-WINDOW_BYTES);
    return Buffer.concat([head, body, this.#size >= MEMBER_BYTES ? this.finish() : Buffer.alloc(0)]);
  }

  finish(): Uint8Array {
    if (this.#size === 0) return new Uint8Array();
    const end = memberEnd(this.#crc, this.#size);
    this.#crc = 0;
    this.#size = 0;
    this.#window = Buffer.alloc(0);
    return end;
  }
}

function memberEnd(crc: number, size: number): Buffer {
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc, 0);
  end.writeUInt32LE(size % 2 ** 32, 4);
  return Buffer.concat([LAST_BLOCK, end]);
}

/**
 * Makes a file of {@link GzipMembers} whole again after a crash, so that a new member can be appended: a torn last member is cut behind
 * its last whole flush and ended there. What was written behind that flush is lost; it was not yet flushed when the crash came.
 * A crash while mending does no harm.
 *
 * @returns bytes that were cut off; 0 when the file was whole or is not there
 * @throws StorageError for a file that is not ours
 */
export async function mendGzipMembers(path: string): Promise<number> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r+');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
  try {
    const { size } = await handle.stat();
    if (size === 0) return 0;
    const start = Math.max(0, size - SEARCH_BYTES);
    const tail = Buffer.alloc(size - start);
    for (let read = 0; read < tail.length; ) {
      const { bytesRead } = await handle.read(tail, read, tail.length - read, start + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    const head = tail.lastIndexOf(MEMBER_HEAD);
    if (head < 0 && start === 0 && MEMBER_HEAD.subarray(0, size).equals(tail)) {
      await handle.truncate(0); // torn within its very first bytes
      return size;
    }
    if (head < 0) throw new StorageError(`${path} is not a journal that can be continued: move it away`);
    const { keep, end } = mended(tail.subarray(head + MEMBER_HEAD.length));
    // The next member's head may be torn too: it is behind the end of this one.
    const cut = tail.length - head - MEMBER_HEAD.length - keep;
    if (cut > 0) await handle.truncate(size - cut);
    if (end.length > 0) await handle.write(end, 0, end.length, size - cut);
    return cut;
  } finally {
    await handle.close();
  }
}

/** How much of a member's body is good, and what must follow it to make it whole. */
function mended(body: Buffer): { keep: number; end: Uint8Array } {
  const whole = wholeLength(body);
  if (whole !== undefined) return { keep: whole, end: new Uint8Array() };
  const flushes: number[] = [];
  for (let at = body.indexOf(FLUSH_END); at >= 0; at = body.indexOf(FLUSH_END, at + 1))
    flushes.push(at + FLUSH_END.length);
  // What is good up to one flush is good up to all before it. Mostly the last one is the one.
  let good = { keep: 0, end: memberEnd(0, 0) };
  for (let low = 0, high = flushes.length - 1, i = high; low <= high; i = (low + high) >> 1) {
    const keep = flushes[i]!;
    const text = inflated(body.subarray(0, keep));
    if (text === undefined) high = i - 1;
    else {
      good = { keep, end: memberEnd(crc32(text), text.length) };
      low = i + 1;
    }
  }
  return good;
}

/** Bytes of the member when it is whole and its sum is right. */
function wholeLength(body: Buffer): number | undefined {
  try {
    const result: unknown = inflateRawSync(body, { info: true, maxOutputLength: INFLATED_BYTES });
    if (!isInflated(result)) return undefined;
    const { buffer } = result;
    const length = result.engine.bytesWritten;
    if (body.length < length + 8) return undefined;
    const right =
      body.readUInt32LE(length) === crc32(buffer) && body.readUInt32LE(length + 4) === buffer.length;
    return right ? length + 8 : undefined;
  } catch {
    return undefined;
  }
}

function inflated(flushed: Buffer): Buffer | undefined {
  try {
    return inflateRawSync(Buffer.concat([flushed, LAST_BLOCK]), { maxOutputLength: INFLATED_BYTES });
  } catch {
    return undefined; // the four bytes were chance, or what is before them is damaged
  }
}

/** What `inflateRawSync` gives with the option `info`; its type does not tell. */
function isInflated(result: unknown): result is { buffer: Buffer; engine: { bytesWritten: number } } {
  return typeof result === 'object' && result !== null && 'buffer' in result && 'engine' in result;
}
