// Objects above a mebibyte, which are stored in parts: a database holds each row several times in memory while it
// writes or reads it.
//
// The parts are written before the batch that refers to them, in batches of their own and under a number that
// no batch has used: the sequence of the change. A crash between the two leaves parts with a higher number than
// the last sequence, which the next opening deletes. Parts and batch are in the same log, so that no crash
// keeps the batch and loses a part.
import { crc32 } from 'node:zlib';
import { StateError, type StorageError } from '../../protocols/errors.js';
import { type ByteSource, readRange, type SoifBytes } from '../../protocols/soif/index.js';
import { countBuffer } from '../files/collect-garbage.js';
import type { RegistryEntry } from '../records/records.js';
import type { RowChange, RowReader, RowsSnapshot, RowWriter } from '../rows/contract.js';
import { oidKey, orderedKey, orderedOidKey, TABLE, tableRange } from '../rows/keys.js';
import { damagedObject, objectOfRow } from './object-rows.js';

/** Bytes of a part; belongs to the format. A longer object is stored in parts. */
export const PART_BYTES = 1 << 20;
/** First byte of the row of an object in parts. */
const IN_PARTS = 0x02;
const ROW_BYTES = 21;
/** Where the checksum is in the row. */
const CRC_AT = 17;

/** An object whose parts are to be written before the batch with its row. */
export interface LargeObject {
  readonly oid: number;
  readonly set: number;
  readonly bytes: SoifBytes;
  /** Its row, whose checksum {@link writeParts} adds. */
  readonly row: Buffer;
}

/**
 * The row of an object in parts:
 *
 *     02, number of the parts u64 BE, length u64 BE, CRC-32 u32 BE of the object that begins with the CRC's state for the OID
 */
export function largeObject(oid: number, set: number, bytes: SoifBytes): LargeObject {
  const row = Buffer.alloc(ROW_BYTES);
  row[0] = IN_PARTS;
  row.writeBigUInt64BE(BigInt(set), 1);
  row.writeBigUInt64BE(BigInt(bytes.length), 9);
  return { oid, set, bytes, row };
}

/** Whether the row is that of an object in parts. */
export function isInParts(row: Uint8Array): boolean {
  return row[0] === IN_PARTS;
}

/** The keys of the parts of an entry's object; empty if it is stored in one row. */
export function partKeys({ partSet = 0, length }: RegistryEntry): Uint8Array[] {
  if (partSet === 0) return [];
  return Array.from({ length: Math.ceil(length / PART_BYTES) }, (_, i) =>
    orderedOidKey(TABLE.parts, partSet, i),
  );
}

/**
 * Writes the parts, each in a batch of its own, in place of those that a failed attempt left, and the checksum
 * into the row.
 */
export async function writeParts(database: RowWriter, { oid, set, bytes, row }: LargeObject): Promise<void> {
  await database.clear({ gte: orderedKey(TABLE.parts, set), lt: orderedKey(TABLE.parts, set + 1) });
  let crc = oid;
  let i = 0;
  for await (const value of partsOf(bytes)) {
    crc = crc32(value, crc);
    await database.write([{ key: orderedOidKey(TABLE.parts, set, i++), value }]);
  }
  row.writeUInt32BE(crc, CRC_AT);
}

async function* partsOf(bytes: SoifBytes): AsyncGenerator<Uint8Array, void, undefined> {
  if (bytes instanceof Uint8Array) {
    for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
    return;
  }
  const part = Buffer.allocUnsafeSlow(Math.min(PART_BYTES, bytes.length));
  let used = 0;
  let total = 0;
  for await (const piece of bytes.pieces()) {
    total += piece.length;
    for (let at = 0; at < piece.length; ) {
      const length = Math.min(piece.length - at, part.length - used);
      part.set(piece.subarray(at, at + length), used);
      at += length;
      used += length;
      if (used < part.length) break;
      yield part;
      used = 0;
    }
  }
  if (used > 0) yield part.subarray(0, used);
  if (total !== bytes.length) throw new StateError(`${total} bytes instead of ${bytes.length}`);
}

/** Deletes the parts that no batch refers to: those above the sequence of the last change. */
export async function deleteOrphans(database: RowWriter, lastSequence: number): Promise<void> {
  const range = { ...tableRange(TABLE.parts), gte: orderedKey(TABLE.parts, lastSequence + 1) };
  const [first] = await database.pageOfKeys(range, { limit: 1 });
  if (first !== undefined) await database.clear(range);
}

/** The stored bytes of an object: in memory, or a source that must be closed. */
export type StoredObject = Uint8Array | StoredParts;

/**
 * The object of a row; undefined if it was removed meanwhile.
 *
 * @throws StorageError if the object is damaged
 */
export async function openObject(
  database: RowReader,
  oid: number,
  row: Uint8Array,
): Promise<StoredObject | undefined> {
  if (!isInParts(row)) return objectOfRow(database.place, oid, row);
  const snapshot = await database.snapshot();
  let opened: StoredObject | undefined;
  try {
    // A change since the row was read may have deleted the parts.
    const current = await snapshot.get(oidKey(TABLE.objects, oid));
    if (current !== undefined && isInParts(current)) {
      opened = new StoredParts(database, oid, current, snapshot);
      return opened;
    }
    return current && objectOfRow(database.place, oid, current);
  } finally {
    if (!(opened instanceof StoredParts)) await snapshot.close();
  }
}

/**
 * The object of a row, whole; undefined if it was removed meanwhile. @throws StorageError if the object is
 * damaged
 */
export async function storedObject(
  database: RowReader,
  oid: number,
  row: Uint8Array,
): Promise<Uint8Array | undefined> {
  const object = await openObject(database, oid, row);
  if (!(object instanceof StoredParts)) return object;
  await using parts = object;
  return await parts.read();
}

/** An object in parts, at the moment of its opening. */
export class StoredParts implements ByteSource, AsyncDisposable {
  readonly length: number;
  readonly #database: RowReader;
  readonly #oid: number;
  readonly #set: number;
  readonly #crc: number;
  readonly #snapshot: RowsSnapshot;
  /** The part of the last read of a range: small ranges often follow each other. */
  #last: { readonly index: number; readonly part: Uint8Array } | undefined;

  /** @throws StorageError if the row is damaged */
  constructor(database: RowReader, oid: number, row: Uint8Array, snapshot: RowsSnapshot) {
    this.#database = database;
    this.#oid = oid;
    this.#snapshot = snapshot;
    const header = Buffer.from(row.buffer, row.byteOffset, row.length);
    if (header.length !== ROW_BYTES) throw this.#damaged('has a damaged row');
    this.#set = Number(header.readBigUInt64BE(1));
    this.length = Number(header.readBigUInt64BE(9));
    this.#crc = header.readUInt32BE(CRC_AT);
    if (!Number.isSafeInteger(this.#set) || this.length > 2 ** 32 || this.length === 0)
      throw this.#damaged('has a damaged row');
  }

  /** All bytes. @throws StorageError if the object is damaged */
  async read(): Promise<Uint8Array> {
    // The last part is read first: a damaged length must not allocate memory.
    await this.#part(this.#lastIndex);
    return readRange(this, 0, this.length);
  }

  /**
   * Yields the bytes part by part. The checksum is compared when all bytes are read, before the last part is
   * yielded.
   *
   * @throws StorageError if the object is damaged
   */
  async *pieces(start = 0, end = this.length): AsyncGenerator<Uint8Array, void, undefined> {
    const isWhole = start === 0 && end === this.length;
    let crc = this.#oid;
    for (let i = Math.floor(start / PART_BYTES); i * PART_BYTES < end; i++) {
      const part = this.#last?.index === i ? this.#last.part : await this.#part(i);
      this.#last = isWhole ? undefined : { index: i, part };
      if (isWhole) {
        crc = crc32(part, crc);
        if (i === this.#lastIndex && crc !== this.#crc)
          throw this.#damaged('has another checksum than when it was stored');
      }
      const from = Math.max(start - i * PART_BYTES, 0);
      yield part.subarray(from, end - i * PART_BYTES);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#snapshot.close();
  }

  get #lastIndex(): number {
    return Math.ceil(this.length / PART_BYTES) - 1;
  }

  async #part(index: number): Promise<Uint8Array> {
    const part = await this.#snapshot.get(orderedOidKey(TABLE.parts, this.#set, index));
    const length = Math.min(this.length - index * PART_BYTES, PART_BYTES);
    countBuffer(length);
    if (part?.length !== length) throw this.#damaged('lacks a part');
    return part;
  }

  #damaged(problem: string): StorageError {
    return damagedObject(this.#database.place, this.#oid, problem);
  }
}

/** An object in one row, which is read each time that its bytes are. */
export function storedRow(database: RowReader, oid: number, length: number): ByteSource {
  return {
    length,
    async *pieces(start = 0, end = length) {
      const row = await database.get(oidKey(TABLE.objects, oid));
      const bytes = row && objectOfRow(database.place, oid, row);
      if (bytes?.length !== length)
        throw damagedObject(database.place, oid, 'has another length than its entry');
      countBuffer(length);
      yield bytes.subarray(start, end);
    },
  };
}

/** The changes that delete the parts of an entry's object. */
export function partDeletions(entry: RegistryEntry): RowChange[] {
  return partKeys(entry).map((key) => ({ key }));
}
