// Writes a Broker's store as the directory of an original Broker: a Registry and one file for each object.
import { copyFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ProtocolError, StorageError } from '../../protocols/errors.js';
import {
  encodeRecordData,
  GathererIds,
  type RecordGatherer,
  type RegistryFormat,
  type RegistryRecord,
  type RegistryVersion,
  registryFormat,
} from '../../protocols/registry/index.js';
import {
  bytesOfUrl,
  decodeSoif,
  readOutline,
  type SoifBytes,
  type SoifObject,
  textOfUrl,
} from '../../protocols/soif/index.js';
import type { BrokerStore } from '../broker/broker-store.js';
import { OidSet } from '../broker/oid-set.js';
import { BROKER_COUNTERS } from '../broker/tables.js';
import { exists, ifPresent } from '../files/exists.js';
import { makeDirectory } from '../files/make-directory.js';
import { readRegular } from '../files/regular-file.js';
import { replaceFile } from '../files/replace-file.js';
import { type StagedFiles, withStagedFiles } from '../files/staged-directory.js';
import { syncPath } from '../files/sync-path.js';
import { Level } from '../level/level.js';
import type { RegistryEntry } from '../records/records.js';
import { COPIED_FILES, gathererIdsPath, objectFilePath, registryPath } from './broker-directory.js';
import { flushObjectNames, writeObjectFile } from './object-file.js';
import { ObjectLocations } from './object-locations.js';
import { openRandomFile } from './random-access-file.js';
import { type RecordToWrite, writeRegistry } from './write-registry.js';

/** Callbacks of exports and imports. */
export interface TransferOptions extends Partial<RegistryFormat> {
  readonly signal?: AbortSignal | undefined;
  /** Called after each object. */
  readonly onObject?: (() => void) | undefined;
  /** Receives a sentence about each irregularity. */
  readonly onWarning?: ((sentence: string) => void) | undefined;
}

export interface ExportOptions extends TransferOptions {
  /** Version of the Registry (REG-50). Default 1. */
  readonly version?: RegistryVersion;
  /** Replaces an existing Registry. Default false: an existing Registry is an error. */
  readonly force?: boolean;
  /**
   * A Broker's directory whose files of `admin/` are copied, as far as the target lacks them
   * ({@link copyAdminFiles}). Default: none.
   */
  readonly adminFrom?: string;
}

export interface ExportCounts {
  readonly objects: number;
  readonly skipped: number;
  /** Object files that existed before and that no record names (REG-38). */
  readonly unreferenced: number;
  /** Copied files of `admin/`. */
  readonly filesCopied: number;
}

/** The number of object files that are written concurrently. */
const CONCURRENT_WRITES = 16;
const NO_BYTES = new Uint8Array(0);

/**
 * Writes an original Broker's directory beside its place, then moves the object files and at last the Registry
 * (REG-28, REG-37). A failed export leaves no new file; after a kill the export is run again. The highest OID
 * that the store has used becomes a deleted record if its object no longer exists, so that it is not used again
 * (REG-35).
 *
 * @param storeDirectory directory of the store, which is open
 * @throws StorageError if there is a Registry and `force` is not set, or if a file cannot be written
 */
export async function exportRegistry(
  store: BrokerStore,
  storeDirectory: string,
  to: string,
  options: ExportOptions = {},
): Promise<ExportCounts> {
  const { version = 1, force = false, signal, onObject, onWarning } = options;
  const format = registryFormat(options);
  const path = registryPath(to);
  if (!force && (await exists(path))) throw new StorageError(`${path} exists already; --force replaces it`);
  const ids = version === 2 ? await readGathererIds(to) : undefined;
  const lastOid = (await nextOidOf(storeDirectory)) - 1;
  const written = new OidSet();
  const counts = { objects: 0, skipped: 0, unreferenced: 0, filesCopied: 0 };
  let highest = 0;

  async function* records(staging: string): AsyncGenerator<RecordToWrite, void, undefined> {
    const { validFlag, deletedFlag } = format;
    for await (const page of store.stored({ signal })) {
      const prepared: { oid: number; data: Uint8Array; bytes: SoifBytes }[] = [];
      for (const { entry, bytes } of page) {
        highest = Math.max(highest, entry.oid);
        try {
          const stored = bytes instanceof Uint8Array ? bytes : (await readOutline(bytes)).head;
          const data = encodeRecordData(recordOf(entry, stored, ids), version);
          prepared.push({ oid: entry.oid, data, bytes });
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error;
          counts.skipped++;
          onWarning?.(`object ${entry.oid}, ${textOfUrl(entry.url)}: skipped: ${error.message}`);
        }
      }
      for (let i = 0; i < prepared.length; i += CONCURRENT_WRITES) {
        signal?.throwIfAborted();
        const group = prepared.slice(i, i + CONCURRENT_WRITES);
        await allSettled(group.map(({ oid, bytes }) => writeObjectFile(staging, oid, bytes)));
      }
      for (const { oid, data } of prepared) {
        yield { flag: validFlag, state: 'valid', data };
        written.add(oid);
        counts.objects++;
        onObject?.();
        signal?.throwIfAborted();
      }
    }
    if (lastOid > highest) {
      yield {
        flag: deletedFlag,
        state: 'deleted',
        data: encodeRecordData(deletedRecord(lastOid, ids), version),
      };
    }
  }

  const build = async ({ path: staging, place }: StagedFiles): Promise<void> => {
    await makeDirectory(join(staging, 'admin'));
    const file = await openRandomFile(registryPath(staging), 'wx');
    await writeRegistry(file, records(staging), version, format);
    if (ids !== undefined) await writeGathererIds(staging, ids);
    if (options.adminFrom !== undefined) {
      counts.filesCopied = (await copyAdminFiles(options.adminFrom, staging, to)).length;
    }
    await flushObjectNames(staging);
    await syncPath(join(staging, 'admin'));
    signal?.throwIfAborted();
    await place('objects');
    await flushObjectNames(to);
    await place('admin');
    await syncPath(to);
  };
  await withStagedFiles(to, build, { last: basename(path) });
  for (const { oid, path: file } of (await ObjectLocations.find(to, signal)).files()) {
    if (written.has(oid) && file === objectFilePath(to, oid)) continue;
    counts.unreferenced++;
    onWarning?.(`${file} is not the file of a record (REG-38)`);
  }
  return counts;
}

/** Waits for all promises, so that no work continues after an error; then rejects with the first error. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(work)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/** The next OID of a store, which may be open in this process. */
async function nextOidOf(storeDirectory: string): Promise<number> {
  await using level = await Level.open(storeDirectory, {
    kind: 'broker',
    create: false,
    multithreading: true,
  });
  return (await BROKER_COUNTERS.read(level)).nextOid;
}

/**
 * The Registry record of an object, from its bytes, or for a large one from its outline. Its texts are the
 * bytes of the object (REG-4), which differ from UTF-8 only beyond ASCII.
 */
export function recordOf(
  entry: RegistryEntry,
  stored: Uint8Array | SoifObject,
  ids: GathererIds | undefined,
): RegistryRecord {
  const { oid, updateTime, lastModificationTime, refreshRate, timeToLive } = entry;
  const times = { updateTime, lastModificationTime, refreshRate, timeToLive };
  const names = [entry.url, entry.gathererName, entry.gathererHost, entry.gathererVersion, entry.description];
  const ascii = names.every((text) => /^[\x00-\x7f]*$/.test(text));
  const decoded = () =>
    stored instanceof Uint8Array
      ? decodeSoif(stored, { maxObjectBytes: Math.max(1, stored.length) })
      : stored;
  const object = ascii ? undefined : decoded();
  const text = (name: string, value: string): Uint8Array =>
    object === undefined ? Buffer.from(value) : trim(object.get(name) ?? NO_BYTES);
  return {
    oid,
    url: object?.urlBytes ?? bytesOfUrl(entry.url),
    gatherer: gathererOf(entry, text, ids),
    md5: Buffer.from(entry.md5),
    description: text('Description', entry.description),
    ...times,
    rest: NO_BYTES,
  };
}

function gathererOf(
  entry: RegistryEntry,
  text: (name: string, value: string) => Uint8Array,
  ids: GathererIds | undefined,
): RecordGatherer {
  const { gathererName: name, gathererHost: host, gathererVersion: version } = entry;
  if (ids !== undefined) return { id: ids.idOf({ name, host, version }) };
  return {
    name: text('Gatherer-Name', name),
    host: text('Gatherer-Host', host),
    version: text('Gatherer-Version', version),
  };
}

/** REG-35: the record of a deleted object, of which a reader needs only the OID. */
function deletedRecord(oid: number, ids: GathererIds | undefined): RegistryRecord {
  const placeholder = Buffer.from('-');
  const gatherer =
    ids === undefined ? { name: placeholder, host: placeholder, version: placeholder } : { id: 0 };
  const times = { updateTime: 0, lastModificationTime: 0, refreshRate: 0, timeToLive: 0 };
  return { oid, url: placeholder, gatherer, md5: NO_BYTES, description: NO_BYTES, ...times, rest: NO_BYTES };
}

/** The value without surrounding white space, as in the Registry entry. */
function trim(bytes: Uint8Array): Uint8Array {
  const isSpace = (byte: number | undefined): boolean => byte === 0x20 || (byte! >= 0x09 && byte! <= 0x0d);
  let start = 0;
  let end = bytes.length;
  while (start < end && isSpace(bytes[start])) start++;
  while (end > start && isSpace(bytes[end - 1])) end--;
  return bytes.subarray(start, end);
}

/**
 * The Gatherer ids of a directory; empty if the file is absent (REG-50). @throws ProtocolError for a malformed
 * line
 */
export async function readGathererIds(directory: string): Promise<GathererIds> {
  const file = await ifPresent(readRegular(gathererIdsPath(directory)));
  return file === undefined ? new GathererIds() : GathererIds.parse(file.toString('utf8'));
}

/** Writes the Gatherer ids of a directory. */
export function writeGathererIds(directory: string, ids: GathererIds): Promise<void> {
  return replaceFile(gathererIdsPath(directory), (path) => writeFile(path, ids.format()), { force: true });
}

/**
 * Copies the files of `admin/` that both kinds of directory have and the target lacks; returns their names.
 *
 * @param to where they are written
 * @param target the directory that may have them already. Default `to`
 */
export async function copyAdminFiles(from: string, to: string, target = to): Promise<string[]> {
  const copied: string[] = [];
  await makeDirectory(join(to, 'admin'));
  for (const name of COPIED_FILES) {
    const source = join(from, 'admin', name);
    if (!(await exists(source)) || (await exists(join(target, 'admin', name)))) continue;
    await replaceFile(join(to, 'admin', name), (temporary) => copyFile(source, temporary));
    copied.push(name);
  }
  return copied;
}
