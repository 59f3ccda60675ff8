// Loggers that write Harvest's log lines or JSON lines.
import { type DestinationStream, type Logger, pino } from 'pino';
import { messageOf } from '../../protocols/errors.js';
import { escapeControls, escapeJsonControls, redactLogins } from '../../protocols/visible-text.js';
import { DescriptorReports } from './fd-limit.js';
import { LogFile } from './log-file.js';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** The program's name, e.g. `gatherd`. */
  readonly program: string;
  /** File to append to; default standard error. */
  readonly file?: string | undefined;
  /** JSON lines instead of Harvest's lines. */
  readonly json?: boolean;
  /** Lowest level that is written. Default `info`. */
  readonly level?: string;
  /** When the file is renamed, and how many of them are kept, see {@link LogFile}. Default: never. */
  readonly rotation?: LogRotation | undefined;
}

/** The rotation of a log by its size. */
export interface LogRotation {
  readonly maxBytes: number;
  readonly keep: number;
}

/** Fields that are never written, in any object. */
const SECRETS = new Set(['password', 'adminPassword', 'authorization', 'proxyAuthorization', 'cookie']);
const REDACTED = '[redacted]';

/** A log and its file. */
export interface OpenLog extends Disposable {
  readonly log: Logger;
  /** Opens the file by its name again, after log rotation has renamed it. Without a file nothing happens. */
  reopen(): void;
  /** Resolves when the lines written so far are in the file, or when the file cannot be written now. */
  flush(): Promise<void>;
}

/**
 * Creates a pino logger that writes Harvest's line format (GATHERD-12.1) or JSON lines. A line never waits for
 * the disk.
 */
export function createLogger(options: LoggerOptions): Logger {
  return openLog(options).log;
}

/**
 * Like {@link createLogger}, for daemons, which reopen and close their file.
 *
 * @throws StorageError when the file cannot be opened
 */
export function openLog(options: LoggerOptions): OpenLog {
  const { program, file, json = false, level = 'info', rotation } = options;
  const lines = new LogFile(file, {
    ...rotation,
    onLost: (count, reason) =>
      log.error(`${count} lines of this log are lost: it could not be written (${reason})`),
  });
  const sink = {
    write: (line: string) => lines.write(line.slice(0, -1)),
    // pino's log.fatal and log.flush.
    flushSync: () => lines.flushSync(),
    flush: (done: (error?: Error) => void) => void lines.flush().then(() => done(), done),
  };
  const log: Logger = createLoggerOn(json ? { ...sink, ...jsonLines(sink) } : sink, { program, level, json });
  return {
    log,
    reopen() {
      try {
        lines.reopen();
      } catch (error) {
        log.error({ err: error }, `${file} cannot be reopened, the old file is still in use`);
      }
    },
    async flush() {
      await lines.flush();
    },
    [Symbol.dispose]: () => lines.close(),
  };
}

/**
 * Like {@link createLogger}, for any stream. JSON lines are pino's own unless the stream is {@link jsonLines}.
 */
export function createLoggerOn(
  stream: DestinationStream,
  options: Pick<LoggerOptions, 'program' | 'level' | 'json'>,
): Logger {
  const { program, level = 'info', json = true } = options;
  const reports = new DescriptorReports();
  return pino(
    {
      name: program,
      level,
      base: { pid: process.pid },
      redact: { paths: [...SECRETS].flatMap((name) => [name, `*.${name}`]), censor: REDACTED },
      // pino's own joins the messages of all causes, and knows only the last of several errors.
      serializers: {
        err: (error: Error) => ({ ...pino.stdSerializers.err(error), message: messageOf(error) }),
      },
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(args, method, level) {
          const [first, second]: [unknown, unknown?, ...unknown[]] = args;
          const [fields, text] = typeof first === 'string' ? [{}, first] : [Object(first), second];
          const reason = fields.err === undefined ? '' : messageOf(fields.err);
          const isShown = level >= pino.levels.values.info!;
          const { write, remedy } = isShown ? reports.look(`${text} ${reason}`) : { write: true };
          if (!write) return;
          if (json) method.apply(this, args);
          else {
            const line = { ...fields, name: program, time: Date.now(), level: pino.levels.labels[level] };
            stream.write(formatHarvestLine({ ...line, msg: text }));
          }
          if (remedy !== undefined) this.error(remedy);
        },
      },
    },
    stream,
  );
}

/**
 * Passes pino's JSON lines to `target` without logins of URLs, and without the control characters that JSON
 * permits: a peer's text must not control a terminal.
 */
export function jsonLines(target: DestinationStream): DestinationStream {
  return { write: (line) => target.write(escapeJsonControls(redactLogins(line))) };
}

/**
 * Fields of a record that are not repeated after the message. `session` and `request` tell which lines of JSON
 * belong together; the original's lines have no place for them.
 */
const KNOWN = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'err', 'session', 'request']);

/**
 * GATHERD-12.1: program right-aligned in seven columns, `: `, local time `yymmdd HH:MM:SS:` and a blank, then
 * the message, after `ERROR: ` or `FATAL: ` where it is one. Further fields follow as ` name=value`.
 */
export function formatHarvestLine(record: Readonly<Record<string, unknown>>): string {
  const program = String(record.name ?? '').padStart(7);
  const severity = record.level === 'fatal' ? 'FATAL: ' : record.level === 'error' ? 'ERROR: ' : '';
  const parts = [record.msg === undefined ? '' : String(record.msg)];
  for (const [name, value] of Object.entries(record)) {
    if (KNOWN.has(name)) continue;
    const shown = SECRETS.has(name) ? REDACTED : value;
    parts.push(`${name}=${typeof shown === 'string' ? shown : JSON.stringify(shown, redactField)}`);
  }
  if (record.err !== undefined) parts.push(`(${messageOf(record.err)})`);
  const message = parts.filter((part) => part !== '').join(' ');
  return `${program}: ${formatLocalTime(Number(record.time))}: ${severity}${escapeControls(redactLogins(message))}\n`;
}

function redactField(name: string, value: unknown): unknown {
  return SECRETS.has(name) ? REDACTED : value;
}

/** Formats local time as `yymmdd HH:MM:SS`. */
function formatLocalTime(milliseconds: number): string {
  const local = new Date(milliseconds);
  const date = [local.getFullYear() % 100, local.getMonth() + 1, local.getDate()].map(twoDigits).join('');
  const time = [local.getHours(), local.getMinutes(), local.getSeconds()].map(twoDigits).join(':');
  return `${date} ${time}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
