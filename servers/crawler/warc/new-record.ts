import { randomUUID } from 'node:crypto';
import type { StoredBody } from '../../../clients/fetch/index.js';

/** The record types that a crawl writes (WARC 1.1, 6). */
type WarcRecordType =
  | 'warcinfo'
  | 'response'
  | 'request'
  | 'resource'
  | 'revisit'
  | 'conversion'
  | 'metadata';

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
  /** The end of the block if it is on disk, where it stays until the record is written. */
  readonly stored?: StoredBody | undefined;
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

/** Replaces line ends in the value of a field by spaces. */
export function oneLine(value: string): string {
  return value.replace(/[\r\n]+/g, ' ');
}
