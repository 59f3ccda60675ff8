// The log file of a daemon: never waited for, bounded, rotated.
import { constants, existsSync, fstatSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { createDirectorySync } from '../../storage/files/make-directory.js';
import { type LineFileOptions, LineWriter } from './line-writer.js';

/** The lines of one turn of the event loop are written together unless `blockLength` is given. */
export interface LogFileOptions extends LineFileOptions {
  /**
   * Bytes after which the file is renamed to `PATH.1`, that to `PATH.2` and so on, and a new one begun.
   * Default: never. Lines are not divided; lines that are written together may exceed it.
   */
  readonly maxBytes?: number | undefined;
  /** Renamed files that are kept, at least 1. Default 5. */
  readonly keep?: number | undefined;
  /** Called when the file can be written again after lines were lost, with their number and the reason. */
  readonly onLost?: (lines: number, reason: string) => void;
}

/** A pipe without room refuses a write instead of making it wait; a regular file is not affected. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/**
 * A log file. Writing a line never throws and never waits, whatever the disk, or the reader of a pipe, does:
 * lines that cannot be written wait up to a limit, further ones are counted. A crash of the program loses no
 * line; kill -9 loses those of the last turn of the event loop, or the block that was being collected.
 */
export class LogFile implements Disposable {
  readonly #options: LogFileOptions;
  readonly #maxBytes: number;
  readonly #keep: number;
  /** Bytes of the present file, as far as this object has written them. */
  #size = 0;
  readonly #directoriesMade: string[] = [];
  #path: string | undefined;
  #writer: LineWriter;
  /** Settles when the former files are written. */
  #former: Promise<unknown> = Promise.resolve();
  #closed = false;

  /**
   * Opens a file for appending and makes the directories above it; the content of the file stays.
   *
   * @param path the file; undefined is standard error, which is neither renamed nor closed
   * @throws StorageError
   */
  constructor(path: string | undefined, options: LogFileOptions = {}) {
    this.#options = options;
    this.#maxBytes =
      path === undefined ? Number.POSITIVE_INFINITY : (options.maxBytes ?? Number.POSITIVE_INFINITY);
    this.#keep = Math.max(1, options.keep ?? 5);
    this.#path = path;
    this.#writer = this.#writerOn(path === undefined ? openStandardError() : this.#open(path));
    this.#size = sizeOf(path);
  }

  /** The file; undefined for standard error. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Directories that were made for the file, the lowest first. */
  get directoriesMade(): readonly string[] {
    return this.#directoriesMade;
  }

  /** Adds a line; the line end is appended. A line after {@link close} is lost. */
  write(line: string): void {
    if (this.#closed) return;
    if (this.#size >= this.#maxBytes) this.#renumber();
    this.#writer.add(line);
    this.#size += Buffer.byteLength(line) + 1;
  }

  /**
   * Resolves with true when the lines added so far are in the file, with false when they cannot be written now.
   */
  async flush(): Promise<boolean> {
    await this.#former;
    return await this.#writer.flush().then(
      () => true,
      () => false,
    );
  }

  /**
   * Writes the collected lines before the call returns, as far as that needs no waiting: for a program that is
   * about to abort.
   */
  flushSync(): void {
    this.#writer.flushSync();
  }

  /**
   * Opens the file by its name again, e.g. after another program has renamed it, or continues in another file.
   * Lines added before are written to the former file. Standard error stays as it is.
   *
   * @throws StorageError when it cannot be opened; then the present file is still in use
   */
  reopen(path = this.#path): void {
    if (this.#path === undefined || path === undefined) return;
    const writer = this.#writerOn(this.#open(path));
    this.#path = path;
    this.#size = sizeOf(path);
    writer.takeOver(this.#writer);
    this.#former = Promise.all([this.#former, ended(this.#writer)]);
    this.#writer = writer;
  }

  /**
   * Renames the file to `PATH.SUFFIX`, or `PATH.SUFFIX.1` and so on if that exists, and begins a new one. A
   * file that was removed or renamed by another program is created again.
   *
   * @returns the name of the renamed file; undefined if there was no file
   * @throws StorageError when renaming or opening fails; the present file is still in use
   */
  rotate(suffix: string): string | undefined {
    const path = this.#path;
    if (path === undefined) return undefined;
    let target: string | undefined;
    if (existsSync(path)) {
      target = `${path}.${suffix}`;
      for (let i = 1; existsSync(target); i++) target = `${path}.${suffix}.${i}`;
      try {
        renameSync(path, target);
      } catch (cause) {
        throw new StorageError(`${path} cannot be renamed: ${messageOf(cause)}`, { cause });
      }
    }
    this.reopen();
    return target;
  }

  /**
   * Begins a new file; the present one is `PATH.1` then. If that fails, the present file is used on, and it is
   * tried again later.
   */
  #renumber(): void {
    const path = this.#path;
    this.#size = 0;
    if (path === undefined) return;
    try {
      for (let number = this.#keep - 1; number >= 1; number--)
        if (existsSync(`${path}.${number}`)) renameSync(`${path}.${number}`, `${path}.${number + 1}`);
      if (existsSync(path)) renameSync(path, `${path}.1`);
      this.reopen();
    } catch {
      // The lines continue in the open file.
    }
  }

  /** Accepts no more lines, and closes the file when the collected ones are written; safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    void ended(this.#writer);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #writerOn(descriptor: number): LineWriter {
    return new LineWriter(descriptor, this.#options);
  }

  #open(path: string): number {
    const directory = resolve(dirname(path));
    try {
      const highest = createDirectorySync(directory);
      if (highest !== undefined) this.#directoriesMade.push(...directoriesFrom(highest, directory));
      return openSync(path, APPEND);
    } catch (cause) {
      throw new StorageError(`the log ${path} cannot be opened: ${messageOf(cause)}`, { cause });
    }
  }
}

/** Ends a writer. Lines that it cannot write now are lost. */
function ended(writer: LineWriter): Promise<void> {
  return writer.end().catch(() => undefined);
}

/**
 * Standard error. A pipe or terminal is opened once more, so that a write to it does not wait: the setting
 * belongs to an open file, and descriptor 2 may be shared with other programs. A socket cannot be opened so: a
 * write to it waits in the thread pool.
 */
function openStandardError(): number {
  try {
    const stats = fstatSync(2);
    if (stats.isFIFO() || stats.isCharacterDevice()) {
      const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY;
      return openSync('/proc/self/fd/2', flags);
    }
  } catch {
    // Closed, of another user, or not Linux: the thread pool may wait for it, this thread does not.
  }
  return 2;
}

/** The size of a file; 0 if it does not exist. */
function sizeOf(path: string | undefined): number {
  return path === undefined ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
}

/** The directories from `lowest` up to `highest`. */
function directoriesFrom(highest: string, lowest: string): string[] {
  const directories = [lowest];
  for (let path = lowest; path !== highest && path !== dirname(path); ) {
    path = dirname(path);
    directories.push(path);
  }
  return directories;
}
