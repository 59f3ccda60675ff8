import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { errorCode, StorageError } from '../../protocols/errors.js';
import { KEY_BYTES, type KeyWords } from './key-list.js';

/** The operation of a log record. */
export type KeyChange = 'add' | 'forget';

const MAGIC = Buffer.from('hkseen1\n');
/** Operation, number of keys, CRC of both and of the keys: three u32 LE. */
const HEAD_BYTES = 12;
const CODE: Readonly<Record<KeyChange, number>> = { add: 1, forget: 2 };
/** Maximum number of keys in a record, which is read and written as a whole. */
const MAX_RECORD_KEYS = 1 << 17;

/**
 * An append-only file with the changes of a key set. Opening it drops a record that a crash cut off: the commit that wrote it never
 * succeeded.
 */
export class KeyLog {
  private constructor(
    readonly path: string,
    private readonly file: FileHandle,
    private end: number,
  ) {}

  /**
   * Opens or creates the file and reports its records in order.
   *
   * @param onChange owns the array that it receives
   * @throws StorageError if the file is not a log of seen keys
   */
  static async open(path: string, onChange: (change: KeyChange, keys: KeyWords) => void): Promise<KeyLog> {
    // In mode 'a+' the system ignores the position of a write.
    const file = await open(path, 'r+').catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return open(path, 'wx+');
      throw error;
    });
    try {
      const { size } = await file.stat();
      const magic = await readUpTo(file, 0, MAGIC.length);
      if (size >= MAGIC.length && !magic.equals(MAGIC))
        throw new StorageError(`${path} is not a log of seen keys`);
      if (size < MAGIC.length) await file.write(MAGIC, 0, MAGIC.length, 0);
      let end = MAGIC.length;
      for (;;) {
        const record = await readRecord(file, end);
        if (record === undefined) break;
        onChange(record.change, record.keys);
        end = record.end;
      }
      await file.truncate(end);
      return new KeyLog(path, file, end);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Bytes of the file. */
  get size(): number {
    return this.end;
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
      await this.file.write(record, 0, record.length, this.end);
      this.end += record.length;
    }
  }

  /** Flushes the file to the disk. */
  sync(): Promise<void> {
    return this.file.datasync();
  }

  close(): Promise<void> {
    return this.file.close();
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

/** The CRC of everything except the CRC field. */
function checksumOf(record: Buffer): number {
  return crc32(record.subarray(HEAD_BYTES), crc32(record.subarray(0, 8)));
}

/** Reads `length` bytes, fewer at the end of the file. */
async function readUpTo(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
