import { ReadableStream } from 'node:stream/web';
import { createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import { messageOf } from '../../../protocols/errors.js';
import { UnnestError } from '../errors.js';
import { type Chunks, truncated } from './chunks.js';
import { checkedZstdFrames } from './zstd-window.js';

/**
 * Decompresses gzip data, also several concatenated members (E-43). @throws UnnestError at damage, after the
 * data before it
 */
export function gunzip(chunks: Chunks): Chunks {
  return throughZlib(chunks, createGunzip(), 'gzip');
}

/** Decompresses a deflated member of a zip file (E-44). */
export function inflateRaw(chunks: Chunks): Chunks {
  return throughZlib(chunks, createInflateRaw(), 'deflate');
}

/**
 * Decompresses without a pipe: a stream that fails discards its pending output, which may be all the data of a
 * truncated file. One slice of input is in flight at a time, so at most a thousand slices of output are
 * buffered.
 */
async function* throughZlib(chunks: Chunks, zlib: Gunzip | InflateRaw, what: string): Chunks {
  const output: Uint8Array[] = [];
  let failure: Error | undefined;
  let ended = false;
  let wake: () => void = () => {};
  zlib.on('data', (bytes: Uint8Array) => output.push(bytes));
  zlib.on('error', (error) => {
    failure = error;
    wake();
  });
  zlib.on('end', () => {
    ended = true;
    wake();
  });
  try {
    for await (const chunk of chunks) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        zlib.write(chunk, () => resolve());
      });
      yield* output.splice(0);
      if (failure !== undefined || ended) break;
    }
    if (failure === undefined && !ended) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        zlib.end();
      });
    }
    yield* output.splice(0);
    if (failure !== undefined)
      throw new UnnestError(`damaged ${what} data: ${failure.message}`, 'E-43', failure);
  } finally {
    zlib.destroy();
  }
}

/** Decompresses xz data (E-44). */
export async function* decompressXz(chunks: Chunks): Chunks {
  const source = chunks[Symbol.asyncIterator]();
  let size = 0;
  const { default: xz } = await import('xz-decompress');
  const stream = new xz.XzReadableStream(
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value, done } = await source.next();
        if (done === true) return controller.close();
        size += value.length;
        controller.enqueue(new Uint8Array(value));
      },
      async cancel() {
        await source.return?.();
      },
    }),
  );
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw new UnnestError(`damaged xz data after ${size} bytes: ${messageOf(error)}`, 'E-44', error);
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Bytes of input that the zstd decoder receives at a time: four bytes can expand to 128 KiB. */
const ZSTD_SLICE_BYTES = 512;

/** Decompresses Zstandard data (E-44). @param maxWindowBytes frames with a larger window are refused (E-45) */
export async function* decompressZstd(chunks: Chunks, maxWindowBytes: number): Chunks {
  let output: Uint8Array[] = [];
  let size = 0;
  const { Decompress } = await import('fzstd');
  const decoder = new Decompress((bytes) => {
    if (bytes.length > 0) output.push(bytes);
  });
  try {
    for await (const chunk of checkedZstdFrames(chunks, maxWindowBytes)) {
      for (let offset = 0; offset < chunk.length; offset += ZSTD_SLICE_BYTES) {
        decoder.push(chunk.subarray(offset, offset + ZSTD_SLICE_BYTES));
        yield* output;
        output = [];
      }
      size += chunk.length;
    }
    decoder.push(new Uint8Array(), true);
  } catch (error) {
    yield* output;
    if (error instanceof UnnestError) throw error;
    if (messageOf(error).includes('EOF')) throw truncated(size);
    throw new UnnestError(`damaged zstd data: ${messageOf(error)}`, 'E-44', error);
  }
  yield* output;
}
