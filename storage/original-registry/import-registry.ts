import { mkdir } from 'node:fs/promises';
import { StorageError } from '../../protocols/errors.js';
import type { GathererIds, RegistryRecord } from '../../protocols/registry/index.js';
import { decodeText, encodeSoif, type SoifObject } from '../../protocols/soif/index.js';
import { BrokerStore } from '../broker/broker-store.js';
import { OidSet } from '../broker/oid-set.js';
import { objectFiles, registryPath } from './broker-directory.js';
import { readGathererIds, type TransferOptions } from './export-registry.js';
import { type ImportableObject, prepareImport, StoreImporter } from './import-objects.js';
import { readObjectFile } from './object-file.js';
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
const DEFAULT_MAX_OBJECT_BYTES = 64 * MEBIBYTE;
/** Limits of a batch: objects, and bytes, which the last object may exceed. */
const BATCH_OBJECTS = 500;
const BATCH_BYTES = 8 * MEBIBYTE;
/** The number of files that are read concurrently. */
const CONCURRENT_READS = 16;

/**
 * Imports the objects of an original Broker's directory into a Broker's store under their OIDs (REG-35), in batches. Objects that
 * the store has are skipped, so after a kill the import is run again. No other process may have the store open.
 *
 * The object file determines the object (REG-40). If the Registry has a later Update-Time, its times replace those of the file,
 * as a refresh does (GATHERD-13.8).
 *
 * @throws StorageError if the Registry is damaged (REG-15) or the store is in use; ProtocolError if the file is not a Registry
 */
export async function importRegistry(
  from: string,
  storeDirectory: string,
  options: ImportOptions = {},
): Promise<ImportCounts> {
  const { signal, onObject, onWarning, maxObjectBytes = DEFAULT_MAX_OBJECT_BYTES } = options;
  const path = registryPath(from);
  await using registry = await RegistryFile.open(path, options);
  refuseDamage(registry);
  for (const { rule, offset, message } of registry.problems) {
    onWarning?.(`${path}: offset ${offset}: ${message} (${rule})`);
  }
  const ids = registry.version === 2 ? await readGathererIds(from) : undefined;
  // Creates the store if it is missing, but only for a file that is a Registry.
  await mkdir(storeDirectory, { recursive: true });
  await (await BrokerStore.open(storeDirectory)).close();
  await using importer = await StoreImporter.open(storeDirectory);
  const counts = { imported: 0, known: 0, skipped: 0, missing: 0, notValid: 0, unreferenced: 0 };
  const skip = (oid: number, reason: string): void => {
    counts.skipped++;
    onWarning?.(`object ${oid}: skipped: ${reason}`);
  };

  const importRecords = async (records: readonly RegistryRecord[]): Promise<void> => {
    let batch: ImportableObject[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      for (const { oid, outcome } of await importer.add(batch)) {
        if (outcome === 'imported' || outcome === 'known') counts[outcome]++;
        else skip(oid, outcome.skipped);
        onObject?.();
      }
      batch = [];
      bytes = 0;
    };
    for (let i = 0; i < records.length; i += CONCURRENT_READS) {
      signal?.throwIfAborted();
      const group = records.slice(i, i + CONCURRENT_READS);
      const read = await Promise.all(
        group.map((record) => readRecordedObject(from, record, ids, maxObjectBytes)),
      );
      for (const [j, object] of read.entries()) {
        const { oid } = group[j]!;
        if (object === undefined) {
          counts.missing++;
          onWarning?.(`object ${oid} has no file (REG-38)`);
        } else if (typeof object === 'string') {
          skip(oid, object);
        } else {
          batch.push(object);
          bytes += object.bytes.length;
        }
      }
      if (bytes >= BATCH_BYTES) await flush();
    }
    await flush();
  };

  const valid = new OidSet();
  let records: RegistryRecord[] = [];
  for await (const { offset, state, record } of registry.records(signal === undefined ? {} : { signal })) {
    if (state !== 'valid') {
      counts.notValid++;
    } else if (record === undefined) {
      counts.skipped++;
      onWarning?.(`the record at offset ${offset} is too short (REG-21)`);
    } else {
      valid.add(record.oid);
      records.push(copyRecord(record));
      if (records.length >= BATCH_OBJECTS) {
        await importRecords(records);
        records = [];
      }
    }
  }
  await importRecords(records);
  await importer.finish(registry.nextOid);
  for await (const oid of objectFiles(from, signal)) {
    if (valid.has(oid)) continue;
    counts.unreferenced++;
    onWarning?.(`the file of object ${oid} has no valid record (REG-38)`);
  }
  return counts;
}

function refuseDamage({ path, damage }: RegistryFile): void {
  if (damage === undefined) return;
  const { offset, message, rule } = damage;
  throw new StorageError(
    `${path} is damaged at offset ${offset}: ${message} (${rule}); \`harvest registry repair\` repairs it`,
  );
}

/** Copies the parts of a record that are used later: its views would keep whole blocks in memory until the batch is full. */
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
  from: string,
  record: RegistryRecord,
  ids: GathererIds | undefined,
  maxBytes: number,
): Promise<ImportableObject | string | undefined> {
  if (record.oid === 0) return 'OIDs start at 1 (REG-35)';
  const { gatherer } = record;
  if ('id' in gatherer && ids?.get(gatherer.id) === undefined) {
    return `Gatherer-Ids has no id ${gatherer.id} (REG-50)`;
  }
  const file = await readObjectFile(from, record.oid, maxBytes);
  if (file === undefined || typeof file === 'string') return file;
  const { object } = file;
  if (decodeText(record.url) !== object.url) {
    return `its file is about ${object.url}, its record about ${decodeText(record.url)}`;
  }
  const later = record.updateTime > (object.number('Update-Time') ?? Number.MAX_SAFE_INTEGER);
  if (!later) return prepareImport(record.oid, object, file.bytes);
  const renewed = renew(object, record);
  return prepareImport(record.oid, renewed, encodeSoif(renewed));
}

/** GATHERD-13.8: all values except the times stay byte for byte. */
function renew(object: SoifObject, record: RegistryRecord): SoifObject {
  return object.with([
    ['Update-Time', String(record.updateTime)],
    ['Last-Modification-Time', String(record.lastModificationTime)],
    ['Refresh-Rate', String(record.refreshRate)],
    ['Time-to-Live', String(record.timeToLive)],
  ]);
}
