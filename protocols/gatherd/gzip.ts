// Header and trailer of a gzip member, and checksums of assembled ones (GATHERD-6).
import { ByteBuffer } from '../byte-buffer.js';
import { ProtocolError } from '../errors.js';

/**
 * The frame of a gzip member (RFC 1952): header, deflate data, trailer. This file finds the start of the
 * deflate data and checks the result (GATHERD-6.3, 6.6, 6.7); the caller inflates.
 */

/**
 * Bytes of the longest accepted header: FEXTRA may have 65 535 bytes; names and comments have no limit in RFC
 * 1952.
 */
export const MAX_GZIP_HEADER_BYTES = 128 * 1024;

export const GZIP_MAGIC = 0x1f;
const GZIP_TRAILER_BYTES = 8;
const FLAG = { headerCrc: 0x02, extra: 0x04, name: 0x08, comment: 0x10, reserved: 0xe0 } as const;

/** The fields of a header, in order. */
type Field = 'fixed' | 'extra-length' | 'extra' | 'name' | 'comment' | 'header-crc' | 'done';

/** Reads a member's header from chunks. */
export class GzipHeaderReader {
  readonly #limit: number;
  readonly #seen = new ByteBuffer();
  #field: Field = 'fixed';
  /** Start of the current field, in bytes from the header's start. */
  #start = 0;
  #extraLength = 0;

  constructor(limit = MAX_GZIP_HEADER_BYTES) {
    this.#limit = limit;
  }

  get done(): boolean {
    return this.#field === 'done';
  }

  /** Takes the bytes of the header and returns the rest of the chunk. @throws ProtocolError */
  push(chunk: Uint8Array): Uint8Array {
    let rest = chunk;
    while (!this.done && rest.length > 0) {
      const length = this.#countFieldBytes(rest);
      this.#seen.append(rest.subarray(0, length));
      rest = rest.subarray(length);
      if (this.#seen.length > this.#limit) {
        throw gzipError(`gzip header is longer than ${this.#limit} bytes`, this.#limit);
      }
      while (!this.done && this.#isFieldComplete()) this.#advance();
    }
    return rest;
  }

  /** Returns the number of these bytes that certainly belong to the current field. */
  #countFieldBytes(rest: Uint8Array): number {
    const have = this.#seen.length - this.#start;
    const needed = this.#fixedLength();
    if (needed !== undefined) return Math.min(rest.length, needed - have);
    const nul = rest.indexOf(0);
    return nul < 0 ? rest.length : nul + 1;
  }

  #fixedLength(): number | undefined {
    switch (this.#field) {
      case 'fixed':
        return 10;
      case 'extra-length':
      case 'header-crc':
        return 2;
      case 'extra':
        return this.#extraLength;
      default:
        return undefined;
    }
  }

  #isFieldComplete(): boolean {
    const needed = this.#fixedLength();
    const seen = this.#seen.view();
    if (needed !== undefined) return seen.length - this.#start >= needed;
    return seen.length > this.#start && seen[seen.length - 1] === 0;
  }

  #advance(): void {
    const seen = this.#seen.view();
    const byteAt = (i: number) => seen[i] ?? 0;
    if (this.#field === 'fixed') checkFixedField(seen);
    if (this.#field === 'extra-length')
      this.#extraLength = byteAt(this.#start) | (byteAt(this.#start + 1) << 8);
    if (this.#field === 'header-crc') {
      const stored = byteAt(this.#start) | (byteAt(this.#start + 1) << 8);
      const actual = crc32(seen.subarray(0, this.#start)) & 0xffff;
      if (stored !== actual) throw gzipError('gzip header checksum does not match', this.#start);
    }
    this.#start = seen.length;
    this.#field = fieldAfter(this.#field, byteAt(3));
    if (this.done) this.#seen.take();
  }
}

function fieldAfter(field: Field, flags: number): Field {
  switch (field) {
    case 'fixed':
      if (flags & FLAG.extra) return 'extra-length';
      break;
    case 'extra-length':
      return 'extra';
    case 'name':
      return flags & FLAG.comment ? 'comment' : fieldAfterComment(flags);
    case 'comment':
      return fieldAfterComment(flags);
    case 'header-crc':
      return 'done';
    default:
  }
  if (flags & FLAG.name) return 'name';
  if (flags & FLAG.comment) return 'comment';
  return fieldAfterComment(flags);
}

function fieldAfterComment(flags: number): Field {
  return flags & FLAG.headerCrc ? 'header-crc' : 'done';
}

function checkFixedField(seen: Uint8Array): void {
  if (seen[0] !== 0x1f || seen[1] !== 0x8b) throw gzipError('data is not gzip', 0);
  if (seen[2] !== 8) throw gzipError(`gzip method ${seen[2]} is not deflate`, 2);
  if (((seen[3] ?? 0) & FLAG.reserved) !== 0) throw gzipError('gzip header has reserved flags', 3);
}

/** Reads a member's trailer from chunks and compares it with the decoded data. */
export class GzipTrailerReader {
  readonly #seen = new ByteBuffer();

  get done(): boolean {
    return this.#seen.length === GZIP_TRAILER_BYTES;
  }

  /** Takes the bytes of the trailer and returns the rest of the chunk. */
  push(chunk: Uint8Array): Uint8Array {
    const length = Math.min(chunk.length, GZIP_TRAILER_BYTES - this.#seen.length);
    this.#seen.append(chunk.subarray(0, length));
    return chunk.subarray(length);
  }

  /**
   * GATHERD-6.5: the transfer is complete when checksum and length agree. @throws ProtocolError when they do
   * not
   * @param crc CRC-32 of the member's decoded bytes
   * @param size number of the member's decoded bytes
   */
  check(crc: number, size: number): void {
    const seen = this.#seen.view();
    const trailer = new DataView(seen.buffer, seen.byteOffset, seen.length);
    if (trailer.getUint32(0, true) !== crc >>> 0) throw gzipError('gzip checksum does not match', 0);
    // RFC 1952 stores the length modulo 2^32.
    if (trailer.getUint32(4, true) !== size % 0x1_0000_0000) throw gzipError('gzip length does not match', 4);
  }
}

/**
 * Header of the members that this kit sends: no time, no name, unknown system, so equal content gives equal
 * bytes.
 */
export const GZIP_HEADER: Uint8Array = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/** Trailer of a member: CRC-32 and number of the decoded bytes, little-endian. */
export function encodeGzipTrailer(crc: number, size: number): Uint8Array {
  const trailer = new DataView(new ArrayBuffer(GZIP_TRAILER_BYTES));
  trailer.setUint32(0, crc >>> 0, true);
  trailer.setUint32(4, size % 0x1_0000_0000, true);
  return new Uint8Array(trailer.buffer);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** CRC-32 as gzip uses it, for headers. The CRC of data is computed by the platform, which is faster. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

function gzipError(message: string, offset: number): ProtocolError {
  return new ProtocolError(message, { protocol: 'gatherd', rule: 'GATHERD-6.5', offset });
}

/**
 * CRC-32 of the concatenation of two byte strings, from the CRC of each and the length of the second. So the
 * trailer of a gzip member that is assembled from compressed pieces (GATHERD-6.3) needs no pass over their
 * bytes.
 *
 * CRC-32 is linear over GF(2): appending n zero bytes multiplies the register by x^(8n) modulo the polynomial,
 * and the second string's own CRC is added to that. The number of steps is logarithmic in the length.
 *
 * @param secondLength bytes of the second string, at most 2^53 - 1.
 */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  let power = X8;
  let factor = ONE;
  for (let length = secondLength; length > 0; length = Math.floor(length / 2)) {
    if (length % 2 === 1) factor = multiply(factor, power);
    power = multiply(power, power);
  }
  return (multiply(first, factor) ^ second) >>> 0;
}

/** The polynomial of RFC 1952, its highest term left out. Bits are reflected: bit 31 is the constant term. */
const POLYNOMIAL = 0xedb88320;
/** 1 and x^8 in that order of bits. */
const ONE = 0x80000000;
const X8 = 0x00800000;

/** Product of two polynomials modulo {@link POLYNOMIAL}. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) !== 0 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}
