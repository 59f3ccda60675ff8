// A log file with blocking writes, for daemons whose last lines matter after a crash.
import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';

export interface AppendFileSyncOptions {
  /** Characters that are collected before they are written. Default 0: each line is written by the call that adds it. */
  readonly blockLength?: number;
  /** Milliseconds after which collected lines are written in any case. Default 1000. */
  readonly flushMs?: number;
  /** Characters kept while the file cannot be written, e.g. because the disk is full; further lines are lost. Default 1 048 576. */
  readonly limit?: number;
}

/**
 * {@link AppendFile} with blocking writes, for logs with few lines whose last lines matter most after a crash. A write that
 * fails is tried again with the next one and never throws: a full disk does not stop a server.
 */
export class AppendFileSync implements Disposable {
  readonly #options: Required<AppendFileSyncOptions>;
  readonly #directoriesMade: string[] = [];
  #path: string | undefined;
  #descriptor: number;
  /** Not yet written; `#rest` comes first. */
  #text = '';
  #rest: Uint8Array = new Uint8Array();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * Opens a file for appending and makes the directories above it; the content of the file stays.
   *
   * @param path the file; undefined is standard error, which is neither renamed nor closed
   * @throws StorageError
   */
  constructor(path: string | undefined, options: AppendFileSyncOptions = {}) {
    const { blockLength = 0, flushMs = 1000, limit = 1 << 20 } = options;
    this.#options = { blockLength, flushMs, limit };
    this.#path = path;
    this.#descriptor = path === undefined ? 2 : this.#open(path);
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
    if (this.#isFull) this.flush();
    if (this.#isFull) return;
    this.#text += `${line}\n`;
    if (this.#text.length >= this.#options.blockLength) this.flush();
    else this.#flushLater();
  }

  /** Writes the collected lines. Lines that cannot be written are kept. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = Buffer.from(this.#text);
    this.#text = '';
    this.#rest = this.#rest.length === 0 ? text : Buffer.concat([this.#rest, text]);
    try {
      while (this.#rest.length > 0) {
        this.#rest = this.#rest.subarray(writeSync(this.#descriptor, this.#rest));
      }
    } catch {
      // There is no other log to report this in.
      if (!this.#closed) this.#flushLater();
    }
  }

  /**
   * Opens the file by its name again, e.g. after another program has renamed it, or continues in another file. Standard
   * error stays as it is.
   *
   * @throws StorageError when it cannot be opened; then the present file is still in use
   */
  reopen(path = this.#path): void {
    if (this.#path === undefined || path === undefined) return;
    this.flush();
    const descriptor = this.#open(path);
    closeSync(this.#descriptor);
    this.#descriptor = descriptor;
    this.#path = path;
  }

  /**
   * Renames the file to `PATH.SUFFIX`, or `PATH.SUFFIX.1` and so on if that exists, and begins a new one. A file that was
   * removed or renamed by another program is created again.
   *
   * @returns the name of the renamed file; undefined if there was no file
   * @throws StorageError when renaming or opening fails; the present file is still in use
   */
  rotate(suffix: string): string | undefined {
    const path = this.#path;
    if (path === undefined) return undefined;
    this.flush();
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

  /** Flushes and closes; safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.flush();
    if (this.#path !== undefined) closeSync(this.#descriptor);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  get #isFull(): boolean {
    return this.#text.length + this.#rest.length > this.#options.limit;
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => this.flush(), this.#options.flushMs).unref();
  }

  #open(path: string): number {
    const directory = dirname(path);
    try {
      const highest = mkdirSync(directory, { recursive: true });
      if (highest !== undefined) this.#directoriesMade.push(...directoriesFrom(highest, directory));
      return openSync(path, 'a');
    } catch (cause) {
      throw new StorageError(`the log ${path} cannot be opened: ${messageOf(cause)}`, { cause });
    }
  }
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
