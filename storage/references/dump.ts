import type { ServerRecord, UrlRecord } from './contract.js';
import { pagesOf } from './link-table.js';
import type { ReferencesReader } from './reader.js';

/** The text format of links: the output of `db_dump`, or lines of two numbers. */
export type DumpFormat = 'bytevalue' | 'pairs';

/** The approximate size of a chunk in bytes or characters. */
const CHUNK_BYTES = 1 << 16;
/** The longest pair: two numbers of ten digits and two separators. */
const MAX_PAIR_BYTES = 22;

const HEADER = 'VERSION=3\nformat=bytevalue\ntype=btree\nduplicates=1\nHEADER=END\n';
const FOOTER = 'DATA=END\n';
const SPACE = 0x20;
const LF = 0x0a;
const ZERO = 0x30;
const DIGITS = Buffer.from('0123456789abcdef');

/**
 * Yields the links of a generation as text, keys ascending, each key's links in stored order.
 * `harvest links load` reads both formats, Berkeley DB's `db_load` the first. Chunks are not reused.
 */
export function* dumpLinks(
  reader: ReferencesReader,
  kind: 'refs' | 'hubs',
  format: DumpFormat,
): Generator<Uint8Array, void, undefined> {
  if (format === 'bytevalue') yield Buffer.from(HEADER);
  const append = format === 'bytevalue' ? appendRecord : appendPair;
  let chunk = new Uint8Array(CHUNK_BYTES);
  let offset = 0;
  for (const key of reader.keys(kind)) {
    for (const page of pagesOf(reader.links(kind, key))) {
      for (const id of page) {
        if (offset > CHUNK_BYTES - MAX_PAIR_BYTES) {
          yield chunk.subarray(0, offset);
          chunk = new Uint8Array(CHUNK_BYTES);
          offset = 0;
        }
        offset = append(chunk, offset, key, id);
      }
    }
  }
  yield chunk.subarray(0, offset);
  if (format === 'bytevalue') yield Buffer.from(FOOTER);
}

/** Each append function writes at `offset` and returns the offset after its text. */
function appendRecord(chunk: Uint8Array, offset: number, key: number, id: number): number {
  return appendHexLine(chunk, appendHexLine(chunk, offset, key), id);
}

/** Writes an ID as its four bytes in little-endian order, e.g. ` 0a000000` for 10. */
function appendHexLine(chunk: Uint8Array, offset: number, id: number): number {
  chunk[offset] = SPACE;
  for (let byte = 0; byte < 4; byte++) {
    const value = (id >>> (8 * byte)) & 0xff;
    chunk[offset + 1 + 2 * byte] = DIGITS[value >>> 4] ?? 0;
    chunk[offset + 2 + 2 * byte] = DIGITS[value & 0xf] ?? 0;
  }
  chunk[offset + 9] = LF;
  return offset + 10;
}

function appendPair(chunk: Uint8Array, offset: number, key: number, id: number): number {
  const middle = appendNumber(chunk, offset, key);
  chunk[middle] = SPACE;
  const end = appendNumber(chunk, middle + 1, id);
  chunk[end] = LF;
  return end + 1;
}

function appendNumber(chunk: Uint8Array, offset: number, value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  let rest = value;
  for (let position = offset + digits - 1; position >= offset; position--) {
    const tenth = Math.floor(rest / 10);
    chunk[position] = ZERO + rest - 10 * tenth;
    rest = tenth;
  }
  return offset + digits;
}

/** Yields the documents as JSON lines, ascending by ID, in the format that `harvest links load` reads. */
export function* dumpDocuments(reader: ReferencesReader): Generator<string, void, undefined> {
  yield* inChunks(reader.documents(), ({ id, url, time, checkTime, length, serverId }: UrlRecord) =>
    JSON.stringify({ id, url, time, checktime: checkTime, length, server: serverId }),
  );
}

/** Yields the servers as JSON lines, ascending by ID. */
export function* dumpServers(reader: ReferencesReader): Generator<string, void, undefined> {
  yield* inChunks(reader.servers(), (server: ServerRecord) => JSON.stringify(server));
}

/** Yields the lines of the items, joined to chunks of about 64 KiB. */
function* inChunks<T>(items: Iterable<T>, lineOf: (item: T) => string): Generator<string, void, undefined> {
  let text = '';
  for (const item of items) {
    text += `${lineOf(item)}\n`;
    if (text.length < CHUNK_BYTES) continue;
    yield text;
    text = '';
  }
  yield text;
}
