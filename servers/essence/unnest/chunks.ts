import { latin } from '../bytes.js';
import { NameDecoder } from '../charset/decode.js';
import { UnnestError } from '../errors.js';

/** A stream of bytes; chunk boundaries have no meaning. */
export type Chunks = AsyncIterable<Uint8Array>;

/** Size of an input slice. It bounds the output that a decoder produces at a time. */
const SLICE_BYTES = 16 * 1024;

/** Yields a document in memory in slices. */
export async function* chunksOf(bytes: Uint8Array): Chunks {
  for (let offset = 0; offset < bytes.length; offset += SLICE_BYTES)
    yield bytes.subarray(offset, offset + SLICE_BYTES);
}

/** Reads a whole member into memory. @throws UnnestError above `limit` bytes (E-45) */
export async function collect(chunks: Chunks, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw new UnnestError(`more than ${limit} bytes would have to be in memory`, 'E-45');
    parts.push(chunk);
  }
  return Buffer.concat(parts, size);
}

/** Reads a stream of chunks by bytes, lines and ranges. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #buffer: Uint8Array = new Uint8Array();
  #ended = false;
  /** Error of the source; thrown after the bytes before it. */
  #failure: unknown;
  /** Bytes read so far. */
  position = 0;

  constructor(source: Chunks) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns the next `count` bytes without consuming them; fewer at the end. */
  async peek(count: number): Promise<Uint8Array> {
    await this.#fill(count);
    return this.#buffer.subarray(0, count);
  }

  /** Reads the next `count` bytes; fewer at the end. */
  async read(count: number): Promise<Uint8Array> {
    const bytes = await this.peek(count);
    this.#advance(bytes.length);
    return bytes;
  }

  /** Reads the next `count` bytes. @throws UnnestError if the input ends before */
  async exactly(count: number): Promise<Uint8Array> {
    const bytes = await this.read(count);
    if (bytes.length < count) throw this.#failure ?? truncated(this.position);
    return bytes;
  }

  /** Skips `count` bytes. @throws UnnestError if the input ends before */
  async skip(count: number): Promise<void> {
    for await (const _ of this.take(count));
  }

  /** Yields the next `count` bytes in chunks. @throws UnnestError if the input ends before */
  async *take(count: number): Chunks {
    for (let remaining = count; remaining > 0; ) {
      const bytes = await this.#some(remaining);
      if (bytes === undefined) throw truncated(this.position);
      remaining -= bytes.length;
      yield bytes;
    }
  }

  /** Yields the rest of the input. */
  async *rest(): Chunks {
    for (;;) {
      const bytes = await this.#some(SLICE_BYTES);
      if (bytes === undefined) return;
      yield bytes;
    }
  }

  /**
   * Reads the next line in Latin-1 without its line end; undefined at the end. Consumes a line longer than
   * `limit` bytes, but returns only its start.
   */
  async line(limit = SLICE_BYTES): Promise<string | undefined> {
    let text: string | undefined;
    for (;;) {
      const chunk = await this.#peekSome();
      if (chunk === undefined) return text?.replace(/\r$/, '');
      const end = chunk.indexOf(0x0a);
      const piece = end < 0 ? chunk : chunk.subarray(0, end);
      const available = limit - (text?.length ?? 0);
      text = (text ?? '') + latin(piece, 0, Math.max(0, available));
      this.#advance(end < 0 ? chunk.length : end + 1);
      if (end >= 0) return text.replace(/\r$/, '');
    }
  }

  /** Closes the source. */
  async close(): Promise<void> {
    this.#ended = true;
    this.#buffer = new Uint8Array();
    await this.#source.return?.();
  }

  async #some(maxBytes: number): Promise<Uint8Array | undefined> {
    const chunk = await this.#peekSome();
    if (chunk === undefined) return undefined;
    const bytes = chunk.subarray(0, maxBytes);
    this.#advance(bytes.length);
    return bytes;
  }

  async #peekSome(): Promise<Uint8Array | undefined> {
    if (this.#buffer.length === 0) await this.#fill(1);
    if (this.#buffer.length === 0 && this.#failure !== undefined) throw this.#failure;
    return this.#buffer.length === 0 ? undefined : this.#buffer;
  }

  #advance(count: number): void {
    this.#buffer = this.#buffer.subarray(count);
    this.position += count;
  }

  async #fill(count: number): Promise<void> {
    if (this.#buffer.length >= count || this.#ended) return;
    const parts = [this.#buffer];
    let size = this.#buffer.length;
    while (size < count) {
      const chunk = await this.#next();
      if (chunk === undefined) break;
      parts.push(chunk);
      size += chunk.length;
    }
    this.#buffer = parts.length === 1 ? this.#buffer : Buffer.concat(parts, size);
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      const { value, done } = await this.#source.next();
      if (done !== true) return value;
    } catch (error) {
      this.#failure = error;
    }
    this.#ended = true;
    return undefined;
  }
}

/** Returns the error for an input that ends too early. */
export function truncated(position: number): UnnestError {
  return new UnnestError(`the file ends too early, after ${position} bytes`, 'E-45');
}

/** A component of a nested file. Read or skip it before requesting the next one. */
export interface Member {
  /** Name as in the archive; if empty, the name is derived from that of the nested file (E-57). */
  readonly name: string;
  readonly content: Chunks;
  /** A link or a device, which is not followed (E-45). Directories are not members. */
  readonly special?: string;
}

/** The content of a member without one. */
export async function* emptyContent(): Chunks {}

/** Decodes a name of an archive up to its first NUL. */
export function decodeName(bytes: Uint8Array, names: NameDecoder = new NameDecoder()): string {
  const end = bytes.indexOf(0);
  return names.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** Suffixes of compressed files, and their replacements (E-57). */
const SUFFIXES: readonly (readonly [suffix: RegExp, replacement: string])[] = [
  [/\.(?:tgz|taz|tbz2?|txz|tzst)$/i, '.tar'],
  [/\.(?:gz|z|bz2|xz|zst|uue?|hqx)$/i, ''],
];

/** Returns the name without its compression suffix (E-57). */
export function unpackedName(name: string): string {
  for (const [suffix, replacement] of SUFFIXES) {
    if (suffix.test(name) && name.replace(suffix, '') !== '') return name.replace(suffix, replacement);
  }
  return name;
}

/** Whether a name is absolute or contains `..`, on any system (E-45). */
export function isUnsafe(name: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(name) || /(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name);
}

/**
 * Normalizes a safe name for an attribute's value: no `./` at the start, no double slashes, `?` for control
 * characters.
 */
export function cleanPath(name: string): string {
  return name
    .replace(/^(?:\.\/+)+/, '')
    .replace(/\/{2,}/g, '/')
    .replace(/\p{Cc}/gu, '?')
    .slice(0, 1024);
}
