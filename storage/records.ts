import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { StorageError } from '../protocols/errors.js';
import type { UnixSeconds } from '../protocols/time.js';

/**
 * The schemas that this program writes, by kind of store. A store of a newer one is refused with a StorageError. A Broker's
 * has been 2 since it remembers when its copies changed (BT-4).
 */
export const SCHEMA_VERSION = { gatherer: 1, broker: 2 } as const;

/** Turns one kind of record into bytes and back. `decode` throws a {@link StorageError} for damaged bytes. */
export interface RecordCodec<T> {
  encode(record: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

/** How protobufjs hands out a 64-bit field: a number, or its Long object. */
type Wire64 = number | { toNumber(): number };

/** A record as protobufjs decodes it: the same fields, 64-bit ones as {@link Wire64}. */
type Wire<T> = { readonly [K in keyof T]: T[K] extends number ? Wire64 : T[K] };

const schemaFile = fileURLToPath(import.meta.resolve('#records.proto'));
const root = protobuf.parse(readFileSync(schemaFile, 'utf8')).root;

function codec<T extends object>(name: string, fromWire: (wire: Wire<T>) => T): RecordCodec<T> {
  const type = root.lookupType(`harvest.storage.${name}`);
  return {
    encode: (record) => type.encode(record).finish(),
    decode(bytes) {
      try {
        return fromWire(type.decode(bytes) as protobuf.Message & Wire<T>);
      } catch (cause) {
        throw new StorageError(`a ${name} record of ${bytes.length} bytes is damaged`, { cause });
      }
    },
  };
}

/** All our 64-bit fields are times, sizes and counts below 2^53, which {@link requireInteger} sees to. */
function int(value: Wire64): number {
  return typeof value === 'number' ? value : value.toNumber();
}

export interface SchemaRecord {
  readonly kind: string;
  readonly version: number;
}

export interface GathererCounters {
  readonly summaries: number;
  readonly tombstones: number;
}

export interface LinkCounters {
  /** The highest document ID that was allotted; 0 = none. */
  readonly documents: number;
  /** The highest server ID. */
  readonly servers: number;
  /** Counts the changes that a publication of the references would show. */
  readonly changes: number;
}

export interface SummaryRecord {
  readonly timeToLive: number;
  /** The object as it goes over the wire. */
  readonly soif: Uint8Array;
  /** 0 = the Update-Time of the row's key. */
  readonly contentTime?: UnixSeconds;
}

/** What is left of a deleted summary. */
export interface TombstoneRecord {
  /** An object without content: type, URL, Gatherer. */
  readonly soif: Uint8Array;
  readonly expires: UnixSeconds;
}

/** One link of a document, kept so that a document that did not change can be enumerated again without fetching. */
export interface DocumentLink {
  readonly url: string;
  /** `L` link, `E` embed, `R` redirect. */
  readonly hop: string;
}

/** What the crawl remembers of a document. */
export interface DocumentRecord {
  readonly url: string;
  /** The fetch status of the crawl engine: HTTP codes, or negative ones of its own. */
  readonly status: number;
  readonly fetchTime: UnixSeconds;
  /** Update-Time of the document's summary; 0 = it has none. */
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
  /** Digest of the summarizer rules in force: another digest means the summary is to be made again. */
  readonly rulesDigest: string;
  /** Its links are in the references' tables; false in the records of older programs. */
  readonly referenced: boolean;
  /** URLs of its objects where they are not its own: of what it was exploded into (E-47), or that a rule gave it (E-130). */
  readonly objects: readonly string[];
}

/** A document of the link databases, or what a link leads to. */
export interface ReferenceDocument {
  /** u32, from 1. */
  readonly id: number;
  /** u32, from 1. */
  readonly server: number;
  /** Last modification; 0 = unknown. */
  readonly time: UnixSeconds;
  /** When it was fetched; 0 = never, or it is gone. */
  readonly checkTime: UnixSeconds;
  /** Bytes. */
  readonly length: number;
}

/** A URI that waits to be crawled. */
export interface QueuedUri {
  readonly url: string;
  /** The URL that led here; empty for a root. */
  readonly via: string;
  /** Hop letters from the root. */
  readonly pathFromSeed: string;
  /** Index of the RootNode. */
  readonly root: number;
  readonly depth: number;
  readonly attempts: number;
  readonly forceFetch: boolean;
  readonly isLeaf: boolean;
  /** What it takes from its queue's budget (CRAWL-9.10). */
  readonly cost: number;
  /** The seed from which it descends (CRAWL-2.9); empty: not noted. */
  readonly sourceTag: string;
}

/** CRAWL-5.4: what of a queue's state outlives the process. Ready, snoozed and in process are one to it: active. */
export const QUEUE_STATUS = { active: 0, inactive: 1, retired: 2 } as const;

/** Where a queue stands (CRAWL-5.2.1). */
export interface QueueRecord {
  readonly classKey: string;
  /** See {@link QUEUE_STATUS}. */
  readonly status: number;
  /** URIs in it. */
  readonly count: number;
  /** URIs that were ever put in. */
  readonly enqueued: number;
  readonly sessionBalance: number;
  /** What a turn's balance begins with. */
  readonly replenish: number;
  readonly totalExpenditure: number;
  /** -1 = none. */
  readonly totalBudget: number;
  readonly successes: number;
  readonly errors: number;
  /** Of successes. */
  readonly bytes: number;
  readonly lastCost: number;
  /** Milliseconds since 1970 until which it sleeps; 0 = it does not. */
  readonly wakeTime: number;
  /** Why it waits; empty = it does not. */
  readonly reason: string;
  readonly precedence: number;
  /** Its place in the table of inactive queues. */
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
}

export interface BrokerCounters {
  readonly objects: number;
  readonly sequence: number;
  readonly nextOid: number;
  readonly trimmed: number;
  /** Time of the last change by the store's clock; 0 = there was none. */
  readonly lastChange: UnixSeconds;
  readonly removals: number;
}

/** What the Broker knows of an object without reading it (the Registry's record). */
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
  /** Essence type, e.g. `HTML`; empty when the object does not say. */
  readonly type: string;
  /** Of the stored object, bytes. */
  readonly length: number;
  /** When the Broker's copy changed, by its own clock (BT-4). */
  readonly changed: UnixSeconds;
  /** When the copy's content changed, by the same clock: before {@link changed} when it was refreshed since (BT-21). */
  readonly contentChanged: UnixSeconds;
  /** Update-Time since which the content is what it is. */
  readonly contentTime: UnixSeconds;
}

/** What the Broker remembers of an object that it removed (BT-5). */
export interface Removal {
  readonly url: string;
  readonly gathererName: string;
  readonly gathererHost: string;
  readonly gathererVersion: string;
  /** Lower-case hexadecimal digits, or empty. */
  readonly md5: string;
  /** The object is gone up to this Update-Time; a later one is another object. */
  readonly updateTime: UnixSeconds;
  /** When the Broker removed it, by its own clock. */
  readonly removed: UnixSeconds;
  /** The last second at which anybody can have the object. */
  readonly expires: UnixSeconds;
  /** Seconds; 0 = the object would never have expired (SOIF-6.7). */
  readonly timeToLive: number;
}

export const schemaCodec = codec<SchemaRecord>('Schema', (w) => ({ kind: w.kind, version: int(w.version) }));

export const gathererCountersCodec = codec<GathererCounters>('GathererCounters', (w) => ({
  summaries: int(w.summaries),
  tombstones: int(w.tombstones),
}));

export const linkCountersCodec = codec<LinkCounters>('LinkCounters', (w) => ({
  documents: int(w.documents),
  servers: int(w.servers),
  changes: int(w.changes),
}));

export const summaryCodec = codec<Required<SummaryRecord>>('Summary', (w) => ({
  timeToLive: int(w.timeToLive),
  soif: w.soif,
  contentTime: int(w.contentTime),
}));

/** What a generation's ready-made export is made of: a list has one entry a block. See records.proto. */
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

export const exportIndexCodec = codec<ExportIndex>('ExportIndex', (w) => ({
  version: int(w.version),
  start: int(w.start),
  lengths: w.lengths,
  rawLengths: w.rawLengths,
  crcs: w.crcs,
  objects: w.objects,
  refreshed: w.refreshed,
  firstTimes: w.firstTimes.map(int),
  lastTimes: w.lastTimes.map(int),
  digests: w.digests,
  attributes: w.attributes,
  gathererName: w.gathererName,
  gathererHost: w.gathererHost,
  gathererVersion: w.gathererVersion,
  defaultName: w.defaultName,
  defaultHost: w.defaultHost,
  defaultVersion: w.defaultVersion,
}));

export const tombstoneCodec = codec<TombstoneRecord>('Tombstone', (w) => ({
  soif: w.soif,
  expires: int(w.expires),
}));

export const tombstoneIdentityCodec = codec<{ readonly deletionTime: UnixSeconds }>(
  'TombstoneIdentity',
  (w) => ({ deletionTime: int(w.deletionTime) }),
);

export const summaryIdentityCodec = codec<{ readonly updateTime: UnixSeconds }>('SummaryIdentity', (w) => ({
  updateTime: int(w.updateTime),
}));

/** The URL is in the row's key. */
export const documentCodec = codec<Omit<DocumentRecord, 'url'>>('Document', (w) => ({
  status: int(w.status),
  fetchTime: int(w.fetchTime),
  updateTime: int(w.updateTime),
  refreshRate: int(w.refreshRate),
  lastModificationTime: int(w.lastModificationTime),
  etag: w.etag,
  md5: w.md5,
  type: w.type,
  size: int(w.size),
  links: w.links.map(({ url, hop }) => ({ url, hop })),
  rulesDigest: w.rulesDigest,
  referenced: w.referenced,
  objects: w.objects,
}));

/** The URL is in the row's key. */
export const referenceDocumentCodec = codec<ReferenceDocument>('ReferenceDocument', (w) => ({
  id: int(w.id),
  server: int(w.server),
  time: int(w.time),
  checkTime: int(w.checkTime),
  length: int(w.length),
}));

export const referenceServerCodec = codec<{ readonly id: number }>('ReferenceServer', (w) => ({
  id: int(w.id),
}));

export const referenceLinksCodec = codec<{ readonly ids: Uint8Array }>('ReferenceLinks', (w) => ({
  ids: w.ids,
}));

export const queuedUriCodec = codec<QueuedUri>('QueuedUri', (w) => ({
  url: w.url,
  via: w.via,
  pathFromSeed: w.pathFromSeed,
  root: int(w.root),
  depth: int(w.depth),
  attempts: int(w.attempts),
  forceFetch: w.forceFetch,
  isLeaf: w.isLeaf,
  cost: int(w.cost),
  sourceTag: w.sourceTag,
}));

export const queueRecordCodec = codec<Omit<QueueRecord, 'classKey'>>('WorkQueue', (w) => ({
  status: int(w.status),
  count: int(w.count),
  enqueued: int(w.enqueued),
  sessionBalance: int(w.sessionBalance),
  replenish: int(w.replenish),
  totalExpenditure: int(w.totalExpenditure),
  totalBudget: int(w.totalBudget),
  successes: int(w.successes),
  errors: int(w.errors),
  bytes: int(w.bytes),
  lastCost: int(w.lastCost),
  wakeTime: int(w.wakeTime),
  reason: w.reason,
  precedence: int(w.precedence),
  sequence: int(w.sequence),
  lastQueued: w.lastQueued,
  lastPeeked: w.lastPeeked,
}));

export const frontierStateCodec = codec<FrontierState>('FrontierState', (w) => ({
  nextOrdinal: int(w.nextOrdinal),
  nextSequence: int(w.nextSequence),
  succeeded: int(w.succeeded),
  failed: int(w.failed),
  disregarded: int(w.disregarded),
  bytes: int(w.bytes),
}));

/** Exactly one of the two is set: `value` names it. */
export const metaValueCodec = codec<{
  readonly text?: string;
  readonly number?: number;
  readonly value?: string;
}>('MetaValue', (w) => (w.value === 'number' ? { number: int(w.number ?? 0) } : { text: w.text ?? '' }));

export const brokerCountersCodec = codec<BrokerCounters>('BrokerCounters', (w) => ({
  objects: int(w.objects),
  sequence: int(w.sequence),
  nextOid: int(w.nextOid),
  trimmed: int(w.trimmed),
  lastChange: int(w.lastChange),
  removals: int(w.removals),
}));

/** The OID is in the row's key. */
export const registryEntryCodec = codec<Omit<RegistryEntry, 'oid'>>('RegistryEntry', (w) => {
  const updateTime = int(w.updateTime);
  const changed = int(w.changed) || updateTime;
  return {
    url: w.url,
    gathererName: w.gathererName,
    gathererHost: w.gathererHost,
    gathererVersion: w.gathererVersion,
    updateTime,
    lastModificationTime: int(w.lastModificationTime),
    refreshRate: int(w.refreshRate),
    timeToLive: int(w.timeToLive),
    md5: w.md5,
    description: w.description,
    type: w.type,
    length: int(w.length),
    changed,
    contentChanged: int(w.contentChanged) || changed,
    contentTime: int(w.contentTime) || updateTime,
  };
});

/** The digest in the row's key is made of what is here. */
export const removalCodec = codec<Removal>('Removal', (w) => ({
  url: w.url,
  gathererName: w.gathererName,
  gathererHost: w.gathererHost,
  gathererVersion: w.gathererVersion,
  md5: w.md5,
  updateTime: int(w.updateTime),
  removed: int(w.removed),
  expires: int(w.expires),
  timeToLive: int(w.timeToLive),
}));

export const urlObjectsCodec = codec<{ readonly oids: readonly number[] }>('UrlObjects', (w) => ({
  oids: [...w.oids],
}));

export const contentMarkCodec = codec<{ readonly oid: number }>('ContentMark', (w) => ({ oid: int(w.oid) }));

export const changeCodec = codec<{ readonly oid: number; readonly removed: boolean }>('Change', (w) => ({
  oid: int(w.oid),
  removed: w.removed,
}));

export const collectionPointCodec = codec<{ readonly last: UnixSeconds }>('CollectionPoint', (w) => ({
  last: int(w.last),
}));
