import { crc32 } from 'node:zlib';
import { openRegular } from './regular-file.js';

const PIECE_BYTES = 1 << 20;

export interface FileRange {
  /** Default 0. */
  readonly from?: number;
  /** Exclusive. Default: the end of the file. */
  readonly to?: number;
  /** The CRC-32 of the bytes before `from`. Default 0. */
  readonly before?: number;
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** CRC-32 of a file, or of a part of it after the bytes before. @throws as {@link openRegular} */
export async function crcOfFile(
  path: string,
  { from = 0, to = Number.POSITIVE_INFINITY, before = 0, onRead }: FileRange = {},
): Promise<number> {
  await using file = await openRegular(path);
  const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, Math.max(1, to - from)));
  let crc = before;
  for (let done = from; done < to; ) {
    const { bytesRead } = await file.read(piece, 0, Math.min(piece.length, to - done), done);
    if (bytesRead === 0) break;
    crc = crc32(piece.subarray(0, bytesRead), crc);
    done += bytesRead;
    onRead?.(bytesRead);
  }
  return crc;
}
