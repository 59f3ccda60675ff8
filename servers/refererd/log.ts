// The log of the original program.
import { messageOf } from '../../protocols/errors.js';
import { escapeControls, escapeJsonControls } from '../../protocols/visible-text.js';
import { DescriptorReports } from '../host/fd-limit.js';
import { LogFile } from '../host/log-file.js';
import { type ConnectionLines, LogLimiter, type LogLimits } from '../host/log-limit.js';
import type { Logger } from '../host/logger.js';
import { LEVEL, severityOf } from './level.js';

/** The log of a references server; levels are those of {@link LEVEL}. */
export interface RefererLog {
  /** Whether a message of this level is written, for messages that are expensive to make. */
  writes(level: number): boolean;
  write(level: number, text: string): void;
}

/**
 * Limits for lines about requests and connections, which are written only if the operator chose such a level.
 */
const DETAIL_LIMITS: LogLimits = {
  connection: { burst: 5000, perSecond: 50 },
  address: { burst: 20_000, perSecond: 500 },
  total: { burst: 50_000, perSecond: 1000 },
};

/** Bounds the lines that peers can cause in a log (see {@link LogLimiter}). */
export class PeerLogs implements Disposable {
  readonly #log: RefererLog;
  readonly #notices: LogLimiter;
  readonly #details: LogLimiter;

  constructor(log: RefererLog) {
    this.#log = log;
    const report = (text: string): void => log.write(LEVEL.notice, text);
    this.#notices = new LogLimiter(report);
    this.#details = new LogLimiter(report, DETAIL_LIMITS);
  }

  /** Writes a line about a peer without a connection. */
  write(level: number, address: string, text: string): void {
    if (!this.#log.writes(level)) return;
    if (this.#limiter(level).allows(address)) this.#log.write(level, `${address} ${text}`);
  }

  /** Creates the log of one connection: each line begins with the peer's address. */
  connection(address: string): RefererLog {
    const log = this.#log;
    // Most connections cause no line.
    const lines = new Map<LogLimiter, ConnectionLines>();
    return {
      writes: (level) => log.writes(level),
      write: (level, text) => {
        if (!log.writes(level)) return;
        const limiter = this.#limiter(level);
        const own = lines.get(limiter) ?? limiter.connection();
        lines.set(limiter, own);
        if (limiter.allows(address, own)) log.write(level, `${address} ${text}`);
      },
    };
  }

  [Symbol.dispose](): void {
    this.#notices[Symbol.dispose]();
    this.#details[Symbol.dispose]();
  }

  #limiter(level: number): LogLimiter {
    return level <= LEVEL.notice ? this.#notices : this.#details;
  }
}

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
  readonly syslog?: ((level: number, line: string) => void) | undefined;
  /**
   * JSON lines instead: `level`, `time` in milliseconds since 1970, `pid`, `name`, `msg`, as those of the other
   * servers.
   */
  readonly json?: boolean;
  readonly now?: () => Date;
}

/**
 * The log of the original: `progname[pid]: text` per line. The lines of one turn of the event loop are
 * written together.
 */
export class FileLog implements RefererLog, Disposable {
  progname: string;
  debuglevel: number;
  readonly #options: FileLogOptions;
  readonly #now: () => Date;
  readonly #file: LogFile;
  readonly #reports = new DescriptorReports();

  /** @throws StorageError when the file cannot be opened */
  constructor(options: FileLogOptions) {
    this.progname = options.progname;
    this.debuglevel = options.debuglevel;
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#file = new LogFile(options.file, {
      onLost: (lines, reason) =>
        this.write(LEVEL.error, `${lines} lines of this log are lost: it could not be written (${reason})`),
    });
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
    const { write, remedy } = this.#reports.look(text);
    if (!write) return;
    // A peer's text must not start a new line or move the reader's cursor.
    const line = `${this.progname}[${process.pid}]: ${escapeControls(text)}`;
    this.#options.syslog?.(level, line);
    if (this.#options.json === true) this.#file.write(this.#jsonLine(level, text));
    else this.#file.write(this.#options.daytime === true ? `${this.#now().toISOString()} ${line}` : line);
    if (remedy !== undefined) this.write(LEVEL.error, remedy);
  }

  #jsonLine(level: number, text: string): string {
    const record = {
      level: severityOf(level).name,
      time: this.#now().getTime(),
      pid: process.pid,
      name: this.progname,
      msg: text,
    };
    return escapeJsonControls(JSON.stringify(record));
  }

  /** Writes the collected lines before the call returns, for a process that is about to abort. */
  flushSync(): void {
    this.#file.flushSync();
  }

  /** Resolves when the lines written so far are in the file, or when the file cannot be written now. */
  async flush(): Promise<void> {
    await this.#file.flush();
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
      log[severityOf(level).name](text);
    },
  };
}

/** replaces the user information of URLs, which may be a password. */
export function withoutPasswords(text: string): string {
  return text.replace(/\/\/[^/?#\s]{0,2083}@/g, '//[redacted]@');
}

/** The log as that of the parts that other servers have, too. */
export function logLines(log: RefererLog): Record<'info' | 'error', (line: string) => void> {
  return {
    info: (line) => log.write(LEVEL.notice, line),
    error: (line) => log.write(LEVEL.error, line),
  };
}

/** Characters of a line that are logged. */
const MAX_LINE_LENGTH = 1024;

/** R-66, level 80: logs the exchange with one peer by lines, without the values of authorizations. */
export class ExchangeLog {
  #line = '';
  readonly #log: RefererLog;

  constructor(log: RefererLog) {
    this.#log = log;
  }

  received(bytes: Uint8Array): void {
    const lines = (this.#line + Buffer.from(bytes).toString('latin1')).split('\n');
    // An incomplete line is kept up to twice the logged length, because the rest of a secret may follow.
    this.#line = (lines.pop() ?? '').slice(0, 2 * MAX_LINE_LENGTH);
    for (const line of lines) this.#show('<', line);
  }

  sent(bytes: Uint8Array): void {
    for (const line of Buffer.from(bytes).toString('latin1').trimEnd().split('\n')) this.#show('>', line);
  }

  #show(direction: '<' | '>', line: string): void {
    const shown = withoutPasswords(line.trimEnd())
      .replace(/^([^:]*AUTHORIZATION\s*:).*$/i, '$1 [redacted]')
      .slice(0, MAX_LINE_LENGTH);
    this.#log.write(LEVEL.protocol, `${direction} ${shown}`);
  }
}
