// The headers of a Registry: 20 bytes for the file, 12 for each record.
import { ProtocolError } from '../errors.js';
import {
  FILE_HEADER_BYTES,
  isU32,
  RECORD_HEADER_BYTES,
  type RegistryFormat,
  type RegistryReading,
  sizeFieldOf,
  U32_MAX,
} from './format.js';

/** The number of records of a Registry. Only `records` counts a record with an unknown flag (REG-14). */
export interface RegistryCounts {
  readonly records: number;
  readonly deleted: number;
  readonly valid: number;
}

/** REG-5. */
export interface RegistryHeader extends RegistryCounts {
  readonly version: number;
}

/** Encodes the 20 bytes at the start of the file (REG-5). @throws RangeError for a number that is not a u32 */
export function encodeRegistryHeader(header: RegistryHeader, format: RegistryFormat): Uint8Array {
  const numbers = [format.fileMagic, header.version, header.records, header.deleted, header.valid];
  const bytes = new Uint8Array(FILE_HEADER_BYTES);
  const view = viewOf(bytes);
  numbers.forEach((number, i) => {
    if (!isU32(number)) throw new RangeError(`a Registry's header cannot hold ${number} (REG-2)`);
    view.setUint32(4 * i, number);
  });
  return bytes;
}

/**
 * Decodes the start of the file. @throws ProtocolError REG-5: fewer than 20 bytes; REG-8: another magic number
 */
export function decodeRegistryHeader(bytes: Uint8Array, format: RegistryFormat): RegistryHeader {
  if (bytes.length < FILE_HEADER_BYTES) {
    const message = `the Registry's header has ${bytes.length} of ${FILE_HEADER_BYTES} bytes`;
    throw new ProtocolError(message, { protocol: 'registry', rule: 'REG-5', offset: bytes.length });
  }
  const view = viewOf(bytes);
  if (view.getUint32(0) !== format.fileMagic) {
    const message = `not a Registry: it begins with ${formatMagic(view.getUint32(0))}, not ${formatMagic(format.fileMagic)}`;
    throw new ProtocolError(message, { protocol: 'registry', rule: 'REG-8', offset: 0 });
  }
  return {
    version: view.getUint32(4),
    records: view.getUint32(8),
    deleted: view.getUint32(12),
    valid: view.getUint32(16),
  };
}

/** REG-11. */
export interface RecordHeader {
  /** The size field; {@link dataBytesOf} interprets it. */
  readonly size: number;
  readonly magic: number;
  readonly flag: number;
}

/**
 * Encodes the 12 bytes before `dataBytes` bytes of data. @throws RangeError when the size exceeds a u32 (REG-2)
 */
export function encodeRecordHeader(
  dataBytes: number,
  flag: number,
  format: RegistryFormat,
  reading: RegistryReading = format.reading,
): Uint8Array {
  const size = sizeFieldOf(dataBytes, reading);
  if (size > U32_MAX) throw new RangeError(`a record of ${dataBytes} bytes is too long (REG-2)`);
  const bytes = new Uint8Array(RECORD_HEADER_BYTES);
  const view = viewOf(bytes);
  view.setUint32(0, size);
  view.setUint32(4, format.recordMagic);
  view.setUint32(8, flag);
  return bytes;
}

/** Decodes the 12 bytes at `at`, which must be available. */
export function decodeRecordHeader(bytes: Uint8Array, at = 0): RecordHeader {
  const view = viewOf(bytes);
  return { size: view.getUint32(at), magic: view.getUint32(at + 4), flag: view.getUint32(at + 8) };
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Formats a magic number in hexadecimal, and as text if its bytes are printable. */
export function formatMagic(number: number): string {
  const text = String.fromCharCode(number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255);
  const hexadecimal = `0x${number.toString(16).padStart(8, '0')}`;
  return /^[!-~]{4}$/.test(text) ? `${hexadecimal} (${JSON.stringify(text)})` : hexadecimal;
}
