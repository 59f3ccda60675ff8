// Remembers which immutable files this process has verified: a new generation links most files of the one
// before.
import type { FileHandle } from 'node:fs/promises';

/** Entries above which the oldest are forgotten: about 10 MB. */
const MAX_REMEMBERED = 100_000;

const verified = new Set<string>();

/** A text that is equal for all links to a file, and another one when the file was written since. */
export async function fileIdentity(file: FileHandle): Promise<string> {
  const { dev, ino, size, mtimeNs } = await file.stat({ bigint: true });
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

/** Whether {@link rememberVerified} was called with this identity. */
export function wasVerified(identity: string): boolean {
  return verified.has(identity);
}

export function rememberVerified(identity: string): void {
  if (verified.size >= MAX_REMEMBERED) {
    for (const oldest of verified) {
      verified.delete(oldest);
      break;
    }
  }
  verified.add(identity);
}
