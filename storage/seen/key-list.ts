import { endianness } from 'node:os';
import { type FingerprintBits, fingerprint, uriKeyHalves, type Word64 } from '../../protocols/urls/index.js';

/**
 * 64-bit keys as pairs of 32-bit words, low before high: on a little-endian machine the layout of a
 * BigUint64Array.
 */
export type KeyWords = Uint32Array;

/** Bytes of a key. */
export const KEY_BYTES = 8;

/** The std64 fingerprints of texts (CRAWL-4.8). */
export function fingerprintsOf(texts: readonly string[], bits: FingerprintBits = 64): KeyWords {
  return wordsOf(texts, (text) => fingerprint(text, bits));
}

/** The 24+40-bit keys of texts (CRAWL-3.7), in signed order (CRAWL-3.8). */
export function uriKeysOf(texts: readonly string[]): KeyWords {
  const keys = wordsOf(texts, uriKeyHalves);
  for (let offset = 1; offset < keys.length; offset += 2) keys[offset] = (keys[offset]! ^ 0x80000000) >>> 0;
  return keys;
}

function wordsOf(texts: readonly string[], hash: (text: string) => Word64): KeyWords {
  const words = new Uint32Array(2 * texts.length);
  for (let i = 0; i < texts.length; i++) {
    const { high, low } = hash(texts[i]!);
    words[2 * i] = low;
    words[2 * i + 1] = high;
  }
  return words;
}

const LITTLE_ENDIAN = endianness() === 'LE';

/** Sorts keys as unsigned numbers, in place, in native code. */
export function sortKeys(keys: KeyWords): void {
  if (!LITTLE_ENDIAN) swapWords(keys);
  new BigUint64Array(keys.buffer, keys.byteOffset, keys.length / 2).sort();
  if (!LITTLE_ENDIAN) swapWords(keys);
}

/**
 * Converts keys to the bytes of a file: eight each, the most significant first (CRAWL-4.4). Works in place:
 * `keys` is not usable afterwards.
 */
export function toFileBytes(keys: KeyWords): Uint8Array {
  if (!LITTLE_ENDIAN) swapWords(keys);
  const bytes = Buffer.from(keys.buffer, keys.byteOffset, keys.byteLength);
  return LITTLE_ENDIAN ? bytes.swap64() : bytes;
}

/** Reverses {@link toFileBytes}, in place. `bytes` must start at a multiple of eight in its buffer. */
export function fromFileBytes(bytes: Uint8Array): KeyWords {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (LITTLE_ENDIAN) buffer.swap64();
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  if (!LITTLE_ENDIAN) swapWords(words);
  return words;
}

function swapWords(keys: KeyWords): void {
  for (let offset = 0; offset < keys.length; offset += 2) {
    const first = keys[offset]!;
    keys[offset] = keys[offset + 1]!;
    keys[offset + 1] = first;
  }
}

/** Returns a negative number, 0 or a positive number if the first key is smaller, equal or greater. */
export function compareKeys(aLow: number, aHigh: number, bLow: number, bHigh: number): number {
  return aHigh === bHigh ? aLow - bLow : aHigh - bHigh;
}
