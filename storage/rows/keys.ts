import { bufferOf } from '../../protocols/ascii.js';
import { bytesOfUrl, urlOfBytes } from '../../protocols/soif/index.js';

/**
 * Row keys. Both stores keep all their tables in one LevelDB. The first byte of a key names the table, so that
 * the rows of a document, whatever their table, are written in one atomic batch.
 *
 *     00 name                              schema and counters            both
 *     k  name                              Lease (leases/leases.ts)       both
 *     S  update-time u64 BE, url           Summary                        gatherer
 *     N  content time u64 BE, url          the object's bytes (summaries/summary-rows.ts)
 *     s  number of the change u64 BE, url  SummarySequence
 *     e  name                              SequenceEpoch
 *     I  url                               SummaryIdentity
 *     Z  deletion time u64 BE, url         Tombstone
 *     z  url                               TombstoneIdentity
 *     D  url                               Document
 *     Q  class key, 00, directive, precedence, ordinal u48 BE             (CRAWL-5.1.1)
 *     l  sequence u48 BE                   event of a crawl, for its logs and figures
 *     w  due time u48 BE, ordinal u48 BE   WaitingUri
 *     q  class key                         WorkQueue
 *     i  precedence u8, sequence u48 BE    class key of an inactive queue
 *     h  key of a fetch history            the history
 *     c  site                              the cookies of a site
 *     U  8-byte URI key                    none (NO_VALUE; former versions: empty)
 *     M  name                              MetaValue
 *     p  partition u16 BE, sender, number  a URI that another process has found (gatherer/partitions.ts)
 *     A  url by R-41                       ReferenceDocument
 *     H  host:port                         ReferenceServer
 *     B  document ID u32 BE                ReferenceLinks
 *     E  oid u32 BE                        RegistryEntry                  broker
 *     O  oid u32 BE                        the object's bytes (broker/object-rows.ts)
 *     o  number of the parts u64 BE, part u32 BE   bytes of a large object (broker/large-objects.ts)
 *     L  url                               UrlObjects
 *     K  content mark                      ContentMark
 *     X  expiry u64 BE, oid                none
 *     T  update-time u64 BE, oid           none
 *     C  sequence u64 BE                   Change
 *     P  point key                         CollectionPoint
 *     F  name                              Follower (of a store that several Brokers share)
 *     G  point key                         CollectionRun (of the same)
 *     V  time of the change u64 BE, oid    none
 *     R  16-byte identity                  Removal
 *     W  time of the removal u64 BE, identity   none
 *     Y  expiry u64 BE, identity           none
 */
export const TABLE = {
  system: 0x00,
  leases: 0x6b,
  summaries: 0x53,
  summaryContents: 0x4e,
  sequences: 0x73,
  epochs: 0x65,
  identities: 0x49,
  tombstones: 0x5a,
  tombstoneIdentities: 0x7a,
  documents: 0x44,
  queues: 0x51,
  events: 0x6c,
  waiting: 0x77,
  queueRecords: 0x71,
  inactiveQueues: 0x69,
  histories: 0x68,
  cookies: 0x63,
  seen: 0x55,
  meta: 0x4d,
  inbox: 0x70,
  referenceDocuments: 0x41,
  referenceServers: 0x48,
  referenceLinks: 0x42,
  entries: 0x45,
  objects: 0x4f,
  parts: 0x6f,
  urls: 0x4c,
  marks: 0x4b,
  expiries: 0x58,
  times: 0x54,
  changes: 0x43,
  points: 0x50,
  followers: 0x46,
  runs: 0x47,
  copies: 0x56,
  removals: 0x52,
  removalTimes: 0x57,
  removalExpiries: 0x59,
} as const;

/**
 * The value of a row whose key says everything. Not empty: classic-level never frees the memory of an empty
 * value that it wrote, 32 bytes.
 */
export const NO_VALUE = Uint8Array.of(0);

export type TableByte = (typeof TABLE)[keyof typeof TABLE];

export interface KeyRange {
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
}

/** All rows of a table. */
export function tableRange(table: TableByte): KeyRange {
  return { gte: Uint8Array.of(table), lt: Uint8Array.of(table + 1) };
}

/** The rows of a table whose keys begin with the bytes of a key. */
export function prefixRange<K>(keys: KeyCodec<K>, key: K): KeyRange {
  const gte = keys.encode(key);
  let end = gte.length;
  while (end > 1 && gte[end - 1] === 0xff) end--;
  // The `slice` of a Buffer would be the same memory.
  const lt = Uint8Array.from(gte.subarray(0, end));
  lt[end - 1]! += 1;
  return { gte, lt };
}

/** Converts the keys of a table to bytes, the table's byte first, and back. */
export interface KeyCodec<K> {
  /** All rows of the table. */
  readonly range: KeyRange;
  encode(key: K): Uint8Array;
  decode(bytes: Uint8Array): K;
}

export function keysOf<K>(
  table: TableByte,
  encode: (table: TableByte, key: K) => Uint8Array,
  decode: (bytes: Uint8Array) => K,
): KeyCodec<K> {
  return { range: tableRange(table), encode: (key) => encode(table, key), decode };
}

export const textKeys = (table: TableByte) => keysOf(table, textKey, keyText);
export const urlKeys = (table: TableByte) => keysOf(table, urlKey, (key) => keyUrl(key));
export const oidKeys = (table: TableByte) => keysOf(table, oidKey, keyOid);
export const orderedKeys = (table: TableByte) => keysOf(table, orderedKey, keyOrder);

/** Key of a table whose rows have text keys. */
export function textKey(table: TableByte, text: string): Uint8Array {
  const key = Buffer.allocUnsafe(1 + Buffer.byteLength(text));
  key[0] = table;
  key.write(text, 1);
  return key;
}

/**
 * Key of a table whose rows have numbers of fixed width as keys, big-endian.
 * @throws RangeError for a number that is too large
 */
export function numbersKey(
  table: TableByte,
  numbers: readonly (readonly [what: string, value: number, bytes: number])[],
): Uint8Array {
  const key = Buffer.allocUnsafe(numbers.reduce((sum, [, , bytes]) => sum + bytes, 1));
  let offset = key.writeUInt8(table);
  for (const [what, value, bytes] of numbers)
    offset = key.writeUIntBE(requireInteger(value, what, 2 ** (8 * bytes) - 1), offset, bytes);
  return key;
}

/** Key of the row with the kind of a store in a directory, and its schema version. */
export const SCHEMA_KEY = textKey(TABLE.system, 'schema');

/** The text of a {@link textKey}. */
export function keyText(key: Uint8Array): string {
  return bufferOf(key).toString('utf8', 1);
}

/**
 * Key of a table whose rows have the URLs of objects as keys: the URL's bytes (GATHERD-5.1).
 * @throws ProtocolError for a URL with characters that are not bytes
 */
function urlKey(table: TableByte, url: string): Uint8Array {
  return bytesKey(table, bytesOfUrl(url));
}

/** The URL of a key after its first `skip` bytes: 1 for a {@link urlKey}, 9 for an {@link orderedUrlKey}. */
export function keyUrl(key: Uint8Array, skip = 1): string {
  return urlOfBytes(key.subarray(skip));
}

/** Key of a table ordered by a u64 (a time or a sequence). */
export function orderedKey(table: TableByte, order: number): Uint8Array {
  const key = Buffer.allocUnsafe(9);
  writeOrder(key, table, order);
  return key;
}

/** Key of a table ordered by a u64, then by the bytes of a URL, see {@link urlKey}. */
export function orderedUrlKey(table: TableByte, order: number, url: string): Uint8Array {
  return orderedBytesKey(table, order, bytesOfUrl(url));
}

/** Key of a table ordered by a u64, then by OID. */
export function orderedOidKey(table: TableByte, order: number, oid: number): Uint8Array {
  const key = Buffer.allocUnsafe(13);
  writeOrder(key, table, order);
  key.writeUInt32BE(oid, 9);
  return key;
}

/** Key of a table ordered by a u64, then by bytes. */
export function orderedBytesKey(table: TableByte, order: number, bytes: Uint8Array): Uint8Array {
  const key = Buffer.allocUnsafe(9 + bytes.length);
  writeOrder(key, table, order);
  key.set(bytes, 9);
  return key;
}

function writeOrder(key: Buffer, table: TableByte, order: number): void {
  key[0] = table;
  key.writeUInt32BE(Math.floor(order / 0x1_0000_0000), 1);
  key.writeUInt32BE(order % 0x1_0000_0000, 5);
}

/** The u64 of an ordered key. */
export function keyOrder(key: Uint8Array): number {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  return view.getUint32(1) * 0x1_0000_0000 + view.getUint32(5);
}

export function oidKey(table: TableByte, oid: number): Uint8Array {
  const key = Buffer.allocUnsafe(5);
  key[0] = table;
  key.writeUInt32BE(oid, 1);
  return key;
}

/** The OID at the end of a key. */
export function keyOid(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(key.byteLength - 4);
}

export function bytesKey(table: TableByte, bytes: Uint8Array): Uint8Array {
  const key = new Uint8Array(1 + bytes.length);
  key[0] = table;
  key.set(bytes, 1);
  return key;
}

/**
 * Checks a number that becomes part of a key or a 64-bit field.
 *
 * @throws RangeError unless it is an integer from 0 to `max` (default 2^53 - 1).
 */
export function requireInteger(value: number, what: string, max = Number.MAX_SAFE_INTEGER): number {
  if (!Number.isSafeInteger(value) || value < 0 || value > max) {
    throw new RangeError(`${what} must be an integer from 0 to ${max}, not ${value}`);
  }
  return value;
}
