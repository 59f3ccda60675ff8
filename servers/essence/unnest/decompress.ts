import { ReadableStream } from 'node:stream/web';
import { createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import { messageOf } from '../../../protocols/errors.js';
import { UnnestError } from '../errors.js';
import { type Chunks, truncated } from './chunks.js';

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

// Checks the frames of Zstandard data before the decoder sees them: the decoder takes the memory that a frame's
// header claims at once.

const MAGIC = 0xfd2fb528;
/** Magic numbers of frames to skip: this one and the 15 after it. */
const SKIP_MAGIC = 0x184d2a50;
/** The longest header: magic, descriptor, window, dictionary, content size. */
const MAX_HEADER_BYTES = 4 + 1 + 1 + 4 + 8;
/**
 * Bytes of the windows of all frames, in multiples of the limit of one: the decoder keeps some of them for a
 * while.
 */
const MAX_WINDOWS = 4;

/**
 * Passes Zstandard data on, up to the first frame whose window is larger than `maxWindowBytes` (E-45).
 *
 * @throws UnnestError at this frame, and at data that are not a frame
 */
async function* checkedZstdFrames(chunks: Chunks, maxWindowBytes: number): Chunks {
  const scanner = new FrameScanner(maxWindowBytes);
  for await (const chunk of chunks) {
    scanner.push(chunk);
    yield chunk;
  }
}

/** Follows frames and blocks by their headers: bytes in, an error out. */
class FrameScanner {
  readonly #maxWindowBytes: number;
  #head: number[] = [];
  /** Bytes to skip before the next header. */
  #skip = 0;
  #part: 'frame' | 'block' = 'frame';
  #checksum = 0;
  #windows = 0;

  constructor(maxWindowBytes: number) {
    this.#maxWindowBytes = maxWindowBytes;
  }

  push(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.length; ) {
      if (this.#skip > 0) {
        const count = Math.min(this.#skip, chunk.length - offset);
        this.#skip -= count;
        offset += count;
        continue;
      }
      this.#head.push(chunk[offset++]!);
      const isComplete = this.#part === 'frame' ? this.#frame() : this.#block();
      if (isComplete) this.#head = [];
    }
  }

  #number(offset: number, bytes: number): number {
    let value = 0;
    for (let i = bytes - 1; i >= 0; i--) value = value * 256 + this.#head[offset + i]!;
    return value;
  }

  /** Returns whether the header is complete. */
  #frame(): boolean {
    const head = this.#head;
    if (head.length < 5) return false;
    const magic = this.#number(0, 4);
    if (magic >= SKIP_MAGIC && magic < SKIP_MAGIC + 16) {
      if (head.length < 8) return false;
      this.#skip = this.#number(4, 4);
      return true;
    }
    // The decoder reports anything else.
    if (magic !== MAGIC) {
      this.#skip = Number.POSITIVE_INFINITY;
      return true;
    }
    const flags = head[4]!;
    const isSingle = (flags & 0x20) !== 0;
    const dictionaryBytes = [0, 1, 2, 4][flags & 3]!;
    const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6]!;
    const length = 5 + (isSingle ? 0 : 1) + dictionaryBytes + sizeBytes;
    if (head.length < Math.min(length, MAX_HEADER_BYTES)) return false;
    const size = this.#number(length - sizeBytes, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
    this.#checkWindow(isSingle ? size : windowOf(head[5]!));
    this.#checksum = (flags & 4) === 0 ? 0 : 4;
    this.#part = 'block';
    return true;
  }

  #block(): boolean {
    if (this.#head.length < 3) return false;
    const word = this.#number(0, 3);
    // A block of type 1 is one byte, repeated.
    this.#skip = ((word >> 1) & 3) === 1 ? 1 : word >> 3;
    if ((word & 1) === 1) {
      this.#skip += this.#checksum;
      this.#part = 'frame';
    }
    return true;
  }

  #checkWindow(bytes: number): void {
    if (bytes > this.#maxWindowBytes) {
      throw new UnnestError(`a zstd window of ${bytes} bytes, more than ${this.#maxWindowBytes}`, 'E-45');
    }
    this.#windows += bytes;
    if (this.#windows > this.#maxWindowBytes * MAX_WINDOWS) {
      throw new UnnestError('too many zstd frames with large windows', 'E-45');
    }
  }
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}
