// The rows of a summary: what each holds, how the object is put together from them, and its checksum.
//
// A refresh of a document that has not changed sets two times in its object. So that it writes a small row
// instead of the whole object, the object's bytes are a row of their own, under the time since which they are
// unchanged; the summary's row has the times of the refresh.
import { crc32 } from 'node:zlib';
import { StorageError } from '../../protocols/errors.js';
import { decodeSoif, encodeSoif } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { adviceFor } from '../files/advice.js';
import { type SummaryRecord, summaryCodec } from '../records/records.js';
import { keyOrder, keyUrl, orderedUrlKey, TABLE } from '../rows/keys.js';

/** A smaller object is written with its summary's row, and read without a second one. */
const MIN_CONTENT_BYTES = 1024;

const OTHER_CHECKSUM = 'has another checksum than when it was stored';

/** A row gets its numbers when it is written. */
const NO_NUMBERS = { sequence: 0, contentSequence: 0 } as const;

/** A summary's row. */
export type SummaryRow = Required<SummaryRecord> & { readonly url: string; readonly updateTime: UnixSeconds };

export function summaryKey(updateTime: UnixSeconds, url: string): Uint8Array {
  return orderedUrlKey(TABLE.summaries, updateTime, url);
}

/** Key of the row with the object's bytes; undefined if they are in the summary's row. */
export function contentKey({ url, contentTime, soif }: SummaryRow): Uint8Array | undefined {
  return soif.length > 0 ? undefined : orderedUrlKey(TABLE.summaryContents, contentTime, url);
}

/** The row of a new summary, and the bytes of its object if they are a row of their own. */
export function newRow(
  summary: Pick<SummaryRow, 'url' | 'updateTime' | 'timeToLive' | 'soif' | 'contentTime'>,
): { readonly row: SummaryRow; readonly content: Uint8Array | undefined } {
  const { updateTime, contentTime, soif } = summary;
  const crc = summaryCrc(updateTime, soif);
  const row = { ...summary, ...NO_NUMBERS, crc, length: soif.length, lastModificationTime: 0 };
  // Time 0 means that the object has no Update-Time.
  const isSeparate = contentTime === updateTime && updateTime > 0 && soif.length >= MIN_CONTENT_BYTES;
  return isSeparate
    ? { row: { ...row, soif: new Uint8Array(0) }, content: soif }
    : { row, content: undefined };
}

/**
 * The row of a summary whose object is unchanged at a later time, and the bytes of the object if they are not a
 * row of their own yet.
 *
 * @param lastModificationTime that its server gives now; 0 = unknown
 */
export function refreshedRow(
  row: SummaryRow,
  updateTime: UnixSeconds,
  lastModificationTime: UnixSeconds,
): { readonly row: SummaryRow; readonly content: Uint8Array | undefined } {
  const { soif, contentTime, url } = row;
  if (soif.length === 0) return { row: { ...row, updateTime, lastModificationTime }, content: undefined };
  if (soif.length < MIN_CONTENT_BYTES || contentTime === 0)
    return newRow({ ...row, updateTime, soif: withTimes(soif, url, updateTime, lastModificationTime) });
  const crc = summaryCrc(contentTime, soif);
  const refreshed = { ...row, updateTime, lastModificationTime, crc, length: soif.length };
  return { row: { ...refreshed, soif: new Uint8Array(0) }, content: soif };
}

/**
 * Decodes a summary's row.
 *
 * @throws StorageError if it is damaged, or has another object than the one that was stored
 */
export function decodeSummaryRow(directory: string, key: Uint8Array, value: Uint8Array): SummaryRow {
  const [url, updateTime] = [keyUrl(key, 9), keyOrder(key)];
  let record: Required<SummaryRecord>;
  try {
    record = summaryCodec.decode(value);
  } catch (cause) {
    throw damagedSummary(directory, url, 'cannot be read', cause);
  }
  const row = { ...record, url, updateTime, contentTime: record.contentTime || updateTime };
  if (row.soif.length === 0 && row.length === 0) throw damagedSummary(directory, url, 'cannot be read');
  if (row.soif.length > 0 && !isObjectOf(row, undefined))
    throw damagedSummary(directory, url, OTHER_CHECKSUM);
  return row;
}

export function encodeSummaryRow({ updateTime, contentTime, ...row }: SummaryRow): Uint8Array {
  return summaryCodec.encode({ ...row, contentTime: contentTime === updateTime ? 0 : contentTime });
}

/**
 * The object as it goes over the wire.
 *
 * @param content the row at {@link contentKey}
 * @throws StorageError if it is not the one that was stored
 */
export function objectOf(directory: string, row: SummaryRow, content: Uint8Array | undefined): Uint8Array {
  const { url, updateTime, contentTime, soif, lastModificationTime } = row;
  if (soif.length > 0) return soif;
  if (content === undefined) throw damagedSummary(directory, url, 'has lost its object');
  if (!isObjectOf(row, content)) throw damagedSummary(directory, url, OTHER_CHECKSUM);
  const isAsStored = updateTime === contentTime && lastModificationTime === 0;
  return isAsStored ? content : withTimes(content, url, updateTime, lastModificationTime);
}

/**
 * Whether bytes are the object of a row; an object in the row itself is compared instead. A row of an earlier
 * version has no checksum.
 *
 * @param content the row at {@link contentKey}
 */
export function isObjectOf(row: SummaryRow, content: Uint8Array | undefined): boolean {
  const { soif, updateTime, contentTime, crc } = row;
  if (soif.length > 0) return crc === 0 || summaryCrc(updateTime, soif) === crc;
  return content !== undefined && summaryCrc(contentTime, content) === crc;
}

/**
 * Sets the times of a refresh. Former versions of this kit percent-encoded bytes of the URL in an object
 * (SOIF-2.9), but not in its key.
 */
function withTimes(
  soif: Uint8Array,
  url: string,
  updateTime: UnixSeconds,
  lastModificationTime: UnixSeconds,
): Uint8Array {
  const object = decodeSoif(soif, { maxObjectBytes: soif.length }).withUrl(url);
  return encodeSoif(
    object.with([
      ['Update-Time', String(updateTime)],
      ['Last-Modification-Time', String(lastModificationTime)],
    ]),
  );
}

/**
 * The checksum of a summary's object. It begins with its Update-Time, so that the bytes of another version do
 * not pass.
 */
function summaryCrc(updateTime: UnixSeconds, soif: Uint8Array): number {
  return crc32(soif, updateTime >>> 0);
}

export function damagedSummary(
  directory: string,
  url: string,
  problem: string,
  cause?: unknown,
): StorageError {
  return new StorageError(
    `the store in ${directory} is damaged: the summary of ${url} ${problem}; ${adviceFor(directory)}`,
    { cause },
  );
}
