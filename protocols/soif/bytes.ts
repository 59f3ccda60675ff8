/** The bytes that have a meaning in SOIF (SOIF-2.2). */
export const HT = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SP = 0x20;
export const MINUS = 0x2d;
export const ZERO = 0x30;
export const NINE = 0x39;
export const COLON = 0x3a;
export const AT = 0x40;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** White space as the C library's reader skips it: HT, LF, VT, FF, CR, SP (SOIF-4.2, 4.3). */
export function isSpace(byte: number): boolean {
  return byte === SP || (byte >= HT && byte <= CR);
}

export function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** A `Buffer` over the same memory: no copy, only Node's faster text methods. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * The one strict decimal routine: digits only, no sign, at most `MAX_SAFE_INTEGER`.
 * Returns -1 when `bytes[start..end)` is anything else; `zeroPadded` allows leading zeros.
 */
export function decimal(bytes: Uint8Array, start: number, end: number, zeroPadded: boolean): number {
  if (start >= end) return -1;
  if (!zeroPadded && end - start > 1 && bytes[start] === ZERO) return -1;
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
    if (value > Number.MAX_SAFE_INTEGER) return -1;
  }
  return value;
}
