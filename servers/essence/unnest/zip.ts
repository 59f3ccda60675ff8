import { isUtf8 } from 'node:buffer';
import type { Entry, ZipFile } from 'yauzl';
import { messageOf } from '../../../protocols/errors.js';
import { DOS_CHARSETS, NameDecoder } from '../charset/decode.js';
import { UnnestError } from '../errors.js';
import { type Chunks, chunksOf, collect, decodeName, emptyContent, type Member } from './chunks.js';
import { inflateRaw } from './decompress.js';

const LINK = 0o120000;

/**
 * Yields the members of a zip archive (E-44). The central directory is at the end, so the archive is read into
 * memory, at most `limit` bytes. In a truncated archive the members are found by their local headers.
 */
export async function* zipMembers(chunks: Chunks, limit: number): AsyncIterable<Member> {
  const bytes = Buffer.from(await collect(chunks, limit));
  const { fromBufferPromise } = await import('yauzl');
  let zip: ZipFile;
  try {
    zip = await fromBufferPromise(bytes, { decodeStrings: false, lazyEntries: true });
  } catch (error) {
    yield* membersByLocalHeaders(bytes);
    throw damageError(error);
  }
  const names = namesOf(bytes);
  try {
    for await (const entry of zip.eachEntry()) {
      const name = entryName(entry, names);
      if (name.endsWith('/')) continue;
      const isLink = ((entry.externalFileAttributes >>> 16) & 0o170000) === LINK;
      if (isLink) yield { name, content: emptyContent(), special: 'a link' };
      else yield { name, content: content(zip, entry) };
    }
  } catch (error) {
    throw error instanceof UnnestError ? error : damageError(error);
  } finally {
    zip.close();
  }
}

/**
 * Identifier of the extra field with the name in UTF-8, and the bytes before it: a version and a checksum of
 * the other name.
 */
const UNICODE_PATH = 0x7075;
const UNICODE_PATH_HEAD = 5;

/**
 * Decodes the name of an entry. The UTF-8 flag is often missing, so `decodeStrings` is false and the bytes
 * decide.
 */
function entryName(entry: Entry, names: NameDecoder): string {
  const unicode = entry.extraFields.find(({ id }) => id === UNICODE_PATH)?.data.subarray(UNICODE_PATH_HEAD);
  const raw = isUtf8(entry.fileNameRaw) || unicode === undefined ? entry.fileNameRaw : unicode;
  return decodeName(raw, names).replaceAll('\\', '/');
}

/** Programs of DOS and Windows write names in a set of DOS; others in that of their system. */
const DOS_SYSTEMS = new Set([0, 6, 10, 11, 14]);

/**
 * Reads the names of the central directory, because one alone may be too short for a guess of the character
 * set.
 */
function namesOf(bytes: Buffer): NameDecoder {
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const start = end >= 0 && end + 20 <= bytes.length ? bytes.readUInt32LE(end + 16) : bytes.length;
  const signature = Buffer.from('PK\x01\x02', 'latin1');
  const isEntry = (offset: number) =>
    offset + 46 <= bytes.length && bytes.subarray(offset, offset + 4).equals(signature);
  const names = new NameDecoder(isEntry(start) && DOS_SYSTEMS.has(bytes[start + 5] ?? 3) ? DOS_CHARSETS : []);
  for (let offset = start; isEntry(offset); ) {
    const nameSize = bytes.readUInt16LE(offset + 28);
    if (!names.learn(bytes.subarray(offset + 46, offset + 46 + nameSize))) break;
    offset += 46 + nameSize + bytes.readUInt16LE(offset + 30) + bytes.readUInt16LE(offset + 32);
  }
  return names;
}

async function* content(zip: ZipFile, entry: Entry): Chunks {
  if (entry.isEncrypted()) throw new UnnestError('the member is encrypted', 'E-44');
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) yield chunk;
  } catch (error) {
    throw damageError(error);
  }
}

/** Finds the local headers of a truncated archive. */
function* membersByLocalHeaders(bytes: Buffer): Generator<Member> {
  const names = new NameDecoder();
  for (let offset = bytes.indexOf('PK\x03\x04', 0, 'latin1'); offset >= 0 && offset + 30 <= bytes.length; ) {
    const flags = bytes.readUInt16LE(offset + 6);
    const method = bytes.readUInt16LE(offset + 8);
    const nameSize = bytes.readUInt16LE(offset + 26);
    const begin = offset + 30 + nameSize + bytes.readUInt16LE(offset + 28);
    const name = decodeName(bytes.subarray(offset + 30, offset + 30 + nameSize), names).replaceAll('\\', '/');
    const known = (flags & 8) === 0;
    const size = known ? bytes.readUInt32LE(offset + 18) : bytes.length - begin;
    const plain = (flags & 1) === 0 && (method === 8 || (method === 0 && known));
    if (plain && begin < bytes.length && !name.endsWith('/')) {
      const packed = chunksOf(bytes.subarray(begin, begin + size));
      yield { name, content: method === 8 ? inflateRaw(packed) : packed };
    }
    offset = bytes.indexOf('PK\x03\x04', known ? begin + size : begin, 'latin1');
  }
}

function damageError(error: unknown): UnnestError {
  const message = messageOf(error);
  return new UnnestError(`a damaged zip archive: ${message}`, 'E-44', error);
}
