// Collects a body of any size: a short one in memory, a longer one in a file.
import { createHash } from 'node:crypto';
import { asError } from '../connection/index.js';
import { type BodyCollector, BoundedBody } from './bounded-body.js';
import { joinBytes } from './join-bytes.js';
import type { BodyBytes, BodyFile } from './stored-body.js';

/** Longer bodies go to a file. */
const MEMORY_BYTES = 256 * 1024;
/** Bytes that wait for the file at which a sender must pause. */
const WAITING_BYTES = 1024 * 1024;

export interface SpooledBodyOptions {
  /** Bytes that are kept. Infinity: all. */
  readonly maxBytes: number;
  /** Opens the file of a body that is too long for memory. */
  readonly open: () => Promise<BodyFile>;
  /** Called when there is room again for a sender that {@link SpooledBody.isFull} stopped. */
  readonly onRoom?: () => void;
  /** Called once when the file cannot be written; {@link SpooledBody.finish} throws the same error. */
  readonly onFailure?: (error: Error) => void;
}

/**
 * Collects a body up to a size; bytes above it are counted and dropped. Its SHA-1 is computed on the way. Memory is
 * bounded if the sender pauses while {@link isFull}.
 */
export class SpooledBody implements BodyCollector {
  readonly #options: SpooledBodyOptions;
  readonly #sha1 = createHash('sha1');
  /** Until there is a file. */
  #memory: BoundedBody | undefined;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #file: BodyFile | undefined;
  #failure: Error | undefined;
  #writing: Promise<void> | undefined;
  #wasFull = false;
  #resume: ((error?: Error) => void) | undefined;
  #kept = 0;
  #length = 0;

  constructor(options: SpooledBodyOptions) {
    this.#options = options;
    this.#memory = new BoundedBody(Math.min(options.maxBytes, MEMORY_BYTES));
  }

  /** Bytes received. */
  get length(): number {
    return this.#length;
  }

  get truncated(): boolean {
    return this.#length > this.#options.maxBytes;
  }

  /** Whether the sender must pause until `onRoom` is called. */
  get isFull(): boolean {
    return this.#waitingBytes >= WAITING_BYTES && this.#failure === undefined;
  }

  /** @param chunk may be kept and must not change after the call */
  push(chunk: Uint8Array): void {
    this.#length += chunk.length;
    const piece = chunk.subarray(0, this.#options.maxBytes - this.#kept);
    if (piece.length === 0 || this.#failure !== undefined) return;
    this.#kept += piece.length;
    this.#sha1.update(piece);
    if (this.#memory !== undefined && this.#kept <= MEMORY_BYTES) {
      this.#memory.push(piece);
      return;
    }
    if (this.#memory !== undefined) this.#wait(this.#memory.bytes());
    this.#memory = undefined;
    this.#wait(piece);
  }

  whenRoom(callback: (error?: Error) => void): void {
    if (this.isFull) this.#resume = callback;
    else callback(this.#failure);
  }

  /**
   * Returns the bytes that were kept. The caller closes a file.
   * @throws the errors of the file, which is closed then
   */
  async finish(): Promise<BodyBytes> {
    if (this.#memory !== undefined) return this.#memory.bytes();
    await this.#writing;
    const file = this.#file;
    if (this.#failure !== undefined) {
      await this.#close();
      throw this.#failure;
    }
    return {
      length: this.#kept,
      sha1: this.#sha1.digest(),
      pieces: (start, end) => file!.pieces(start, end),
      close: () => this.#close(),
    };
  }

  /** Forgets what was collected. */
  async drop(): Promise<void> {
    this.#failure ??= new Error('the body is not wanted any more');
    this.#memory = undefined;
    await this.finish().catch(() => undefined);
  }

  /** The file is closed once, whether its bytes were used or not. */
  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #wait(piece: Uint8Array): void {
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    this.#wasFull ||= this.isFull;
    this.#writing ??= this.#write();
  }

  #continue(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.(this.#failure);
  }

  async #write(): Promise<void> {
    try {
      this.#file ??= await this.#options.open();
      while (this.#waiting.length > 0 && this.#failure === undefined) {
        const bytes = joinBytes(this.#waiting, this.#waitingBytes);
        this.#waiting = [];
        await this.#file.append(bytes);
        this.#waitingBytes -= bytes.length;
        if (this.#wasFull && !this.isFull) {
          this.#wasFull = false;
          this.#options.onRoom?.();
          this.#continue();
        }
      }
    } catch (error) {
      this.#waiting = [];
      this.#failure = asError(error);
      this.#options.onFailure?.(this.#failure);
      this.#continue();
    }
    this.#writing = undefined;
  }
}
