/**
 * Splits bytes that arrive in chunks into lines, each without its LF; a line longer than the limit is
 * undefined. Holds at most one line.
 */
export class LineSplitter {
  /** Maximum number of bytes of a line. */
  readonly #limit: number;
  readonly #encoding: BufferEncoding;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(limit = 65_536, encoding: BufferEncoding = 'utf8') {
    this.#limit = limit;
    this.#encoding = encoding;
  }

  *push(chunk: Buffer): Generator<string | undefined> {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      this.#add(chunk.subarray(start, end));
      start = end + 1;
      yield this.#length > this.#limit ? undefined : Buffer.concat(this.#parts).toString(this.#encoding);
      this.#parts = [];
      this.#length = 0;
    }
    this.#add(chunk.subarray(start));
  }

  /** The last line, if it has no line end. */
  *end(): Generator<string | undefined> {
    if (this.#length > 0) yield* this.push(Buffer.from('\n'));
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#limit) this.#parts = [];
    else this.#parts.push(part);
  }
}
