// The row of an object: a checksum, then the object's bytes. The checksum is in the row and not in the Registry
// entry, because the fastest walk and the worker threads read objects without their entries.
import { crc32 } from 'node:zlib';
import { StorageError } from '../../protocols/errors.js';
import { adviceFor } from '../files/advice.js';

/** First byte of a row with a checksum. */
const CHECKED = 0x01;
/** First byte of an object in SOIF; rows of earlier versions are the object alone. */
const AT = 0x40;
const HEADER_BYTES = 5;

/**
 * The row of an object:
 *
 *     01, CRC-32 u32 BE of the object that begins with the CRC's state for the OID, the object
 */
export function objectRow(oid: number, bytes: Uint8Array): Uint8Array {
  const row = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  row[0] = CHECKED;
  row.writeUInt32BE(crc32(bytes, oid), 1);
  row.set(bytes, HEADER_BYTES);
  return row;
}

/**
 * The object of a row, a view of its bytes. A row of an earlier version has no checksum and is not verified.
 *
 * @throws StorageError if the bytes are not those that were stored under this OID
 */
export function objectOfRow(directory: string, oid: number, row: Uint8Array): Uint8Array {
  if (row[0] === CHECKED && row.length >= HEADER_BYTES) {
    const bytes = row.subarray(HEADER_BYTES);
    const expected = ((row[1]! << 24) | (row[2]! << 16) | (row[3]! << 8) | row[4]!) >>> 0;
    if (crc32(bytes, oid) === expected) return bytes;
  } else if (row[0] === AT && row[HEADER_BYTES] !== AT) {
    return row;
  }
  throw damagedObject(directory, oid, 'has another checksum than when it was stored');
}

/** The error for an object that cannot be read. */
export function damagedObject(directory: string, oid: number, problem: string): StorageError {
  return new StorageError(
    `the store in ${directory} is damaged: object ${oid} ${problem}; ${adviceFor(directory)}`,
  );
}
