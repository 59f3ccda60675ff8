// The bytes of a file that is too large for the memory.
import { StorageError } from '../../protocols/errors.js';
import type { ByteSource } from '../../protocols/soif/index.js';
import { openRegular } from './regular-file.js';

/** Bytes that are read at a time. */
const READ_BYTES = 256 * 1024;

/**
 * The first `length` bytes of a regular file, which each iteration opens and closes.
 *
 * The iteration throws a StorageError if the file is shorter or not a regular one, and system errors.
 */
export function fileSource(path: string, length: number): ByteSource {
  return {
    length,
    async *pieces(start = 0, end = length) {
      const file = await openRegular(path);
      try {
        const buffer = Buffer.allocUnsafeSlow(Math.max(0, Math.min(READ_BYTES, end - start)));
        for (let at = start; at < end; ) {
          const wanted = Math.min(buffer.length, end - at);
          const { bytesRead } = await file.read(buffer, 0, wanted, at);
          if (bytesRead === 0) throw new StorageError(`${path} has become shorter while it was read`);
          yield buffer.subarray(0, bytesRead);
          at += bytesRead;
        }
      } finally {
        await file.close();
      }
    },
  };
}
