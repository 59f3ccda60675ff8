// Reads the objects of any source as a stream: database files, Gatherer directories, GDBM files, SOIF files and
// streams, compressed or not.
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { errorCode, KitError, StorageError } from '../../protocols/errors.js';
import {
  decodeSoif,
  encodeSoif,
  SectionDecoder,
  type SectionName,
  type SoifObject,
  urlProblem,
} from '../../protocols/soif/index.js';
import { GathererStore } from '../gatherer/store.js';
import { Generations } from '../generations/generations.js';
import type { ExportChunk } from '../summaries/summary-store.js';
import { DatabaseFile } from './database-file.js';
import { describeKind, type LocatedSource, locateSource } from './file-kind.js';
import { type GdbmOptions, type GdbmRecord, readGdbm, readGdbmDump } from './gdbm-dump.js';

/** How to read a source. */
export interface SourceOptions extends Omit<GdbmOptions, 'maxRecordBytes'> {
  /** The maximum size of an object in bytes. Larger objects are skipped with a warning. Default 64 MiB. */
  readonly maxObjectBytes?: number;
}

/** An object of a source. The next object may reuse its memory: copy what you keep. */
export interface SourceObject {
  /** Always `update`, except in a wrapped stream (SOIF-8.4). */
  readonly section: SectionName;
  readonly object: SoifObject;
  /** The object in the layout of SOIF-2.2. */
  readonly bytes: Uint8Array;
}

const DEFAULT_MAX_OBJECT_BYTES = 64 * 1024 * 1024;

/**
 * Yields the objects of a source: a database file, an original GDBM database or its dump, a SOIF stream (plain
 * or gzip, wrapped or not), a data directory or its generations (see `locateSource`). Memory is bounded by the
 * largest object.
 *
 * @throws StorageError if the path does not exist, is of another kind, or is damaged
 */
export async function* openSource(path: string, options: SourceOptions = {}): AsyncGenerator<SourceObject> {
  yield* openLocated(await locateSource(path), options);
}

/** Same as {@link openSource} for a result of `locateSource`. */
export async function* openLocated(
  { path, kind }: LocatedSource,
  options: SourceOptions = {},
): AsyncGenerator<SourceObject> {
  const limit = options.maxObjectBytes ?? DEFAULT_MAX_OBJECT_BYTES;
  const gdbm: GdbmOptions = { ...options, maxRecordBytes: limit };
  switch (kind) {
    case 'empty':
      return;
    case 'database':
      return yield* databaseObjects(path, options);
    case 'gdbm':
      return yield* recordObjects(path, readGdbm(path, gdbm), options);
    case 'gdbm-dump':
      return yield* recordObjects(path, readGdbmDump(path, gdbm), options);
    case 'generations':
      return yield* generationObjects(path, options);
    case 'working':
      return yield* workingObjects(path, options);
    case 'gzip':
    case 'text':
      return yield* readStream(createReadStream(path), path, options);
    case 'foreign-gdbm':
      throw new StorageError(`${path} is ${describeKind(kind)}`);
  }
}

/**
 * Yields the objects of a SOIF stream: plain text or one or more gzip members, with or without the wrappers of
 * an update stream.
 *
 * @param name the stream's name, for messages
 * @throws StorageError if the stream cannot be read, its compression is invalid, or it has bytes but no SOIF
 */
export async function* readStream(
  input: Readable,
  name: string,
  options: SourceOptions = {},
): AsyncGenerator<SourceObject> {
  let size = 0;
  let found = false;
  const decoder = new SectionDecoder({ maxObjectBytes: options.maxObjectBytes ?? DEFAULT_MAX_OBJECT_BYTES });
  const objectsOf = function* (items: ReturnType<SectionDecoder['push']>): Generator<SourceObject> {
    for (const item of items) {
      if (item.kind === 'warning') {
        options.onWarning?.(`${name}: ${item.message} (${item.rule}, offset ${item.offset})`);
        continue;
      }
      found = true;
      if (item.kind !== 'object') continue;
      const { section, object } = item;
      const problem = urlProblem(object.urlBytes, object.type);
      if (problem !== undefined) options.onWarning?.(`${name}: skipped: ${problem} (SOIF-2.9)`);
      else yield { section, object, bytes: item.exact ? item.bytes : encodeSoif(object) };
    }
  };
  try {
    for await (const chunk of decompressed(input)) {
      options.signal?.throwIfAborted();
      size += chunk.length;
      yield* objectsOf(decoder.push(chunk));
    }
    yield* objectsOf(decoder.end());
  } catch (cause) {
    const code = errorCode(cause) ?? '';
    if (/^Z_|^E[A-Z]+$/.test(code)) {
      const what = code.startsWith('Z_') ? 'is broken gzip' : 'cannot be read';
      throw new StorageError(`${name} ${what}: ${cause instanceof Error ? cause.message : code}`, { cause });
    }
    throw cause;
  }
  if (size > 0 && !found) {
    throw new StorageError(`${name} has no SOIF object and is not a database of a known kind`);
  }
}

async function* databaseObjects(path: string, options: SourceOptions): AsyncGenerator<SourceObject> {
  using database = DatabaseFile.open(path, { readOnly: true });
  for (const page of database.pages()) {
    for (const { url, soif } of page) {
      try {
        yield { section: 'update', object: decodeSoif(soif), bytes: soif };
      } catch (error) {
        warnSkipped(`${path}: ${url}`, error, options);
      }
    }
    // SQLite is synchronous, so timers and signals are handled only between pages.
    await nextTurn();
    options.signal?.throwIfAborted();
  }
}

async function* recordObjects(
  path: string,
  records: AsyncIterable<GdbmRecord>,
  options: SourceOptions,
): AsyncGenerator<SourceObject> {
  let total = 0;
  let readable = 0;
  for await (const { key, value } of records) {
    total++;
    try {
      const object = decodeSoif(value);
      const bytes = encodeSoif(object);
      readable++;
      yield { section: 'update', object, bytes };
    } catch (error) {
      warnSkipped(`${path}: ${key.toString('latin1').replace(/\0+$/, '')}`, error, options);
    }
  }
  if (total > 0 && readable === 0) {
    throw new StorageError(
      `${path}: none of its ${total} records is a SOIF object; is it an INDEX.gdbm or MD5.gdbm?`,
    );
  }
}

async function* generationObjects(path: string, options: SourceOptions): AsyncGenerator<SourceObject> {
  await using snapshot = await new Generations(path).open();
  yield* chunkObjects(snapshot.exportSince(0, { signal: options.signal }));
}

async function* workingObjects(path: string, options: SourceOptions): AsyncGenerator<SourceObject> {
  await using store = await GathererStore.open(path, { create: false });
  for await (const page of store.summaries.iterate({ signal: options.signal })) {
    for (const { soif } of page) yield { section: 'update', object: decodeSoif(soif), bytes: soif };
  }
}

async function* chunkObjects(chunks: AsyncIterable<ExportChunk>): AsyncGenerator<SourceObject> {
  const decoder = new SectionDecoder();
  for await (const { bytes } of chunks) {
    for (const item of decoder.push(bytes)) {
      if (item.kind === 'object') yield { section: 'update', object: item.object, bytes: item.bytes };
    }
  }
}

function warnSkipped(what: string, error: unknown, options: SourceOptions): void {
  if (!(error instanceof KitError)) throw error;
  options.onWarning?.(`${what}: skipped: ${error.message}`);
}

/** Yields the bytes of `input`, decompressed if they start with the gzip magic number. */
async function* decompressed(input: Readable): AsyncGenerator<Uint8Array> {
  const source = chunksOf(input);
  const head: Uint8Array[] = [];
  let length = 0;
  while (length < 2) {
    const next = await source.next();
    if (next.done === true) break;
    head.push(next.value);
    length += next.value.length;
  }
  const first = Buffer.concat(head);
  const allBytes = async function* (): AsyncGenerator<Uint8Array> {
    if (first.length > 0) yield first;
    yield* source;
  };
  if (first[0] !== 0x1f || first[1] !== 0x8b) return yield* allBytes();
  const gunzip = createGunzip();
  const piping = pipeline(allBytes, gunzip);
  // The iteration throws the same error. Leaving it early ends the pipeline with an error that must be ignored.
  piping.catch(() => undefined);
  for await (const chunk of gunzip) yield chunk as Uint8Array;
}

async function* chunksOf(input: Readable): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) yield chunk as Uint8Array;
}
