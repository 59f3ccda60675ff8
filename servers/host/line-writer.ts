// Writes lines to one file descriptor without ever waiting for it.
import { close, fstatSync, write, writeSync } from 'node:fs';
import { errorCode, messageOf } from '../../protocols/errors.js';
import { Waiters } from '../../protocols/waiters.js';

/**
 * Milliseconds until a failed write is tried again: the disk may have room again, or the reader of a pipe may
 * have read.
 */
const RETRY_MS = 250;
const LINE_END = 0x0a;

export interface LineWriterOptions {
  /** Bytes that may wait. A line that exceeds them is lost and counted. */
  readonly limit: number;
  /** Called when writing succeeds again after lines were lost, with their number and the reason. */
  readonly onLost?: ((lines: number, reason: string) => void) | undefined;
}

/** The writers whose last lines are written when the process exits. */
const openWriters = new Set<LineWriter>();

/**
 * Writes lines to a file descriptor, in order, in the thread pool. A descriptor that accepts nothing (a full
 * disk, a pipe that is not read) stops nothing: what fits into the limit waits, the rest is counted. When the
 * process exits, also by an exception, the lines that wait are written once more, without waiting.
 */
export class LineWriter {
  readonly #descriptor: number;
  readonly #options: LineWriterOptions;
  /** Added since the last write began. */
  #text = '';
  /** Being written, or left by a failed write. */
  #rest: Uint8Array = new Uint8Array();
  /** The beginning of a line of which only that is written. */
  #begun: Uint8Array = new Uint8Array();
  #writing = false;
  #retry: NodeJS.Timeout | undefined;
  #ended = false;
  #lost = 0;
  /** Why lines were lost. */
  #reason = 'too many lines at once';
  #failing = false;
  /** Calls that wait until everything is written. */
  readonly #waiters = new Waiters();

  constructor(descriptor: number, options: LineWriterOptions) {
    this.#descriptor = descriptor;
    this.#options = options;
    openWriters.add(this);
    if (openWriters.size === 1) process.on('exit', flushAll);
  }

  /** Whether the last write failed. */
  get failing(): boolean {
    return this.#failing;
  }

  /** Characters and bytes that wait. */
  get length(): number {
    return this.#text.length + this.#rest.length;
  }

  /** Adds a line, or counts it as lost. The owner starts the writing. */
  add(line: string): void {
    if (this.length + line.length >= this.#options.limit) this.#lost++;
    else this.#text += `${line}\n`;
  }

  /** Starts writing what waits, unless a write is running or was just refused. */
  start(): void {
    if (!this.#writing && !this.#ended && this.#retry === undefined) this.#write();
  }

  /** Resolves when everything that waits now is written, or when a write was refused. */
  async flush(): Promise<void> {
    this.start();
    while (this.length > 0 && !this.failing) {
      await this.#waiters.wait();
    }
  }

  /**
   * Writes what waits before the call returns, as far as the descriptor accepts it, for the last lines of a
   * process. What the thread pool is writing is left to it.
   */
  flushSync(): void {
    let bytes: Uint8Array = this.#writing ? Buffer.from(this.#text) : this.#take();
    this.#text = '';
    try {
      while (bytes.length > 0) {
        const written = writeSync(this.#descriptor, bytes);
        if (written === 0) break;
        bytes = this.#after(bytes, written);
      }
    } catch {
      // The bytes are kept below; the next write reports the error.
    }
    if (bytes.length === 0) return;
    if (this.#writing) this.#text = Buffer.from(bytes).toString() + this.#text;
    else this.#rest = bytes;
  }

  /** Writes what waits, then closes the descriptor. If it accepts nothing now, the rest is lost. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (!this.#writing) this.#write();
  }

  /**
   * Takes over what the writer of the former file could not write; that one is then ended. A line of which the
   * former file has only the beginning is written whole, unless this is the same file.
   */
  takeOver(former: LineWriter): void {
    if (former.failing && !former.#writing) {
      const rest = former.#take();
      const whole = former.#begun.length > 0 && !isSameFile(this.#descriptor, former.#descriptor);
      this.#rest = whole ? Buffer.concat([former.#begun, rest]) : rest;
      this.#lost = former.#lost;
      this.#reason = former.#reason;
    }
    former.end();
  }

  #take(): Uint8Array {
    const text = Buffer.from(this.#text);
    const bytes = this.#rest.length === 0 ? text : Buffer.concat([this.#rest, text]);
    this.#text = '';
    this.#rest = new Uint8Array();
    return bytes;
  }

  /** The bytes after the written ones; notes the line that these end within. */
  #after(bytes: Uint8Array, written: number): Uint8Array {
    const done = bytes.subarray(0, written);
    const end = done.lastIndexOf(LINE_END) + 1;
    this.#begun = end === 0 ? Buffer.concat([this.#begun, done]) : done.slice(end);
    return bytes.subarray(written);
  }

  #write(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#rest = this.#take();
    if (this.#rest.length === 0) {
      this.#waiters.wakeAll();
      if (this.#ended) this.#close();
      return;
    }
    this.#writing = true;
    write(this.#descriptor, this.#rest, (error, written) => {
      this.#writing = false;
      // A write of no bytes would repeat for ever.
      if (error !== null || written === 0) {
        this.#refused(error ?? new Error('nothing was written'));
        return;
      }
      this.#rest = this.#after(this.#rest, written);
      if (this.length > 0) this.#write();
      else this.#succeeded();
    });
  }

  /** Everything is written. The report of lost lines is a line, too. */
  #succeeded(): void {
    const [lost, reason] = [this.#lost, this.#reason];
    this.#lost = 0;
    this.#failing = false;
    if (lost > 0) this.#options.onLost?.(lost, reason);
    this.#write();
  }

  #refused(error: Error): void {
    this.#failing = true;
    this.#reason = errorCode(error) === 'EAGAIN' ? 'it was not read' : messageOf(error);
    this.#waiters.wakeAll();
    if (this.#ended) this.#close();
    else this.#retry = setTimeout(() => this.#write(), RETRY_MS).unref();
  }

  #close(): void {
    openWriters.delete(this);
    if (openWriters.size === 0) process.off('exit', flushAll);
    // The descriptor of standard error stays open for the messages of the runtime.
    if (this.#descriptor !== 2) close(this.#descriptor, () => undefined);
  }
}

function isSameFile(one: number, other: number): boolean {
  const [a, b] = [fstatSync(one), fstatSync(other)];
  return a.dev === b.dev && a.ino === b.ino;
}

function flushAll(): void {
  for (const writer of openWriters) writer.flushSync();
}
