// The update thread of the embedded engine.
import { parentPort, workerData } from 'node:worker_threads';
import { decodeSoif, type SoifObject } from '../../../protocols/soif/index.js';
import { collectGarbage, collectOnRequest, LARGE_BYTES } from '../../files/collect-garbage.js';
import { COLUMN_WEIGHTS, columnTexts } from '../columns/columns.js';
import {
  countObjects,
  type IndexDatabase,
  openIndexFile,
  readBatch,
  scalar,
  writeMeta,
} from './index/index-file.js';
import { LinkTextWriter, linkKeysOf, linkLinesOf, urlDigest } from './index/link-texts.js';
import { type Outline, OutlineWriter, outlineOf } from './index/outlines.js';
import { SpellingWriter } from './index/spellings.js';
import {
  type PackedChange,
  plainError,
  type UpdateReply,
  type UpdateRequest,
  type UpdateWorkerData,
} from './messages.js';

const NOTHING = new Uint8Array(0);
/** Approximate memory of a change in addition to the bytes of the object. */
const CHANGE_BYTES = 64;

/** The only writer of an index: groups changes into transactions of bounded size. */
class IndexWriter {
  readonly #db: IndexDatabase;
  readonly #transactionBytes: number;
  readonly #put;
  readonly #remove;
  #batch: number;
  readonly #links: LinkTextWriter;
  readonly #outlines: OutlineWriter;
  readonly #spellings: SpellingWriter;
  /**
   * The objects changed by the open transaction; the value is the digest of the URL, or undefined if the index
   * has the object no longer.
   */
  readonly #changed = new Map<number, number | undefined>();
  #pending = 0;
  #open = false;
  /** Number of objects in the index, without the open transaction. */
  #objects: number;

  constructor(options: UpdateWorkerData) {
    this.#db = openIndexFile(options.file, options);
    this.#transactionBytes = options.transactionBytes;
    const names = COLUMN_WEIGHTS.map(({ name }) => name);
    this.#put = this.#db.prepare(
      `INSERT OR REPLACE INTO words(rowid, ${names.join(', ')}) VALUES(?${', ?'.repeat(names.length)})`,
    );
    this.#remove = this.#db.prepare('DELETE FROM words WHERE rowid = ?');
    this.#links = new LinkTextWriter(this.#db);
    this.#outlines = new OutlineWriter(this.#db);
    this.#spellings = new SpellingWriter(this.#db);
    this.#batch = readBatch(this.#db);
    this.#objects = countObjects(this.#db);
  }

  get objects(): number {
    return this.#objects;
  }

  /** Applies the changes; of a large object, which has a message of its own, it takes the bytes away. */
  apply(message: { bytes: Uint8Array; readonly changes: readonly PackedChange[] }): void {
    for (const { oid, start, end } of message.changes) {
      this.#begin();
      const entry = end > start ? entryIfValid(message.bytes.subarray(start, end)) : undefined;
      // SQLite copies the texts: nothing else of the object is in memory then.
      const isLarge = end - start >= LARGE_BYTES && message.changes.length === 1;
      if (isLarge) {
        message.bytes = NOTHING;
        collectGarbage();
      }
      if (entry === undefined) {
        this.#remove.run(oid);
      } else {
        this.#put.run(oid, ...entry.texts);
        for (const text of entry.texts) this.#spellings.add(text);
      }
      this.#changed.set(oid, entry?.url);
      this.#links.set(oid, entry?.links ?? []);
      this.#outlines.set(oid, entry?.outline);
      if (isLarge) {
        entry?.texts.splice(0);
        collectGarbage();
      }
      this.#pending += end - start + CHANGE_BYTES;
      // Without the watermark: after a crash these changes are applied again, which is idempotent.
      if (this.#pending >= this.#transactionBytes) this.#commit();
    }
  }

  /** BRK-8.2, 8.3: the changes and their watermark become durable together. */
  flush(watermark: number): void {
    this.#begin();
    writeMeta(this.#db, 'watermark', watermark);
    this.#commit();
  }

  clear(): void {
    this.#begin();
    this.#db.exec("INSERT INTO words(words) VALUES('delete-all')");
    this.#changed.clear();
    this.#db.exec('DELETE FROM object');
    this.#links.clear();
    this.#outlines.clear();
    this.#spellings.clear();
    this.#db.exec('DELETE FROM spelling');
    this.#objects = 0;
    writeMeta(this.#db, 'watermark', 0);
    this.#commit();
  }

  /** Changes that were not flushed are lost; the watermark does not include them. */
  close(): void {
    try {
      if (this.#open) this.#db.exec('ROLLBACK');
      // Explicit, because this connection may not be the last one: the owner's thread has another
      // (quick-search.ts).
      this.merge();
    } finally {
      this.#db.close();
    }
  }

  /** Writes the file beside the index into it, as far as no reader needs it. Does nothing within a transaction. */
  merge(): void {
    if (!this.#open) this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
  }

  #begin(): void {
    if (this.#open) return;
    this.#db.exec('BEGIN IMMEDIATE');
    this.#open = true;
    this.#batch++;
  }

  /**
   * Writes the other tables only at the end of the transaction: FTS5 flushes its memory whenever a statement on
   * another table begins, which would create an index segment for each object.
   */
  #commit(): void {
    const changed = [...this.#changed];
    const oids = (indexed: boolean) =>
      JSON.stringify(changed.flatMap(([oid, url]) => ((url !== undefined) === indexed ? [oid] : [])));
    const removed = this.#db
      .prepare('DELETE FROM object WHERE oid IN (SELECT value FROM json_each(?))')
      .run(oids(false)).changes;
    const put = oids(true);
    // A replaced object counts as a change of the INSERT, too.
    const known = Number(
      scalar(this.#db, 'SELECT count(*) FROM object WHERE oid IN (SELECT value FROM json_each(?))', put),
    );
    const written = this.#db
      .prepare(
        `INSERT OR REPLACE INTO object(oid, batch, url)
        SELECT json_extract(value, '$[0]'), ?, json_extract(value, '$[1]') FROM json_each(?)`,
      )
      .run(this.#batch, JSON.stringify(changed.filter(([, url]) => url !== undefined))).changes;
    this.#links.write();
    this.#outlines.write();
    this.#spellings.write();
    this.#objects += written - known - removed;
    this.#changed.clear();
    writeMeta(this.#db, 'batch', this.#batch);
    writeMeta(this.#db, 'objects', this.#objects);
    this.#db.exec('COMMIT');
    this.#open = false;
    this.#pending = 0;
  }
}

/** What the tables have of an object. */
interface Entry {
  readonly texts: string[];
  readonly url: number;
  readonly links: readonly number[];
  readonly outline: Outline;
}

/**
 * Returns undefined for an object that is not valid SOIF: it is removed from the index instead of ending the
 * run.
 */
function entryIfValid(bytes: Uint8Array): Entry | undefined {
  let object: SoifObject;
  try {
    object = decodeSoif(bytes);
  } catch {
    return undefined;
  }
  const lines = linkLinesOf(object);
  return {
    texts: columnTexts(object),
    url: urlDigest(object.url),
    links: linkKeysOf(lines),
    outline: outlineOf(object, lines),
  };
}

/**
 * Answers requests in order. After a failure every answer is that failure, because changes are missing from
 * then on.
 */
function serve(port: NonNullable<typeof parentPort>, data: UpdateWorkerData): void {
  let writer: IndexWriter | undefined;
  let failure: UpdateReply | undefined;
  const perform = (request: Exclude<UpdateRequest, { kind: 'close' }>) => {
    writer ??= new IndexWriter(data);
    if (request.kind === 'apply') writer.apply(request);
    else if (request.kind === 'flush') writer.flush(request.watermark);
    else if (request.kind === 'merge') writer.merge();
    else writer.clear();
  };
  port.on('message', (request: UpdateRequest) => {
    try {
      if (request.kind === 'close') {
        port.close();
        writer?.close();
        return;
      }
      if (failure === undefined) perform(request);
    } catch (error) {
      failure = { kind: 'failed', error: plainError(error, data.file) };
    }
    if (request.kind === 'close') return;
    const done: UpdateReply = { kind: 'done', objects: writer?.objects ?? 0 };
    port.postMessage(failure ?? done);
  });
}

if (parentPort !== null) {
  collectOnRequest();
  serve(parentPort, workerData as UpdateWorkerData);
}
