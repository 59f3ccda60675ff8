// The query thread of the embedded engine.
import { parentPort, workerData } from 'node:worker_threads';
import { openObjectReader } from '../../broker/object-reader.js';
import { collectGarbage, collectOnRequest, LARGE_BYTES } from '../../files/collect-garbage.js';
import { indexedPartOf } from '../columns/indexed-part.js';
import type { Hit, SearchOutcome } from '../contract.js';
import { countObjects, openIndexFile, readWatermark } from './index/index-file.js';
import { plainError, type QueryReply, type QueryRequest, type QueryWorkerData } from './messages.js';
import { type Search, SearchEngine } from './search/search.js';

/**
 * A batch is sent when it has this many hits or characters of matched lines, or when its first hit is this old.
 */
const BATCH_HITS = 64;
const BATCH_CHARACTERS = 128 * 1024;
const BATCH_MS = 5;
/** Milliseconds after which a search whose reader requests nothing keeps no objects in memory. */
const IDLE_MS = 500;
/** Number of searches up to which they keep their objects until then. */
const MAX_KEEPING = 8;

interface Running {
  readonly search: Search;
  readonly hits: AsyncGenerator<Hit, SearchOutcome>;
  /** Settles when the current batch has been sent. */
  working: Promise<void>;
  /** Drops the objects in memory of a search whose reader requests nothing for a while. */
  idle: NodeJS.Timeout | undefined;
}

/** Runs the searches of one index in this thread, each only while its reader requests batches. */
async function serve(port: NonNullable<typeof parentPort>, data: QueryWorkerData): Promise<void> {
  const send = (reply: QueryReply) => port.postMessage(reply);
  const db = openIndexFile(data.file, data);
  /** Whether a large object was read since the last garbage collection. */
  let hasReadLarge = false;
  let reader: Awaited<ReturnType<typeof openObjectReader>>;
  try {
    const { maxIndexedBytes } = data.searchLimits;
    reader = await openObjectReader(data.storeDirectory, (object) => {
      if (object.length >= LARGE_BYTES) {
        collectGarbage();
        hasReadLarge = true;
      }
      return indexedPartOf(object, maxIndexedBytes);
    });
  } catch (error) {
    db.close();
    throw error;
  }
  const engine = new SearchEngine(db, reader, data.queryLimits, data.searchLimits);
  const running = new Map<number, Running>();
  /** Lists of words under way. */
  const listings = new Set<Promise<void>>();

  const fill = async (id: number, query: Running): Promise<void> => {
    const batch: Hit[] = [];
    let characters = 0;
    let firstAt = 0;
    if (!running.has(id)) return;
    const { search } = query;
    clearTimeout(query.idle);
    await search.begin();
    try {
      for (;;) {
        const step = await query.hits.next();
        if (step.done) {
          running.delete(id);
          send({ kind: 'batch', id, hits: batch, outcome: step.value });
          return;
        }
        if (batch.length === 0) firstAt = performance.now();
        batch.push(step.value);
        for (const line of step.value.lines) characters += line.text.length;
        const full = batch.length >= BATCH_HITS || characters >= BATCH_CHARACTERS;
        if (full || performance.now() - firstAt >= BATCH_MS) break;
      }
      if (running.size > MAX_KEEPING) search.shrink();
      else query.idle = setTimeout(() => search.shrink(), IDLE_MS);
      send({ kind: 'batch', id, hits: batch });
    } catch (error) {
      running.delete(id);
      send({ kind: 'failed', id, error: plainError(error, data.file) });
    } finally {
      search.end();
      // The thread may rest for hours.
      if (hasReadLarge && !running.has(id)) {
        hasReadLarge = false;
        collectGarbage();
      }
    }
  };

  const close = async () => {
    for (const { search } of running.values()) search.slice.cancel();
    await Promise.all([...listings, ...Array.from(running.values(), ({ working }) => working)]);
    await reader.close();
    db.close();
    port.close();
  };

  port.on('message', (request: QueryRequest) => {
    if (request.kind === 'close') {
      void close();
      return;
    }
    const { id } = request;
    if (request.kind === 'words') {
      const listing = engine.words(request.request).then(
        (words) => send({ kind: 'words', id, words }),
        (error: unknown) => send({ kind: 'failed', id, error: plainError(error, data.file) }),
      );
      listings.add(listing);
      void listing.finally(() => listings.delete(listing));
      return;
    }
    if (request.kind === 'query') {
      const search = engine.search(request.expression, request.options);
      running.set(id, { search, hits: search.hits(), working: Promise.resolve(), idle: undefined });
    }
    const query = running.get(id);
    if (query === undefined) return;
    if (request.kind === 'pause') {
      query.search.slice.hold();
      if (running.size > MAX_KEEPING) query.search.shrink();
      return;
    }
    if (request.kind === 'resume') {
      query.search.slice.resume();
      return;
    }
    if (request.kind === 'stop') query.search.slice.cancel();
    // After a stop too: the search then unwinds and reports its outcome.
    query.working = query.working.then(() => fill(id, query));
  });
  send({ kind: 'ready', watermark: readWatermark(db), objects: countObjects(db) });
}

if (parentPort !== null) {
  const port = parentPort;
  collectOnRequest();
  serve(port, workerData as QueryWorkerData).catch((error: unknown) => {
    port.postMessage({
      kind: 'unusable',
      error: plainError(error, (workerData as QueryWorkerData).file),
    } satisfies QueryReply);
    port.close();
  });
}
