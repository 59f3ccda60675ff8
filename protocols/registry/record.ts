// The data of a Registry record, in both versions.
import { ProtocolError } from '../errors.js';
import type { UnixSeconds } from '../time.js';
import { clampU32, isU32, type RegistryFormat, U32_MAX } from './format.js';
import { encodeRecordHeader, viewOf } from './header.js';

/** REG-9: the versions of a file's header. */
export type RegistryVersion = 1 | 2;

/**
 * The Gatherer of the object: three texts in version 1, in version 2 an id of `admin/Gatherer-Ids` (REG-50).
 */
export type RecordGatherer =
  | { readonly name: Uint8Array; readonly host: Uint8Array; readonly version: Uint8Array }
  | { readonly id: number };

/** One record of a Registry (REG-56, in version 2 REG-50). Texts are bytes as received (REG-4). */
export interface RegistryRecord {
  readonly oid: number;
  readonly url: Uint8Array;
  readonly gatherer: RecordGatherer;
  /** Empty if the object has none. */
  readonly md5: Uint8Array;
  /** Empty if the object has none. */
  readonly description: Uint8Array;
  readonly updateTime: UnixSeconds;
  readonly lastModificationTime: UnixSeconds;
  /** Seconds after the Update-Time (REG-18, REG-19). */
  readonly refreshRate: number;
  /** Seconds after the Update-Time (REG-18, REG-19). */
  readonly timeToLive: number;
  /** REG-21: the bytes after the last number. */
  readonly rest: Uint8Array;
}

/** REG-7: the number of text fields and number fields of a record. */
export const FIELDS: Readonly<Record<RegistryVersion, { readonly texts: number; readonly numbers: number }>> =
  {
    1: { texts: 6, numbers: 5 },
    2: { texts: 3, numbers: 6 },
  };

export function isRegistryVersion(version: number): version is RegistryVersion {
  return version === 1 || version === 2;
}

/**
 * Encodes the data of a record, without its header (REG-3, REG-21, REG-22).
 *
 * @throws TypeError for a Gatherer of the other version's kind; ProtocolError for an OID or id that is not a
 * u32, and for more data than a u32 can count (REG-2)
 */
export function encodeRecordData(record: RegistryRecord, version: RegistryVersion): Uint8Array {
  const { url, md5, description, gatherer, rest } = record;
  const numbers = [
    record.oid,
    ...('id' in gatherer ? [gatherer.id] : []),
    clampU32(record.updateTime),
    clampU32(record.lastModificationTime),
    clampU32(record.refreshRate),
    clampU32(record.timeToLive),
  ];
  const form = version === 2 ? 'an id' : 'a name, host and version';
  if ('id' in gatherer !== (version === 2)) {
    throw new TypeError(`a record of version ${version} has its Gatherer as ${form} (REG-50)`);
  }
  const texts =
    'id' in gatherer
      ? [url, md5, description]
      : [url, gatherer.name, gatherer.host, gatherer.version, md5, description];
  return encodeFields(texts, numbers, rest);
}

function encodeFields(
  texts: readonly Uint8Array[],
  numbers: readonly number[],
  rest: Uint8Array,
): Uint8Array {
  const length = texts.reduce((sum, text) => sum + 4 + text.length, 4 * numbers.length + rest.length);
  if (length > U32_MAX) throw unwritable('REG-2', `a record of ${length} bytes is too long`);
  const bytes = new Uint8Array(length);
  const view = viewOf(bytes);
  let at = 0;
  for (const text of texts) {
    view.setUint32(at, text.length);
    bytes.set(text, at + 4);
    at += 4 + text.length;
  }
  for (const number of numbers) {
    if (!isU32(number)) throw unwritable('REG-2', `a Registry's record cannot hold ${number}`);
    view.setUint32(at, number);
    at += 4;
  }
  bytes.set(rest, at);
  return bytes;
}

/** The error for a value that no Registry can hold. */
export function unwritable(rule: string, message: string): ProtocolError {
  return new ProtocolError(message, { protocol: 'registry', rule, offset: 0 });
}

/** Encodes a whole record, header included (REG-11). */
export function encodeRegistryRecord(
  record: RegistryRecord,
  version: RegistryVersion,
  format: RegistryFormat,
  flag: number = format.validFlag,
): Uint8Array {
  const data = encodeRecordData(record, version);
  const head = encodeRecordHeader(data.length, flag, format);
  const bytes = new Uint8Array(head.length + data.length);
  bytes.set(head);
  bytes.set(data, head.length);
  return bytes;
}

/**
 * Decodes the data of a record; the texts are views.
 *
 * @param offset of `data` in the file, for errors.
 * @throws ProtocolError REG-21 when the data is too short for its version
 */
export function decodeRecordData(data: Uint8Array, version: RegistryVersion, offset = 0): RegistryRecord {
  const { texts: textCount, numbers: numberCount } = FIELDS[version];
  const view = viewOf(data);
  const texts: Uint8Array[] = [];
  const numbers: number[] = [];
  let at = 0;
  const requireBytes = (bytes: number, what: string): void => {
    if (bytes > data.length - at) {
      const message = `a record of ${data.length} bytes ends within ${what}`;
      throw new ProtocolError(message, { protocol: 'registry', rule: 'REG-21', offset: offset + at });
    }
  };
  for (let i = 0; i < textCount; i++) {
    requireBytes(4, `the length of text ${i + 1}`);
    const length = view.getUint32(at);
    at += 4;
    requireBytes(length, `text ${i + 1}, which has ${length} bytes`);
    texts.push(data.subarray(at, at + length));
    at += length;
  }
  requireBytes(4 * numberCount, `its ${numberCount} numbers`);
  for (let i = 0; i < numberCount; i++, at += 4) numbers.push(view.getUint32(at));
  return buildRecord(texts, numbers, version, data.subarray(at));
}

function buildRecord(
  texts: readonly Uint8Array[],
  numbers: readonly number[],
  version: RegistryVersion,
  rest: Uint8Array,
): RegistryRecord {
  if (version === 1) {
    const [url, name, host, gathererVersion, md5, description] = texts as Texts6;
    const [oid, updateTime, lastModificationTime, refreshRate, timeToLive] = numbers as Numbers5;
    const gatherer = { name, host, version: gathererVersion };
    const times = { updateTime, lastModificationTime, refreshRate, timeToLive };
    return { oid, url, gatherer, md5, description, ...times, rest };
  }
  const [url, md5, description] = texts as Texts3;
  const [oid, id, updateTime, lastModificationTime, refreshRate, timeToLive] = numbers as Numbers6;
  const times = { updateTime, lastModificationTime, refreshRate, timeToLive };
  return { oid, url, gatherer: { id }, md5, description, ...times, rest };
}

type Texts3 = [Uint8Array, Uint8Array, Uint8Array];
type Texts6 = [...Texts3, ...Texts3];
type Numbers5 = [number, number, number, number, number];
type Numbers6 = [...Numbers5, number];

/** The mandatory fields that are empty (REG-39, REG-56). */
export function emptyFields(record: RegistryRecord): string[] {
  const { url, gatherer } = record;
  const fields: Readonly<Record<string, number>> =
    'id' in gatherer
      ? { URL: url.length, 'Gatherer id': gatherer.id }
      : {
          URL: url.length,
          'Gatherer-Name': gatherer.name.length,
          'Gatherer-Host': gatherer.host.length,
          'Gatherer-Version': gatherer.version.length,
        };
  return Object.keys(fields).filter((name) => fields[name] === 0);
}
