// Writes lines to one file descriptor without ever waiting for it.
import { close, fstatSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { errorCode, messageOf } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import { Waiters } from '../../protocols/waiters.js';

/**
 * Milliseconds until a failed write is tried again: the disk may have room again, or the reader of a pipe may
 * have read.
 */
const RETRY_MS = 250;
const LINE_END = 0x0a;
const NOTHING: Uint8Array = new Uint8Array();

const writeBytes = promisify(write) as (descriptor: number, bytes: Uint8Array) => Promise<WriteResult>;

interface WriteResult {
  readonly bytesWritten: number;
}

/** Encodes the lines of a file. By default they are written as UTF-8. */
export interface LineEncoder {
  encode(text: string): Promise<Uint8Array> | Uint8Array;
  /** Bytes that complete the file before it is renamed or closed; the next {@link encode} begins a new one. */
  finish(): Promise<Uint8Array> | Uint8Array;
}

/** Options of a file that grows by lines, see {@link LineWriter}. */
export interface LineFileOptions {
  /**
   * Characters that are collected before they are written. With 0 the lines of one turn of the event loop are
   * written together.
   */
  readonly blockLength?: number | undefined;
  /** Milliseconds after which collected lines are written in any case. Default 1000. */
  readonly flushMs?: number | undefined;
  /** Characters and bytes that may wait. Default 1 048 576. */
  readonly limit?: number | undefined;
}

interface LineWriterOptions extends LineFileOptions {
  readonly encoder?: LineEncoder | undefined;
  /** Keep the lines beyond the limit, for an owner that waits. Otherwise they are lost and counted. */
  readonly keepAll?: boolean;
  /** Called when writing succeeds again after lines were lost, with their number and the reason. */
  readonly onLost?: ((lines: number, reason: string) => void) | undefined;
  /** Called when a write fails, once until everything is written. */
  readonly onRefused?: ((error: unknown) => void) | undefined;
}

/** The writers whose last lines are written when the process exits. */
const openWriters = new Set<LineWriter>();

/**
 * Writes lines to a file descriptor, in order, in the thread pool. A descriptor that accepts nothing (a full
 * disk, a pipe that is not read) stops nothing: what waits is tried again. When the process exits, also by an
 * exception, the lines that wait are written once more, without waiting, unless they must be encoded.
 */
export class LineWriter {
  #descriptor: number;
  readonly #options: LineWriterOptions;
  readonly #limit: number;
  /** Added since the last write began. */
  #text = '';
  /** Encoded, and not yet written. */
  #rest: Uint8Array = NOTHING;
  /** Characters whose bytes are being encoded or are in `#rest`. */
  #restLength = 0;
  /** The beginning of a line of which only that is written. */
  #begun: Uint8Array = NOTHING;
  /** The end of the last write; the next one starts after it. */
  readonly #mutex = new Mutex();
  /** Whether the thread pool writes the beginning of `#rest`. */
  #writing = false;
  /** Whether a write is queued that will take all collected lines. */
  #queued = false;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #ended = false;
  #lost = 0;
  /** Why lines were lost. */
  #reason = 'too many lines at once';
  #failure: unknown;
  /** Calls that wait for a write. */
  readonly #waiters = new Waiters();

  constructor(descriptor: number, options: LineWriterOptions) {
    this.#descriptor = descriptor;
    this.#options = options;
    this.#limit = options.limit ?? 1 << 20;
    openWriters.add(this);
    if (openWriters.size === 1) process.on('exit', flushAll);
  }

  /** Whether as much waits as may wait. */
  get full(): boolean {
    return this.#length >= this.#limit;
  }

  get #length(): number {
    return this.#text.length + this.#restLength;
  }

  /** Adds a line, which is written with the block it completes, or after a delay. */
  add(line: string): void {
    const { keepAll = false, blockLength = 0, flushMs = 1000 } = this.#options;
    if (!keepAll && this.#length + line.length >= this.#limit) this.#lost++;
    else this.#text += `${line}\n`;
    if (this.#text.length >= blockLength) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), flushMs).unref();
  }

  /**
   * Resolves when everything that waits now is written. @throws the error of a write; then it is tried again
   */
  flush(): Promise<void> {
    return this.#mutex.runExclusive(() => this.#writeOut());
  }

  /** Waits until the writer is no longer {@link full}. @throws the signal's reason; the error of a write */
  async waitForRoom(signal?: AbortSignal): Promise<void> {
    while (this.full && !this.#ended) {
      signal?.throwIfAborted();
      if (this.#failure !== undefined) throw this.#failure;
      await this.#waiters.wait(signal);
    }
  }

  /**
   * Writes what waits and completes the file, then continues on the descriptor that `next` returns. Lines that
   * are added meanwhile are written there.
   *
   * @throws the error of a write or of `next`; then nothing is lost, and the present descriptor is still in use
   */
  continueOn(next: (descriptor: number) => Promise<number>): Promise<void> {
    return this.#mutex.runExclusive(async () => {
      await this.#complete();
      const former = this.#descriptor;
      this.#descriptor = await next(former);
      close(former, () => undefined);
    });
  }

  /**
   * Writes what waits before the call returns, as far as the descriptor accepts it, for the last lines of a
   * process. What the thread pool is writing is left to it.
   */
  flushSync(): void {
    const encoded = this.#options.encoder !== undefined;
    let bytes = this.#writing ? NOTHING : this.#rest;
    if (!encoded) {
      bytes = Buffer.concat([bytes, Buffer.from(this.#text)]);
      this.#text = '';
    }
    try {
      while (bytes.length > 0) {
        const written = writeSync(this.#descriptor, bytes);
        if (written === 0) break;
        bytes = this.#after(bytes, written);
      }
    } catch {
      // The bytes are kept below; the next write reports the error.
    }
    if (this.#writing) this.#text = Buffer.from(bytes).toString() + this.#text;
    else this.#keep(bytes);
  }

  /**
   * Writes what waits, completes the file, then closes the descriptor. If it accepts nothing now, the rest is
   * lost.
   *
   * @throws the error of a write
   */
  end(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    return this.#mutex.runExclusive(async () => {
      try {
        if (openWriters.has(this)) await this.#complete();
      } finally {
        this.#close();
      }
    });
  }

  /**
   * Takes over what the writer of the former file could not write. A line of which the former file has only the
   * beginning is written whole, unless this is the same file.
   */
  takeOver(former: LineWriter): void {
    if (former.#failure === undefined || former.#writing) return;
    const whole = former.#begun.length > 0 && !isSameFile(this.#descriptor, former.#descriptor);
    this.#keep(Buffer.concat([whole ? former.#begun : NOTHING, former.#rest, Buffer.from(former.#text)]));
    this.#lost = former.#lost;
    this.#reason = former.#reason;
    former.#keep(NOTHING);
    former.#text = '';
    this.#start();
  }

  #keep(bytes: Uint8Array): void {
    this.#rest = bytes;
    this.#restLength = bytes.length;
  }

  /** Starts writing what waits in this turn, unless a write was just refused. */
  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#queued || this.#ended || this.#retry !== undefined) return;
    this.#queued = true;
    this.flush().catch(() => undefined);
  }

  async #writeOut(): Promise<void> {
    this.#queued = false;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    try {
      await this.#writeRest();
      while (this.#text.length > 0) {
        const text = this.#text;
        this.#text = '';
        this.#restLength = text.length;
        this.#rest = (await this.#options.encoder?.encode(text)) ?? Buffer.from(text);
        await this.#writeRest();
      }
      this.#failure = undefined;
      this.#reportLost();
    } catch (error) {
      this.#refused(error);
      throw error;
    } finally {
      this.#waiters.wakeAll();
    }
  }

  async #complete(): Promise<void> {
    await this.#writeOut();
    this.#rest = (await this.#options.encoder?.finish()) ?? NOTHING;
    await this.#writeRest();
  }

  async #writeRest(): Promise<void> {
    while (this.#rest.length > 0) {
      this.#writing = true;
      const { bytesWritten } = await writeBytes(this.#descriptor, this.#rest).finally(() => {
        this.#writing = false;
      });
      // It would repeat forever.
      if (bytesWritten === 0) throw new Error('nothing was written');
      this.#rest = this.#after(this.#rest, bytesWritten);
    }
    this.#restLength = 0;
    if (!this.full) this.#waiters.wakeAll();
  }

  /** The bytes after the written ones; notes the line that these end within. */
  #after(bytes: Uint8Array, written: number): Uint8Array {
    const done = bytes.subarray(0, written);
    const end = done.lastIndexOf(LINE_END) + 1;
    this.#begun = end === 0 ? Buffer.concat([this.#begun, done]) : done.slice(end);
    return bytes.subarray(written);
  }

  /** The report of lost lines is a line, too. */
  #reportLost(): void {
    const [lost, reason] = [this.#lost, this.#reason];
    this.#lost = 0;
    if (lost > 0) this.#options.onLost?.(lost, reason);
  }

  #refused(error: unknown): void {
    if (this.#failure === undefined) this.#options.onRefused?.(error);
    this.#failure = error;
    this.#reason = errorCode(error) === 'EAGAIN' ? 'it was not read' : messageOf(error);
    if (this.#ended) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#start();
    }, RETRY_MS).unref();
  }

  #close(): void {
    if (!openWriters.delete(this)) return;
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
