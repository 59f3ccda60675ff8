import { type FileHandle, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { type NewWarcRecord, newRecordId, serializeRecord, warcFields } from './new-record.js';
import { wholeRecords } from './whole-records.js';

export interface WarcFilesOptions {
  /** Made if it is not there. A directory, prefix and host belong to one writer at a time. */
  readonly directory: string;
  /** First part of the files' names; default `HARVEST`. Letters, digits, `_`, `.`, `-`. */
  readonly prefix?: string;
  /** Last part; default the name of this machine. What is no letter, digit, `_`, `.` or `-` in it becomes `-`. */
  readonly host?: string;
  /** A file that has reached this many bytes is finished: it is longer by what was written last. Default 1 000 000 000. */
  readonly maxFileBytes?: number;
  /** One gzip member for each record; default true. */
  readonly compress?: boolean;
  /** What the warcinfo record says beside `software`, `format`, `conformsTo` and `hostname`, e.g. `isPartOf`, `robots`. */
  readonly info?: Readonly<Record<string, string>>;
  /** Writes that wait for their turn; one more is refused. Default 1000, as many as a crawl has workers at most. */
  readonly maxWaiting?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}

/** Where a record lies. */
export interface WarcPlace {
  /** Name of the finished file, without its directory: as long as it is written it ends in `.open`. */
  readonly file: string;
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Bytes in the file. */
  readonly length: number;
  readonly recordId: string;
}

/** A file that a former writer had left open. */
export interface RecoveredFile {
  readonly file: string;
  /** Bytes of whole records. 0: there was none, and the file is gone. */
  readonly bytes: number;
  /** Bytes behind them that were cut off. */
  readonly cut: number;
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
 * WARC files (ISO 28500) of a crawl: `PREFIX-YYYYMMDDhhmmssmmm-NNNNN-HOST.warc.gz`, with `.open` behind it while it is written,
 * each beginning with a warcinfo record. Whatever happens, a file consists of whole records: a write that fails is taken back, and
 * what a killed process left is cut at the next start.
 */
export class WarcFiles implements AsyncDisposable {
  /** What {@link open} found and finished. */
  readonly recovered: readonly RecoveredFile[];
  readonly #options: WarcFilesOptions;
  readonly #now: () => number;
  readonly #compress: boolean;
  readonly #ending: string;
  #file: OpenFile | undefined;
  #serial = 0;
  #waiting = 0;
  #closed = false;
  /** The write, roll or close that was asked for last: each begins when the one before has ended. */
  #last: Promise<unknown> = Promise.resolve();

  /** Finishes what a former writer had left open, then is ready to write. The first file is made by the first write. */
  static async open(options: WarcFilesOptions): Promise<WarcFiles> {
    const { directory, prefix = 'HARVEST', signal } = options;
    if (!/^[\w.-]+$/.test(prefix)) throw new TypeError(`a prefix of WARC files must not be ${prefix}`);
    try {
      await mkdir(directory, { recursive: true });
      const recovered: RecoveredFile[] = [];
      for (const name of (await readdir(directory)).sort()) {
        if (isLeftOpen(name, prefix, endingOf(options)))
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
    this.#ending = endingOf(options);
  }

  /**
   * Writes records one behind the other into one file: all of them or none.
   *
   * @throws StateError when it is closed, or too many writes wait
   * @throws StorageError when the disk refuses
   * @throws the signal's reason when it is aborted before the turn comes; a write that has begun is finished
   */
  write(records: readonly NewWarcRecord[], signal?: AbortSignal): Promise<readonly WarcPlace[]> {
    if (this.#waiting >= (this.#options.maxWaiting ?? 1000)) {
      return Promise.reject(new StateError('too many WARC records wait to be written'));
    }
    this.#waiting++;
    return this.#inTurn(async () => {
      this.#waiting--;
      signal?.throwIfAborted();
      return await this.#write(records);
    });
  }

  /** Finishes the file that is being written, e.g. for a checkpoint; the next write begins a new one. */
  roll(): Promise<void> {
    return this.#inTurn(() => this.#finish());
  }

  /** Waits for the writes that were asked for, and finishes the last file. */
  close(): Promise<void> {
    if (this.#closed) return this.#last.then(() => {});
    const finished = this.#inTurn(() => this.#finish());
    this.#closed = true;
    return finished;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StateError('the WARC files are closed'));
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #write(records: readonly NewWarcRecord[]): Promise<readonly WarcPlace[]> {
    let file: OpenFile | undefined;
    let start = 0;
    try {
      file = await this.#current();
      start = file.size;
      const places: WarcPlace[] = [];
      for (const record of records) places.push(await this.#append(file, record));
      if (file.size >= (this.#options.maxFileBytes ?? 1_000_000_000)) await this.#finish();
      return places;
    } catch (error) {
      if (file !== undefined && this.#file === file) await this.#takeBack(file, start);
      throw new StorageError(`${this.#options.directory}: a WARC record cannot be written`, { cause: error });
    }
  }

  /** The file that is being written; a new one with its warcinfo record. */
  async #current(): Promise<OpenFile> {
    if (this.#file !== undefined) return this.#file;
    const { directory, prefix = 'HARVEST' } = this.#options;
    const date = this.#now();
    const serial = String(this.#serial).padStart(5, '0');
    const name = `${prefix}-${stamp(date)}-${serial}${this.#ending}`;
    const handle = await open(join(directory, name + SUFFIX), 'wx');
    const file: OpenFile = { name, handle, infoId: newRecordId(), size: 0 };
    this.#file = file;
    this.#serial++;
    try {
      await this.#append(file, this.#info(file, date));
    } catch (error) {
      await this.#takeBack(file, 0);
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

  async #append(file: OpenFile, record: NewWarcRecord): Promise<WarcPlace> {
    const offset = file.size;
    const fields: NewWarcRecord['fields'] =
      record.type === 'warcinfo' ? record.fields : [...record.fields, ['WARC-Warcinfo-ID', file.infoId]];
    const bytes = await serializeRecord({ ...record, fields }, this.#compress);
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await file.handle.write(bytes, at, bytes.length - at, file.size);
      at += bytesWritten;
      file.size += bytesWritten;
    }
    return { file: file.name, offset, length: file.size - offset, recordId: record.id };
  }

  /** The file as it was before the write that failed. If even that fails, it stays `.open` and is cut at the next start. */
  async #takeBack(file: OpenFile, size: number): Promise<void> {
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
  }
}

function succeeded(): boolean {
  return true;
}

/** What went wrong first is reported; this is about cleaning up after it. */
function failed(): boolean {
  return false;
}

/** What stands behind the serial number: `-HOST.warc.gz`. */
function endingOf({ host = hostname(), compress = true }: WarcFilesOptions): string {
  return `-${host.replace(/[^\w.-]/g, '-')}.warc${compress ? '.gz' : ''}`;
}

/** 17 digits, UTC. */
function stamp(milliseconds: number): string {
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
  const handle = await open(path, 'r+');
  let bytes = 0;
  let size = 0;
  try {
    size = (await handle.stat()).size;
    bytes = await wholeRecords(handle, { compressed: file.endsWith('.gz'), signal });
    if (bytes < size) await handle.truncate(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (bytes === 0) await unlink(path);
  else await rename(path, join(directory, file));
  return { file, bytes, cut: size - bytes };
}
