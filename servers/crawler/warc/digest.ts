import { createHash } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * Returns the SHA-1 of the bytes in the format of crawl.log and WARC (CRAWL-16.1 field 10): `sha1:` and 32
 * characters of base32.
 */
export function sha1Base32(...pieces: readonly Uint8Array[]): string {
  const hash = createHash('sha1');
  for (const piece of pieces) hash.update(piece);
  return base32Sha1(hash.digest());
}

/** Formats the 20 bytes of a SHA-1: `sha1:` and 32 characters of base32. */
export function base32Sha1(digest: Buffer): string {
  let text = 'sha1:';
  // 20 bytes are four groups of five bytes; each group gives eight characters without padding.
  for (let offset = 0; offset < digest.length; offset += 5) {
    const group = digest.readUIntBE(offset, 5);
    for (let letter = 7; letter >= 0; letter--) text += ALPHABET[Math.floor(group / 32 ** letter) % 32]!;
  }
  return text;
}
