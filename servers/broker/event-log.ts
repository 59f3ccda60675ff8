import { closeSync, existsSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { StorageError, UsageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { AppendFileSync } from '../host/index.js';

/** BRK-5.7: the types of events that `Log-Types`, `#add-log` and `#rem-log` know, beside `All`. */
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

/** The type of that name in any case; `All` stands for every type, `undefined` is none of them. */
export function logTypesNamed(name: string): readonly LogType[] | undefined {
  const wanted = name.toLowerCase();
  if (wanted === 'all') return LOG_TYPES;
  const type = LOG_TYPES.find((known) => known.toLowerCase() === wanted);
  return type && [type];
}

/** What {@link EventLog.open} needs. */
export interface EventLogOptions {
  /** `Log-File`. */
  readonly file: string;
  /** Directory that a file opened by command must lie in: `Broker-Directory`. */
  readonly directory: string;
  /** `Log-Types`; what is no type is passed over. */
  readonly types: readonly string[];
  readonly now: () => UnixSeconds;
  /** Bytes that are written together, default 8192; a second later they are written in any case. */
  readonly bufferBytes?: number;
}

/** Bytes looked at of a file that a command wants to append to: more than the head of a line (REG-53). */
const HEAD_BYTES = 32;

/**
 * `admin/LOG` (BRK-5.8): one line for each event, `YYYYMMDD HH:MM:SS Type: text` in UTC (REG-53). Lines are buffered; after
 * `#close-log` they are dropped until a log is opened again.
 */
export class EventLog implements Disposable {
  readonly #options: EventLogOptions;
  readonly #types: Set<LogType>;
  #file: string;
  #sink: AppendFileSync | undefined;

  private constructor(options: EventLogOptions) {
    this.#options = options;
    this.#types = new Set(options.types.flatMap((name) => logTypesNamed(name) ?? []));
    this.#file = resolve(options.file);
    this.#sink = this.#openSink(this.#file);
  }

  /** @throws StorageError when the file cannot be opened */
  static open(options: EventLogOptions): EventLog {
    return new EventLog(options);
  }

  /** Where it writes; undefined while it is closed. */
  get file(): string | undefined {
    return this.#sink === undefined ? undefined : this.#file;
  }

  /** The types that are logged, in the order of {@link LOG_TYPES}. */
  get types(): readonly LogType[] {
    return LOG_TYPES.filter((type) => this.#types.has(type));
  }

  wants(type: LogType): boolean {
    return this.#types.has(type);
  }

  /** Writes a line, when its type is logged; a text that costs is given as a function. */
  write(type: LogType, text: string | (() => string)): void {
    if (this.#sink === undefined || !this.#types.has(type)) return;
    const words = printable(typeof text === 'string' ? text : text());
    this.#sink.write(`${timeOf(this.#options.now())} ${type}: ${words}`);
  }

  /**
   * BRK-5.1 `#add-log`, `#rem-log`.
   *
   * @returns the types that were switched
   * @throws UsageError for a name that is none
   */
  switch(name: string, on: boolean): readonly LogType[] {
    const types = logTypesNamed(name);
    if (types === undefined) {
      throw new UsageError(`${printable(name)} is not a log type; there are ${LOG_TYPES.join(', ')} and All`);
    }
    for (const type of types) {
      if (on) this.#types.add(type);
      else this.#types.delete(type);
    }
    return types;
  }

  /** Types named anew, as by `#set Log-Types` or a configuration that was read again. */
  setTypes(names: readonly string[]): void {
    this.#types.clear();
    for (const name of names) for (const type of logTypesNamed(name) ?? []) this.#types.add(type);
  }

  /**
   * BRK-5.1 `#open-log`: opens a file in place of the present one; without a name, the last one again.
   *
   * The name is relative to Broker-Directory and stays below it, and a file that is there must be a log: who knows the
   * password may not write into anything else.
   * @throws UsageError for another name, StorageError when the file cannot be opened
   */
  openFile(name?: string): string {
    const file = name === undefined ? this.#file : this.#checked(name);
    const sink = this.#openSink(file);
    this.close();
    this.#file = file;
    this.#sink = sink;
    return file;
  }

  /** Writes what is buffered. */
  flush(): void {
    this.#sink?.flush();
  }

  /** Flushes and closes; what is logged from now on is dropped. */
  close(): void {
    this.#sink?.close();
    this.#sink = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Opens the file by its name again, after somebody moved it away (SIGHUP). */
  reopen(): void {
    this.#sink?.reopen();
  }

  /**
   * BRK-5.1 `#rotate-log`, REG-54: renames the file to `LOG.YYYYMMDD` (of today, UTC; then `.1`, `.2` ...) and begins it anew.
   *
   * @returns the name that the old one has now
   * @throws UsageError when the log is closed, StorageError when it cannot be renamed
   */
  rotate(): string {
    if (this.#sink === undefined) throw new UsageError('the log is closed');
    const name = this.#sink.rotate(timeOf(this.#options.now()).slice(0, 8));
    if (name === undefined) throw new StorageError(`${this.#file} cannot be renamed: it is gone`);
    return name;
  }

  #openSink(file: string): AppendFileSync {
    return new AppendFileSync(file, { blockLength: this.#options.bufferBytes ?? 8192 });
  }

  #checked(name: string): string {
    const file = resolve(this.#options.directory, name);
    if (isAbsolute(name) || !isBelow(this.#options.directory, file)) {
      throw new UsageError('the name of a log is relative to Broker-Directory, and lies below it');
    }
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found !== undefined && !(found.isFile() && isLog(file))) {
      throw new UsageError(`${printable(name)} is there and is not a log`);
    }
    return file;
  }
}

/** Whether a path lies below a directory, symbolic links of the directories that exist followed. */
function isBelow(directory: string, file: string): boolean {
  let parent = dirname(file);
  while (!existsSync(parent)) parent = dirname(parent);
  const path = relative(realpathSync(directory), join(realpathSync(parent), relative(parent, file)));
  return path !== '' && !path.startsWith('..') && !isAbsolute(path);
}

/** An empty file, or one that begins with a line of ours. */
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
function timeOf(now: UnixSeconds): string {
  const [date = '', time = ''] = new Date(now * 1000).toISOString().split('T');
  return `${date.replaceAll('-', '')} ${time.slice(0, 8)}`;
}

/** REG-53: a text from outside can neither begin a line nor move a reader's cursor. */
function printable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, '?');
}
