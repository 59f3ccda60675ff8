import { decodeSoif, REFRESHED_NAMES, type SoifObject } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { GathererBatch } from '../gatherer/batch.js';
import type { GathererStore } from '../gatherer/store.js';
import type { Summary } from '../summaries/summary-store.js';
import type { DatabaseFile } from './database-file.js';
import type { ToolOptions } from './load.js';
import type { DatabaseRecord } from './record.js';

/** The result of {@link synchronize}. */
export interface SynchronizeCounts {
  readonly objects: number;
  readonly added: number;
  /** Objects with other content. */
  readonly changed: number;
  /** Objects of which only the times or the version changed (SOIF-8.4). */
  readonly refreshed: number;
  readonly deleted: number;
}

/** The limits of one batch: its changes and the bytes of its objects. */
const BATCH_CHANGES = 512;
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Makes the store hold exactly the objects of the database: the first half of `mkindex` (GATHERD-10.1), which
 * needs an index of the objects by time. The store has the previous state, so refreshed objects (GATHERD-4.4)
 * and deleted objects (GATHERD-4.9) are recognized.
 *
 * Iterates over the store to find deleted and changed objects, then over the database's URLs to find new ones.
 * It can be repeated after a crash: readers see no change before the publication.
 */
export async function synchronize(
  database: DatabaseFile,
  store: GathererStore,
  options: ToolOptions & { readonly now: UnixSeconds },
): Promise<SynchronizeCounts> {
  const writer = new BatchWriter(store);
  const counts = { added: 0, changed: 0, refreshed: 0, deleted: 0 };
  for await (const page of store.summaries.iterate({ signal: options.signal })) {
    for (const stored of page) {
      const record = database.get(stored.url);
      if (record === undefined) {
        await writer.delete(stored, options.now);
        counts.deleted++;
      } else if (Buffer.compare(record.soif, stored.soif) !== 0) {
        const refreshed = isRefresh(stored, record);
        await writer.put(summaryOf(record, refreshed ? stored.contentTime : undefined), stored.updateTime);
        counts[refreshed ? 'refreshed' : 'changed']++;
      }
      options.onObject?.();
    }
  }
  await writer.flush();
  for (const urls of database.urls()) {
    options.signal?.throwIfAborted();
    const known = await store.summaries.updateTimes.getMany(urls);
    for (const [i, url] of urls.entries()) {
      if (known[i] !== undefined) continue;
      const record = database.get(url);
      if (record === undefined) continue;
      await writer.put(summaryOf(record, undefined), null);
      counts.added++;
      options.onObject?.();
    }
  }
  await writer.flush();
  return { objects: store.summaries.count, ...counts };
}

/** Collects changes into batches of bounded size. */
class BatchWriter {
  readonly #store: GathererStore;
  #batch: GathererBatch;
  #bytes = 0;

  constructor(store: GathererStore) {
    this.#store = store;
    this.#batch = store.batch();
  }

  async put(summary: Summary, previous: UnixSeconds | null): Promise<void> {
    this.#batch.putSummary(summary, previous);
    this.#bytes += summary.soif.length;
    await this.#flushIfFull();
  }

  /**
   * Deletes an object. Collectors receive the deletion (GATHERD-4.9), unless the object has expired: then the
   * batch adds no tombstone.
   */
  async delete(stored: Summary, now: UnixSeconds): Promise<void> {
    this.#batch.deleteSummary(stored.url, stored.updateTime, { deletedAt: now });
    await this.#flushIfFull();
  }

  async flush(): Promise<void> {
    if (this.#batch.size > 0) await this.#batch.commit();
    this.#batch = this.#store.batch();
    this.#bytes = 0;
  }

  async #flushIfFull(): Promise<void> {
    if (this.#batch.size >= BATCH_CHANGES || this.#bytes >= BATCH_BYTES) await this.flush();
  }
}

function summaryOf(record: DatabaseRecord, contentTime: UnixSeconds | undefined): Summary {
  const { url, updateTime = 0, timeToLive, soif } = record;
  return { url, updateTime, timeToLive, soif, contentTime };
}

const RENEWED = new Set(REFRESHED_NAMES.map((name) => name.toLowerCase()));

/** Whether the record is newer than the stored object and has the same content (SOIF-8.4). */
function isRefresh(stored: Summary, record: DatabaseRecord): boolean {
  if (stored.updateTime === 0 || (record.updateTime ?? 0) <= stored.updateTime) return false;
  return sameContent(decodeSoif(stored.soif), decodeSoif(record.soif));
}

function sameContent(a: SoifObject, b: SoifObject): boolean {
  const contentA = contentOf(a);
  const contentB = contentOf(b);
  if (a.type !== b.type || contentA.size !== contentB.size) return false;
  for (const [name, value] of contentA) {
    const other = contentB.get(name);
    if (other === undefined || Buffer.compare(value, other) !== 0) return false;
  }
  return true;
}

/** Returns the values by lower-case name (SOIF-2.11), the last value of each name (SOIF-5.2). */
function contentOf(object: SoifObject): Map<string, Uint8Array> {
  const values = new Map<string, Uint8Array>();
  for (const { name, value } of object) {
    const folded = name.toLowerCase();
    if (!RENEWED.has(folded)) values.set(folded, value);
  }
  return values;
}
