// A log of bytes in memory, whose pieces are overwritten like those of a file.
import type { ByteLog } from '../../../clients/connection/index.js';

export class MemoryLog implements ByteLog {
  #bytes = Buffer.alloc(0);

  constructor(readonly pieceBytes = 16) {}

  async append(bytes: Uint8Array): Promise<void> {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
  }

  async *pieces(start: number, end: number): AsyncGenerator<Uint8Array, void, undefined> {
    if (end > this.#bytes.length) throw new RangeError(`${end} of ${this.#bytes.length}`);
    const piece = Buffer.alloc(this.pieceBytes);
    for (let at = start; at < end; at += piece.length) {
      const length = this.#bytes.copy(piece, 0, at, Math.min(end, at + piece.length));
      yield piece.subarray(0, length);
      piece.fill(0);
    }
  }

  async clear(): Promise<void> {
    this.#bytes = Buffer.alloc(0);
  }

  async close(): Promise<void> {}
}
