// Update streams that are read from the database, and their compression.
import { once } from 'node:events';
import { constants, crc32, createDeflateRaw } from 'node:zlib';
import type { Complete } from '../../protocols/defined.js';
import { encodeGzipTrailer, GZIP_HEADER } from '../../protocols/gatherd/index.js';
import {
  BOOKKEEPING_NAMES,
  decodeSoif,
  encodeSoif,
  SECTION_CLOSE,
  SECTION_OPEN,
  SoifObject,
} from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { NumberedChange, NumberedChanges, SummarySnapshot } from '../../storage/generations/snapshot.js';
import type { Summary } from '../../storage/summaries/summary-store.js';

/** Counts the objects of an update stream while it is sent. */
export interface ExportCount {
  objects: number;
}

/**
 * Yields the wrapped stream of an update (SOIF-8.8), its sections `@DELETE` and `@REFRESH` empty (GATHERD-4.4).
 */
export async function* streamUpdate(
  snapshot: SummarySnapshot | undefined,
  since: UnixSeconds,
  count: ExportCount,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield OPENING;
  for await (const chunk of snapshot?.exportSince(since, { signal }) ?? []) {
    count.objects += chunk.objects;
    yield chunk.bytes;
  }
  yield SECTION_CLOSE;
}

const OPENING = Buffer.concat([
  SECTION_OPEN.delete,
  SECTION_CLOSE,
  SECTION_OPEN.refresh,
  SECTION_CLOSE,
  SECTION_OPEN.update,
]);

/** Whether `@DELETE` or `@REFRESH` has objects for this time (GATHERD-4.4, 4.9). */
export async function hasOtherSections(snapshot: SummarySnapshot, since: UnixSeconds): Promise<boolean> {
  if (since === 0) return false;
  for await (const page of snapshot.deletionsSince(since)) if (page.length > 0) return true;
  const { ready } = snapshot;
  if (ready === undefined) return false;
  const { partial, rest } = ready.select(since);
  return ready.refreshedIn({ first: partial ?? rest.first, end: rest.end }) > 0;
}

/**
 * Yields the wrapped stream for a client that has sent `SET changes` (GATHERD-4.4, 4.9, 6.11). Reads the
 * changed objects twice, once per section, so that no section is held in memory.
 */
export async function* streamChanges(
  snapshot: SummarySnapshot,
  since: UnixSeconds,
  count: ExportCount,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield SECTION_OPEN.delete;
  for await (const page of snapshot.deletionsSince(since)) {
    signal.throwIfAborted();
    count.objects += page.length;
    yield Buffer.concat(page.map(({ soif }) => soif));
  }
  yield Buffer.concat([SECTION_CLOSE, SECTION_OPEN.refresh]);
  for await (const page of snapshot.summariesSince(since, { signal })) {
    const refreshed = page.filter((summary) => isRefreshed(summary, since));
    count.objects += refreshed.length;
    if (refreshed.length > 0) yield Buffer.concat(refreshed.map(({ soif }) => keepBookkeeping(soif)));
  }
  yield Buffer.concat([SECTION_CLOSE, SECTION_OPEN.update]);
  for await (const page of snapshot.summariesSince(since, { signal })) {
    const changed = page.filter((summary) => !isRefreshed(summary, since));
    count.objects += changed.length;
    if (changed.length > 0) yield Buffer.concat(changed.map(({ soif }) => soif));
  }
  yield SECTION_CLOSE;
}

/**
 * Yields the wrapped stream of the changes after a number (GATHERD-6.13), in their order. Reads them once for
 * each section.
 *
 * @param sections whether the client has sent `SET changes`
 */
export async function* streamNumbered(
  numbered: NumberedChanges,
  after: number,
  sections: boolean,
  count: ExportCount,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const section = async function* (
    select: (change: NumberedChange) => Uint8Array | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const page of numbered.after(after, { signal })) {
      signal.throwIfAborted();
      const objects = page.flatMap((change) => select(change) ?? []);
      count.objects += objects.length;
      if (objects.length > 0) yield Buffer.concat(objects);
    }
  };
  const isRefresh = (change: NumberedChange): boolean =>
    sections && change.kind === 'present' && change.contentSequence <= after;
  yield SECTION_OPEN.delete;
  if (sections) yield* section((change) => (change.kind === 'deleted' ? change.soif : undefined));
  yield Buffer.concat([SECTION_CLOSE, SECTION_OPEN.refresh]);
  if (sections) yield* section((change) => (isRefresh(change) ? keepBookkeeping(change.soif) : undefined));
  yield Buffer.concat([SECTION_CLOSE, SECTION_OPEN.update]);
  yield* section((change) => (change.kind === 'present' && !isRefresh(change) ? change.soif : undefined));
  yield SECTION_CLOSE;
}

/**
 * GATHERD-4.4: whether only the Update-Time has changed since `since`, so that the client has the object's
 * content already.
 */
function isRefreshed({ contentTime }: Complete<Summary>, since: UnixSeconds): boolean {
  return contentTime > 0 && contentTime < since;
}

const BOOKKEEPING = new Set(BOOKKEEPING_NAMES.map((name) => name.toLowerCase()));

/** SOIF-8.4: encodes the object with the attributes that a `@REFRESH` section contains. */
function keepBookkeeping(soif: Uint8Array): Uint8Array {
  const object = decodeSoif(soif, { maxObjectBytes: Math.max(1, soif.length) });
  const kept = object.attributes.filter(({ name }) => BOOKKEEPING.has(name.toLowerCase()));
  return encodeSoif(
    SoifObject.of(
      object.type,
      object.url,
      kept.map(({ name, value }) => [name, value]),
    ),
  );
}

/** Bytes of one piece of deflate output, and of the buffer of the deflate stream. */
const PIECE_BYTES = 64 * 1024;

/**
 * GATHERD-6.3: compresses a stream into exactly one gzip member, in the thread pool, at the speed at which the
 * result is consumed.
 */
export async function* compressToMember(
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const sum = { crc: 0, size: 0 };
  yield GZIP_HEADER;
  yield* deflateStream(content, sum);
  yield encodeGzipTrailer(sum.crc, sum.size);
}

async function* deflateStream(
  content: AsyncIterable<Uint8Array>,
  sum: { crc: number; size: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  const deflate = createDeflateRaw({ level: constants.Z_DEFAULT_COMPRESSION, chunkSize: PIECE_BYTES });
  // The iteration over the stream throws the error.
  deflate.on('error', () => {});
  const stop = new AbortController();
  const feed = async () => {
    for await (const bytes of content) {
      if (stop.signal.aborted) return;
      sum.crc = crc32(bytes, sum.crc);
      sum.size += bytes.length;
      if (!deflate.write(bytes)) await once(deflate, 'drain', { signal: stop.signal });
    }
    deflate.end();
  };
  const feeding = feed().catch((error: Error) => void deflate.destroy(error));
  try {
    for await (const piece of deflate) yield piece;
  } finally {
    // If the consumer stops early, the feeder still waits for a drain event.
    stop.abort();
    await feeding;
    deflate.destroy();
  }
}
