// The event log `admin/LOG` (BRK-5.7, 5.8).
import { closeSync, existsSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { StateError, StorageError, UsageError } from '../../../protocols/errors.js';
import { textOfUrl } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { excerpt, replaceControls } from '../../../protocols/visible-text.js';
import type { ApplyObserver } from '../../../storage/index.js';
import { type Debug, LogFile } from '../../host/index.js';

/** BRK-5.7: the types of events for `Log-Types`, `#add-log` and `#rem-log`, which also accept `All`. */
export const LOG_TYPES = [
  'Update',
  'Delete',
  'Refresh',
  'Query',
  'Query-Return',
  'Cleaned',
  'Collection',
  'Admin',
  'Admin-Return',
  'Bulk-Transfer',
  'Bulk-Return',
  'Cleaner-On',
  'Compressing-Registry',
] as const;

/** One of {@link LOG_TYPES}. */
export type LogType = (typeof LOG_TYPES)[number];

/** Returns the type of this name in any case, for `All` every type, for an unknown name undefined. */
export function logTypesByName(name: string): readonly LogType[] | undefined {
  const key = name.toLowerCase();
  if (key === 'all') return LOG_TYPES;
  const type = LOG_TYPES.find((known) => known.toLowerCase() === key);
  return type && [type];
}

/** Options of {@link EventLog.open}. */
export interface EventLogOptions {
  /** `Log-File`. */
  readonly file: string;
  /** `Broker-Directory`; files opened by command must be below it. */
  readonly directory: string;
  /** `Log-Types`; unknown names are ignored. */
  readonly types: readonly string[];
  readonly now: () => UnixSeconds;
  /** Bytes that are written together, default 8192. Fewer are written after a second. */
  readonly bufferBytes?: number;
}

/** Bytes read from a file that a command opens, which include the time and type of its first line (REG-53). */
const HEAD_BYTES = 32;

/**
 * `admin/LOG` (BRK-5.8): one line for each event, `YYYYMMDD HH:MM:SS Type: text` in UTC (REG-53). Lines are
 * buffered; after `#close-log` they are dropped until a log is opened again.
 */
export class EventLog implements Disposable {
  readonly #options: EventLogOptions;
  readonly #types: Set<LogType>;
  #file: string;
  #sink: LogFile | undefined;

  private constructor(options: EventLogOptions) {
    this.#options = options;
    this.#types = new Set(options.types.flatMap((name) => logTypesByName(name) ?? []));
    this.#file = resolve(options.file);
    this.#sink = this.#openSink(this.#file);
  }

  /** @throws StorageError when the file cannot be opened */
  static open(options: EventLogOptions): EventLog {
    return new EventLog(options);
  }

  /** Path of the open log; undefined while it is closed. */
  get file(): string | undefined {
    return this.#sink === undefined ? undefined : this.#file;
  }

  /** The types that are logged, in the order of {@link LOG_TYPES}. */
  get types(): readonly LogType[] {
    return LOG_TYPES.filter((type) => this.#types.has(type));
  }

  /** Whether events of this type are logged. */
  isEnabled(type: LogType): boolean {
    return this.#types.has(type);
  }

  /** Writes a line if its type is logged. A function is called for the text only then. */
  write(type: LogType, text: string | (() => string)): void {
    if (this.#sink === undefined || !this.#types.has(type)) return;
    const line = printable(typeof text === 'string' ? text : text());
    this.#sink.write(`${formatTime(this.#options.now())} ${type}: ${line}`);
  }

  /**
   * BRK-5.1 `#add-log`, `#rem-log`.
   *
   * @returns the types that were switched
   * @throws UsageError for an unknown name
   */
  switch(name: string, on: boolean): readonly LogType[] {
    const types = logTypesByName(name);
    if (types === undefined) {
      throw new UsageError(
        `${printable(excerpt(name))} is not a log type; there are ${LOG_TYPES.join(', ')} and All`,
      );
    }
    for (const type of types) {
      if (on) this.#types.add(type);
      else this.#types.delete(type);
    }
    return types;
  }

  /** Replaces the types that are logged, after `#set Log-Types` or `#restart`. */
  setTypes(names: readonly string[]): void {
    this.#types.clear();
    for (const name of names) for (const type of logTypesByName(name) ?? []) this.#types.add(type);
  }

  /**
   * BRK-5.1 `#open-log`: opens a file instead of the current one; without a name, reopens the last one.
   *
   * The name is relative to Broker-Directory and stays below it, and an existing file must be a log: the
   * password must not give the right to write into other files.
   * @throws UsageError for another name, StorageError when the file cannot be opened
   */
  openFile(name?: string): string {
    const file = name === undefined ? this.#file : this.#checkName(name);
    if (this.#sink === undefined) this.#sink = this.#openSink(file);
    else this.#sink.reopen(file);
    this.#file = file;
    return file;
  }

  /** Writes the buffered lines. Resolves with false if the file cannot be written now. */
  async flush(): Promise<boolean> {
    return (await this.#sink?.flush()) ?? true;
  }

  /** Flushes and closes the log; further events are dropped. */
  close(): void {
    this.#sink?.close();
    this.#sink = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Reopens the file by its name, after it was renamed (SIGHUP). */
  reopen(): void {
    this.#sink?.reopen();
  }

  /**
   * BRK-5.1 `#rotate-log`, REG-54: renames the file to `LOG.YYYYMMDD` (today in UTC; then `.1`, `.2` ...) and
   * begins a new one.
   *
   * @returns the new name of the old file
   * @throws StateError when the log is closed, StorageError when it cannot be renamed
   */
  rotate(): string {
    if (this.#sink === undefined) throw new StateError('the log is closed');
    const name = this.#sink.rotate(formatTime(this.#options.now()).slice(0, 8));
    if (name === undefined) throw new StorageError(`${this.#file} cannot be renamed: it no longer exists`);
    return name;
  }

  #openSink(file: string): LogFile {
    const sink: LogFile = new LogFile(file, {
      blockLength: this.#options.bufferBytes ?? 8192,
      onLost: (lines, reason) => {
        const sentence = `${lines} events are not in this log: it could not be written (${printable(reason)})`;
        sink.write(`${formatTime(this.#options.now())} Admin: ${sentence}`);
      },
    });
    return sink;
  }

  #checkName(name: string): string {
    const file = resolve(this.#options.directory, name);
    if (isAbsolute(name) || !isBelow(this.#options.directory, file)) {
      throw new UsageError('the name of a log is relative to Broker-Directory and stays below it');
    }
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found !== undefined && !(found.isFile() && isLog(file))) {
      throw new UsageError(`${printable(name)} exists and is not a log`);
    }
    return file;
  }
}

/** BRK-5.7: the type of event of each outcome of a change. */
const EVENT_OF: Readonly<Partial<Record<string, LogType>>> = {
  added: 'Update',
  updated: 'Update',
  refreshed: 'Refresh',
  deleted: 'Delete',
};

/** BRK-5.7: returns an observer that logs one line for each changed object. */
export function changeObserver(events: EventLog, debug: Debug): ApplyObserver {
  return ({ kind, object }, outcome) => {
    const type = EVENT_OF[outcome];
    if (type !== undefined) events.write(type, () => textOfUrl(object.url));
    debug(74, 1, () => `${kind} ${textOfUrl(object.url)}: ${outcome}`);
  };
}

/** Whether a path is below a directory, with the symbolic links of existing directories resolved. */
function isBelow(directory: string, file: string): boolean {
  let parent = dirname(file);
  while (!existsSync(parent)) parent = dirname(parent);
  const path = relative(realpathSync(directory), join(realpathSync(parent), relative(parent, file)));
  return path !== '' && !path.startsWith('..') && !isAbsolute(path);
}

/** Whether a file is empty or begins with a line of this log. */
function isLog(file: string): boolean {
  const head = Buffer.alloc(HEAD_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    const length = readSync(descriptor, head, 0, HEAD_BYTES, 0);
    return length === 0 || /^\d{8} \d\d:\d\d:\d\d [A-Z]/.test(head.toString('latin1', 0, length));
  } finally {
    closeSync(descriptor);
  }
}

/** `YYYYMMDD HH:MM:SS`, UTC. */
function formatTime(now: UnixSeconds): string {
  const [date = '', time = ''] = new Date(now * 1000).toISOString().split('T');
  return `${date.replaceAll('-', '')} ${time.slice(0, 8)}`;
}

/**
 * REG-53: replaces control characters, so that text from the network cannot begin a line or control a terminal.
 */
function printable(text: string): string {
  return replaceControls(text, '?');
}
