import type { StorageError } from '../../../protocols/errors.js';
import { AppendFile } from '../../host/append-file.js';
import { outcomeOf } from '../dispositions.js';
import type { DocumentEvent } from '../events.js';
import { GzipMembers, repairGzipMembers } from './gzip-members.js';
import { formatJournalLine, type JournalEvent } from './journal-line.js';

/** CRAWL-17.1.1: the journal's name in the crawl's directory. */
export const JOURNAL_FILE = 'recover.gz';
/** CRAWL-17.1.1: lines between two time marks. */
const TIME_MARK_LINES = 10_000;

export interface JournalWriterOptions {
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
  /** Maximum number of milliseconds for which an event stays in memory. Default 1000. */
  readonly flushMs?: number;
  /** Characters in memory at which {@link AppendFile.full} becomes true. Default 1 048 576. */
  readonly limit?: number;
  /** Called if a write fails; it is retried. By default {@link JournalWriter.close} throws. */
  readonly onError?: (error: StorageError) => void;
}

/** Writes a recovery journal (CRAWL-17.1): gzip that is readable up to its last flush after a crash. */
export class JournalWriter implements AsyncDisposable {
  readonly #now: () => number;
  #lines = 0;

  private constructor(
    /** The journal; the caller checks whether it is full, and rotates it. */
    readonly file: AppendFile,
    now: () => number,
    /** Bytes at the end of the file that could not be read when it was opened, and were cut off. */
    readonly cutBytes: number,
    /** A copy of the file as it was, if the disk has changed it; undefined after a crash. */
    readonly damagedCopy: string | undefined,
  ) {
    this.#now = now;
  }

  /**
   * Opens a journal. An existing one is repaired if it is torn, and continued in a new gzip member.
   *
   * @throws StorageError also for a gzip file that this class did not write
   */
  static async open(path: string, options: JournalWriterOptions = {}): Promise<JournalWriter> {
    const { now = Date.now, flushMs, limit, onError } = options;
    const { cut: cutBytes, copy } = await repairGzipMembers(path);
    const encoder = new GzipMembers();
    const file = await AppendFile.open(path, {
      flushMs,
      limit,
      encoder,
      // G-81: its URLs contain logins, which a recovered crawl needs.
      mode: 0o600,
      onError,
    });
    const writer = new JournalWriter(file, now, cutBytes, copy);
    if (cutBytes > 0)
      writer.write({ tag: 'E', text: `the file was torn: ${cutBytes} bytes at its end were cut off` });
    return writer;
  }

  /** Adds an event without waiting; see {@link AppendFile.full}. */
  write(event: JournalEvent): void {
    this.file.write(formatJournalLine(event));
    if (++this.#lines % TIME_MARK_LINES === 0)
      this.file.write(formatJournalLine({ tag: 'T', time: this.#now() }));
  }

  /** CRAWL-8.4: adds the event of a returned URI. */
  finished(event: DocumentEvent): void {
    const { url, pathFromSeed, via } = event;
    const outcome = outcomeOf(event);
    if (outcome === 'succeeded') this.write({ tag: 'Fs', url, pathFromSeed, via });
    else if (outcome === 'failed') this.write({ tag: 'Ff', url, pathFromSeed, via });
    else this.write({ tag: outcome === 'retry' ? 'Fr' : 'Fd', url });
  }

  /** @throws StorageError when events could not be written */
  close(): Promise<void> {
    return this.file.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
