// Loggers that write Harvest's log lines or JSON lines.
import { type DestinationStream, type Logger, pino } from 'pino';
import { AppendFileSync } from './append-file-sync.js';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** The program's name, e.g. `gatherd`. */
  readonly program: string;
  /** File to append to; default standard error. */
  readonly file?: string;
  /** JSON lines instead of Harvest's lines. */
  readonly json?: boolean;
  /** Lowest level that is written. Default `info`. */
  readonly level?: string;
}

/** Fields that are never written, in any object. */
const SECRETS = ['password', 'adminPassword', 'authorization', 'proxyAuthorization', 'cookie'];

/** A log and its file. */
export interface OpenLog extends Disposable {
  readonly log: Logger;
  /** Opens the file by its name again, after log rotation has renamed it. Without a file nothing happens. */
  reopen(): void;
}

/** Creates a pino logger that writes Harvest's line format (GATHERD-12.1) or JSON lines, each line immediately. */
export function createLogger(options: LoggerOptions): Logger {
  return openLog(options).log;
}

/**
 * Like {@link createLogger}, for daemons, which reopen and close their file.
 *
 * @throws StorageError when the file cannot be opened
 */
export function openLog(options: LoggerOptions): OpenLog {
  const { program, file, json = false, level = 'info' } = options;
  const lines = new AppendFileSync(file);
  const sink = { write: (line: string) => lines.write(line.slice(0, -1)) };
  const log = createLoggerOn(json ? sink : harvestLines(sink), { program, level });
  return {
    log,
    reopen() {
      try {
        lines.reopen();
      } catch (error) {
        log.error({ err: error }, `${file} cannot be reopened, the old file is still in use`);
      }
    },
    [Symbol.dispose]: () => lines.close(),
  };
}

/** Like {@link createLogger}, for any stream that accepts pino's JSON lines, e.g. {@link harvestLines}. */
export function createLoggerOn(
  stream: DestinationStream,
  options: { readonly program: string; readonly level?: string },
): Logger {
  return pino(
    {
      name: options.program,
      level: options.level ?? 'info',
      base: { pid: process.pid },
      redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** Formats pino's JSON lines as Harvest's lines for `target`. */
export function harvestLines(target: DestinationStream): DestinationStream {
  return {
    write(line) {
      const record: unknown = JSON.parse(line);
      if (typeof record === 'object' && record !== null) target.write(formatHarvestLine({ ...record }));
    },
  };
}

/** Fields of a record that are not repeated after the message. */
const KNOWN = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'err']);

/**
 * GATHERD-12.1: program right-aligned in seven columns, `: `, local time `yymmdd HH:MM:SS:` and a blank, then
 * the message, after `ERROR: ` or `FATAL: ` where it is one. Further fields follow as ` name=value`.
 */
export function formatHarvestLine(record: Readonly<Record<string, unknown>>): string {
  const program = String(record.name ?? '').padStart(7);
  const severity = record.level === 'fatal' ? 'FATAL: ' : record.level === 'error' ? 'ERROR: ' : '';
  const parts = [record.msg === undefined ? '' : String(record.msg)];
  for (const [name, value] of Object.entries(record)) {
    if (!KNOWN.has(name)) parts.push(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  const { err } = record;
  if (typeof err === 'object' && err !== null && 'message' in err) parts.push(`(${String(err.message)})`);
  const message = parts.filter((part) => part !== '').join(' ');
  return `${program}: ${formatLocalTime(Number(record.time))}: ${severity}${escapeControls(message)}\n`;
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

/** Escapes control characters: a peer's text must not start a new line or move the reader's cursor. */
function escapeControls(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
