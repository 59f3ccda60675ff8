// Writes all of the bytes: a disk that is nearly full accepts a part of them without an error.
import type { FileHandle } from 'node:fs/promises';

/**
 * Writes bytes at a position, else where the last write ended.
 *
 * @throws the error of the system, e.g. ENOSPC; a part of the bytes may be in the file then
 */
export async function writeFully(
  file: Pick<FileHandle, 'write'>,
  bytes: Uint8Array,
  position?: number,
): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const at = position === undefined ? null : position + done;
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at);
    done += bytesWritten;
  }
}
