// `RegistryFile`: the Registry file of the original Broker, opened for walks, appends, marks and compression.
import { ProtocolError, StateError, StorageError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import {
  DEFAULT_MAX_RECORD_BYTES,
  encodeRegistryHeader,
  encodeRegistryRecord,
  FILE_HEADER_BYTES,
  isRegistryVersion,
  type RawRecord,
  RECORD_HEADER_BYTES,
  type RegistryCounts,
  type RegistryDamage,
  type RegistryFormat,
  type RegistryReading,
  type RegistryRecord,
  type RegistryVersion,
  registryFormat,
  stateOf,
} from '../../protocols/registry/index.js';
import { countTransitions, RECORD_STATES } from '../../protocols/registry/states.js';
import { replaceFile } from '../files/replace-file.js';
import { FileWindow, type OpenRandomFile, openRandomFile, type RandomFile } from './random-access-file.js';
import { searchRecord } from './salvage.js';
import { type RegistryProblem, wrongCounts } from './scan.js';
import { detectReading, readRecord, type Survey, surveyFile, walkFile } from './walk.js';
import { writeRegistry } from './write-registry.js';

export interface RegistryFileOptions extends Partial<RegistryFormat> {
  /** Default false: the file is only read, and damage that opening finds is not repaired. */
  readonly writable?: boolean;
  /** Maximum number of bytes of one record's data. Default 16 MiB. */
  readonly maxRecordBytes?: number;
  /**
   * Sync the file at each change. Default false: a killed process loses nothing, a power cut may lose the last
   * changes.
   */
  readonly sync?: boolean;
  /** Opens the file; tests replace it. */
  readonly open?: OpenRandomFile;
  readonly signal?: AbortSignal | undefined;
}

/** A record with its offset; `record` is undefined if its data are too short for their version (REG-21). */
export interface LocatedRecord extends Pick<RawRecord, 'offset' | 'flag' | 'state'> {
  readonly record: RegistryRecord | undefined;
}

/** REG-27: fewer deleted records than this never start a compression. */
const MIN_DELETED = 100;
/** REG-27: the default of `Compress-Percent`. */
const COMPRESS_PERCENT = 50;

/** REG-27: whether the file is due for compression. */
export function isCompressionDue(counts: RegistryCounts, percent = COMPRESS_PERCENT): boolean {
  const { records, deleted } = counts;
  return deleted >= MIN_DELETED && deleted * 100 >= records * percent;
}

/**
 * A Registry file (REG-1) with one owner, which appends, marks as deleted and compresses. A process killed
 * between any two writes leaves a file that the next {@link open} repairs; it contains every change whose
 * promise had resolved.
 */
export class RegistryFile implements AsyncDisposable {
  /** REG-13: the reading that was detected or given. */
  readonly reading: RegistryReading;
  readonly #format: RegistryFormat;
  #file: RandomFile;
  #counts: RegistryCounts;
  /** The offset after the last whole record. */
  #end: number;
  #highestOid: number;
  readonly #mutex = new Mutex();
  #closed = false;
  readonly #options: RegistryFileOptions;

  private constructor(
    readonly path: string,
    file: RandomFile,
    readonly version: number,
    format: RegistryFormat,
    survey: Survey,
    /** The problems found by opening, repaired if the file is writable (REG-10, REG-13, REG-29). */
    readonly problems: readonly RegistryProblem[],
    options: RegistryFileOptions,
  ) {
    this.reading = format.reading;
    this.#format = format;
    this.#options = options;
    this.#file = file;
    this.#counts = survey.counts;
    this.#end = survey.end;
    this.#highestOid = survey.highestOid;
    this.damage = survey.damage?.cut === true ? undefined : survey.damage;
  }

  /** The damage at which reading stops (REG-15); only in a file that is not open for writing. */
  readonly damage: RegistryDamage | undefined;

  /**
   * Creates an empty Registry atomically.
   *
   * @throws StorageError if the file exists
   */
  static async create(
    path: string,
    options: RegistryFileOptions & { readonly version?: RegistryVersion } = {},
  ): Promise<RegistryFile> {
    const { version = 1, ...rest } = options;
    const open = rest.open ?? openRandomFile;
    const format = registryFormat(rest);
    await replaceFile(path, async (temporary) => {
      const file = await open(temporary, 'wx');
      try {
        const header = { version, records: 0, deleted: 0, valid: 0 };
        await file.write(encodeRegistryHeader(header, format), 0);
      } finally {
        await file.close();
      }
    });
    return RegistryFile.open(path, { ...rest, reading: format.reading, writable: true });
  }

  /**
   * Opens a Registry and counts its records (REG-10). Without `options.reading` it detects the reading by
   * REG-13. It drops a record that is cut off at the end (REG-29).
   *
   * @throws ProtocolError (REG-5, REG-8) if the file does not begin like a Registry; StorageError if it cannot
   *   be opened, or is damaged and opened for writing (REG-15): a record appended after the damage could not be
   *   found again.
   */
  static async open(path: string, options: RegistryFileOptions = {}): Promise<RegistryFile> {
    const { open = openRandomFile, writable = false, maxRecordBytes = DEFAULT_MAX_RECORD_BYTES } = options;
    const file = await open(path, writable ? 'r+' : 'r');
    try {
      const walk = { ...registryFormat(options), maxRecordBytes, signal: options.signal };
      let survey = await (options.reading === undefined ? detectReading(file, walk) : surveyFile(file, walk));
      const { header } = survey;
      if (header === undefined) throw headerError(survey);
      const format = { ...registryFormat(options), reading: survey.reading };
      survey = await withoutFalseCut(file, survey, format, maxRecordBytes);
      survey = await withoutUnflushed(file, survey);
      const problems = problemsOf(survey);
      if (writable) {
        refuseDamage(path, survey);
        if (survey.damage !== undefined) await file.truncate(survey.end);
        const bytes = encodeRegistryHeader({ version: header.version, ...survey.counts }, format);
        if (problems.some(({ rule }) => rule === 'REG-10')) await file.write(bytes, 0);
      }
      return new RegistryFile(path, file, header.version, format, survey, problems, options);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Counted at the opening and updated with every change (REG-6). */
  get counts(): RegistryCounts {
    return this.#counts;
  }

  /** REG-35: the highest OID of any record plus one, deleted records included. */
  get nextOid(): number {
    return this.#highestOid + 1;
  }

  /**
   * All records in the file's order, including deleted ones and unknown flags (REG-14). @throws ProtocolError
   * at damage.
   */
  async *records(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<LocatedRecord, void, undefined> {
    for await (const raw of this.#raw(options.signal)) {
      const record = readRecord(raw, this.version);
      const { offset, flag, state } = raw;
      yield { offset, flag, state, record: record instanceof ProtocolError ? undefined : record };
    }
    if (this.damage !== undefined) throw protocolError(this.damage);
  }

  async *#raw(signal?: AbortSignal): AsyncGenerator<RawRecord, void, undefined> {
    const { maxRecordBytes = DEFAULT_MAX_RECORD_BYTES } = this.#options;
    const walk = { ...this.#format, maxRecordBytes, signal, end: this.#end };
    for await (const items of walkFile(this.#file, walk)) {
      for (const item of items) if (item.kind === 'record') yield item;
    }
  }

  /** REG-23, REG-29: writes the records, then the header. Returns their offsets. */
  append(records: readonly RegistryRecord[]): Promise<number[]> {
    return this.#change(() => this.#append(records));
  }

  /**
   * REG-24: rewrites the flag in place; false if the record is not valid. @throws ProtocolError if no record
   * begins at `offset`.
   */
  markDeleted(offset: number): Promise<boolean> {
    return this.#change(async () => {
      if (!(await this.#markRecord(offset))) return false;
      await this.#writeHeader();
      return true;
    });
  }

  /**
   * REG-25: deletes the old record and appends the new one. The bytes are those of the rule's order, but the
   * new record is written first: a process killed in between leaves both, of which the newer counts (REG-45),
   * and never neither.
   *
   * @returns the new record's offset
   */
  change(offset: number, record: RegistryRecord): Promise<number> {
    return this.#change(async () => {
      await this.#readFlag(offset);
      const [newOffset = 0] = await this.#append([record]);
      await this.#markRecord(offset);
      await this.#writeHeader();
      return newOffset;
    });
  }

  /**
   * REG-26, REG-28: replaces the file by one without the deleted records; the others keep their order and their
   * bytes (REG-14, REG-21). Offsets change.
   *
   * @returns the number of records removed
   */
  compress(signal?: AbortSignal): Promise<number> {
    return this.#change(async () => {
      const { open = openRandomFile } = this.#options;
      const removed = this.#counts.deleted;
      let next: RandomFile | undefined;
      const written = await replaceFile(
        this.path,
        async (temporary) => {
          const kept = undeletedRecords(this.#raw(signal));
          const result = await writeRegistry(await open(temporary, 'wx'), kept, this.version, this.#format);
          // Opened before the rename: after it, nothing may be written into the old file.
          next = await open(temporary, 'r+');
          return result;
        },
        { force: true },
      ).catch(async (error: unknown) => {
        await next?.close();
        throw error;
      });
      const old = this.#file;
      this.#file = next ?? old;
      await old.close();
      this.#end = written.length;
      this.#counts = written.counts;
      return removed;
    });
  }

  /** Waits for the change in progress, then closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#mutex.runExclusive(() => this.#file.close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #append(records: readonly RegistryRecord[]): Promise<number[]> {
    const { version } = this;
    if (!isRegistryVersion(version))
      throw new TypeError(`records of version ${version} cannot be written (REG-9)`);
    const pieces = records.map((record) => encodeRegistryRecord(record, version, this.#format));
    const offsets: number[] = [];
    let end = this.#end;
    for (const piece of pieces) {
      offsets.push(end);
      end += piece.length;
    }
    try {
      await this.#file.write(Buffer.concat(pieces), this.#end);
    } catch (error) {
      // A full disk may have accepted a part, and the next record may be shorter.
      await this.#file.truncate(this.#end).catch(() => undefined);
      throw error;
    }
    if (this.#options.sync === true) await this.#file.sync();
    this.#end = end;
    this.#counts = countTransitions(this.#counts, RECORD_STATES.absent.append, records.length);
    for (const { oid } of records) this.#highestOid = Math.max(this.#highestOid, oid);
    await this.#writeHeader();
    return offsets;
  }

  async #markRecord(offset: number): Promise<boolean> {
    if (stateOf(await this.#readFlag(offset), this.#format) !== 'valid') return false;
    const flag = new Uint8Array(4);
    new DataView(flag.buffer).setUint32(0, this.#format.deletedFlag);
    await this.#file.write(flag, offset + RECORD_HEADER_BYTES - 4);
    this.#counts = countTransitions(this.#counts, RECORD_STATES.valid.delete, 1);
    return true;
  }

  async #readFlag(offset: number): Promise<number> {
    const bytes = new Uint8Array(RECORD_HEADER_BYTES);
    const inside = offset >= FILE_HEADER_BYTES && offset + RECORD_HEADER_BYTES <= this.#end;
    if (inside) await this.#file.read(bytes, offset);
    const view = new DataView(bytes.buffer);
    if (!inside || view.getUint32(4) !== this.#format.recordMagic) {
      throw protocolError({ rule: 'REG-15', offset, message: 'no record begins at this offset' });
    }
    return view.getUint32(8);
  }

  async #writeHeader(): Promise<void> {
    await this.#file.write(encodeRegistryHeader({ version: this.version, ...this.#counts }, this.#format), 0);
    if (this.#options.sync === true) await this.#file.sync();
  }

  /** Runs one change at a time. */
  #change<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StateError('the Registry is closed'));
    if (this.#options.writable !== true) {
      return Promise.reject(new StateError('the Registry is not open for writing'));
    }
    return this.#mutex.runExclusive(work);
  }
}

/** Corrects a survey that reports a cut at the end (REG-29) although a record can be read after it. */
async function withoutFalseCut(
  file: RandomFile,
  survey: Survey,
  format: RegistryFormat,
  maxRecordBytes: number,
): Promise<Survey> {
  if (survey.damage?.cut !== true) return survey;
  const window = new FileWindow(file, await file.size());
  const context = { window, format, version: survey.header?.version ?? 0, maxRecordBytes };
  if ((await searchRecord(survey.end, context)) === undefined) return survey;
  const message = "a record's size leads beyond the end of the file, but a record can be read there";
  return { ...survey, damage: { ...survey.damage, cut: false, rule: 'REG-15', message } };
}

/**
 * A power failure may leave zeros where records were appended but not flushed. The header counts only flushed
 * records, so such zeros after them are a cut end (REG-29), also if a later part of the append reached the
 * disk.
 */
async function withoutUnflushed(file: RandomFile, survey: Survey): Promise<Survey> {
  const { damage, header, counts } = survey;
  if (damage === undefined || damage.cut || header === undefined || counts.records < header.records)
    return survey;
  const start = new Uint8Array(RECORD_HEADER_BYTES);
  await file.read(start, damage.offset);
  if (new DataView(start.buffer).getUint32(4) !== 0) return survey;
  return { ...survey, damage: { ...damage, cut: true, rule: 'REG-29' } };
}

function problemsOf(survey: Survey): RegistryProblem[] {
  const { damage, reading } = survey;
  const problems: RegistryProblem[] = [];
  if (damage !== undefined)
    problems.push({ rule: damage.rule, offset: damage.offset, message: damage.message });
  if (damage?.cut !== false) problems.push(...wrongCounts(survey, survey.counts));
  if (reading !== 'a') {
    problems.push({
      rule: 'REG-13',
      offset: FILE_HEADER_BYTES,
      message: `sizes are by reading (${reading})`,
    });
  }
  return problems;
}

function refuseDamage(path: string, { damage }: Survey): void {
  if (damage === undefined || damage.cut) return;
  throw new StorageError(
    `${path} is damaged at offset ${damage.offset}: ${damage.message} (${damage.rule}); \`harvest registry repair\` repairs it`,
  );
}

function headerError({ damage }: Survey): ProtocolError {
  return protocolError(damage ?? { rule: 'REG-5', offset: 0, message: 'the Registry has no header' });
}

function protocolError({ rule, offset, message }: Pick<RegistryDamage, 'rule' | 'offset' | 'message'>) {
  return new ProtocolError(message, { protocol: 'registry', rule, offset });
}

async function* undeletedRecords(
  records: AsyncIterable<RawRecord>,
): AsyncGenerator<RawRecord, void, undefined> {
  for await (const record of records)
    if (RECORD_STATES[record.state].compress.next !== 'absent') yield record;
}
