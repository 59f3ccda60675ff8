import type { Writable } from 'node:stream';
import { Option } from 'commander';
import { TerminalText } from './printable.js';

export interface StandardOutputOptions {
  /** Default: standard output. */
  readonly stream?: Writable | undefined;
  /**
   * Bytes that are collected before a write; the rest is written on disposal. Default 0: every piece is written
   * immediately.
   */
  readonly bufferBytes?: number;
  /**
   * Writes control characters to a terminal as they are. Default false: they are made visible. Pipes and files
   * get the exact bytes.
   */
  readonly raw?: boolean;
}

/** `--raw` of commands that write text of others. */
export function rawOption(): Option {
  return new Option(
    '--raw',
    'write control characters to a terminal as they are (default: visible, as ^[)',
  ).default(false);
}

/** Writes the result of a command to standard output: as one line of JSON with `json`, else as a text. */
export async function printResult(
  { json }: { readonly json: boolean },
  value: unknown,
  text: string,
): Promise<void> {
  await new StandardOutput().write(json ? `${JSON.stringify(value)}\n` : text);
}

/** A buffer so large that the cost of the write calls is negligible. */
export const OUTPUT_BUFFER_BYTES = 64 * 1024;

/**
 * Standard output with backpressure: one write in flight at a time. A reader that closes the pipe (`| head`) is
 * not an error: `write` then returns false. On a terminal control characters are visible instead of obeyed.
 */
export class StandardOutput implements AsyncDisposable {
  readonly #stream: Writable;
  readonly #bufferBytes: number;
  readonly #terminal: TerminalText | undefined;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #closed = false;

  constructor({ stream = process.stdout, bufferBytes = 0, raw = false }: StandardOutputOptions = {}) {
    this.#stream = stream;
    this.#terminal = !raw && 'isTTY' in stream && stream.isTTY === true ? new TerminalText() : undefined;
    this.#bufferBytes = bufferBytes;
    // write() returns failures; without a listener the event would end the process.
    stream.on('error', () => {});
  }

  /**
   * Writes a piece; its bytes must not change later. Resolves to true when it is written or in the buffer, to
   * false when the reader has closed the pipe.
   */
  async write(piece: string | Uint8Array): Promise<boolean> {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    return this.#bytes < this.#bufferBytes ? !this.#closed : await this.#flush();
  }

  /** Writes pieces, which may change when the next one is requested. Returns as {@link write}. */
  async writeFrom(pieces: AsyncIterable<string | Uint8Array>): Promise<boolean> {
    for await (const piece of pieces) {
      if (!(await this.write(typeof piece === 'string' ? piece : new Uint8Array(piece)))) return false;
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flush();
  }

  async #flush(): Promise<boolean> {
    const [first, ...more] = this.#pieces;
    const bytes = this.#bytes;
    this.#pieces = [];
    this.#bytes = 0;
    if (this.#closed || first === undefined) return !this.#closed;
    const joined = more.length === 0 ? first : Buffer.concat([first, ...more], bytes);
    const piece = this.#terminal?.push(joined) ?? joined;
    const error = await new Promise<Error | null | undefined>((resolve) => {
      this.#stream.write(piece, resolve);
    });
    if (error === null || error === undefined) return true;
    if (!('code' in error) || error.code !== 'EPIPE') throw error;
    this.#closed = true;
    return false;
  }
}
