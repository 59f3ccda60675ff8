import type { FileHandle } from 'node:fs/promises';

/** Fills `target` from a position; returns the number of bytes, fewer only at the end of the file. */
export async function readFully(
  file: Pick<FileHandle, 'read'>,
  target: Uint8Array,
  position: number,
): Promise<number> {
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) return done;
    done += bytesRead;
  }
  return target.length;
}
