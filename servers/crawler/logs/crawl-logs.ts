import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageError } from '../../../protocols/errors.js';
import { AppendFile } from '../../host/append-file.js';
import type { CrawlSnapshot } from '../control.js';
import type { CrawlEvent, DocumentEvent, UriErrorEvent } from '../events.js';
import { redactEvent, redactLogins } from '../redaction.js';
import { crawlLogLine } from './crawl-log.js';
import { escapeField, isoSeconds, isoTime, quoted } from './line-fields.js';
import { DEFERRED, RUNTIME_ERROR } from './outcome.js';
import { PROGRESS_LEGEND, progressLine } from './progress.js';

/** CRAWL-16.1, 16.3, 16.4: the files of a crawl's log directory. */
const CRAWL_LOG_FILES = {
  crawl: 'crawl.log',
  progress: 'progress-statistics.log',
  localErrors: 'local-errors.log',
  runtimeErrors: 'runtime-errors.log',
  uriErrors: 'uri-errors.log',
  alerts: 'alerts.log',
} as const;

type LogName = keyof typeof CRAWL_LOG_FILES;

export interface CrawlLogsOptions {
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
  /** How long a line may stay in memory, milliseconds. Default 1000. */
  readonly flushMs?: number;
  /** Between two lines of progress-statistics.log, milliseconds (CRAWL-16.3). Default 20 000. */
  readonly progressMs?: number;
  /** Characters that may wait for the disk, each file, before {@link CrawlLogs.full}. Default 1 048 576. */
  readonly limit?: number;
  /** A log cannot be written; it is tried again. Default: nobody is told before {@link CrawlLogs.close}. */
  readonly onError?: (error: StorageError) => void;
}

/**
 * The logs of a crawl (CRAWL section 16) in one directory. Events are given to its methods, which never wait; whoever
 * hands URIs back waits for {@link CrawlLogs.room} while {@link CrawlLogs.full} holds, so that memory stays bounded on a slow disk.
 */
export class CrawlLogs implements AsyncDisposable {
  readonly #now: () => number;
  readonly #progressMs: number;
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    readonly directory: string,
    private readonly files: Readonly<Record<LogName, AppendFile>>,
    options: CrawlLogsOptions,
  ) {
    this.#now = options.now ?? Date.now;
    this.#progressMs = options.progressMs ?? 20_000;
  }

  /** Makes the directory when it is not there; appends to logs that are. @throws StorageError */
  static async open(directory: string, options: CrawlLogsOptions = {}): Promise<CrawlLogs> {
    await mkdir(directory, { recursive: true });
    const { flushMs = 1000, limit = 1_048_576, onError } = options;
    const opened: Partial<Record<LogName, AppendFile>> = {};
    try {
      for (const [name, file] of Object.entries(CRAWL_LOG_FILES) as [LogName, string][])
        opened[name] = await AppendFile.open(join(directory, file), {
          flushMs,
          limit,
          ...(onError && { onError }),
          ...(name === 'progress' && { head: `${PROGRESS_LEGEND}\n` }),
        });
    } catch (error) {
      await Promise.allSettled(Object.values(opened).map((file) => file.close()));
      throw error;
    }
    return new CrawlLogs(directory, opened as Record<LogName, AppendFile>, options);
  }

  /**
   * A URI that came back. A disposed one is a line of crawl.log (CRAWL-16.1); one that is tried again is none, but what
   * went wrong stands in local-errors.log, as do the warnings of those that came through (CRAWL-16.4).
   */
  document(given: DocumentEvent): void {
    const event = redactEvent(given);
    const time = this.#now();
    if (event.disposition !== 'retry') this.files.crawl.write(crawlLogLine(event, time));
    if (event.status === RUNTIME_ERROR) this.files.runtimeErrors.write(errorLine(event, event.reason, time));
    // CRAWL-8.1: waiting for a prerequisite is no error.
    else if (event.disposition === 'retry' && event.status !== DEFERRED)
      this.files.localErrors.write(errorLine(event, event.reason, time));
    for (const warning of event.warnings) this.files.localErrors.write(errorLine(event, warning, time));
  }

  /** CRAWL-16.4: time, the page, what is wrong, the text that is no URI. */
  uriError({ url, source, message }: UriErrorEvent): void {
    const shown = redactLogins(url);
    const bad = shown.length > 2083 ? `${shown.slice(0, 2083)}…` : shown; // CRAWL-2.1: longer than any URI
    this.files.uriErrors.write(
      `${isoTime(this.#now())} ${escapeField(redactLogins(source)) || '-'} ${quoted(redactLogins(message))} ${escapeField(bad) || '-'}`,
    );
  }

  /** CRAWL-16.3: a line of text among the figures; an alert stands in alerts.log too. */
  crawl({ text, alert }: CrawlEvent): void {
    const time = this.#now();
    const line = redactLogins(text).replace(/\s+/g, ' ').trim();
    this.files.progress.write(`${isoSeconds(time)} ${line}`);
    if (alert) this.files.alerts.write(`${isoTime(time)} ${line}`);
  }

  /** A line of figures at once, e.g. at the end of a crawl. */
  progress(snapshot: CrawlSnapshot): void {
    this.files.progress.write(progressLine(snapshot));
  }

  /** CRAWL-16.3: from now on a line of figures every 20 s, except while the crawl is paused. */
  trackProgress(snapshot: () => CrawlSnapshot): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      const now = snapshot();
      if (now.state !== 'paused') this.progress(now);
    }, this.#progressMs).unref();
  }

  get full(): boolean {
    return Object.values(this.files).some((file) => file.full);
  }

  /** Waits until no log is {@link full}. @throws the signal's reason */
  async room(signal?: AbortSignal): Promise<void> {
    for (const file of Object.values(this.files)) if (file.full) await file.room(signal);
  }

  /** Everything up to now is in the files when this is over. @throws StorageError */
  async flush(): Promise<void> {
    await Promise.all(Object.values(this.files).map((file) => file.flush()));
  }

  /**
   * CRAWL-16.4: `crawl.log` becomes `crawl.log.SUFFIX` and goes on in a new file; so do the others.
   *
   * @param suffix e.g. the checkpoint's name: letters, digits, `_`, `-`, `.`
   * @returns the renamed files
   * @throws StateError when one exists already, StorageError
   */
  async rotate(suffix: string): Promise<string[]> {
    const rotated: string[] = [];
    for (const file of Object.values(this.files)) rotated.push(await file.rotate(suffix));
    return rotated;
  }

  /** @throws StorageError when lines could not be written; every file is closed in any case. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const results = await Promise.allSettled(Object.values(this.files).map((file) => file.close()));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** [choice] time, status, attempt, URI, hops path, via, and what happened in quotes. */
function errorLine(event: DocumentEvent, what: string, time: number): string {
  const { status, attempts, url, pathFromSeed, via } = event;
  const fields = [url, pathFromSeed, via].map((text) => escapeField(text) || '-');
  return [isoTime(time), String(status).padStart(5), `${attempts}t`, ...fields, quoted(what)].join(' ');
}
