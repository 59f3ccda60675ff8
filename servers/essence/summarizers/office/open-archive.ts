// Opens zip archives, in memory or where they are.
import { Readable } from 'node:stream';
import { fromBufferPromise, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { messageOf } from '../../../../protocols/errors.js';
import { bufferOf } from '../../bytes.js';

/** An archive that is too long for memory. */
export interface RangedBytes {
  readonly length: number;
  /** Yields the bytes in pieces; each is valid until the next one is requested. */
  pieces(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** Bytes that are read at once: the directory is read in small pieces. */
const WINDOW_BYTES = 64 * 1024;

/** Opens an archive whose entries are read one by one. @throws Error if the bytes are not a zip archive */
export function openArchive(body: Uint8Array | RangedBytes): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false };
  return body instanceof Uint8Array
    ? fromBufferPromise(bufferOf(body), options)
    : fromRandomAccessReaderPromise(new RangeReader(body), body.length, options);
}

/** Reads the parts of an archive that are asked for. */
class RangeReader extends RandomAccessReader {
  readonly #source: RangedBytes;
  #window = Buffer.alloc(0);
  #windowStart = 0;

  constructor(source: RangedBytes) {
    super();
    this.#source = source;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(copies(this.#source.pieces(start, end)), { objectMode: false });
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    this.#fill(position, length).then(
      () => {
        const at = position - this.#windowStart;
        this.#window.copy(buffer, offset, at, at + length);
        callback(null);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(messageOf(error))),
    );
  }

  /** Sees to it that the window has these bytes. */
  async #fill(position: number, length: number): Promise<void> {
    const at = position - this.#windowStart;
    if (at >= 0 && at + length <= this.#window.length) return;
    const end = Math.min(this.#source.length, position + Math.max(length, WINDOW_BYTES));
    if (position < 0 || position + length > end) throw new Error('the archive ends too soon');
    const pieces: Buffer[] = [];
    for await (const piece of copies(this.#source.pieces(position, end))) pieces.push(piece);
    this.#window = Buffer.concat(pieces);
    this.#windowStart = position;
  }
}

async function* copies(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield Buffer.from(piece);
}
