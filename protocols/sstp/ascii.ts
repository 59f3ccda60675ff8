/** Octets that the grammar of sstp.md 6.2 names. */
export const LF = 0x0a;
export const CR = 0x0d;
export const SP = 0x20;
export const TAB = 0x09;
export const COLON = 0x3a;
export const ZERO = 0x30;
export const NINE = 0x39;

export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** The three digits of a code (S-5). */
export function threeDigits(code: number): string {
  return String(code).padStart(3, '0');
}

/** A view for text conversion; no copy. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
