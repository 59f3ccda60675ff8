// Writes and reads the file of one object (REG-36).
import { open, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AT } from '../../protocols/ascii.js';
import { errorCode, ProtocolError, StorageError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import type { RegistryRecord } from '../../protocols/registry/index.js';
import {
  type ByteSource,
  decodeText,
  encodeSoif,
  rangeOf,
  readOutline,
  readRange,
  rewriteLarge,
  type SoifBytes,
  SoifDecoder,
  type SoifObject,
  type SoifOutline,
  textOfUrl,
  urlOfBytes,
  urlProblem,
} from '../../protocols/soif/index.js';
import { countRead } from '../files/collect-garbage.js';
import { makeDirectory } from '../files/make-directory.js';
import { openRegular } from '../files/regular-file.js';
import { syncPath } from '../files/sync-path.js';
import { OBJECTS_DIRECTORY, objectFilePath } from './broker-directory.js';
import type { ObjectLocations } from './object-locations.js';

/** The default of the maximum number of bytes of an object file: 64 MiB. */
export const DEFAULT_MAX_OBJECT_BYTES = 64 * 1024 * 1024;

/** An object with its bytes in the layout of SOIF-2.2 (REG-36). */
export interface FileObject {
  /** Of a large object only its bookkeeping attributes and the beginning of its description. */
  readonly object: SoifObject;
  /** Of a large object a source that reads the file. */
  readonly bytes: SoifBytes;
  /** Where the attributes of a large object are in `bytes`, if it has the layout of SOIF-2.2 already. */
  readonly large?: { readonly source: ByteSource; readonly outline: SoifOutline };
}

/** Bytes of a file above which its object is not held in memory. */
const LARGE_FILE_BYTES = 1024 * 1024;

/**
 * Writes the file of an object into a directory that is not in use yet (REG-36); creates its directory. The
 * content is on the disk then, the name after {@link flushObjectNames}.
 */
export async function writeObjectFile(directory: string, oid: number, bytes: SoifBytes): Promise<void> {
  const path = objectFilePath(directory, oid);
  await makeDirectory(dirname(path));
  await using file = await open(path, 'w');
  if (bytes instanceof Uint8Array) await file.writeFile(bytes);
  else {
    for await (const piece of bytes.pieces()) await file.appendFile(piece);
  }
  await file.datasync();
}

/** Flushes the names of all object files to the disk, before a Registry that refers to them gets its name. */
export async function flushObjectNames(directory: string): Promise<void> {
  const objects = join(directory, OBJECTS_DIRECTORY);
  await makeDirectory(objects);
  for (const entry of await readdir(objects, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncPath(join(objects, entry.name));
  }
  await syncPath(objects);
  await syncPath(directory);
}

/**
 * Reads an object's file.
 *
 * @returns a sentence if the file has no object or is larger than `maxBytes`; undefined if there is no file
 *   (REG-38)
 */
export async function readObjectFile(
  path: string,
  maxBytes: number,
): Promise<FileObject | string | undefined> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes) return `its file has ${size} bytes, more than ${maxBytes}`;
    const large = size > LARGE_FILE_BYTES ? await readLargeFile(fileSource(path, size)) : undefined;
    if (large !== undefined) return large;
    // A large file whose object is malformed, or not its first byte, is read alone.
    if (size > LARGE_FILE_BYTES) return await wholeFiles.runExclusive(() => readWholeFile(path, maxBytes));
    return await readWholeFile(path, maxBytes);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (error instanceof StorageError) return 'its file is not a regular one';
    if (code?.startsWith('E') === true) return `its file cannot be read: ${code}`;
    throw error;
  }
}

const wholeFiles = new Mutex();

async function readWholeFile(path: string, maxBytes: number): Promise<FileObject | string> {
  await using file = await openRegular(path);
  const content = await file.readFile();
  countRead(content.length);
  return decodeObjectFile(content, maxBytes);
}

/**
 * The object at the first byte of a large file; undefined if neither a strict nor a lenient reader accepts one.
 */
async function readLargeFile(source: ByteSource): Promise<FileObject | string | undefined> {
  let outline: SoifOutline;
  try {
    const at = await readRange(source, 0, 1);
    if (at[0] !== AT) return undefined;
    outline = await readOutline(source);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return undefined;
  }
  const { head: object, attributes, exact } = outline;
  const unwritable = urlProblem(object.urlBytes, object.type);
  if (unwritable !== undefined) return `its file has no object for this kit: ${unwritable} (SOIF-2.9)`;
  // After the last value: LF, "}", LF.
  const end = (attributes.at(-1)?.end ?? 0) + 3;
  const bytes = exact && end <= source.length ? rangeOf(source, 0, end) : rewriteLarge(source, outline);
  return { object, bytes, large: { source, outline } };
}

/** The file of a record: its object, or why it has no object. */
export type RecordedFile = FileObject | { readonly problem: string; readonly path: string };

/**
 * Reads the file of a record. If several files have its number, it is the one about the record's URL, of those
 * the one with the latest Update-Time.
 *
 * @returns undefined if there is no file (REG-38); a problem if no file has an object about the URL of the
 *   record
 */
export async function readRecordedFile(
  locations: ObjectLocations,
  { oid, url }: Pick<RegistryRecord, 'oid' | 'url'>,
  maxBytes: number,
): Promise<RecordedFile | undefined> {
  let best: (FileObject & { readonly updated: number }) | undefined;
  let first: RecordedFile | undefined;
  for (const path of locations.pathsOf(oid)) {
    const file = await readObjectFile(path, maxBytes);
    if (file === undefined) continue;
    if (typeof file === 'string') {
      first ??= { problem: file, path };
      continue;
    }
    if (file.object.url !== urlOfBytes(url)) {
      const problem = `its file is about ${textOfUrl(file.object.url)}, its record about ${decodeText(url)}`;
      first ??= { problem, path };
      continue;
    }
    const updated = file.object.number('Update-Time') ?? 0;
    if (best === undefined || updated > best.updated) best = { ...file, updated };
  }
  return best ?? first;
}

/** The first object of a file; the Broker stores one object in a file. */
function decodeObjectFile(content: Uint8Array, maxObjectBytes: number): FileObject | string {
  const decoder = new SoifDecoder({ maxObjectBytes: Math.max(1, maxObjectBytes) });
  let problem = 'its file has no object';
  for (const items of [decoder.push(content), decoder.end()]) {
    for (const item of items) {
      if (item.kind === 'warning') {
        problem = `its file has no object: ${item.message} (${item.rule})`;
        continue;
      }
      const { object, offset, length, exact } = item;
      const unwritable = urlProblem(object.urlBytes, object.type);
      if (unwritable !== undefined) return `its file has no object for this kit: ${unwritable} (SOIF-2.9)`;
      return { object, bytes: exact ? content.subarray(offset, offset + length) : encodeSoif(object) };
    }
  }
  return problem;
}

/** Bytes that are read at a time. */
const READ_BYTES = 256 * 1024;

/**
 * The first `length` bytes of a regular file, which each iteration opens and closes.
 *
 * The iteration throws a StorageError if the file is shorter or not a regular one, and system errors.
 */
function fileSource(path: string, length: number): ByteSource {
  return {
    length,
    async *pieces(start = 0, end = length) {
      await using file = await openRegular(path);
      const buffer = Buffer.allocUnsafeSlow(Math.max(0, Math.min(READ_BYTES, end - start)));
      for (let at = start; at < end; ) {
        const wanted = Math.min(buffer.length, end - at);
        const { bytesRead } = await file.read(buffer, 0, wanted, at);
        if (bytesRead === 0) throw new StorageError(`${path} has become shorter while it was read`);
        yield buffer.subarray(0, bytesRead);
        at += bytesRead;
      }
    },
  };
}
