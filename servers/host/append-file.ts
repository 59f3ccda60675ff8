// A log file with backpressure, for logs with many lines that must not be lost.
import { close, fchmod, fdatasync, fstat, open, writeFile } from 'node:fs';
import { rename } from 'node:fs/promises';
import { promisify } from 'node:util';
import { KitError, messageOf, StateError, StorageError } from '../../protocols/errors.js';
import { exists } from '../../storage/files/exists.js';
import { type LineEncoder, type LineFileOptions, LineWriter } from './line-writer.js';

/** By default 65 536 characters are collected, for at most one second. */
export interface AppendFileOptions extends LineFileOptions {
  readonly encoder?: LineEncoder;
  /** First text of an empty file, which is not encoded. */
  readonly head?: string | undefined;
  /** Permissions of the file. Default: 0o666 without the bits of umask. */
  readonly mode?: number;
  /**
   * Called when a write fails (a full disk), once until a write succeeds. Unwritten lines are kept and tried
   * again.
   */
  readonly onError?: ((error: StorageError) => void) | undefined;
}

/**
 * A file that grows by lines, for logs with many lines. Lines are collected and written in blocks, in order, at
 * the latest {@link AppendFileOptions.flushMs} after they were added: a crash loses no more than that.
 */
export class AppendFile implements AsyncDisposable {
  readonly #options: AppendFileOptions;
  readonly #writer: LineWriter;
  #closed = false;

  private constructor(
    readonly path: string,
    descriptor: number,
    options: AppendFileOptions,
  ) {
    this.#options = options;
    this.#writer = new LineWriter(descriptor, {
      ...options,
      blockLength: options.blockLength ?? 65_536,
      keepAll: true,
      onRefused: (error) => options.onError?.(storageError(path, error)),
    });
  }

  /** Opens for appending; the content of the file stays. @throws StorageError */
  static async open(path: string, options: AppendFileOptions = {}): Promise<AppendFile> {
    return new AppendFile(path, await openToAppend(path, options), options);
  }

  /**
   * Adds a line; the line end is appended. Never waits: a caller that writes a lot checks {@link full}.
   * @throws StateError after {@link close}
   */
  write(line: string): void {
    if (this.#closed) throw new StateError(`${this.path} is closed`);
    this.#writer.add(line);
  }

  /** Whether so much is pending that the caller should wait for {@link waitForRoom}. */
  get full(): boolean {
    return this.#writer.full;
  }

  /**
   * Waits until the file is no longer {@link full}. @throws the signal's reason; StorageError when it cannot be
   * written
   */
  waitForRoom(signal?: AbortSignal): Promise<void> {
    return this.#writer.waitForRoom(signal).catch((error: unknown) => {
      throw signal?.aborted ? error : storageError(this.path, error);
    });
  }

  /** Resolves when all lines added so far are in the file. @throws StorageError */
  flush(): Promise<void> {
    return this.#named(this.#writer.flush());
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
    const next = async (descriptor: number) => {
      if (await exists(target)) throw new StateError(`${target} exists already`);
      // A checkpoint relies on it (CRAWL-17.3).
      await promisify(fdatasync)(descriptor);
      await rename(this.path, target);
      return await openToAppend(this.path, this.#options);
    };
    await this.#named(this.#writer.continueOn(next));
    return target;
  }

  /**
   * Writes the pending lines and closes; safe to call twice. @throws StorageError when something could not be
   * written
   */
  close(): Promise<void> {
    this.#closed = true;
    return this.#named(this.#writer.end());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #named(work: Promise<void>): Promise<void> {
    return work.catch((error: unknown) => {
      throw error instanceof KitError ? error : storageError(this.path, error);
    });
  }
}

async function openToAppend(path: string, { mode, head = '' }: AppendFileOptions): Promise<number> {
  let descriptor: number | undefined;
  try {
    descriptor = await promisify(open)(path, 'a', mode);
    // Also of a file that existed.
    if (mode !== undefined) await promisify(fchmod)(descriptor, mode);
    if (head !== '' && (await promisify(fstat)(descriptor)).size === 0)
      await promisify(writeFile)(descriptor, head);
    return descriptor;
  } catch (error) {
    if (descriptor !== undefined) await promisify(close)(descriptor);
    throw storageError(path, error);
  }
}

function storageError(path: string, error: unknown): StorageError {
  return new StorageError(`${path}: ${messageOf(error)}`, { cause: error });
}
