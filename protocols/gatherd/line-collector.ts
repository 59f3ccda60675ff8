import { CR, LF } from '../ascii.js';
import { ByteBuffer } from '../byte-buffer.js';

/** Result of {@link LineCollector.take}. */
export interface TakenLine {
  /** A line without its terminator, or the reason that there is no line. */
  readonly line: Uint8Array | 'incomplete' | 'too-long';
  /** The rest of the chunk. */
  readonly rest: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/**
 * Splits a stream of chunks into lines; LF and CR LF end a line (GATHERD-1.4, 1.5). Holds at most one line. A
 * line beyond the limit is reported once, when it exceeds it, and dropped up to its end.
 */
export class LineCollector {
  readonly #maxBytes: number;
  readonly #partial = new ByteBuffer();
  #dropping = false;
  #dropped = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Bytes that are dropped of the current line, or of the one that ended with the last call; 0 when it is
   * within the limit.
   */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes bytes from the chunk up to and including the next line end. */
  take(chunk: Uint8Array): TakenLine {
    const lf = chunk.indexOf(LF);
    const rest = lf < 0 ? NOTHING : chunk.subarray(lf + 1);
    const part = lf < 0 ? chunk : chunk.subarray(0, lf);
    if (this.#dropping) {
      this.#dropped += part.length;
      this.#dropping = lf < 0;
      return { line: 'incomplete', rest };
    }
    this.#dropped = 0;
    // One byte more than the limit may be the CR of the terminator.
    if (this.#partial.length + part.length > this.#maxBytes + 1) return this.#drop(part.length, lf, rest);
    if (lf < 0) {
      this.#partial.append(part);
      return { line: 'incomplete', rest };
    }
    const line = this.#join(part);
    const length = line[line.length - 1] === CR ? line.length - 1 : line.length;
    if (length > this.#maxBytes) return { line: 'too-long', rest };
    return { line: line.subarray(0, length), rest };
  }

  #join(part: Uint8Array): Uint8Array {
    if (this.#partial.length === 0) return part;
    this.#partial.append(part);
    return this.#partial.take();
  }

  #drop(length: number, lf: number, rest: Uint8Array): TakenLine {
    this.#dropping = lf < 0;
    this.#dropped = this.#partial.length + length;
    this.#partial.take();
    return { line: 'too-long', rest };
  }
}
