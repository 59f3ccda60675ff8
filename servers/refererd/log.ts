import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';
import type { Logger } from '../host/index.js';

/** a message is written if its level is not above `debuglevel`. */
export const LEVEL = {
  critical: 10,
  error: 20,
  warning: 30,
  notice: 40,
  request: 50,
  lookUp: 60,
  connection: 70,
  protocol: 80,
} as const;

/** Where a references server reports; levels are those of {@link LEVEL}. */
export interface RefererLog {
  /** Whether a message of this level would be written: what is costly to say is made only then. */
  writes(level: number): boolean;
  write(level: number, text: string): void;
}

/** Characters that may wait for the end of the turn; more are written at once. */
const MAX_WAITING = 64 * 1024;

/** the original's build options, as a start-time choice. */
export interface FileLogOptions {
  /** `undefined`: standard error. */
  readonly file: string | undefined;
  /** */
  readonly progname: string;
  /** */
  readonly debuglevel: number;
  /** R-68 `LOG_DAYTIME`: the time stands in front of each line. */
  readonly daytime?: boolean;
  /** R-68 `USE_SYSLOG`: each line goes there as well. */
  readonly syslog?: (level: number, line: string) => void;
  readonly now?: () => Date;
}

/**
 * The log of the original: `progname[pid]: text` a line. Lines of a turn are written together, except warnings
 * and worse, which are on the disk when `write` returns.
 */
export class FileLog implements RefererLog, Disposable {
  progname: string;
  debuglevel: number;
  #file: string | undefined;
  readonly #options: FileLogOptions;
  readonly #now: () => Date;
  #descriptor: number;
  #waiting = '';
  #scheduled: NodeJS.Immediate | undefined;
  readonly #made: string[] = [];

  /** @throws StorageError when the file cannot be opened */
  constructor(options: FileLogOptions) {
    this.progname = options.progname;
    this.debuglevel = options.debuglevel;
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#file = options.file;
    this.#descriptor = this.#openForAppending(options.file);
  }

  /** False: it goes to standard error. */
  get inFile(): boolean {
    return this.#file !== undefined;
  }

  /** Directories that were made for the log, for who changes its user later. */
  get directoriesMade(): readonly string[] {
    return this.#made;
  }

  writes(level: number): boolean {
    return level <= this.debuglevel;
  }

  write(level: number, text: string): void {
    if (!this.writes(level)) return;
    const line = `${this.progname}[${process.pid}]: ${visible(text)}`;
    this.#options.syslog?.(level, line);
    this.#waiting += this.#options.daytime === true ? `${this.#now().toISOString()} ${line}\n` : `${line}\n`;
    if (level <= LEVEL.warning || this.#waiting.length > MAX_WAITING) this.flush();
    else this.#scheduled ??= setImmediate(() => this.flush());
  }

  /** Writes what waits. A full disk loses lines, it stops nobody. */
  flush(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    let bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    try {
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#descriptor, bytes));
    } catch {
      // The log is the only place where this could be said.
    }
  }

  /** renames the log to `<logfile>.<UTC time>` and opens a new one; if the file is already gone, only the latter. */
  rotate(): void {
    if (this.#file === undefined) return;
    this.flush();
    try {
      if (existsSync(this.#file)) renameSync(this.#file, freeName(this.#file, this.#now()));
      this.#open(this.#file);
    } catch (error) {
      this.#stays(error);
    }
  }

  /** Goes on in another file, if it is another one. */
  moveTo(file: string): void {
    if (this.#file === undefined || this.#file === file) return;
    this.flush();
    try {
      this.#open(file);
    } catch (error) {
      this.#stays(error);
    }
  }

  #open(file: string): void {
    const fresh = this.#openForAppending(file);
    closeSync(this.#descriptor);
    this.#descriptor = fresh;
    this.#file = file;
  }

  #openForAppending(file: string | undefined): number {
    if (file === undefined) return 2;
    try {
      const highest = mkdirSync(dirname(file), { recursive: true });
      if (highest !== undefined) this.#made.push(...directoriesFrom(highest, dirname(file)));
      return openSync(file, 'a');
    } catch (cause) {
      const why = messageOf(cause);
      throw new StorageError(`the log ${file} cannot be opened: ${why}`, { cause });
    }
  }

  #stays(error: unknown): void {
    const why = messageOf(error);
    this.write(LEVEL.error, `the old log is written on: ${why}`);
  }

  [Symbol.dispose](): void {
    this.flush();
    if (this.#file !== undefined) closeSync(this.#descriptor);
  }
}

/** A log of the house (pino) as a references server's: for the program that runs all servers in one process. */
export function logTo(log: Logger, debuglevel: number): RefererLog {
  return {
    writes: (level) => level <= debuglevel,
    write(level, text) {
      if (level > debuglevel) return;
      if (level <= LEVEL.critical) log.fatal(text);
      else if (level <= LEVEL.error) log.error(text);
      else if (level <= LEVEL.warning) log.warn(text);
      else if (level <= LEVEL.notice) log.info(text);
      else log.debug(text);
    },
  };
}

/** `YYYYMMDDhhmmss`; a second rotation within a second gets a number behind it, so that nothing is overwritten. */
function freeName(file: string, at: Date): string {
  const stamp = at.toISOString().replace(/\D/g, '').slice(0, 14);
  let name = `${file}.${stamp}`;
  for (let i = 1; existsSync(name); i++) name = `${file}.${stamp}.${i}`;
  return name;
}

/** From a directory down to one in it. */
function directoriesFrom(highest: string, lowest: string): string[] {
  const directories = [lowest];
  for (let at = lowest; at !== highest && at !== dirname(at); ) {
    at = dirname(at);
    directories.push(at);
  }
  return directories;
}

/** A peer's text must not be able to start a new line or move the reader's cursor. */
function visible(text: string): string {
  return text.replace(/[\x00-\x08\x0a-\x1f\x7f-\x9f]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/** user information of a URL is a password; no log shows it. */
export function withoutPasswords(text: string): string {
  return text.replace(/\/\/[^/?#\s@]*@/g, '//[redacted]@');
}
