// Bytes and errors of the SOIF grammar.
import { isSpace, ZERO } from '../ascii.js';
import { ProtocolError } from '../errors.js';

/** The bytes that have a meaning in SOIF (SOIF-2.2), next to those of `ascii.ts`. */
export const MINUS = 0x2d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/**
 * Parses `bytes[start..end)` as a strict decimal number: digits only, no sign, at most `MAX_SAFE_INTEGER`.
 * Returns -1 for anything else; `zeroPadded` allows leading zeros.
 */
export function parseDecimal(bytes: Uint8Array, start: number, end: number, zeroPadded: boolean): number {
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

/**
 * Parses `bytes[start..end)` as an unsigned decimal number (SOIF-6.1), white space around it allowed;
 * `undefined` if it is not one.
 */
export function parseUnsigned(bytes: Uint8Array, start: number, end: number): number | undefined {
  let first = start;
  let last = end;
  while (first < last && isSpace(bytes[first]!)) first++;
  while (last > first && isSpace(bytes[last - 1]!)) last--;
  const value = parseDecimal(bytes, first, last, true);
  return value < 0 ? undefined : value;
}

/** The error for something that an emitter must not write. */
export function unwritable(rule: string, message: string): ProtocolError {
  return new ProtocolError(message, { protocol: 'soif', rule, offset: 0 });
}
