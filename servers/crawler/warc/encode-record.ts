// Encodes WARC records (WARC 1.1, 4). What is on disk of a block stays there until it is written.
import { createHash } from 'node:crypto';
import type { StoredBody } from '../../../clients/fetch/index.js';
import { base32Sha1 } from './digest.js';
import { type NewWarcRecord, oneLine, warcDate } from './new-record.js';

/** An encoded record: its bytes, with a part that is on disk. */
export interface EncodedRecord {
  readonly begin: readonly Uint8Array[];
  readonly stored?: StoredBody | undefined;
  readonly end: Uint8Array;
}

const RECORD_END = Buffer.from('\r\n\r\n');

/**
 * Encodes a record with its Content-Length and digests. Without a WARC-Payload-Digest among the fields the
 * whole block is the payload; a block that begins with a header needs the field.
 * @throws the errors of reading what is on disk
 */
export async function encodeRecord(record: NewWarcRecord): Promise<EncodedRecord> {
  const { type, block, stored } = record;
  const headers = new Map([
    ['WARC-Type', type as string],
    ['WARC-Record-ID', record.id],
    ['WARC-Date', warcDate(record.date)],
  ]);
  if (type !== 'warcinfo') {
    const digest = await blockDigest(record);
    headers.set('WARC-Block-Digest', digest);
    if (type !== 'revisit') headers.set('WARC-Payload-Digest', digest);
  }
  for (const [name, value] of record.fields) headers.set(name, oneLine(value));
  headers.set('Content-Type', oneLine(record.contentType));
  headers.set('Content-Length', String(blockLength(record)));
  const lines = ['WARC/1.1', ...Array.from(headers, ([name, value]) => `${name}: ${value}`), '', ''];
  return { begin: [Buffer.from(lines.join('\r\n'), 'utf8'), ...block], stored, end: RECORD_END };
}

/** Returns the bytes of a record's block. */
export function blockLength({ block, stored }: Pick<NewWarcRecord, 'block' | 'stored'>): number {
  return block.reduce((sum, piece) => sum + piece.length, stored?.length ?? 0);
}

async function blockDigest({ block, stored }: NewWarcRecord): Promise<string> {
  if (stored !== undefined && block.every(({ length }) => length === 0))
    return base32Sha1(Buffer.from(stored.sha1));
  const hash = createHash('sha1');
  for (const piece of block) hash.update(piece);
  if (stored !== undefined) for await (const piece of stored.pieces()) hash.update(piece);
  return base32Sha1(hash.digest());
}
