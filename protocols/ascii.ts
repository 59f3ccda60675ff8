/** Bytes of ASCII that the grammars of several protocols name. */
export const HT = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SP = 0x20;
export const QUOTE = 0x22;
export const ZERO = 0x30;
export const NINE = 0x39;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;

/** White space as C's `isspace` has it: HT, LF, VT, FF, CR, SP. */
export function isSpace(byte: number | undefined): boolean {
  return byte === SP || (byte !== undefined && byte >= HT && byte <= CR);
}

/** SP or HT. */
export function isBlank(byte: number | undefined): boolean {
  return byte === SP || byte === HT;
}

export function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** A `Buffer` over the same memory: no copy, only Node's faster text methods. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The bytes of a text of ASCII. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** A status code as its three digits. */
export function threeDigits(code: number): string {
  return String(code).padStart(3, '0');
}
