// Documents on the pipe to a reader process: a frame is the length of the head, the length of the body (4 bytes
// each, little-endian), the head as JSON, the body. The body arrives in a buffer of its exact size, so that a
// large document is in memory once.
import type { EssenceInput } from './model.js';

const PREFIX_BYTES = 8;

/** Encodes the part of a frame before the body. */
export function frameHead(input: EssenceInput): Uint8Array {
  const { body, ...rest } = input;
  const head = Buffer.from(JSON.stringify(rest));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(head.length, 0);
  prefix.writeUInt32LE(body.length, 4);
  return Buffer.concat([prefix, head]);
}

/**
 * Assembles documents from the chunks of a pipe. The peer is the pool of the same version, so the bytes are not
 * checked.
 */
export class FrameReader {
  readonly #onDocument: (input: EssenceInput) => void;
  #current = Buffer.alloc(PREFIX_BYTES);
  #filled = 0;
  #part: 'prefix' | 'head' | 'body' = 'prefix';
  #bodyBytes = 0;
  #head: Omit<EssenceInput, 'body'> | undefined;

  constructor(onDocument: (input: EssenceInput) => void) {
    this.#onDocument = onDocument;
  }

  /** Adds a chunk; calls the constructor's function for each document that is complete. */
  push(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.length; ) {
      const count = Math.min(chunk.length - offset, this.#current.length - this.#filled);
      this.#current.set(chunk.subarray(offset, offset + count), this.#filled);
      this.#filled += count;
      offset += count;
      while (this.#filled === this.#current.length) this.#next();
    }
  }

  #next(): void {
    const bytes = this.#current;
    if (this.#part === 'prefix') {
      this.#bodyBytes = bytes.readUInt32LE(4);
      this.#expect('head', bytes.readUInt32LE(0));
    } else if (this.#part === 'head') {
      this.#head = JSON.parse(bytes.toString('utf8'));
      this.#expect('body', this.#bodyBytes);
    } else {
      const head = this.#head!;
      this.#expect('prefix', PREFIX_BYTES);
      this.#onDocument({ ...head, body: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) });
    }
  }

  #expect(part: 'prefix' | 'head' | 'body', bytes: number): void {
    this.#part = part;
    this.#filled = 0;
    // Not from Node's pool: the body is transferred to a thread.
    this.#current = Buffer.from(new ArrayBuffer(bytes));
  }
}
