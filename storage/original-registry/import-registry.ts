// Imports the directory of an original Broker into a Broker's store.
import { rm } from 'node:fs/promises';
import { StorageError } from '../../protocols/errors.js';
import { type GathererIds, isRegistryVersion, type RegistryRecord } from '../../protocols/registry/index.js';
import { encodeSoif, rewriteLarge, type SoifObject } from '../../protocols/soif/index.js';
import { BrokerStore } from '../broker/broker-store.js';
import { OidSet } from '../broker/oid-set.js';
import { collectGarbage } from '../files/collect-garbage.js';
import { createDirectory } from '../files/make-directory.js';
import { registryPath } from './broker-directory.js';
import { readGathererIds, type TransferOptions } from './export-registry.js';
import { type ImportableObject, prepareImport, StoreImporter } from './import-objects.js';
import { DEFAULT_MAX_OBJECT_BYTES, readRecordedFile } from './object-file.js';
import { ObjectLocations } from './object-locations.js';
import { RegistryFile } from './registry-file.js';

export interface ImportOptions extends TransferOptions {
  /** Maximum number of bytes of an object file; larger files are skipped. Default 64 MiB. */
  readonly maxObjectBytes?: number;
}

export interface ImportCounts {
  readonly imported: number;
  /** Objects that the store has already, e.g. from a killed import. */
  readonly known: number;
  /** Skipped objects; a sentence was reported for each. */
  readonly skipped: number;
  /** Records without a file (REG-38). */
  readonly missing: number;
  /** Records that are marked as deleted or have an unknown flag (REG-14). */
  readonly notValid: number;
  /** Files without a valid record (REG-38). */
  readonly unreferenced: number;
}

const MEBIBYTE = 1024 * 1024;
/** Limits of a batch: objects, and bytes, which the last object may exceed. */
const BATCH_OBJECTS = 500;
const BATCH_BYTES = 8 * MEBIBYTE;
/** The number of files that are read concurrently. */
const CONCURRENT_READS = 16;

/**
 * Imports the objects of an original Broker's directory into a Broker's store under their OIDs (REG-35), in
 * batches. Objects that the store has are skipped, so after a kill the import is run again. No other process
 * may have the store open.
 *
 * The object file determines the object (REG-40). If the Registry has a later Update-Time, its times replace
 * those of the file, as a refresh does (GATHERD-13.8). The files are found at any depth below `objects/`
 * (REG-34).
 *
 * @throws StorageError if the Registry is damaged (REG-15), the store is in use, or no object of the directory
 *   is in the store afterwards; ProtocolError if the file is not a Registry
 */
export async function importRegistry(
  from: string,
  storeDirectory: string,
  options: ImportOptions = {},
): Promise<ImportCounts> {
  const { signal, onWarning } = options;
  const path = registryPath(from);
  await using registry = await RegistryFile.open(path, options);
  refuseDamage(registry);
  for (const { rule, offset, message } of registry.problems) {
    onWarning?.(`${path}: offset ${offset}: ${message} (${rule})`);
  }
  const ids = registry.version === 2 ? await readGathererIds(from) : undefined;
  const files = await ObjectLocations.find(from, signal);
  // Creates the store if it is missing, but only for a file that is a Registry.
  const created = await createDirectory(storeDirectory);
  const total: Counts = { imported: 0, known: 0, skipped: 0, missing: 0, notValid: 0, unreferenced: 0 };
  {
    await (await BrokerStore.open(storeDirectory)).close();
    await using importer = await StoreImporter.open(storeDirectory);
    const batches = new ImportBatches({ importer, files, ids, counts: total, options });
    const valid = await importRecords(registry, batches, signal);
    await importer.finish(registry.nextOid);
    reportUnreferenced(files, valid, total, options);
  }
  if (total.imported + total.known > 0) return total;
  const reason = reasonOfNothing(total, registry.counts.valid);
  if (reason === undefined) return total;
  // The new directory has an empty store and nothing else.
  if (created !== undefined) await rm(created, { recursive: true });
  throw new StorageError(`0 of ${registry.counts.valid} objects imported from ${from}: ${reason}`);
}

type Counts = { -readonly [Name in keyof ImportCounts]: ImportCounts[Name] };

/** Why nothing was imported; undefined if there was nothing to import. */
function reasonOfNothing(counts: ImportCounts, valid: number): string | undefined {
  const { missing, skipped, unreferenced } = counts;
  if (valid > 0) {
    const parts = [
      ...(missing > 0 ? [`${missing} have no file OBJ<number> below objects/ (REG-34)`] : []),
      ...(skipped > 0 ? [`${skipped} were skipped`] : []),
    ];
    return parts.join(', ');
  }
  if (unreferenced === 0) return undefined;
  return `the Registry names none, but there are ${unreferenced} object files; \`harvest registry repair\` adds them to it`;
}

/** Imports all valid records; returns their OIDs. */
async function importRecords(
  registry: RegistryFile,
  batches: ImportBatches,
  signal: AbortSignal | undefined,
): Promise<OidSet> {
  const valid = new OidSet();
  let records: RegistryRecord[] = [];
  for await (const { offset, flag, state, record } of registry.records({ signal })) {
    if (state !== 'valid') batches.countNotValid(offset, state === 'unknown' ? flag : undefined);
    else if (record === undefined) batches.skipShort(offset);
    else {
      valid.add(record.oid);
      records.push(copyRecord(record));
      if (records.length < BATCH_OBJECTS) continue;
      await batches.add(records);
      records = [];
    }
  }
  await batches.add(records);
  return valid;
}

/** REG-38: files without a valid record, and files that are not the object's because another one is. */
function reportUnreferenced(
  files: ObjectLocations,
  valid: OidSet,
  counts: Counts,
  { onWarning }: ImportOptions,
): void {
  for (const { oid, path } of files.files()) {
    if (!valid.has(oid)) {
      counts.unreferenced++;
      onWarning?.(`the file of object ${oid} has no valid record (REG-38)`);
    } else if (files.pathsOf(oid).length > 1) {
      onWarning?.(`${path} is one of several files of object ${oid}, of which one was read (REG-34)`);
    }
  }
}

interface ImportContext {
  readonly importer: StoreImporter;
  readonly files: ObjectLocations;
  readonly ids: GathererIds | undefined;
  readonly counts: Counts;
  readonly options: ImportOptions;
}

/** Reads the files of records and stores their objects in batches. */
class ImportBatches {
  #batch: ImportableObject[] = [];
  #bytes = 0;
  readonly #context: ImportContext;

  constructor(context: ImportContext) {
    this.#context = context;
  }

  /** Imports the objects of some records and stores all of them. */
  async add(records: readonly RegistryRecord[]): Promise<void> {
    const { files, ids, counts, options } = this.#context;
    const { signal, onWarning, maxObjectBytes = DEFAULT_MAX_OBJECT_BYTES } = options;
    for (let i = 0; i < records.length; i += CONCURRENT_READS) {
      signal?.throwIfAborted();
      const group = records.slice(i, i + CONCURRENT_READS);
      const read = await Promise.all(
        group.map((record) => readRecordedObject(files, record, ids, maxObjectBytes)),
      );
      for (const [j, object] of read.entries()) {
        const { oid } = group[j]!;
        if (object === undefined) {
          counts.missing++;
          onWarning?.(`object ${oid} has no file (REG-38)`);
        } else if (typeof object === 'string') {
          this.#skip(oid, object);
        } else {
          this.#batch.push(object);
          this.#bytes += object.bytes.length;
        }
      }
      if (this.#bytes >= BATCH_BYTES) await this.#flush();
    }
    await this.#flush();
  }

  /** A record that is deleted, or has this unknown flag. */
  countNotValid(offset: number, unknownFlag: number | undefined): void {
    this.#context.counts.notValid++;
    if (unknownFlag === undefined) return;
    this.#context.options.onWarning?.(
      `the record at offset ${offset} has the unknown flag ${unknownFlag}; it is not imported (REG-14)`,
    );
  }

  /** A record that is too short for its fields. */
  skipShort(offset: number): void {
    this.#context.counts.skipped++;
    this.#context.options.onWarning?.(`the record at offset ${offset} is too short (REG-21)`);
  }

  async #flush(): Promise<void> {
    for (const { oid, outcome } of await this.#context.importer.add(this.#batch)) {
      if (outcome === 'imported' || outcome === 'known') this.#context.counts[outcome]++;
      else this.#skip(oid, outcome.skipped);
      this.#context.options.onObject?.();
    }
    this.#batch = [];
    if (this.#bytes >= BATCH_BYTES) collectGarbage();
    this.#bytes = 0;
  }

  #skip(oid: number, reason: string): void {
    this.#context.counts.skipped++;
    this.#context.options.onWarning?.(`object ${oid}: skipped: ${reason}`);
  }
}

function refuseDamage({ path, damage, version }: RegistryFile): void {
  if (!isRegistryVersion(version)) {
    const message = `records of version ${version} are not known (REG-9)`;
    throw new StorageError(`${path}: ${message}; \`harvest registry repair\` repairs it`);
  }
  if (damage === undefined) return;
  const { offset, message, rule } = damage;
  throw new StorageError(
    `${path} is damaged at offset ${offset}: ${message} (${rule}); \`harvest registry repair\` repairs it`,
  );
}

/**
 * Copies the parts of a record that are used later: its views would keep whole blocks in memory until the batch
 * is full.
 */
function copyRecord(record: RegistryRecord): RegistryRecord {
  const { gatherer } = record;
  const empty = new Uint8Array(0);
  return {
    ...record,
    url: record.url.slice(),
    gatherer: 'id' in gatherer ? gatherer : { name: empty, host: empty, version: empty },
    md5: empty,
    description: empty,
    rest: empty,
  };
}

/** The object of a record; a sentence if it cannot be imported; undefined if it has no file. */
async function readRecordedObject(
  files: ObjectLocations,
  record: RegistryRecord,
  ids: GathererIds | undefined,
  maxBytes: number,
): Promise<ImportableObject | string | undefined> {
  if (record.oid === 0) return 'OIDs start at 1 (REG-35)';
  const { gatherer } = record;
  if ('id' in gatherer && ids?.get(gatherer.id) === undefined) {
    return `Gatherer-Ids has no id ${gatherer.id} (REG-50)`;
  }
  const file = await readRecordedFile(files, record, maxBytes);
  if (file === undefined) return undefined;
  if ('problem' in file) return file.problem;
  const { object, large } = file;
  const later = record.updateTime > (object.number('Update-Time') ?? Number.MAX_SAFE_INTEGER);
  if (!later) return prepareImport(record.oid, object, file.bytes);
  const renewed = renew(object, record);
  const bytes =
    large === undefined ? encodeSoif(renewed) : rewriteLarge(large.source, large.outline, timesOf(record));
  return prepareImport(record.oid, renewed, bytes);
}

/** GATHERD-13.8: all values except the times stay byte for byte. */
function renew(object: SoifObject, record: RegistryRecord): SoifObject {
  return object.with(timesOf(record));
}

function timesOf(record: RegistryRecord): (readonly [name: string, value: string])[] {
  return [
    ['Update-Time', String(record.updateTime)],
    ['Last-Modification-Time', String(record.lastModificationTime)],
    ['Refresh-Rate', String(record.refreshRate)],
    ['Time-to-Live', String(record.timeToLive)],
  ];
}
