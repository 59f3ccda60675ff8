import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { errorCode, rethrowAs, StorageError } from '../../protocols/errors.js';
import { readFully } from '../files/read-fully.js';
import { openRegular } from '../files/regular-file.js';
import { writeFully } from '../files/write-fully.js';
import { KEY_BYTES, type KeyWords } from './key-list.js';

/** The operation of a log record. */
export type KeyChange = 'add' | 'forget';

const MAGIC = Buffer.from('hkseen1\n');
/** The length of a log without records. */
export const EMPTY_LOG_BYTES = MAGIC.length;
/** Operation, number of keys, CRC of both and of the keys: three u32 LE. */
const HEAD_BYTES = 12;
const CODE: Readonly<Record<KeyChange, number>> = { add: 1, forget: 2 };
/** Maximum number of keys in a record, which is read and written as a whole. */
const MAX_RECORD_KEYS = 1 << 17;

/**
 * An append-only file with the changes of a key set. Opening it drops a record that a crash cut off at the end:
 * the commit that wrote it never succeeded. So it does with a record that has a sector of zeros, and with those
 * after it: a power failure kept the sector from the disk, so none of them was flushed. Any other damaged
 * record before a sound one is an error, and nothing is changed.
 */
export class KeyLog {
  readonly #file: FileHandle;
  #end: number;

  private constructor(
    readonly path: string,
    file: FileHandle,
    end: number,
  ) {
    this.#file = file;
    this.#end = end;
  }

  /**
   * Opens or creates the file and reports its records in order.
   *
   * @param onChange owns the array that it receives
   * @param mustExist a missing file is an error, because something else names it
   * @throws StorageError if the file is not a log of seen keys, or a record is damaged that is not the last one
   */
  static async open(
    path: string,
    onChange: (change: KeyChange, keys: KeyWords) => void,
    mustExist = false,
  ): Promise<KeyLog> {
    // In mode 'a+' the system ignores the position of a write.
    const file = await openRegular(path, 'r+')
      .catch((cause: unknown) => {
        if (errorCode(cause) === 'ENOENT' && !mustExist) return open(path, 'wx+');
        throw cause;
      })
      .catch(rethrowAs(StorageError, `${path} cannot be opened`));
    try {
      const { size } = await file.stat();
      const magic = await readUpTo(file, 0, MAGIC.length);
      const isNew = size < MAGIC.length || (await isZeros(file, 0, size));
      if (isNew && mustExist) throw new StorageError(`${path} is damaged: it has lost its content`);
      if (!isNew && !MAGIC.equals(magic)) throw new StorageError(`${path} is not a log of seen keys`);
      if (isNew) {
        if (!MAGIC.subarray(0, magic.length).equals(magic) && magic.some((byte) => byte !== 0))
          throw new StorageError(`${path} is not a log of seen keys`);
        // Flushed, so that a first sector of zeros after a power failure means that no commit was flushed
        // either.
        await file.truncate(0);
        await writeFully(file, MAGIC, 0);
        await file.datasync();
      }
      let end = MAGIC.length;
      for (;;) {
        const record = await readRecord(file, end);
        if (record === undefined) break;
        onChange(record.change, record.keys);
        end = record.end;
      }
      if (!(await hasUnwrittenSector(file, end, size)) && (await hasRecordAfter(file, end, size)))
        throw new StorageError(`${path} is damaged: the record at byte ${end} is changed`);
      await file.truncate(end);
      return new KeyLog(path, file, end);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async append(change: KeyChange, keys: KeyWords): Promise<void> {
    const step = 2 * MAX_RECORD_KEYS;
    for (let from = 0; from < keys.length; from += step) {
      const part = keys.subarray(from, from + step);
      const record = Buffer.alloc(HEAD_BYTES + part.byteLength);
      record.writeUInt32LE(CODE[change], 0);
      record.writeUInt32LE(part.length / 2, 4);
      for (let i = 0; i < part.length; i++) record.writeUInt32LE(part[i]!, HEAD_BYTES + 4 * i);
      record.writeUInt32LE(checksumOf(record), 8);
      await writeFully(this.#file, record, this.#end);
      this.#end += record.length;
    }
  }

  /** Flushes the file to the disk. */
  sync(): Promise<void> {
    return this.#file.datasync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

interface LogRecord {
  readonly change: KeyChange;
  readonly keys: KeyWords;
  readonly end: number;
}

/** Reads the record at an offset; undefined if it is cut off or damaged. */
async function readRecord(file: FileHandle, offset: number): Promise<LogRecord | undefined> {
  const head = await readUpTo(file, offset, HEAD_BYTES);
  if (head.length < HEAD_BYTES) return undefined;
  const code = head.readUInt32LE(0);
  const count = head.readUInt32LE(4);
  const change = code === CODE.add ? 'add' : code === CODE.forget ? 'forget' : undefined;
  if (change === undefined || count > MAX_RECORD_KEYS) return undefined;
  const length = HEAD_BYTES + count * KEY_BYTES;
  const record = await readUpTo(file, offset, length);
  if (record.length < length || checksumOf(record) !== head.readUInt32LE(8)) return undefined;
  const keys = new Uint32Array(2 * count);
  for (let i = 0; i < keys.length; i++) keys[i] = record.readUInt32LE(HEAD_BYTES + 4 * i);
  return { change, keys, end: offset + length };
}

/** What a disk writes as a whole. */
const SECTOR_BYTES = 512;
/** Zeros at the end of a sector that are no accident. */
const MIN_ZEROS = 8;

/**
 * Whether the bad record at an offset lacks a sector: zeros from its start to the end of a sector, or a whole
 * sector of them.
 */
async function hasUnwrittenSector(file: FileHandle, bad: number, size: number): Promise<boolean> {
  const end = Math.min(size, bad + HEAD_BYTES + MAX_RECORD_KEYS * KEY_BYTES);
  for (let from = bad; from < end; ) {
    const to = Math.min(end, from - (from % SECTOR_BYTES) + SECTOR_BYTES);
    if (to - from >= MIN_ZEROS && (await isZeros(file, from, to))) return true;
    from = to;
  }
  return false;
}

async function isZeros(file: FileHandle, from: number, to: number): Promise<boolean> {
  for (let at = from; at < to; at += SEARCH_BYTES) {
    const piece = await readUpTo(file, at, Math.min(SEARCH_BYTES, to - at));
    if (piece.some((byte) => byte !== 0)) return false;
  }
  return true;
}

/** Bytes that are searched for the record after a damaged one at a time. */
const SEARCH_BYTES = 1 << 20;

/**
 * Whether a sound record follows the bad one at an offset: then the bad one is no cut end. Records begin at
 * multiples of four bytes. Searches everything, because the length in a damaged record may be wrong.
 */
async function hasRecordAfter(file: FileHandle, bad: number, size: number): Promise<boolean> {
  for (let from = bad + 4; from + HEAD_BYTES <= size; from += SEARCH_BYTES) {
    const piece = await readUpTo(file, from, SEARCH_BYTES + 4);
    for (let at = 0; at + 8 <= piece.length && at < SEARCH_BYTES; at += 4) {
      const code = piece.readUInt32LE(at);
      if (code !== CODE.add && code !== CODE.forget) continue;
      const count = piece.readUInt32LE(at + 4);
      if (count === 0 || from + at + HEAD_BYTES + count * KEY_BYTES > size) continue;
      if ((await readRecord(file, from + at)) !== undefined) return true;
    }
  }
  return false;
}

/** The CRC of everything except the CRC field. */
function checksumOf(record: Buffer): number {
  return crc32(record.subarray(HEAD_BYTES), crc32(record.subarray(0, 8)));
}

/** Reads `length` bytes, fewer at the end of the file. */
async function readUpTo(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, await readFully(file, buffer, position));
}
