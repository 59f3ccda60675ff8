// Remembers which immutable files this process has verified: a new generation links most files of the one
// before.
import type { FileHandle } from 'node:fs/promises';

/** Entries above which the oldest are forgotten: about 10 MB. */
const MAX_REMEMBERED = 100_000;

/** With the CRC-32 of the whole file, if it is known. */
const verified = new Map<string, number | undefined>();

/** A text that is equal for all links to a file, and another one when the file was written since. */
export async function fileIdentity(file: FileHandle): Promise<string> {
  const { dev, ino, size, mtimeNs } = await file.stat({ bigint: true });
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

/** Whether {@link rememberVerified} was called with this identity. */
export function wasVerified(identity: string): boolean {
  return verified.has(identity);
}

/** The CRC-32 with which {@link rememberVerified} was called; undefined if it is not known. */
export function verifiedCrc(identity: string): number | undefined {
  return verified.get(identity);
}

/** @param crc of the whole file */
export function rememberVerified(identity: string, crc?: number): void {
  if (verified.size >= MAX_REMEMBERED) {
    for (const oldest of verified.keys()) {
      verified.delete(oldest);
      break;
    }
  }
  verified.set(identity, crc ?? verified.get(identity));
}
