// The tables of the Gatherer's working store beside its summaries: keys, rows, and what the login seal hides of
// them.
import { bufferOf } from '../../protocols/ascii.js';
import type { Sealing } from '../generations/login-seal.js';
import {
  type DocumentLink,
  type DocumentRecord,
  type FrontierState,
  type LinkCounters,
  type QueuedUri,
  type QueueRecord,
  type ReferenceDocument,
  rowCodec,
  type WaitingUriRecord,
} from '../records/records.js';
import { keysOf, numbersKey, oidKeys, TABLE, type TableByte, textKeys } from '../rows/keys.js';
import { type RowCodec, SingleRow, TableFormat } from '../rows/table.js';
import { parseQueueKey, type QueueEntry, type QueuePosition, queueKey } from './queues.js';

/** An event of a crawl and its place among all events. */
export interface StoredEvent {
  /** 0 to 2^48 - 1, in the order of the batches. */
  readonly sequence: number;
  /** JSON. */
  readonly text: string;
}

/** The position of an inactive queue. The byte order of the keys is the order in which queues become active. */
export interface InactivePosition {
  /** 0 to 255, lower first (CRAWL-9.11). */
  readonly precedence: number;
  /** First in, first out: 0 to 2^48 - 1. */
  readonly sequence: number;
  readonly classKey: string;
}

/** The byte order of its key is the order in which waiting URIs are due. */
export interface WaitingPosition {
  /** Milliseconds since 1970. */
  readonly dueTime: number;
  readonly entry: Pick<QueuePosition, 'ordinal'>;
}

/** A URI that waits for a retry. */
export interface WaitingUri extends WaitingPosition {
  /** Its place in its queue, to which it returns. */
  readonly entry: QueueEntry;
  /** CRAWL-8.1, of the last attempt. */
  readonly status: number;
  /** Why the last attempt failed. */
  readonly reason: string;
}

/** The place of a URI that another process has found. */
export interface InboxPlace {
  readonly partition: number;
  /** 0 to 2^48 - 1, of the process that has sent it. */
  readonly sender: number;
  /** 0 to 2^48 - 1. */
  readonly sequence: number;
}

/** A URI that another process has found. */
export interface InboxRow extends InboxPlace {
  /** JSON. */
  readonly text: string;
}

/** Small named values: digest of the job, state of the run, counters. */
export type MetaValue = string | number;

/** The crawl's counters; undefined if no crawl has begun. */
export const FRONTIER_STATE = new SingleRow<FrontierState, undefined>(
  'frontier',
  rowCodec('FrontierState'),
  undefined,
);

export const LINK_COUNTERS = new SingleRow<LinkCounters>('links', rowCodec('LinkCounters'), {
  documents: 0,
  servers: 0,
  changes: 0,
});

/** The rows as they are written: with sealed logins, without what their keys say. */
export const ROWS = {
  documents: new TableFormat<string, Omit<DocumentRecord, 'url'>>(
    textKeys(TABLE.documents),
    rowCodec('Document'),
  ),
  queues: new TableFormat<QueuePosition, QueuedUri>(
    keysOf(TABLE.queues, (_, position) => queueKey(position), parseQueueKey),
    rowCodec('QueuedUri'),
  ),
  waiting: new TableFormat<WaitingPosition, WaitingUriRecord>(
    keysOf(TABLE.waiting, waitingKey, parseWaitingKey),
    rowCodec('WaitingUri'),
  ),
  queueRecords: new TableFormat<string, Omit<QueueRecord, 'classKey'>>(
    textKeys(TABLE.queueRecords),
    rowCodec('WorkQueue'),
  ),
  /** Either `text` or `number` is set. */
  meta: new TableFormat<string, { readonly text?: string; readonly number?: number }>(
    textKeys(TABLE.meta),
    rowCodec('MetaValue'),
  ),
  /** URLs have the form of R-41. */
  referenceDocuments: new TableFormat<string, ReferenceDocument>(
    textKeys(TABLE.referenceDocuments),
    rowCodec('ReferenceDocument'),
  ),
  /** By `host:port`. */
  referenceServers: new TableFormat<string, { readonly id: number }>(
    textKeys(TABLE.referenceServers),
    rowCodec('ReferenceServer'),
  ),
  referenceLinks: new TableFormat<number, { readonly ids: Uint8Array }>(
    oidKeys(TABLE.referenceLinks),
    rowCodec('ReferenceLinks'),
  ),
} as const;

/** Rows whose bytes are the crawler's concern. */
const BYTES: RowCodec<unknown, Uint8Array> = { encode: (bytes) => bytes, decode: (bytes) => bytes };
const TEXT: RowCodec<unknown, string> = {
  encode: (text) => Buffer.from(text),
  decode: (bytes) => bufferOf(bytes).toString(),
};

const EVENTS = new TableFormat<number, string>(
  keysOf(
    TABLE.events,
    (table, sequence) => numbersKey(table, [['sequence', sequence, 6]]),
    (key) => bufferOf(key).readUIntBE(1, 6),
  ),
  TEXT,
);

const INACTIVE_QUEUES = new TableFormat<Omit<InactivePosition, 'classKey'>, string>(
  keysOf(
    TABLE.inactiveQueues,
    (table, { precedence, sequence }) =>
      numbersKey(table, [
        ['precedence', precedence, 1],
        ['sequence', sequence, 6],
      ]),
    (key) => ({ precedence: key[1] ?? 0, sequence: bufferOf(key).readUIntBE(2, 6) }),
  ),
  TEXT,
);

const INBOX = new TableFormat<InboxPlace, string>(
  keysOf(
    TABLE.inbox,
    (table, { partition, sender, sequence }) =>
      numbersKey(table, [
        ['partition', partition, 2],
        ['sender', sender, 6],
        ['sequence', sequence, 6],
      ]),
    (key) => {
      const bytes = bufferOf(key);
      return {
        partition: bytes.readUInt16BE(1),
        sender: bytes.readUIntBE(3, 6),
        sequence: bytes.readUIntBE(9, 6),
      };
    },
  ),
  TEXT,
);

export type GathererFormats = ReturnType<typeof gathererFormats>;

/** The tables that batches change and readers see, with open logins. */
export function gathererFormats(seal: Sealing) {
  return {
    documents: ROWS.documents.map<DocumentRecord>(
      (record, url) => ({ url, ...record, links: mapLinks(record.links, (link) => seal.open(link)) }),
      (document) => ({ ...document, links: mapLinks(document.links, (url) => seal.seal(url)) }),
    ),
    queues: ROWS.queues.map<QueueEntry>(
      (uri, position) => ({ ...position, uri: seal.openUri(uri) }),
      ({ uri }) => seal.sealUri(uri),
    ),
    waiting: ROWS.waiting.map<WaitingUri>(
      ({ classKey, directive, precedence, uri, status, reason }, { dueTime, entry: { ordinal } }) => ({
        dueTime,
        entry: { classKey, directive, precedence, ordinal, uri: seal.openUri(uri) },
        status,
        reason: seal.open(reason),
      }),
      ({ entry, status, reason }) => ({
        ...entry,
        uri: seal.sealUri(entry.uri),
        status,
        reason: seal.seal(reason),
      }),
    ),
    queueRecords: ROWS.queueRecords.map<QueueRecord>(
      (record, classKey) => ({ classKey, ...record, ...mapTexts(record, (text) => seal.open(text)) }),
      (record) => ({ ...record, ...mapTexts(record, (text) => seal.seal(text)) }),
    ),
    inactiveQueues: INACTIVE_QUEUES.map<InactivePosition>(
      (classKey, position) => ({ ...position, classKey }),
      ({ classKey }) => classKey,
    ),
    events: EVENTS.map<StoredEvent>(
      (text, sequence) => ({ sequence, text }),
      ({ text }) => text,
    ),
    histories: new TableFormat<string, Uint8Array>(textKeys(TABLE.histories), BYTES),
    cookies: new TableFormat<string, Uint8Array>(textKeys(TABLE.cookies), BYTES),
    inbox: INBOX.map<InboxRow>(
      (text, place) => ({ ...place, text: seal.open(text) }),
      ({ text }) => seal.seal(text),
    ),
    meta: ROWS.meta.map<MetaValue>(
      ({ number, text }) => number ?? seal.open(text ?? ''),
      (value) => (typeof value === 'number' ? { number: value } : { text: seal.seal(value) }),
    ),
  } as const;
}

/** Returns the same list if no URL changes, as nearly always. */
function mapLinks(links: readonly DocumentLink[], map: (url: string) => string): readonly DocumentLink[] {
  if (links.every(({ url }) => map(url) === url)) return links;
  return links.map((link) => ({ ...link, url: map(link.url) }));
}

/** The texts of a queue's record that may have logins. */
function mapTexts(
  { lastPeeked, lastQueued, reason }: Pick<QueueRecord, 'lastPeeked' | 'lastQueued' | 'reason'>,
  map: (text: string) => string,
) {
  return { lastPeeked: map(lastPeeked), lastQueued: map(lastQueued), reason: map(reason) };
}

/** Due time (6 bytes), ordinal (6 bytes). */
function waitingKey(table: TableByte, { dueTime, entry }: WaitingPosition): Uint8Array {
  return numbersKey(table, [
    ['dueTime', dueTime, 6],
    ['ordinal', entry.ordinal, 6],
  ]);
}

function parseWaitingKey(key: Uint8Array): WaitingPosition {
  const bytes = bufferOf(key);
  return { dueTime: bytes.readUIntBE(1, 6), entry: { ordinal: bytes.readUIntBE(7, 6) } };
}
