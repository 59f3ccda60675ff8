// A log file with asynchronous writes, for logs with many lines.
import { type FileHandle, open, rename } from 'node:fs/promises';
import { messageOf, StateError, StorageError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import { Waiters } from '../../protocols/waiters.js';
import { exists } from '../../storage/files/exists.js';

/** Encodes the lines of a file. By default they are written as UTF-8. */
export interface LineEncoder {
  encode(text: string): Promise<Uint8Array> | Uint8Array;
  /** Bytes that complete the file before it is renamed or closed; the next {@link encode} begins a new one. */
  finish(): Promise<Uint8Array> | Uint8Array;
}

export interface AppendFileOptions {
  /** Milliseconds a line is held before it is written. Default 1000. */
  readonly flushMs?: number;
  /** Characters that are written without delay. Default 65 536. */
  readonly blockLength?: number;
  /** The number of pending characters at which {@link AppendFile.full} becomes true. Default 1 048 576. */
  readonly limit?: number;
  readonly encoder?: LineEncoder;
  /** First text of an empty file. */
  readonly head?: string;
  /** Permissions of the file. Default: 0o666 without the bits of umask. */
  readonly mode?: number;
  /**
   * Called when a write fails (a full disk), once until a write succeeds. Unwritten lines are kept and tried
   * again.
   */
  readonly onError?: (error: StorageError) => void;
}

const PLAIN: LineEncoder = {
  encode: (text) => Buffer.from(text),
  finish: () => new Uint8Array(),
};

/**
 * A file that grows by lines, for logs with many lines. Lines are collected and written in blocks, in order, at
 * the latest {@link AppendFileOptions.flushMs} after they were added: a crash loses no more than that.
 */
export class AppendFile implements AsyncDisposable {
  readonly #options: Required<Omit<AppendFileOptions, 'onError' | 'mode'>>;
  readonly #onError: AppendFileOptions['onError'];
  readonly #mode: number | undefined;
  #handle: FileHandle;
  /** Not yet encoded. */
  #lines: string[] = [];
  #length = 0;
  /** Encoded, not yet in the file. */
  #rest: Uint8Array = new Uint8Array();
  /**
   * Characters of the lines in `#rest`: they count as pending until they are written, so that a slow disk
   * causes backpressure.
   */
  #restLength = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The end of the last write or rename; the next one starts after it. */
  readonly #mutex = new Mutex();
  /** Whether a write is queued that will take all collected lines. */
  #queued = false;
  /** Why the last write failed. */
  #failure: StorageError | undefined;
  /** Calls that wait for room. */
  readonly #waiters = new Waiters();
  #closed = false;

  private constructor(
    readonly path: string,
    handle: FileHandle,
    options: AppendFileOptions,
  ) {
    this.#handle = handle;
    const { flushMs = 1000, blockLength = 65_536, limit = 1_048_576, encoder = PLAIN, head = '' } = options;
    this.#options = { flushMs, blockLength, limit, encoder, head };
    this.#onError = options.onError;
    this.#mode = options.mode;
  }

  /** Opens for appending; the content of the file stays. @throws StorageError */
  static async open(path: string, options: AppendFileOptions = {}): Promise<AppendFile> {
    const handle = await openToAppend(path, options.mode);
    const file = new AppendFile(path, handle, options);
    try {
      await file.#begin();
    } catch (error) {
      await handle.close();
      throw error;
    }
    return file;
  }

  /**
   * Adds a line; the line end is appended. Never waits: a caller that writes a lot checks {@link full}.
   * @throws StateError after {@link close}
   */
  write(line: string): void {
    if (this.#closed) throw new StateError(`${this.path} is closed`);
    this.#lines.push(`${line}\n`);
    this.#length += line.length + 1;
    if (this.#length >= this.#options.blockLength) this.#writeSoon();
    else this.#scheduleWrite();
  }

  /** Whether so much is pending that the caller should wait for {@link waitForRoom}. */
  get full(): boolean {
    return this.#length >= this.#options.limit;
  }

  /**
   * Waits until the file is no longer {@link full}. @throws the signal's reason; StorageError when it cannot be
   * written
   */
  async waitForRoom(signal?: AbortSignal): Promise<void> {
    while (this.full && !this.#closed) {
      signal?.throwIfAborted();
      if (this.#failure !== undefined) throw this.#failure;
      await this.#waiters.wait(signal);
    }
  }

  /** Resolves when all lines added so far are in the file. @throws StorageError */
  flush(): Promise<void> {
    return this.#mutex.runExclusive(() => this.#writeOut());
  }

  /**
   * CRAWL-16.4: writes the lines added so far, renames the file to `PATH.SUFFIX` and begins a new one.
   *
   * @returns the path of the renamed file
   * @throws StateError when that file exists; TypeError when the suffix cannot be part of a file name;
   *   StorageError
   */
  async rotate(suffix: string): Promise<string> {
    if (!/^[\w-][\w.-]*$/.test(suffix)) throw new TypeError(`${suffix} cannot be part of a file name`);
    const target = `${this.path}.${suffix}`;
    await this.#mutex.runExclusive(async () => {
      if (await exists(target)) throw new StateError(`${target} exists already`);
      await this.#writeOut();
      await this.#finish();
      try {
        // A checkpoint relies on it (CRAWL-17.3).
        await this.#handle.datasync();
        await rename(this.path, target);
        const handle = await openToAppend(this.path, this.#mode);
        await this.#handle.close();
        this.#handle = handle;
        await this.#begin();
      } catch (error) {
        throw storageError(this.path, error);
      }
    });
    return target;
  }

  /**
   * Writes the pending lines and closes; safe to call twice. @throws StorageError when something could not be
   * written
   */
  async close(): Promise<void> {
    if (this.#closed) return this.#mutex.runExclusive(() => undefined);
    this.#closed = true;
    clearTimeout(this.#timer);
    try {
      await this.#mutex.runExclusive(async () => {
        await this.#writeOut();
        await this.#finish();
      });
    } finally {
      await this.#handle.close();
      this.#waiters.wakeAll();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #scheduleWrite(): void {
    this.#timer ??= setTimeout(() => this.#writeSoon(), this.#options.flushMs).unref();
  }

  #writeSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#queued || this.#closed) return;
    this.#queued = true;
    void this.#mutex
      .runExclusive(() => {
        this.#queued = false;
        return this.#writeOut();
      })
      .catch((error: unknown) => {
        const failure = storageError(this.path, error);
        if (this.#failure === undefined) this.#onError?.(failure);
        this.#failure = failure;
        // Those that wait for room learn of it.
        this.#waiters.wakeAll();
        if (!this.#closed) this.#scheduleWrite();
      });
  }

  async #begin(): Promise<void> {
    if (this.#options.head === '') return;
    const { size } = await this.#handle.stat();
    if (size === 0) await this.#append(await this.#options.encoder.encode(this.#options.head));
  }

  async #writeOut(): Promise<void> {
    await this.#append(new Uint8Array());
    while (this.#lines.length > 0) {
      const text = this.#lines.join('');
      this.#lines = [];
      this.#restLength += text.length;
      await this.#append(await this.#options.encoder.encode(text));
    }
    this.#failure = undefined;
  }

  async #finish(): Promise<void> {
    await this.#append(await this.#options.encoder.finish());
  }

  /** Writes the bytes that an earlier failure left, then `bytes`; those that cannot be written are kept. */
  async #append(bytes: Uint8Array): Promise<void> {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    try {
      while (this.#rest.length > 0) {
        const { bytesWritten } = await this.#handle.write(this.#rest);
        // It would repeat for ever.
        if (bytesWritten === 0) throw new StorageError(`${this.path}: nothing was written`);
        this.#rest = this.#rest.subarray(bytesWritten);
      }
    } catch (error) {
      throw storageError(this.path, error);
    }
    this.#length -= this.#restLength;
    this.#restLength = 0;
    if (!this.full) this.#waiters.wakeAll();
  }
}

async function openToAppend(path: string, mode: number | undefined): Promise<FileHandle> {
  try {
    const handle = await open(path, 'a', mode);
    // Also of a file that existed.
    if (mode !== undefined) await handle.chmod(mode);
    return handle;
  } catch (error) {
    throw storageError(path, error);
  }
}

function storageError(path: string, error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  return new StorageError(`${path}: ${messageOf(error)}`, {
    cause: error,
  });
}
