// Reads a file or standard input, and unpacks gzip.
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { KitError, StorageError } from '../../protocols/errors.js';

/** The name of standard input on a command line. */
export const STANDARD_INPUT = '-';

export interface InputOptions {
  /** Ends reading with the signal's reason. */
  readonly signal?: AbortSignal;
  /** The stream that `-` reads; default: the process's standard input. */
  readonly stdin?: Readable;
  /** Whether gzip data is unpacked; default true. */
  readonly unpack?: boolean;
  /** Called with the number of bytes of each chunk of the file, before it is unpacked. */
  readonly onRead?: (bytes: number) => void;
}

/** The first bytes of a gzip member (RFC 1952, 2.3.1). */
const GZIP = [0x1f, 0x8b] as const;
const CHUNK_BYTES = 64 * 1024;

/**
 * Yields the bytes of a file or, for `-`, of standard input. Input that begins like gzip (`All-Templates.gz`)
 * is unpacked, with all its members. Reads one chunk at a time, on demand, and closes the file when the reader
 * stops.
 * @throws StorageError if the file cannot be read, or its compressed data is damaged or cut off
 */
export async function* readInput(
  path: string,
  options: InputOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signal, unpack = true } = options;
  const source =
    path === STANDARD_INPUT
      ? (options.stdin ?? process.stdin)
      : createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const chunks = countBytes(source, path, options);
  try {
    const begin = await readBeginning(chunks);
    const whole = prepend(begin, chunks);
    const packed = unpack && GZIP.every((byte, i) => begin[i] === byte);
    for await (const chunk of packed ? gunzip(whole, path) : whole) {
      signal?.throwIfAborted();
      yield chunk;
    }
  } finally {
    // The source first: nothing else ends a read that waits for a silent writer.
    source.destroy();
    await chunks.return();
  }
}

async function* countBytes(
  source: Readable,
  path: string,
  { signal, onRead }: InputOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const abort = () => source.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
  signal?.throwIfAborted();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      onRead?.(chunk.length);
      yield chunk;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw readError(path, error);
  } finally {
    signal?.removeEventListener('abort', abort);
    source.destroy();
  }
}

/** Reads the first two bytes or more. */
async function readBeginning(chunks: AsyncGenerator<Uint8Array, void, undefined>): Promise<Uint8Array> {
  let begin: Uint8Array = new Uint8Array(0);
  while (begin.length < GZIP.length) {
    const { done, value } = await chunks.next();
    if (done || value === undefined) break;
    begin = begin.length === 0 ? value : Buffer.concat([begin, value]);
  }
  return begin;
}

async function* prepend(
  begin: Uint8Array,
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (begin.length > 0) yield begin;
  for await (const chunk of chunks) yield chunk;
}

async function* gunzip(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stream = createGunzip({ chunkSize: CHUNK_BYTES });
  const feeding = pipeline(chunks, stream);
  feeding.catch(() => undefined);
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) yield chunk;
    await feeding;
  } catch (error) {
    throw error instanceof KitError || !isZlibError(error) ? error : damagedError(path, error);
  } finally {
    stream.destroy();
  }
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}

function damagedError(path: string, error: Error): StorageError {
  return new StorageError(`${inputName(path)}: the compressed data is damaged: ${error.message}`, {
    cause: error,
  });
}

function readError(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const reason =
    error.code === 'ENOENT' ? 'no such file' : error.code === 'EISDIR' ? 'is a directory' : error.message;
  return new StorageError(`${inputName(path)}: ${reason}`, { cause: error });
}

/** Returns the name of an input for messages. */
export function inputName(path: string): string {
  return path === STANDARD_INPUT ? 'standard input' : path;
}
