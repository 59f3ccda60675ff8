// The records of a repaired Registry: those that are right, and those of objects without a right one.
import { ProtocolError } from '../../protocols/errors.js';
import {
  encodeRecordData,
  type GathererIds,
  type RegistryFormat,
  type RegistryRecord,
  type RegistryVersion,
} from '../../protocols/registry/index.js';
import { textOfUrl, urlOfBytes } from '../../protocols/soif/index.js';
import { OidSet } from '../broker/oid-set.js';
import { recordOf } from './export-registry.js';
import { prepareImport } from './import-objects.js';
import type { JudgedItem, JudgedRecord, SeenOids } from './judge.js';
import { DEFAULT_MAX_OBJECT_BYTES, readObjectFile } from './object-file.js';
import type { ObjectLocations } from './object-locations.js';
import type { RecordToWrite } from './write-registry.js';

/** What a {@link RecordRepair} works with. */
export interface RecordRepairOptions {
  readonly version: RegistryVersion;
  readonly format: RegistryFormat;
  readonly files: ObjectLocations | undefined;
  /** Receives the Gatherers of rebuilt records of version 2. */
  readonly ids: GathererIds | undefined;
  /** The OIDs of all records before the repair. */
  readonly seen: SeenOids;
  readonly onWarning?: ((sentence: string) => void) | undefined;
}

/** Records that wait for a file about their URL; more are marked as deleted at once. */
const MAX_WAITING = 100_000;

/** Decides which records a repaired Registry has. */
export class RecordRepair {
  /** Records that were made from files. */
  rebuilt = 0;
  /** Records that were removed or marked as deleted. */
  removed = 0;
  /** The paths of files that belong to no record. */
  readonly unreferenced: string[] = [];
  readonly #options: RecordRepairOptions;
  /** The OIDs of the valid records that were written. */
  readonly #written = new OidSet();
  /** Removed records by URL: their number may be wrong, and a file of another number about this URL. */
  readonly #waiting = new Map<string, RegistryRecord>();

  constructor(options: RecordRepairOptions) {
    this.#options = options;
  }

  /**
   * The records in the file's order, then those of files without a record in the order of their OIDs, then
   * deleted ones.
   */
  async *records(items: AsyncIterable<JudgedItem>): AsyncGenerator<RecordToWrite, void, undefined> {
    for await (const item of items) {
      if (item.kind === 'problem') continue;
      const record = await this.#repaired(item);
      if (record !== undefined) yield record;
    }
    for (const oid of this.#options.files?.oids.toArray() ?? []) {
      if (this.#written.has(oid) || this.#options.seen.unknown.has(oid)) continue;
      const record = await this.#adopt(oid);
      if (record !== undefined) yield record;
    }
    for (const record of this.#waiting.values()) yield this.#deleted(record);
  }

  async #repaired({ raw, record, verdict }: JudgedRecord): Promise<RecordToWrite | undefined> {
    // Of an unknown version, which only the files can replace.
    if (record === undefined) return raw.state === 'unknown' ? raw : undefined;
    if (verdict === 'keep') {
      if (raw.state === 'valid') this.#written.add(record.oid);
      return raw;
    }
    if (verdict === 'rebuild') {
      const rebuilt = await this.#fromFile(record.oid);
      if (rebuilt !== undefined) return rebuilt;
    }
    this.removed++;
    const url = urlOfBytes(record.url);
    this.#options.onWarning?.(`object ${record.oid}, ${textOfUrl(url)}: its record is removed`);
    if (this.#waiting.size >= MAX_WAITING || this.#waiting.has(url)) return this.#deleted(record);
    this.#waiting.set(url, record);
    return undefined;
  }

  /** A record for a file without one; if it belongs to none, it is set aside. */
  async #adopt(oid: number): Promise<RecordToWrite | undefined> {
    const { files, seen, onWarning } = this.#options;
    const paths = files?.pathsOf(oid) ?? [];
    // A deleted record whose file was not removed yet (REG-37), unless a record with a wrong number is about
    // the file.
    const record =
      seen.deleted.has(oid) && !seen.valid.has(oid)
        ? await this.#fromWaiting(oid, paths)
        : ((await this.#fromWaiting(oid, paths)) ?? (await this.#fromFile(oid)));
    if (record !== undefined) return record;
    this.unreferenced.push(...paths);
    for (const path of paths) onWarning?.(`${path} belongs to no record; it is moved to unreferenced/`);
    return undefined;
  }

  /** The record about the URL of the file, under the file's number. */
  async #fromWaiting(oid: number, paths: readonly string[]): Promise<RecordToWrite | undefined> {
    if (this.#waiting.size === 0) return undefined;
    for (const path of paths) {
      const file = await readObjectFile(path, DEFAULT_MAX_OBJECT_BYTES);
      if (file === undefined || typeof file === 'string') continue;
      const record = this.#waiting.get(file.object.url);
      if (record === undefined || file.object.url === '') continue;
      const rebuilt = await this.#fromFile(oid);
      if (rebuilt !== undefined) this.#waiting.delete(file.object.url);
      return rebuilt;
    }
    return undefined;
  }

  /** The record of the first file of a number that has an object with all mandatory attributes (REG-40). */
  async #fromFile(oid: number): Promise<RecordToWrite | undefined> {
    const { files, version, ids, format, onWarning } = this.#options;
    for (const path of files?.pathsOf(oid) ?? []) {
      const file = await readObjectFile(path, DEFAULT_MAX_OBJECT_BYTES);
      if (file === undefined || typeof file === 'string') continue;
      const object = prepareImport(oid, file.object, file.bytes);
      if (typeof object === 'string' || object.entry.url === '') continue;
      try {
        const data = encodeRecordData(recordOf(object.entry, file.object, ids), version);
        this.rebuilt++;
        this.#written.add(oid);
        onWarning?.(`object ${oid}, ${textOfUrl(object.entry.url)}: its record is made from its file`);
        return { flag: format.validFlag, state: 'valid', data };
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
      }
    }
    return undefined;
  }

  /** The record, marked as deleted (REG-38). */
  #deleted(record: RegistryRecord): RecordToWrite {
    const { version, format } = this.#options;
    return { flag: format.deletedFlag, state: 'deleted', data: encodeRecordData(record, version) };
  }
}
