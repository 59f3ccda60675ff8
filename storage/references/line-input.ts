import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { StorageError } from '../../protocols/errors.js';

/** Bytes of a file that are read at a time. */
const CHUNK_BYTES = 1 << 20;
/** The longest line, bytes. */
const MAX_LINE_BYTES = 1 << 16;
const LF = 0x0a;

/** Where a line of an input stands, in front of a complaint. */
export function lineError(file: string, line: number, problem: string, rule: string): StorageError {
  return new StorageError(`${file}:${line}: ${problem} (${rule})`);
}

/**
 * The bytes of a file; `-` is standard input, a name that ends in `.gz` is unpacked.
 *
 * @throws StorageError it cannot be read
 */
export async function* readInput(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    if (path === '-') {
      yield* process.stdin;
      return;
    }
    const file = createReadStream(path, { highWaterMark: CHUNK_BYTES, ...(signal && { signal }) });
    if (!path.endsWith('.gz')) {
      yield* file;
      return;
    }
    const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
    file.on('error', (error) => unpacked.destroy(error));
    try {
      yield* file.pipe(unpacked);
    } finally {
      file.destroy();
    }
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof StorageError) throw cause;
    throw new StorageError(`${path} cannot be read: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}

/** Cuts chunks into pieces of whole lines. */
export class WholeLines {
  #rest = new Uint8Array(0);

  /** The lines that this chunk completes, each with its LF; may be empty. */
  push(chunk: Uint8Array): Uint8Array {
    const end = chunk.lastIndexOf(LF) + 1;
    const rest = chunk.subarray(end);
    if (end === 0) {
      this.#rest = joined(this.#rest, rest);
      return rest.subarray(0, 0);
    }
    const whole = chunk.subarray(0, end);
    const lines = this.#rest.length === 0 ? whole : joined(this.#rest, whole);
    this.#rest = Uint8Array.from(rest);
    return lines;
  }

  /** What is wrong with the line that is not complete yet, if it is longer than any may be: to be asked after each chunk. */
  get problem(): string | undefined {
    return this.#rest.length > MAX_LINE_BYTES ? `a line is longer than ${MAX_LINE_BYTES} bytes` : undefined;
  }

  /** The last line, to which an LF is added if it had none; empty if there is no unfinished line. */
  end(): Uint8Array {
    return this.#rest.length === 0 ? this.#rest : joined(this.#rest, Uint8Array.of(LF));
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
