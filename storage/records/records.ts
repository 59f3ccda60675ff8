// The types of the stored records and the codecs between them and the protobuf messages of records.proto.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import protobuf from 'protobufjs';
import { StorageError } from '../../protocols/errors.js';
import { bytesOfUrl, urlOfBytes } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';

/**
 * The version of the tables that this program writes, by kind of store. A store of a later version, or of one
 * before {@link OLDEST_SCHEMA}, is refused with a StorageError. The Broker's first version is 2. Gatherer 2:
 * objects are rows of their own.
 */
export const SCHEMA_VERSION = { gatherer: 2, broker: 2 } as const;

/** The oldest version that this program reads. Its owner makes it the current one when it opens the store. */
export const OLDEST_SCHEMA = { gatherer: 1, broker: 2 } as const;

/** Converts one kind of record to bytes and back. `decode` throws a {@link StorageError} for damaged bytes. */
export interface RecordCodec<T> {
  encode(record: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

/** A 64-bit field as protobufjs decodes it: a Long, or a number where its Long support is turned off. */
type Wire64 = number | { toNumber(): number };

const schemaFile = fileURLToPath(import.meta.resolve('#records.proto'));
const { root } = protobuf.parse(readFileSync(schemaFile, 'utf8'));
root.resolveAll();

/**
 * The number of the field with the checksum of a row, the last one of its bytes. Programs that do not know it
 * pass over it.
 */
const CRC_FIELD = 2047;
/** The field's key in two bytes (it has a fixed length of 32 bits), and its value. */
const CRC_BYTES = 6;
const CRC_KEY = (CRC_FIELD << 3) | 5;

/** Codec without a row checksum. */
function codec<T extends object>(name: string): RecordCodec<T> {
  const type = root.lookupType(`harvest.storage.${name}`);
  const toPlain = plainCopier(type);
  return {
    encode: (record) => encodeWith((writer) => type.encode(record, writer)),
    decode: (bytes) => plainOf(type, toPlain, decodeMessage(type, bytes), bytes) as T,
  };
}

/**
 * A codec of rows that end with a CRC-32 of the bytes before it. Rows of earlier versions have none, and are
 * not verified.
 */
export function rowCodec<T extends object>(name: string): RecordCodec<T> {
  const type = root.lookupType(`harvest.storage.${name}`);
  const toPlain = plainCopier(type);
  type.add(new protobuf.Field('rowCrc', CRC_FIELD, 'fixed32'));
  return {
    encode(record) {
      const bytes = encodeWith((writer) => type.encode(record, writer).uint32(CRC_KEY).fixed32(0));
      writeU32(bytes, crcOf(bytes));
      return bytes;
    },
    decode(bytes) {
      const message: protobuf.Message & { readonly rowCrc?: number } = decodeMessage(type, bytes);
      const { rowCrc = 0 } = message;
      if (rowCrc !== 0 && rowCrc !== crcOf(bytes)) throw damaged(name, bytes, 'does not match its checksum');
      return plainOf(type, toPlain, message, bytes) as T;
    },
  };
}

/**
 * The memory of the former record, in which the next one is written: growing a new one would take as much again
 * as a record.
 */
let spareWriter: protobuf.Writer | undefined;
/** A writer that had a larger record is not kept, bytes. */
const MAX_SPARE = 1 << 20;

function encodeWith(write: (writer: protobuf.Writer) => protobuf.Writer): Uint8Array {
  const writer = spareWriter ?? protobuf.Writer.create();
  // After an error it is not there, since it may be within a nested message.
  spareWriter = undefined;
  const bytes = write(writer.reset()).finish();
  if (bytes.length <= MAX_SPARE) spareWriter = writer;
  return bytes;
}

function decodeMessage(type: protobuf.Type, bytes: Uint8Array): protobuf.Message {
  try {
    return type.decode(bytes);
  } catch (cause) {
    throw damaged(type.name, bytes, 'is damaged', cause);
  }
}

/** A record without one of the messages that it consists of is damaged, too. */
function plainOf(
  type: protobuf.Type,
  toPlain: (message: object) => object,
  message: protobuf.Message,
  bytes: Uint8Array,
): object {
  try {
    return toPlain(message);
  } catch (cause) {
    throw damaged(type.name, bytes, 'is damaged', cause);
  }
}

function damaged(name: string, { length }: Uint8Array, problem: string, cause?: unknown): StorageError {
  return new StorageError(
    `a ${name} record of ${length} bytes ${problem}; stop its program, then \`harvest store check DIR\` lists the damage of its store`,
    { cause },
  );
}

/** The checksum of all bytes but the field itself; never 0, which is the value of rows without one. */
function crcOf(bytes: Uint8Array): number {
  return crc32(bytes.subarray(0, bytes.length - CRC_BYTES)) || 1;
}

/** Overwrites the last four bytes, little-endian. */
function writeU32(bytes: Uint8Array, value: number): void {
  const end = bytes.length;
  bytes[end - 4] = value & 0xff;
  bytes[end - 3] = (value >>> 8) & 0xff;
  bytes[end - 2] = (value >>> 16) & 0xff;
  bytes[end - 1] = value >>> 24;
}

/**
 * The codec of a record whose field `url` is the URL of an object: bytes in the message, one character a byte
 * in the record.
 */
export function urlCodec<T extends { readonly url: string }>(name: string): RecordCodec<T> {
  const plain = rowCodec<Omit<T, 'url'> & { readonly url: Uint8Array }>(name);
  return {
    encode: (record) => plain.encode({ ...record, url: bytesOfUrl(record.url) }),
    decode(bytes) {
      const record = plain.decode(bytes);
      // protobufjs has an array for a field that a damaged row lacks.
      return Object.assign(record, { url: urlOfBytes(Uint8Array.from(record.url)) }) as unknown as T;
    },
  };
}

/**
 * Makes the function that copies a decoded message into a plain object with all fields, 64-bit ones as numbers.
 * It is one object literal, generated by protobufjs's own code generator from the fields of records.proto.
 * `Type.toObject` checks fields and fills in defaults at run time, which costs too much here. Nanoseconds for
 * decoding one record with `toObject` and with this: summary 330 and 105, Registry entry 960 and 690, queue 910
 * and 415, queued URI 320 and 250, document with 20 links 4100 and 3400.
 */
function plainCopier(type: protobuf.Type): (message: object) => object {
  const scope: Record<string, unknown> = { toNumber };
  const properties = type.fieldsArray.map((field) => {
    const property = `${field.name}: ${plainValue(field, scope)}`;
    const { partOf } = field;
    return partOf === null ? property : `...(m.${partOf.name} === "${field.name}" && { ${property} })`;
  });
  const generated = protobuf.util.codegen(['m'])(`return { ${properties.join(', ')} }`)(scope);
  return generated as (message: object) => object;
}

/** The expression for a field's plain value; adds the functions that it calls to `scope`. */
function plainValue(
  { name, long, repeated, resolvedType }: protobuf.Field,
  scope: Record<string, unknown>,
): string {
  let convert: string;
  if (long) {
    convert = 'toNumber';
  } else if (resolvedType instanceof protobuf.Type) {
    convert = `copy${resolvedType.name}`;
    scope[convert] = plainCopier(resolvedType);
  } else {
    return `m.${name}`;
  }
  return repeated ? `m.${name}.map(${convert})` : `${convert}(m.${name})`;
}

/**
 * Exact, because all 64-bit fields are times, sizes and counts below 2^53, which requireInteger of level/keys
 * ensures.
 */
function toNumber(value: Wire64): number {
  return typeof value === 'number' ? value : value.toNumber();
}

export interface SchemaRecord {
  readonly kind: string;
  readonly version: number;
}

export interface GathererCounters {
  readonly summaries: number;
  readonly tombstones: number;
  /** Number of the last change of a summary (GATHERD-6.13). */
  readonly sequence: number;
  /** Name of the epoch of the last change; empty if no change has a number. */
  readonly origin: string;
}

export interface LinkCounters {
  /** The highest allocated document ID; 0 = none. */
  readonly documents: number;
  /** The highest server ID. */
  readonly servers: number;
  /** Counts the changes that a publication of the references would show. */
  readonly changes: number;
}

export interface SummaryRecord {
  readonly timeToLive: number;
  /** The object as it goes over the wire; empty if it is a row of its own. */
  readonly soif: Uint8Array;
  /** 0 = the Update-Time of the row's key. */
  readonly contentTime?: UnixSeconds;
  /**
   * CRC-32 of the object that begins with the low 32 bits of the Update-Time in the key of its row; 0 = not
   * known.
   */
  readonly crc?: number;
  /**
   * Of the last refresh of an object that is a row of its own; 0 = it was not refreshed, or the time is not
   * known.
   */
  readonly lastModificationTime?: UnixSeconds;
  /** Number of its last change, and of the one that made its content; 0 in rows of earlier versions. */
  readonly sequence?: number;
  readonly contentSequence?: number;
  /** Of the object, bytes. Rows of earlier versions have 0. */
  readonly length?: number;
}

/** The tombstone of a deleted summary. */
export interface TombstoneRecord {
  /** An object without content: type, URL, Gatherer. */
  readonly soif: Uint8Array;
  readonly expires: UnixSeconds;
}

/**
 * One link of a document, kept so that a document that did not change can be enumerated again without fetching.
 */
export interface DocumentLink {
  readonly url: string;
  /** `L` link, `E` embed, `R` redirect. */
  readonly hop: string;
}

/** The crawl's record of a document. */
export interface DocumentRecord {
  readonly url: string;
  /** The fetch status of the crawl engine: an HTTP status code, or a negative code of the engine. */
  readonly status: number;
  readonly fetchTime: UnixSeconds;
  /** Update-Time of the document's summary; 0 = no summary. */
  readonly updateTime: UnixSeconds;
  /** Seconds. */
  readonly refreshRate: number;
  readonly lastModificationTime: UnixSeconds;
  readonly etag: string;
  /** 32 hexadecimal digits, or empty. */
  readonly md5: string;
  /** Essence type. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  readonly links: readonly DocumentLink[];
  /**
   * Digest of the summarizer rules that made the summary: if the rules differ, the document is summarized
   * again.
   */
  readonly rulesDigest: string;
  /** Its links are in the references' tables. */
  readonly referenced: boolean;
  /** URLs of its objects that differ from its own: of an exploded document (E-47), or from a rule (E-130). */
  readonly objects: readonly string[];
}

/** A document of the link databases, or the target of a link. */
export interface ReferenceDocument {
  /** u32, from 1. */
  readonly id: number;
  /** u32, from 1. */
  readonly server: number;
  /** Last modification; 0 = unknown. */
  readonly time: UnixSeconds;
  /** When it was fetched; 0 if it was not, or no longer exists. */
  readonly checkTime: UnixSeconds;
  /** Bytes. */
  readonly length: number;
}

/** A pending URI. */
export interface QueuedUri {
  readonly url: string;
  /** The URL of the document that links to it; empty for a root. */
  readonly via: string;
  /** Hop letters from the root. */
  readonly pathFromSeed: string;
  /** Index of the RootNode. */
  readonly root: number;
  readonly depth: number;
  readonly attempts: number;
  readonly forceFetch: boolean;
  readonly isLeaf: boolean;
  /** Its cost to the budget of its queue (CRAWL-9.10). */
  readonly cost: number;
  /** The seed from which it descends (CRAWL-2.9); empty if not recorded. */
  readonly sourceTag: string;
  /** G-174: the addresses that its request may reach, as decided when it was found; one of {@link NETWORK}. */
  readonly network: number;
}

/**
 * G-174: the addresses that the request for a queued URI may reach. Stores of earlier versions have `unknown`.
 */
export const NETWORK = { unknown: 0, any: 1, publicOnly: 2 } as const;

/** A URI that waits for a retry; the time when it is due and its ordinal are in the row's key. */
export interface WaitingUriRecord {
  readonly classKey: string;
  readonly directive: number;
  readonly precedence: number;
  readonly uri: QueuedUri;
  /** CRAWL-8.1, of the last attempt. */
  readonly status: number;
  /** Why the last attempt failed. */
  readonly reason: string;
}

/** CRAWL-5.4: the stored states of a queue. Ready, snoozed and in process are stored as active. */
export const QUEUE_STATUS = { active: 0, inactive: 1, retired: 2 } as const;

/** The state of a queue (CRAWL-5.2.1). */
export interface QueueRecord {
  readonly classKey: string;
  /** See {@link QUEUE_STATUS}. */
  readonly status: number;
  /** Number of pending URIs. */
  readonly count: number;
  /** Number of URIs that were ever added. */
  readonly enqueued: number;
  readonly sessionBalance: number;
  /** Balance at the beginning of a session. */
  readonly replenish: number;
  readonly totalExpenditure: number;
  /** -1 = none. */
  readonly totalBudget: number;
  readonly successes: number;
  readonly errors: number;
  /** Of successes. */
  readonly bytes: number;
  readonly lastCost: number;
  /** When a snoozed queue wakes, in milliseconds since 1970; 0 if it is not snoozed. */
  readonly wakeTime: number;
  /** Why the queue is snoozed; empty if it is not. */
  readonly reason: string;
  readonly precedence: number;
  /** Its position in the table of inactive queues. */
  readonly sequence: number;
  readonly lastQueued: string;
  readonly lastPeeked: string;
}

/** The counters of a crawl (CRAWL-16.5). */
export interface FrontierState {
  readonly nextOrdinal: number;
  readonly nextSequence: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly disregarded: number;
  readonly bytes: number;
  /** URIs in queues that are not retired, of a partition of a crawl that several processes share; else 0. */
  readonly pending?: number;
}

export interface BrokerCounters {
  readonly objects: number;
  readonly sequence: number;
  readonly nextOid: number;
  readonly trimmed: number;
  /** Time of the last change by the store's clock; 0 = there was none. */
  readonly lastChange: UnixSeconds;
  readonly removals: number;
  /** The times to and from which the store's clock was set back; 0 if it never was. */
  readonly setBackTo: UnixSeconds;
  readonly setBackFrom: UnixSeconds;
}

/** The lease of a name. */
export interface LeaseRecord {
  /** Empty: it was released. */
  readonly owner: string;
  /** Number of times that it was acquired. */
  readonly epoch: number;
  /** When others may acquire it, by the database's clock, milliseconds. */
  readonly until: number;
  /** Milliseconds for which it was given or renewed. */
  readonly lengthMs: number;
}

/** The Registry's record of an object. */
export interface RegistryEntry {
  /** Object ID: u32, from 1, kept for the life of the URL at its Gatherer. */
  readonly oid: number;
  readonly url: string;
  readonly gathererName: string;
  readonly gathererHost: string;
  readonly gathererVersion: string;
  readonly updateTime: UnixSeconds;
  readonly lastModificationTime: UnixSeconds;
  /** Seconds. */
  readonly refreshRate: number;
  /** Seconds; 0 = never expires (SOIF-6.7). */
  readonly timeToLive: number;
  /** Lower-case hexadecimal digits, or empty. */
  readonly md5: string;
  readonly description: string;
  /** Essence type, e.g. `HTML`; empty if the object has none. */
  readonly type: string;
  /** Of the stored object, bytes. */
  readonly length: number;
  /** When the Broker's copy changed, by its own clock (BT-4). */
  readonly changed: UnixSeconds;
  /**
   * When the copy's content changed, by the same clock: before {@link changed} when it was refreshed since
   * (BT-21).
   */
  readonly contentChanged: UnixSeconds;
  /** Update-Time since which the content is unchanged. */
  readonly contentTime: UnixSeconds;
  /** Number of the parts of a large object; 0 = it is stored in one row. */
  readonly partSet?: number;
  /**
   * Whether the Update-Time is one of the Broker's clock, because the Gatherer's was in the future: then the
   * next version from the Gatherer is newer, whatever its time.
   */
  readonly arrivalTime?: boolean;
  /** Number of the collection point from which this version came; 0 = not known. */
  readonly source?: number;
  /** Takes the place of the Update-Time if that turns out to be of a wrong clock; 0 = not known. */
  readonly fallbackTime?: UnixSeconds;
}

/** The Broker's record of an object that it removed (BT-5). */
export interface Removal {
  readonly url: string;
  readonly gathererName: string;
  readonly gathererHost: string;
  readonly gathererVersion: string;
  /** Lower-case hexadecimal digits, or empty. */
  readonly md5: string;
  /** Update-Time of the removed object; an object with a later one is new. */
  readonly updateTime: UnixSeconds;
  /** When the Broker removed it, by its own clock. */
  readonly removed: UnixSeconds;
  /** The last second at which a Broker can have the object. */
  readonly expires: UnixSeconds;
  /** Seconds; 0 = the object would never have expired (SOIF-6.7). */
  readonly timeToLive: number;
  /** As that of {@link RegistryEntry}. */
  readonly fallbackTime?: UnixSeconds;
}

export const schemaCodec = codec<SchemaRecord>('Schema');

export const summaryCodec = codec<Required<SummaryRecord>>('Summary');

/** The index of a generation's export; a list has one entry per block. See records.proto. */
export interface ExportIndex {
  readonly version: number;
  readonly start: number;
  readonly lengths: readonly number[];
  readonly rawLengths: readonly number[];
  readonly crcs: readonly number[];
  readonly objects: readonly number[];
  readonly refreshed: readonly number[];
  readonly firstTimes: readonly UnixSeconds[];
  readonly lastTimes: readonly UnixSeconds[];
  readonly digests: Uint8Array;
  readonly attributes: readonly string[];
  readonly gathererName: string;
  readonly gathererHost: string;
  readonly gathererVersion: string;
  readonly defaultName: string;
  readonly defaultHost: string;
  readonly defaultVersion: string;
}

export const exportIndexCodec = codec<ExportIndex>('ExportIndex');
