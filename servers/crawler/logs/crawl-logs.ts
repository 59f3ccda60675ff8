import { join } from 'node:path';
import { CloseStack } from '../../../protocols/close-stack.js';
import type { StorageError } from '../../../protocols/errors.js';
import { redactLogins } from '../../../protocols/visible-text.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { AppendFile } from '../../host/append-file.js';
import type { CrawlSnapshot } from '../control.js';
import type { CrawlEvent, RecordedEvent } from '../events.js';
import { redactEvent } from '../redaction.js';
import { DOCUMENT_LOGS, type DocumentLog, eventLines } from './event-lines.js';
import { isoSeconds, isoTime } from './line-fields.js';
import { PROGRESS_LEGEND, progressLine } from './progress.js';

/** CRAWL-16.1, 16.3, 16.4: the files of a crawl's log directory. */
const CRAWL_LOG_FILES = {
  ...DOCUMENT_LOGS,
  progress: 'progress-statistics.log',
  alerts: 'alerts.log',
} as const;

type LogName = keyof typeof CRAWL_LOG_FILES;

export interface CrawlLogsOptions {
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
  /** Maximum number of milliseconds for which a line stays in memory. Default 1000. */
  readonly flushMs?: number;
  /** Interval of lines in progress-statistics.log, milliseconds (CRAWL-16.3). Default 20 000. */
  readonly progressMs?: number;
  /** Characters in memory per file at which {@link CrawlLogs.full} becomes true. Default 1 048 576. */
  readonly limit?: number;
  /** Called if a write fails; it is retried. By default {@link CrawlLogs.close} throws. */
  readonly onError?: (error: StorageError) => void;
}

/**
 * The logs of a crawl (CRAWL section 16) in one directory. Its methods do not wait for the disk. While
 * {@link CrawlLogs.full} is true the caller awaits {@link CrawlLogs.waitForRoom}, so that memory is bounded on
 * a slow disk.
 */
export class CrawlLogs implements AsyncDisposable {
  readonly #files: Readonly<Record<LogName, AppendFile>>;
  readonly #resources: CloseStack;
  readonly #now: () => number;
  readonly #progressMs: number;
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    files: Readonly<Record<LogName, AppendFile>>,
    resources: CloseStack,
    options: CrawlLogsOptions,
  ) {
    this.#files = files;
    this.#resources = resources;
    this.#now = options.now ?? Date.now;
    this.#progressMs = options.progressMs ?? 20_000;
  }

  /** Opens the logs for appending; creates the directory if it does not exist. @throws StorageError */
  static async open(directory: string, options: CrawlLogsOptions = {}): Promise<CrawlLogs> {
    await createDirectory(directory);
    const { flushMs, limit, onError } = options;
    await using resources = new CloseStack();
    const opened: Partial<Record<LogName, AppendFile>> = {};
    for (const [name, file] of Object.entries(CRAWL_LOG_FILES) as [LogName, string][])
      opened[name] = resources.use(
        await AppendFile.open(join(directory, file), {
          flushMs,
          limit,
          onError,
          head: name === 'progress' ? `${PROGRESS_LEGEND}\n` : undefined,
        }),
      );
    return new CrawlLogs(opened as Record<LogName, AppendFile>, resources.move(), options);
  }

  /** Adds a line of a returned URI, see {@link eventLines}. */
  write(log: DocumentLog, line: string): void {
    this.#files[log].write(line);
  }

  /** Logs a returned URI. */
  document(event: RecordedEvent): void {
    for (const [log, line] of eventLines(redactEvent(event), this.#now())) this.write(log, line);
  }

  /** CRAWL-16.3: logs an event of the crawl in progress-statistics.log, an alert also in alerts.log. */
  crawl({ text, alert }: CrawlEvent): void {
    const time = this.#now();
    const line = redactLogins(text).replace(/\s+/g, ' ').trim();
    this.#files.progress.write(`${isoSeconds(time)} ${line}`);
    if (alert) this.#files.alerts.write(`${isoTime(time)} ${line}`);
  }

  /** Logs a line of figures. */
  progress(snapshot: CrawlSnapshot): void {
    this.#files.progress.write(progressLine(snapshot));
  }

  /** CRAWL-16.3: logs a line of figures every 20 s, except while the crawl is paused. */
  trackProgress(snapshot: () => CrawlSnapshot): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      const current = snapshot();
      if (current.state !== 'paused') this.progress(current);
    }, this.#progressMs).unref();
  }

  get full(): boolean {
    return Object.values(this.#files).some((file) => file.full);
  }

  /** Waits until no log is {@link full}. @throws the signal's reason */
  async waitForRoom(signal?: AbortSignal): Promise<void> {
    for (const file of Object.values(this.#files)) if (file.full) await file.waitForRoom(signal);
  }

  /** Writes all lines to the files. @throws StorageError */
  async flush(): Promise<void> {
    await Promise.all(Object.values(this.#files).map((file) => file.flush()));
  }

  /**
   * CRAWL-16.4: renames `crawl.log` to `crawl.log.SUFFIX` and continues in a new file; likewise the other logs.
   *
   * @param suffix e.g. the checkpoint's name: letters, digits, `_`, `-`, `.`
   * @returns the renamed files
   * @throws StateError when one exists already, StorageError
   */
  async rotate(suffix: string): Promise<string[]> {
    const rotated: string[] = [];
    for (const file of Object.values(this.#files)) rotated.push(await file.rotate(suffix));
    return rotated;
  }

  /** Closes every file. @throws StorageError when lines could not be written */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#resources[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
