// Contents of blobs, from memory and from files, and blobs that are read as a whole.
import { createHash } from 'node:crypto';
import { StorageError } from '../../protocols/errors.js';
import { readFully } from '../files/read-fully.js';
import { openRegular } from '../files/regular-file.js';
import {
  type BlobReadOptions,
  type BlobRequestOptions,
  type BlobSource,
  type BlobStore,
  isMissingBlob,
} from './contract.js';

/** Bytes of one read of a file. */
const PIECE_BYTES = 256 * 1024;

/** SHA-256 in hexadecimal digits. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Size in bytes and SHA-256 of what an iterable yields. */
export async function digestOf(
  pieces: AsyncIterable<Uint8Array>,
): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    size += piece.length;
  }
  return { size, sha256: hash.digest('hex') };
}

/** A content in memory. */
export function bytesSource(bytes: Uint8Array): BlobSource {
  return {
    size: bytes.length,
    sha256: sha256Of(bytes),
    async *open(start, end) {
      if (end > start) yield bytes.subarray(start, end);
    },
  };
}

/**
 * The content of a regular file. A file that becomes shorter ends the request with a StorageError.
 *
 * @param size bytes of the file that are its content
 */
export function fileSource(path: string, size: number, sha256?: string): BlobSource {
  return { size, sha256, open: (start, end) => readPieces(path, start, end) };
}

/** Yields bytes of a file, each piece in a buffer of its own. */
async function* readPieces(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  await using file = await openRegular(path);
  for (let at = start; at < end; ) {
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - at));
    const length = await readFully(file, piece, at);
    if (length < piece.length) throw new StorageError(`${path} became shorter while it was sent`);
    yield piece;
    at += length;
  }
}

/** Size and SHA-256 of a regular file. */
export async function digestOfFile(
  path: string,
): Promise<{ readonly size: number; readonly sha256: string }> {
  await using file = await openRegular(path);
  const { size } = await file.stat();
  return await digestOf(readPieces(path, 0, size));
}

/**
 * A small blob as a whole; undefined if it does not exist.
 *
 * @throws StorageError if it has more than `maxBytes` bytes
 */
export async function readBlob(
  store: BlobStore,
  key: string,
  maxBytes: number,
  options: BlobRequestOptions = {},
): Promise<Buffer | undefined> {
  const read: BlobReadOptions = { ...options, end: maxBytes + 1 };
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of store.read(key, read)) pieces.push(piece);
  } catch (error) {
    if (isMissingBlob(error)) return undefined;
    throw error;
  }
  const bytes = Buffer.concat(pieces);
  if (bytes.length > maxBytes)
    throw new StorageError(`${store.address}/${key} is damaged: it has more than ${maxBytes} bytes`);
  return bytes;
}
