import { constants as fileConstants } from 'node:fs';
import { copyFile, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, inflateRawSync, type ZlibOptions } from 'node:zlib';
import { errorCode, messageOf, StorageError } from '../../../protocols/errors.js';
import { openRegular } from '../../../storage/files/regular-file.js';
import { writeFully } from '../../../storage/files/write-fully.js';
import type { LineEncoder } from '../../host/line-writer.js';
import { inflateMember, readAt } from '../inflate-member.js';

/**
 * The header of the journal's gzip members (RFC 1952): deflate, no name, no time, Unix, and an empty extra
 * field `HK`. Readers skip the field; the repair of a file recognizes members by it.
 */
const MEMBER_HEAD = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, 4, 0, 0x48, 0x4b, 0, 0]);
/** An empty final block of deflate, which can end a member after any flush. */
const LAST_BLOCK = Buffer.from([3, 0]);
/** The end of a flush: an empty stored block, aligned to a byte. */
const FLUSH_END = Buffer.from([0, 0, 0xff, 0xff]);

const deflate = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw);

/** Window of deflate, bytes. */
const WINDOW_BYTES = 32_768;
/** Text of one member, bytes. It is small because the repair of a torn file reads a whole member. */
const MEMBER_BYTES = 8_388_608;
/** Compressed bytes that are searched for the header of the last member; more than a member can have. */
const SEARCH_BYTES = 12 * 1_048_576;
/** Longest text of a member: {@link MEMBER_BYTES} and one block of lines. */
const INFLATED_BYTES = 8 * MEMBER_BYTES;

/**
 * Encodes text as gzip and flushes after every piece (Z_SYNC_FLUSH), so that a file that ends after a piece
 * contains all of them. A new member begins after {@link MEMBER_BYTES} of text and after {@link finish}.
 */
export class GzipMembers implements LineEncoder {
  /** The end of the member's text, as long as deflate's window. */
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
 * Repairs a file of {@link GzipMembers} after a crash, so that a new member can be appended: a torn last member
 * is truncated after its last complete flush and ended there. A crash during the repair does no harm. If more
 * than one piece is cut off, no crash has torn it but the disk has changed it: a copy of the file is kept.
 *
 * @returns bytes that were cut off, 0 if the file was complete or does not exist; the path of the copy
 * @throws StorageError for a file that this class did not write
 */
export async function repairGzipMembers(
  path: string,
): Promise<{ readonly cut: number; readonly copy?: string | undefined }> {
  let handle: FileHandle;
  try {
    handle = await openRegular(path, 'r+');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { cut: 0 };
    throw new StorageError(`${path} cannot be opened: ${messageOf(error)}; move it away`, { cause: error });
  }
  try {
    const { size } = await handle.stat();
    if (size === 0) return { cut: 0 };
    const start = Math.max(0, size - SEARCH_BYTES);
    const tail = await readAt(handle, start, size - start);
    const head = tail.lastIndexOf(MEMBER_HEAD);
    if (head < 0 && start === 0 && MEMBER_HEAD.subarray(0, size).equals(tail)) {
      await handle.truncate(0); // torn within its first bytes
      return { cut: size };
    }
    if (head < 0 && start === 0 && tail.every((byte) => byte === 0)) {
      // A power failure: the file got its length, but none of its content reached the disk.
      await handle.truncate(0);
      return { cut: size };
    }
    if (head < 0) throw new StorageError(`${path} is not a journal that can be continued: move it away`);
    const { keep, end } = lastFlush(tail.subarray(head + MEMBER_HEAD.length));
    // The torn header of a next member may follow.
    const cut = tail.length - head - MEMBER_HEAD.length - keep;
    const isDamaged = cut > 0 && tail.indexOf(FLUSH_END, tail.length - cut) >= 0;
    const copy = isDamaged ? `${path}.damaged-${Date.now()}` : undefined;
    if (copy !== undefined) await copyFile(path, copy, fileConstants.COPYFILE_EXCL);
    if (cut > 0) await handle.truncate(size - cut);
    await writeFully(handle, end, size - cut);
    return { cut, copy };
  } finally {
    await handle.close();
  }
}

/** Returns the valid length of a member's body and the bytes that complete it. */
function lastFlush(body: Buffer): { keep: number; end: Uint8Array } {
  const complete = completeLength(body);
  if (complete !== undefined) return { keep: complete, end: new Uint8Array() };
  const flushes: number[] = [];
  for (let offset = body.indexOf(FLUSH_END); offset >= 0; offset = body.indexOf(FLUSH_END, offset + 1))
    flushes.push(offset + FLUSH_END.length);
  // If a body is valid up to one flush, it is valid up to all flushes before it. The last flush is tried first.
  let valid = { keep: 0, end: memberEnd(0, 0) };
  for (let low = 0, high = flushes.length - 1, i = high; low <= high; i = (low + high) >> 1) {
    const keep = flushes[i]!;
    const text = inflateFlushed(body.subarray(0, keep));
    if (text === undefined) high = i - 1;
    else {
      valid = { keep, end: memberEnd(crc32(text), text.length) };
      low = i + 1;
    }
  }
  return valid;
}

/** Length of a complete member with a correct checksum; undefined for any other. */
function completeLength(body: Buffer): number | undefined {
  const inflated = inflateMember(body, INFLATED_BYTES);
  if (inflated === undefined) return undefined;
  const { buffer, consumed } = inflated;
  if (body.length < consumed + 8) return undefined;
  const isValid =
    body.readUInt32LE(consumed) === crc32(buffer) && body.readUInt32LE(consumed + 4) === buffer.length;
  return isValid ? consumed + 8 : undefined;
}

function inflateFlushed(flushed: Buffer): Buffer | undefined {
  try {
    return inflateRawSync(Buffer.concat([flushed, LAST_BLOCK]), { maxOutputLength: INFLATED_BYTES });
  } catch {
    return undefined; // the four bytes are not a flush, or the data before them is damaged
  }
}
