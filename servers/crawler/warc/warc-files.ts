import { readdir, rename, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isDiskFull, messageOf, StateError, StorageError, UsageError } from '../../../protocols/errors.js';
import { Mutex } from '../../../protocols/mutex.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { openRegular } from '../../../storage/files/regular-file.js';
import { arcFileRecord, arcRecord } from './arc-records.js';
import { examineRecords } from './complete-records.js';
import { type EncodedRecord, encodeRecord } from './encode-record.js';
import { type NewWarcRecord, newRecordId, warcFields } from './new-record.js';
import { OPEN_SUFFIX, OpenArchive } from './open-archive.js';
import {
  type ArchiveFormat,
  type Compression,
  compressionOf,
  compressRecord,
  formatOf,
  suffixOf,
} from './record-compression.js';
import { zstdProblem } from './zstd-frames.js';

export interface WarcFilesOptions {
  /** Created if it does not exist. Only one writer at a time may use a directory, prefix and host. */
  readonly directory: string;
  /** First part of the file names; default `HARVEST`. Letters, digits, `_`, `.`, `-`. */
  readonly prefix?: string;
  /**
   * Last part of the file names; default the name of this machine. Characters that a prefix cannot contain
   * become `-`.
   */
  readonly host?: string;
  /** A file is finished after the write that reaches this many bytes. Default 1 000 000 000. */
  readonly maxFileBytes?: number;
  /** Maximum number of files that are written at the same time. Default 1. */
  readonly poolMaxActive?: number;
  /** Default `warc`. ARC has no requests, revisits and metadata: they are not written. */
  readonly format?: ArchiveFormat;
  /** One gzip member or Zstandard frame for each record. Default `gzip`. Zstandard needs Node.js 22.15. */
  readonly compression?: Compression;
  /**
   * Fields of the warcinfo record in addition to `software`, `format`, `conformsTo` and `hostname`, e.g.
   * `isPartOf`, `robots`.
   */
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
  /** WARC-Record-ID; in an ARC file, whose records have none, `arc:FILE/OFFSET`. */
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

/** A place of the pool, with the file that is written there. */
interface PoolPlace {
  file: OpenArchive | undefined;
  /** Writes that wait or run. */
  pending: number;
  /** Serializes writes, rolls and closing. */
  readonly mutex: Mutex;
}

const FORMAT: readonly (readonly [string, string])[] = [
  ['format', 'WARC File Format 1.1'],
  ['conformsTo', 'http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/'],
];

/**
 * Writes the WARC files (ISO 28500) of a crawl: `PREFIX-YYYYMMDDhhmmssmmm-NNNNN-HOST.warc.gz`, with the suffix
 * `.open` while they are written, each beginning with a warcinfo record. Files always consist of complete
 * records: a failed write is undone, and the files of a killed process are truncated at the next start. A write
 * goes into one file: the first of those with the fewest waiting writes, so that there are as many files as
 * writes at the same time, and at most `poolMaxActive`.
 */
export class WarcFiles implements AsyncDisposable {
  /** Files that {@link open} found and finished. */
  readonly recovered: readonly RecoveredFile[];
  readonly #now: () => number;
  readonly #compression: Compression;
  readonly #nameEnding: string;
  readonly #pool: readonly PoolPlace[];
  #serial = 0;
  #waiting = 0;
  #closed = false;

  /**
   * Finishes the files that an earlier writer left open, however they are compressed. The first write creates
   * the first file.
   * @throws UsageError for a compression that this version of Node.js lacks; StorageError
   */
  static async open(options: WarcFilesOptions): Promise<WarcFiles> {
    const { directory, prefix = 'HARVEST', signal } = options;
    if (!/^[\w.-]+$/.test(prefix)) throw new TypeError(`${prefix} is not a valid prefix of WARC files`);
    const problem = options.compression === 'zstd' ? zstdProblem(options.format) : undefined;
    if (problem !== undefined) throw new UsageError(problem);
    try {
      await createDirectory(directory);
      const recovered: RecoveredFile[] = [];
      for (const name of (await readdir(directory)).sort()) {
        if (isLeftOpen(name, options)) recovered.push(await recover(directory, name, signal));
      }
      return new WarcFiles(options, recovered);
    } catch (error) {
      signal?.throwIfAborted();
      throw new StorageError(`the WARC files in ${directory} cannot be used`, { cause: error });
    }
  }

  readonly #options: WarcFilesOptions;

  private constructor(options: WarcFilesOptions, recovered: readonly RecoveredFile[]) {
    this.#options = options;

    this.recovered = recovered;
    this.#now = options.now ?? Date.now;
    this.#compression = options.compression ?? 'gzip';
    this.#nameEnding = nameEndingOf(options);
    const { poolMaxActive = 1 } = options;
    this.#pool = Array.from({ length: poolMaxActive }, () => ({
      file: undefined,
      pending: 0,
      mutex: new Mutex(),
    }));
  }

  /**
   * Writes records into one file; a failed write leaves none of them.
   *
   * @throws StateError when it is closed, or too many writes wait
   * @throws StorageError when a write fails
   * @throws the signal's reason when it is aborted before the write begins; a write that has begun is finished
   */
  async write(records: readonly NewWarcRecord[], signal?: AbortSignal): Promise<readonly WarcPosition[]> {
    this.#throwIfClosed();
    if (this.#waiting >= (this.#options.maxWaiting ?? 1000))
      throw new StateError('too many WARC records wait to be written');
    const place = this.#pool.reduce((a, b) => (b.pending < a.pending ? b : a));
    this.#waiting++;
    place.pending++;
    try {
      return await place.mutex.runExclusive(async () => {
        this.#waiting--;
        signal?.throwIfAborted();
        return await this.#write(place, records);
      });
    } finally {
      place.pending--;
    }
  }

  /**
   * Finishes the current files, e.g. for a checkpoint; the next write begins a new one. @throws StateError,
   * StorageError
   */
  async roll(): Promise<void> {
    this.#throwIfClosed();
    await this.#finishAll();
  }

  /** Waits for the pending writes and finishes the last files. @throws StorageError */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#finishAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #throwIfClosed(): void {
    if (this.#closed) throw new StateError('the WARC files are closed');
  }

  async #write(place: PoolPlace, records: readonly NewWarcRecord[]): Promise<readonly WarcPosition[]> {
    try {
      const file = place.file ?? (await this.#begin());
      place.file = file;
      const start = file.size;
      try {
        const positions: WarcPosition[] = [];
        for (const record of records) {
          const encoded = await this.#encode(file, record);
          if (encoded !== undefined) positions.push(await this.#append(file, record.id, encoded));
        }
        if (file.size >= (this.#options.maxFileBytes ?? 1_000_000_000)) await this.#finish(place);
        return positions;
      } catch (error) {
        if (place.file === file) await file.undo(start);
        if (file.lost) place.file = undefined;
        throw error;
      }
    } catch (error) {
      const reason = isDiskFull(error) ? 'no space left' : messageOf(error);
      throw new StorageError(`${this.#options.directory}: a WARC record cannot be written: ${reason}`, {
        cause: error,
      });
    }
  }

  /** Begins a file with its warcinfo record. */
  async #begin(): Promise<OpenArchive> {
    const { directory, prefix = 'HARVEST' } = this.#options;
    const date = this.#now();
    const serial = String(this.#serial++).padStart(5, '0');
    const name = `${prefix}-${timestamp17(date)}-${serial}${this.#nameEnding}`;
    const file = await OpenArchive.create(directory, name, newRecordId());
    try {
      await this.#append(file, file.infoId, await this.#encodeInfo(file, date));
    } catch (error) {
      await file.undo(0);
      throw error;
    }
    return file;
  }

  /** Encodes the first record of a file. */
  async #encodeInfo(file: OpenArchive, date: number): Promise<EncodedRecord> {
    const { format, info = {}, host = hostname() } = this.#options;
    const { name, infoId } = file;
    const values = new Map([
      ['software', 'harvest-kit'],
      ...(format === 'arc' ? [] : FORMAT),
      ['hostname', host],
      ...Object.entries(info),
    ]);
    if (format === 'arc') return arcFileRecord(name, date, values);
    const record: NewWarcRecord = {
      type: 'warcinfo',
      id: infoId,
      date,
      contentType: 'application/warc-fields',
      fields: [['WARC-Filename', name]],
      block: [warcFields([...values])],
    };
    return await encodeRecord(record);
  }

  /** Encodes a record; returns undefined if the format does not have it. */
  async #encode(file: OpenArchive, record: NewWarcRecord): Promise<EncodedRecord | undefined> {
    if (this.#options.format === 'arc') return arcRecord(record);
    const fields: NewWarcRecord['fields'] = [...record.fields, ['WARC-Warcinfo-ID', file.infoId]];
    return await encodeRecord({ ...record, fields });
  }

  async #append(file: OpenArchive, id: string, record: EncodedRecord): Promise<WarcPosition> {
    const offset = file.size;
    for await (const bytes of compressRecord(record, this.#compression)) await file.append(bytes);
    const recordId = this.#options.format === 'arc' ? `arc:${file.name}/${offset}` : id;
    return { file: file.name, offset, length: file.size - offset, recordId };
  }

  /** Finishes the file of every place, also if one of them fails. */
  async #finishAll(): Promise<void> {
    const ends = await Promise.allSettled(
      this.#pool.map((place) => place.mutex.runExclusive(() => this.#finish(place))),
    );
    const failure = ends.find((end) => end.status === 'rejected');
    if (failure === undefined) return;
    throw new StorageError(`${this.#options.directory}: a WARC file cannot be finished`, {
      cause: failure.reason,
    });
  }

  async #finish(place: PoolPlace): Promise<void> {
    const { file } = place;
    if (file === undefined) return;
    place.file = undefined;
    await file.finish();
    this.#options.onFinished?.(file.name);
  }
}

/** Returns the end of file names after the serial number: `-HOST.warc.gz`. */
function nameEndingOf({
  host = hostname(),
  format = 'warc',
  compression = 'gzip',
}: WarcFilesOptions): string {
  return `-${host.replace(/[^\w.-]/g, '-')}.${format}${suffixOf(compression)}`;
}

/** Returns the time as 17 digits, UTC. */
function timestamp17(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\D/g, '');
}

function isLeftOpen(name: string, options: WarcFilesOptions): boolean {
  const { prefix = 'HARVEST' } = options;
  const ending = nameEndingOf({ ...options, format: formatOf(name), compression: compressionOf(name) });
  if (!name.startsWith(`${prefix}-`) || !name.endsWith(ending + OPEN_SUFFIX)) return false;
  const middle = name.slice(prefix.length, name.length - ending.length - OPEN_SUFFIX.length);
  return /^-\d{17}-\d{5,}$/.test(middle);
}

async function recover(
  directory: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<RecoveredFile> {
  const path = join(directory, name);
  const file = name.slice(0, -OPEN_SUFFIX.length);
  const handle = await openRegular(path, 'r+');
  let bytes = 0;
  let size = 0;
  let damaged: readonly number[] = [];
  try {
    size = (await handle.stat()).size;
    const found = await examineRecords(handle, {
      compression: compressionOf(file),
      format: formatOf(file),
      signal,
    });
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
