import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { HeadersMultiMap, StatusAndHeaders, WARC_1_1, WARCRecord, WARCSerializer } from 'warcio';
import { sha1Base32 } from './digest.js';

const compressGzip = promisify(gzip);

/** The record types that a crawl writes (WARC 1.1, 6). */
export type WarcRecordType = 'warcinfo' | 'response' | 'request' | 'resource' | 'revisit' | 'metadata';

/** A record to be written. */
export interface NewWarcRecord {
  readonly type: WarcRecordType;
  /** `<urn:uuid:...>`, see {@link newRecordId}; other records of the capture refer to it. */
  readonly id: string;
  /** WARC-Date: milliseconds since 1970. */
  readonly date: number;
  /** Media type of the block. */
  readonly contentType: string;
  /** Other named fields in their order. Line ends within a value become spaces. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The content block in pieces; they must not change until the record is written. */
  readonly block: readonly Uint8Array[];
}

/** Returns a new WARC-Record-ID. */
export function newRecordId(): string {
  return `<urn:uuid:${randomUUID()}>`;
}

/** Formats a WARC-Date of WARC 1.1: UTC with milliseconds. */
export function warcDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Returns the block of a record of type application/warc-fields. */
export function warcFields(fields: readonly (readonly [name: string, value: string])[]): Uint8Array {
  return Buffer.from(fields.map(([name, value]) => `${name}: ${oneLine(value)}\r\n`).join(''), 'utf8');
}

/**
 * Encodes a record with its Content-Length and digests, as one gzip member if `compress` is set. Without a WARC-Payload-Digest among the
 * fields the whole block is the payload; a block that begins with a header needs the field.
 */
export async function serializeRecord(record: NewWarcRecord, compress: boolean): Promise<Uint8Array> {
  const headers = new SingleValues();
  headers.set('WARC-Type', record.type);
  headers.set('WARC-Record-ID', record.id);
  headers.set('WARC-Date', warcDate(record.date));
  if (record.type !== 'warcinfo') {
    // The library computes digests with a WebAssembly module that it instantiates for every record.
    const digest = sha1Base32(...record.block);
    headers.set('WARC-Block-Digest', digest);
    if (record.type !== 'revisit') headers.set('WARC-Payload-Digest', digest);
  }
  for (const [name, value] of record.fields) headers.set(name, oneLine(value));
  headers.set('Content-Type', oneLine(record.contentType));
  const warcHeaders = new StatusAndHeaders({ statusline: WARC_1_1, headers });
  const bytes = await WARCSerializer.serialize(new WARCRecord({ warcHeaders, reader: record.block }));
  return compress ? await compressGzip(bytes) : bytes;
}

/**
 * Headers whose values are not split. The library splits values at `,,,` and refuses several values in fields that allow only one, e.g. in
 * the WARC-Target-URI of a page whose URI has three commas in a row.
 */
class SingleValues extends HeadersMultiMap {
  override isMultiValue(): boolean {
    return false;
  }
}

function oneLine(value: string): string {
  return value.replace(/[\r\n]+/g, ' ');
}
