// Reading of text input by whole lines, from a file, a gzip file or standard input.
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { StorageError } from '../../protocols/errors.js';

/** The size of one read from a file. */
const CHUNK_BYTES = 1 << 20;
/** The maximum length of a line in bytes. */
const MAX_LINE_BYTES = 1 << 16;
const LF = 0x0a;

/** Returns an error whose message starts with the file and line of the problem. */
export function lineError(file: string, line: number, problem: string, rule: string): StorageError {
  return new StorageError(`${file}:${line}: ${problem} (${rule})`);
}

/**
 * Yields the bytes of a file. `-` is standard input; a file whose name ends in `.gz` is decompressed.
 *
 * @throws StorageError if the file cannot be read
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
    const decompressed = createGunzip({ chunkSize: CHUNK_BYTES });
    file.on('error', (error) => decompressed.destroy(error));
    try {
      yield* file.pipe(decompressed);
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

/** Regroups chunks into blocks of whole lines. */
export class WholeLines {
  #rest = new Uint8Array(0);
  #tooLong = false;

  /** Returns the lines that this chunk completes, each with its LF; may be empty. */
  push(chunk: Uint8Array): Uint8Array {
    const end = chunk.lastIndexOf(LF) + 1;
    const rest = chunk.subarray(end);
    if (end === 0) {
      this.#rest = concat(this.#rest, rest);
      return rest.subarray(0, 0);
    }
    const whole = chunk.subarray(0, end);
    const lines = this.#rest.length === 0 ? whole : concat(this.#rest, whole);
    this.#rest = Uint8Array.from(rest);
    this.#tooLong ||= hasLongLine(lines);
    return lines;
  }

  /** A message if a line exceeds the maximum length, however the chunks cut it. Check it after each chunk. */
  get problem(): string | undefined {
    return this.#tooLong || this.#rest.length > MAX_LINE_BYTES
      ? `a line is longer than ${MAX_LINE_BYTES} bytes`
      : undefined;
  }

  /** Returns the incomplete last line with an LF appended; empty if the input ended with an LF. */
  end(): Uint8Array {
    return this.#rest.length === 0 ? this.#rest : concat(this.#rest, Uint8Array.of(LF));
  }
}

/** Looks at few bytes only: at the last LF of each stretch of the maximum length. */
function hasLongLine(lines: Uint8Array): boolean {
  let start = 0;
  while (lines.length - start > MAX_LINE_BYTES + 1) {
    const end = lines.lastIndexOf(LF, start + MAX_LINE_BYTES);
    if (end < start) return true;
    start = end + 1;
  }
  return false;
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
