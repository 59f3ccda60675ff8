// ASCII bytes that several grammars name, with tests and conversions for them.
/** Bytes of ASCII that the grammars of several protocols name. */
export const HT = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SP = 0x20;
export const QUOTE = 0x22;
export const ZERO = 0x30;
export const NINE = 0x39;
export const COLON = 0x3a;
export const AT = 0x40;
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

export function isLetter(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a);
}

/** A `Buffer` over the same memory: no copy, only Node's faster text methods. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Trims SP and HT at both ends. The loops take linear time; a pattern for the end would start a match at every
 * blank of the text.
 */
export function trimBlanks(text: string): string {
  return trim(text, isBlank);
}

/** Trims ASCII white space at both ends, in linear time. */
export function trimSpace(text: string): string {
  return trim(text, isSpace);
}

function trim(text: string, isTrimmed: (byte: number) => boolean): string {
  let start = 0;
  let end = text.length;
  while (start < end && isTrimmed(text.charCodeAt(start))) start++;
  while (end > start && isTrimmed(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** The bytes of a text of ASCII. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** A status code as its three digits. */
export function threeDigits(code: number): string {
  return String(code).padStart(3, '0');
}
