import { type FileHandle, open, readdir, rename, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { openRegular } from '../../../storage/files/regular-file.js';
import { examineRecords } from './complete-records.js';
import { type NewWarcRecord, newRecordId, warcFields } from './new-record.js';

export interface WarcFilesOptions {
  /** Created if it does not exist. Only one writer at a time may use a directory, prefix and host. */
  readonly directory: string;
  /** First part of the file names; default `HARVEST`. Letters, digits, `_`, `.`, `-`. */
  readonly prefix?: string;
  /** Last part of the file names; default the name of this machine. Characters that a prefix cannot contain become `-`. */
  readonly host?: string;
  /** A file is finished after the write that reaches this many bytes. Default 1 000 000 000. */
  readonly maxFileBytes?: number;
  /** One gzip member for each record; default true. */
  readonly compress?: boolean;
  /** Fields of the warcinfo record in addition to `software`, `format`, `conformsTo` and `hostname`, e.g. `isPartOf`, `robots`. */
  readonly info?: Readonly<Record<string, string>>;
  /** Called with the name of each file that this writer has finished. */
  readonly onFinished?: (name: string) => void;
  /** Maximum number of waiting writes; more are rejected. Default 1000, the largest number of workers. */
  readonly maxWaiting?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}

/** The position of a record. */
export interface WarcPosition {
  /** Name of the finished file, without its directory and without `.open`. */
  readonly file: string;
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Bytes in the file. */
  readonly length: number;
  readonly recordId: string;
}

/** A file that an earlier writer left open. */
export interface RecoveredFile {
  readonly file: string;
  /** Bytes up to the end of the last complete record; 0 if the file had no complete record and was removed. */
  readonly bytes: number;
  /** Bytes that were cut off after these records. */
  readonly cut: number;
  /** Offsets of damaged records between them, which stay in the file: the disk has changed them. */
  readonly damaged: readonly number[];
}

interface OpenFile {
  readonly name: string;
  readonly handle: FileHandle;
  readonly infoId: string;
  size: number;
}

const SUFFIX = '.open';
const FORMAT: readonly (readonly [string, string])[] = [
  ['format', 'WARC File Format 1.1'],
  ['conformsTo', 'http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/'],
];

/**
 * Writes the WARC files (ISO 28500) of a crawl: `PREFIX-YYYYMMDDhhmmssmmm-NNNNN-HOST.warc.gz`, with the suffix `.open` while they are
 * written, each beginning with a warcinfo record. Files always consist of complete records: a failed write is undone, and the file of a
 * killed process is truncated at the next start.
 */
export class WarcFiles implements AsyncDisposable {
  /** Files that {@link open} found and finished. */
  readonly recovered: readonly RecoveredFile[];
  readonly #options: WarcFilesOptions;
  readonly #now: () => number;
  readonly #compress: boolean;
  readonly #nameEnding: string;
  #file: OpenFile | undefined;
  #serial = 0;
  #waiting = 0;
  #closed = false;
  /** Serializes writes, rolls and closing. */
  readonly #mutex = new Mutex();

  /** Finishes the files that an earlier writer left open. The first write creates the first file. */
  static async open(options: WarcFilesOptions): Promise<WarcFiles> {
    const { directory, prefix = 'HARVEST', signal } = options;
    if (!/^[\w.-]+$/.test(prefix)) throw new TypeError(`${prefix} is not a valid prefix of WARC files`);
    try {
      await createDirectory(directory);
      const recovered: RecoveredFile[] = [];
      for (const name of (await readdir(directory)).sort()) {
        if (isLeftOpen(name, prefix, nameEndingOf(options)))
          recovered.push(await recover(directory, name, signal));
      }
      return new WarcFiles(options, recovered);
    } catch (error) {
      signal?.throwIfAborted();
      throw new StorageError(`the WARC files in ${directory} cannot be used`, { cause: error });
    }
  }

  private constructor(options: WarcFilesOptions, recovered: readonly RecoveredFile[]) {
    this.#options = options;
    this.recovered = recovered;
    this.#now = options.now ?? Date.now;
    this.#compress = options.compress ?? true;
    this.#nameEnding = nameEndingOf(options);
  }

  /**
   * Writes records into one file; a failed write leaves none of them.
   *
   * @throws StateError when it is closed, or too many writes wait
   * @throws StorageError when a write fails
   * @throws the signal's reason when it is aborted before the write begins; a write that has begun is finished
   */
  write(records: readonly NewWarcRecord[], signal?: AbortSignal): Promise<readonly WarcPosition[]> {
    if (this.#waiting >= (this.#options.maxWaiting ?? 1000)) {
      return Promise.reject(new StateError('too many WARC records wait to be written'));
    }
    this.#waiting++;
    return this.#exclusive(async () => {
      this.#waiting--;
      signal?.throwIfAborted();
      return await this.#write(records);
    });
  }

  /** Finishes the current file, e.g. for a checkpoint; the next write begins a new one. */
  roll(): Promise<void> {
    return this.#exclusive(() => this.#finish());
  }

  /** Waits for the pending writes and finishes the last file. */
  close(): Promise<void> {
    if (this.#closed) return this.#mutex.runExclusive(() => undefined);
    const finished = this.#exclusive(() => this.#finish());
    this.#closed = true;
    return finished;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StateError('the WARC files are closed'));
    return this.#mutex.runExclusive(work);
  }

  async #write(records: readonly NewWarcRecord[]): Promise<readonly WarcPosition[]> {
    let file: OpenFile | undefined;
    let start = 0;
    try {
      file = await this.#current();
      start = file.size;
      const positions: WarcPosition[] = [];
      for (const record of records) positions.push(await this.#append(file, record));
      if (file.size >= (this.#options.maxFileBytes ?? 1_000_000_000)) await this.#finish();
      return positions;
    } catch (error) {
      if (file !== undefined && this.#file === file) await this.#undo(file, start);
      throw new StorageError(`${this.#options.directory}: a WARC record cannot be written`, { cause: error });
    }
  }

  /** Returns the current file, or a new one with its warcinfo record. */
  async #current(): Promise<OpenFile> {
    if (this.#file !== undefined) return this.#file;
    const { directory, prefix = 'HARVEST' } = this.#options;
    const date = this.#now();
    const serial = String(this.#serial).padStart(5, '0');
    const name = `${prefix}-${timestamp17(date)}-${serial}${this.#nameEnding}`;
    const handle = await open(join(directory, name + SUFFIX), 'wx');
    const file: OpenFile = { name, handle, infoId: newRecordId(), size: 0 };
    this.#file = file;
    this.#serial++;
    try {
      await this.#append(file, this.#info(file, date));
    } catch (error) {
      await this.#undo(file, 0);
      throw error;
    }
    return file;
  }

  #info({ name, infoId }: OpenFile, date: number): NewWarcRecord {
    const { info = {}, host = hostname() } = this.#options;
    const values = new Map([
      ['software', 'harvest-kit'],
      ...FORMAT,
      ['hostname', host],
      ...Object.entries(info),
    ]);
    return {
      type: 'warcinfo',
      id: infoId,
      date,
      contentType: 'application/warc-fields',
      fields: [['WARC-Filename', name]],
      block: [warcFields([...values])],
    };
  }

  async #append(file: OpenFile, record: NewWarcRecord): Promise<WarcPosition> {
    const offset = file.size;
    const fields: NewWarcRecord['fields'] =
      record.type === 'warcinfo' ? record.fields : [...record.fields, ['WARC-Warcinfo-ID', file.infoId]];
    const { serializeRecord } = await import('./serialize-record.js');
    const bytes = await serializeRecord({ ...record, fields }, this.#compress);
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await file.handle.write(bytes, written, bytes.length - written, file.size);
      // It would repeat for ever.
      if (bytesWritten === 0) throw new StorageError(`${file.name}: nothing was written`);
      written += bytesWritten;
      file.size += bytesWritten;
    }
    return { file: file.name, offset, length: file.size - offset, recordId: record.id };
  }

  /** Undoes a failed write. If that fails too, the file stays `.open` and is truncated at the next start. */
  async #undo(file: OpenFile, size: number): Promise<void> {
    const cut = size > 0 && (await file.handle.truncate(size).then(succeeded, failed));
    if (cut) {
      file.size = size;
      return;
    }
    this.#file = undefined;
    await file.handle.close().catch(failed);
    if (size === 0) await unlink(join(this.#options.directory, file.name + SUFFIX)).catch(failed);
  }

  async #finish(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    const path = join(this.#options.directory, file.name);
    try {
      await file.handle.sync();
    } finally {
      await file.handle.close();
    }
    await rename(path + SUFFIX, path);
    this.#options.onFinished?.(file.name);
  }
}

/** Outcomes of the cleanup after an error: the first error is reported, those of the cleanup are ignored. */
function succeeded(): boolean {
  return true;
}

function failed(): boolean {
  return false;
}

/** Returns the end of file names after the serial number: `-HOST.warc.gz`. */
function nameEndingOf({ host = hostname(), compress = true }: WarcFilesOptions): string {
  return `-${host.replace(/[^\w.-]/g, '-')}.warc${compress ? '.gz' : ''}`;
}

/** Returns the time as 17 digits, UTC. */
function timestamp17(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\D/g, '');
}

function isLeftOpen(name: string, prefix: string, ending: string): boolean {
  if (!name.startsWith(`${prefix}-`) || !name.endsWith(ending + SUFFIX)) return false;
  const middle = name.slice(prefix.length, name.length - ending.length - SUFFIX.length);
  return /^-\d{17}-\d{5,}$/.test(middle);
}

async function recover(
  directory: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<RecoveredFile> {
  const path = join(directory, name);
  const file = name.slice(0, -SUFFIX.length);
  const handle = await openRegular(path, 'r+');
  let bytes = 0;
  let size = 0;
  let damaged: readonly number[] = [];
  try {
    size = (await handle.stat()).size;
    const found = await examineRecords(handle, { compressed: file.endsWith('.gz'), signal });
    bytes = found.length;
    damaged = found.damage;
    if (bytes < size) await handle.truncate(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (bytes === 0) await unlink(path);
  else await rename(path, join(directory, file));
  return { file, bytes, cut: size - bytes, damaged };
}
