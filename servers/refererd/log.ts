// The log of the original program.
import { messageOf } from '../../protocols/errors.js';
import { AppendFileSync, type Logger } from '../host/index.js';

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

/** The log of a references server; levels are those of {@link LEVEL}. */
export interface RefererLog {
  /** Whether a message of this level is written, for messages that are expensive to make. */
  writes(level: number): boolean;
  write(level: number, text: string): void;
}

/** Characters that are collected at most until the end of the turn of the event loop. */
const BLOCK_LENGTH = 64 * 1024;

/** Options of {@link FileLog}. R-68: those of the original's build are chosen at the start. */
export interface FileLogOptions {
  /** `undefined`: standard error. */
  readonly file: string | undefined;
  /** */
  readonly progname: string;
  /** */
  readonly debuglevel: number;
  /** R-68 `LOG_DAYTIME`: each line begins with the time. */
  readonly daytime?: boolean;
  /** R-68 `USE_SYSLOG`: receives each line as well. */
  readonly syslog?: (level: number, line: string) => void;
  readonly now?: () => Date;
}

/**
 * The log of the original: `progname[pid]: text` per line. The lines of one turn of the event loop are written
 * together, except warnings and worse, which are in the file when `write` returns.
 */
export class FileLog implements RefererLog, Disposable {
  progname: string;
  debuglevel: number;
  readonly #options: FileLogOptions;
  readonly #now: () => Date;
  readonly #file: AppendFileSync;

  /** @throws StorageError when the file cannot be opened */
  constructor(options: FileLogOptions) {
    this.progname = options.progname;
    this.debuglevel = options.debuglevel;
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#file = new AppendFileSync(options.file, { blockLength: BLOCK_LENGTH, flushMs: 0 });
  }

  /** Whether the log is a file; otherwise it is standard error. */
  get inFile(): boolean {
    return this.#file.path !== undefined;
  }

  /** Directories that were made for the log; they must change their owner with it. */
  get directoriesMade(): readonly string[] {
    return this.#file.directoriesMade;
  }

  writes(level: number): boolean {
    return level <= this.debuglevel;
  }

  write(level: number, text: string): void {
    if (!this.writes(level)) return;
    const line = `${this.progname}[${process.pid}]: ${visible(text)}`;
    this.#options.syslog?.(level, line);
    this.#file.write(this.#options.daytime === true ? `${this.#now().toISOString()} ${line}` : line);
    if (level <= LEVEL.warning) this.flush();
  }

  /** Writes the collected lines. */
  flush(): void {
    this.#file.flush();
  }

  /** renames the log to `<logfile>.<UTC time>`, if it still exists, and opens a new one. */
  rotate(): void {
    const stamp = this.#now().toISOString().replace(/\D/g, '').slice(0, 14);
    this.#try(() => this.#file.rotate(stamp));
  }

  /** Continues in another file. */
  moveTo(file: string): void {
    if (this.#file.path !== file) this.#try(() => this.#file.reopen(file));
  }

  #try(change: () => unknown): void {
    try {
      change();
    } catch (error) {
      this.write(LEVEL.error, `the old log is still written: ${messageOf(error)}`);
    }
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

/** Adapts a pino logger, for the program that runs all servers in one process. */
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

/** Escapes control characters: a peer's text must not start a new line or move the reader's cursor. */
function visible(text: string): string {
  return text.replace(/[\x00-\x08\x0a-\x1f\x7f-\x9f]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/** replaces the user information of URLs, which may be a password. */
export function withoutPasswords(text: string): string {
  return text.replace(/\/\/[^/?#\s@]*@/g, '//[redacted]@');
}
