// Brings the URLs of a store that an earlier version wrote into the form that the present one gives them: otherwise the
// next run would add every document a second time.
import { decodeSoif, encodeSoif } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { referenceUrl, surt } from '../../protocols/urls/index.js';
import type { DocumentRecord } from '../records/records.js';
import type { RowChange, RowWriter } from '../rows/contract.js';
import { Table } from '../rows/table.js';
import type { SummaryStore } from '../summaries/summary-store.js';
import type { GathererBatch } from './batch.js';
import type { DocumentStore } from './documents.js';
import type { WorkQueueStore } from './queues.js';
import { LINK_COUNTERS, ROWS, type WaitingPosition, type WaitingUri } from './tables.js';

/** The form of a URL; undefined, or the URL itself, if it keeps its form. */
type UrlForm = (url: string) => string | undefined;

/** The parts of a store that have URLs. */
interface RenamedStore {
  readonly documents: DocumentStore;
  readonly summaries: SummaryStore;
  readonly histories: Table<string, Uint8Array>;
  readonly queues: WorkQueueStore;
  readonly waiting: Table<WaitingPosition, WaitingUri>;
  batch(): GathererBatch;
}

const ID_BYTES = 4;

/**
 * Renames the documents of a store whose URLs have another form, with their objects, earlier fetches and pending URIs. Of
 * two documents that become one the one stays that was fetched last. The old names of objects leave tombstones and the
 * new ones have the present as Update-Time, so that Brokers follow at their next collection. Can be repeated after a
 * crash.
 *
 * @returns the number of documents
 */
export async function renameDocuments(store: RenamedStore, form: UrlForm, now: UnixSeconds): Promise<number> {
  let renamed = 0;
  for await (const page of store.documents.pages()) {
    const batch = store.batch();
    const changes = page.flatMap((document) => {
      const url = formOf(form, document.url);
      return url === document.url ? [] : [{ document, url }];
    });
    const present = await store.documents.getMany(changes.map(({ url }) => url));
    for (const [i, { document, url }] of changes.entries()) {
      const isNewest = (present[i]?.fetchTime ?? -1) < document.fetchTime;
      await renameDocument(store, batch, document, isNewest ? url : undefined, now);
      renamed++;
    }
    if (batch.size > 0) await batch.commit();
  }
  await renamePending(store, form);
  return renamed;
}

/** CRAWL-18.4 */
const historyKey = (url: string): string => surt(url, { preserveCase: true });
const formOf = (form: UrlForm, url: string): string => form(url) ?? url;

/** @param to undefined for a document that another one replaces */
async function renameDocument(
  store: RenamedStore,
  batch: GathererBatch,
  document: DocumentRecord,
  to: string | undefined,
  now: UnixSeconds,
): Promise<void> {
  const { url, objects } = document;
  // The members of an archive are named after it.
  const rename = (name: string) => (name.startsWith(url) ? `${to}${name.slice(url.length)}` : name);
  let { updateTime } = document;
  for (const name of [url, ...objects.filter((object) => object.startsWith(url))]) {
    const summary = await store.summaries.get(name);
    if (summary === undefined) continue;
    batch.deleteSummary(name, summary.updateTime, { deletedAt: now });
    if (to === undefined) continue;
    const time = summary.updateTime === 0 ? 0 : now;
    const object = decodeSoif(summary.soif, { maxObjectBytes: summary.soif.length }).withUrl(rename(name));
    const soif = encodeSoif(time === 0 ? object : object.with([['Update-Time', String(time)]]));
    batch.putSummary({ url: rename(name), updateTime: time, timeToLive: summary.timeToLive, soif });
    updateTime = time;
  }
  const history = await store.histories.get(historyKey(url));
  if (history !== undefined) {
    batch.deleteHistory(historyKey(url));
    if (to !== undefined) batch.putHistory(historyKey(to), history);
  }
  batch.deleteDocument(url);
  if (to !== undefined) batch.putDocument({ ...document, url: to, updateTime, objects: objects.map(rename) });
}

async function renamePending(store: RenamedStore, form: UrlForm): Promise<void> {
  for await (const page of store.queues.pages()) {
    const batch = store.batch();
    for (const entry of page) {
      const url = formOf(form, entry.uri.url);
      if (url !== entry.uri.url) batch.enqueue({ ...entry, uri: { ...entry.uri, url } });
    }
    if (batch.size > 0) await batch.commit();
  }
  for await (const page of store.waiting.pages()) {
    const batch = store.batch();
    for (const waiting of page) {
      const { entry } = waiting;
      const url = formOf(form, entry.uri.url);
      if (url !== entry.uri.url)
        batch.putWaiting({ ...waiting, entry: { ...entry, uri: { ...entry.uri, url } } });
    }
    if (batch.size > 0) await batch.commit();
  }
}

/**
 * Renames the documents of the links whose names have another form than R-41 gives them now. They keep their IDs; of two
 * that become one the later one keeps its own.
 *
 * @returns whether a name changed
 */
export async function renameReferences(database: RowWriter): Promise<boolean> {
  const documents = new Table(database, ROWS.referenceDocuments);
  const { referenceDocuments: format } = ROWS;
  const merged = new Map<number, number>();
  let changed = false;
  for await (const page of documents.entryPages()) {
    const renamed = page.flatMap(([name, row]) => {
      const url = referenceUrl(name);
      return url === undefined || url === name ? [] : [{ name, row, url }];
    });
    if (renamed.length === 0) continue;
    changed = true;
    const known = await documents.getMap(renamed.map(({ url }) => url));
    const rows: RowChange[] = [];
    for (const { name, row, url } of renamed) {
      const other = known.get(url);
      rows.push(format.delete(name));
      if (other === undefined) rows.push(format.put(url, row));
      else {
        merged.set(row.id, other.id);
        rows.push(ROWS.referenceLinks.delete(row.id));
        if (row.checkTime > other.checkTime) rows.push(format.put(url, { ...row, id: other.id }));
      }
      known.set(url, other ?? row);
    }
    await database.write(rows);
  }
  if (merged.size > 0) await replaceTargets(database, merged);
  if (changed) {
    const counters = await LINK_COUNTERS.read(database);
    await database.write([LINK_COUNTERS.put({ ...counters, changes: counters.changes + 1 })]);
  }
  return changed;
}

/** Replaces IDs in the lists of links, each of which names a target once. */
async function replaceTargets(database: RowWriter, merged: ReadonlyMap<number, number>): Promise<void> {
  for await (const page of new Table(database, ROWS.referenceLinks).entryPages()) {
    const rows: RowChange[] = [];
    for (const [source, { ids }] of page) {
      const targets = Array.from({ length: ids.length / ID_BYTES }, (_, i) =>
        Buffer.from(ids.buffer, ids.byteOffset, ids.length).readUInt32LE(ID_BYTES * i),
      );
      if (!targets.some((id) => merged.has(id))) continue;
      const bytes = Buffer.alloc(ids.length);
      const unique = new Set(targets.map((id) => merged.get(id) ?? id));
      let end = 0;
      for (const id of unique) end = bytes.writeUInt32LE(id, end);
      rows.push(ROWS.referenceLinks.put(source, { ids: bytes.subarray(0, end) }));
    }
    if (rows.length > 0) await database.write(rows);
  }
}
