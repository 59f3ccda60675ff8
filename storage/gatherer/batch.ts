import type { UnixSeconds } from '../../protocols/time.js';
import type { Lease } from '../leases/leases.js';
import type { DocumentRecord, FrontierState, QueueRecord } from '../records/records.js';
import type { RowChange } from '../rows/contract.js';
import { requireInteger } from '../rows/keys.js';
import type { SummaryChange } from '../summaries/summary-changes.js';
import type { Summary } from '../summaries/summary-store.js';
import type { QueueEntry, QueuePosition } from './queues.js';
import {
  FRONTIER_STATE,
  type GathererFormats,
  type InactivePosition,
  type InboxPlace,
  type MetaValue,
  type WaitingPosition,
  type WaitingUri,
} from './tables.js';

/** A fetched document and its links. */
export interface GatheredReferences {
  /** In the Gatherer's canonical form. */
  readonly url: string;
  /** Last modification; 0 = unknown. */
  readonly time: UnixSeconds;
  /** When it was fetched. */
  readonly checkTime: UnixSeconds;
  /** Bytes. */
  readonly length: number;
  /** Targets of its links, in the order found, in the Gatherer's canonical form. */
  readonly links: readonly string[];
}

/** A change of the links. The rows that it affects depend on the IDs that are allocated already. */
export type ReferenceChange =
  | { readonly kind: 'put'; readonly document: GatheredReferences }
  /** A document with the links that it had before. They are asked for only if the tables do not have it. */
  | {
      readonly kind: 'check';
      readonly document: Omit<GatheredReferences, 'links'>;
      readonly links: () => readonly string[];
    }
  | { readonly kind: 'drop'; readonly url: string };

export interface CommitOptions {
  /**
   * Flush to the disk (default false): a killed process loses nothing either way, a power failure may lose the
   * batch.
   */
  readonly sync?: boolean;
  /** Wait up to 5 ms for other batches, to be written with them (default false). */
  readonly lazy?: boolean;
}

/** The changes of one batch. */
export interface BatchContent {
  readonly summaries: readonly SummaryChange[];
  readonly references: readonly ReferenceChange[];
  readonly rows: readonly RowChange[];
  /** Must be held when the batch is written. */
  readonly lease: Lease | undefined;
}

/** A part of the queues, which one process at a time has. */
export interface PartitionOfBatch {
  readonly lease: Lease;
  /** The key of a row of the partition in the store. */
  keyOf(key: Uint8Array): Uint8Array;
}

export type CommitBatch = (content: BatchContent, options: Required<CommitOptions>) => Promise<void>;

/**
 * Collects changes that belong together, e.g. everything about one document, and writes all of them or none. A
 * batch is used once. The bytes passed to it must not change until `commit` has resolved.
 */
export class GathererBatch {
  readonly #commit: CommitBatch;
  readonly #tables: GathererFormats;
  readonly #summaries: SummaryChange[] = [];
  readonly #references: ReferenceChange[] = [];
  readonly #rows: RowChange[] = [];
  #partition: PartitionOfBatch | undefined;

  constructor(commit: CommitBatch, tables: GathererFormats) {
    this.#commit = commit;
    this.#tables = tables;
  }

  /**
   * From now on the changes of queues, seen keys and the frontier are those of a partition, and the batch is written only
   * while its lease is held. A batch belongs to at most one partition.
   */
  bind(partition: PartitionOfBatch): this {
    this.#partition = partition;
    return this;
  }

  /** Number of changes. */
  get size(): number {
    return this.#summaries.length + this.#references.length + this.#rows.length;
  }

  /**
   * Stores a summary and deletes the URL's former one.
   *
   * @param previousUpdateTime Update-Time of the former one, from the document's record, which changes in the
   *   same batch; null if the document had none. If it is undefined or 0, the store looks it up, with one read
   *   for the whole commit.
   */
  putSummary(summary: Summary, previousUpdateTime?: UnixSeconds | null): this {
    requireInteger(summary.updateTime, 'updateTime');
    requireInteger(summary.timeToLive, 'timeToLive');
    requireInteger(summary.contentTime ?? 0, 'contentTime');
    this.#summaries.push({ kind: 'put', summary, previous: previousUpdateTime });
    return this;
  }

  /**
   * Gives the URL's object other times, because its document has not changed (GATHERD-4.4), if it has one. Its
   * bytes are not read, and written only if they are few.
   *
   * @param previousUpdateTime as in {@link putSummary}
   */
  refreshSummary(
    url: string,
    times: { readonly updateTime: UnixSeconds; readonly lastModificationTime: UnixSeconds },
    previousUpdateTime?: UnixSeconds,
  ): this {
    requireInteger(times.updateTime, 'updateTime');
    requireInteger(times.lastModificationTime, 'lastModificationTime');
    this.#summaries.push({ kind: 'refresh', url, previous: previousUpdateTime, ...times });
    return this;
  }

  /**
   * Deletes the URL's summary, if it has one.
   *
   * @param updateTime its Update-Time, as in {@link putSummary}. If it is undefined or 0, the store looks it
   *   up.
   * @param options `deletedAt` leaves a tombstone, from which Brokers learn of the deletion (GATHERD-4.9). An
   *   object that has expired needs none.
   */
  deleteSummary(
    url: string,
    updateTime?: UnixSeconds,
    options: { readonly deletedAt?: UnixSeconds } = {},
  ): this {
    const { deletedAt } = options;
    requireInteger(deletedAt ?? 0, 'deletedAt');
    this.#summaries.push({ kind: 'delete', url, previous: updateTime, deletedAt });
    return this;
  }

  /** Deletes the URL's tombstone, if it has this deletion time. */
  deleteTombstone(url: string, deletionTime: UnixSeconds): this {
    this.#summaries.push({ kind: 'forget', url, deletionTime });
    return this;
  }

  putDocument(document: DocumentRecord): this {
    return this.#change(this.#tables.documents.put(document.url, document));
  }

  deleteDocument(url: string): this {
    return this.#change(this.#tables.documents.delete(url));
  }

  /**
   * Stores the document's list of links in place of a former one. The document and its targets get
   * IDs if they have none. Ignores URLs that have no name in the link databases ({@link referenceUrl}).
   */
  putReferences(document: GatheredReferences): this {
    requireNumbers(document);
    this.#references.push({ kind: 'put', document });
    return this;
  }

  /**
   * Stores when a document was checked whose links have not changed; `links` are stored if the tables have none
   * of it.
   */
  checkReferences(document: Omit<GatheredReferences, 'links'>, links: () => readonly string[]): this {
    requireNumbers(document);
    this.#references.push({ kind: 'check', document, links });
    return this;
  }

  /**
   * Deletes the links of a document that no longer exists. The document keeps its ID, and links to it remain.
   */
  dropReferences(url: string): this {
    this.#references.push({ kind: 'drop', url });
    return this;
  }

  /** Adds an entry, or replaces the one under the same key (CRAWL-5.2.3). */
  enqueue(entry: QueueEntry): this {
    return this.#changeQueues(this.#tables.queues.put(entry, entry));
  }

  dequeue(position: QueuePosition): this {
    return this.#changeQueues(this.#tables.queues.delete(position));
  }

  /** Adds a URI that waits for a retry beside its queue. */
  putWaiting(waiting: WaitingUri): this {
    return this.#changeQueues(this.#tables.waiting.put(waiting, waiting));
  }

  deleteWaiting(waiting: WaitingPosition): this {
    return this.#changeQueues(this.#tables.waiting.delete(waiting));
  }

  /** Adds an event of the crawl; see `GathererStore.events`. */
  putEvent(sequence: number, text: string): this {
    return this.#change(this.#tables.events.put(sequence, { sequence, text }));
  }

  deleteEvent(sequence: number): this {
    return this.#change(this.#tables.events.delete(sequence));
  }

  /** Stores a queue's state in place of the former one. */
  putQueue(record: QueueRecord): this {
    return this.#changeQueues(this.#tables.queueRecords.put(record.classKey, record));
  }

  /** Adds a queue to the inactive ones. */
  putInactive(position: InactivePosition): this {
    return this.#changeQueues(this.#tables.inactiveQueues.put(position, position));
  }

  deleteInactive(position: InactivePosition): this {
    return this.#changeQueues(this.#tables.inactiveQueues.delete(position));
  }

  putFrontierState(state: FrontierState): this {
    return this.#changeQueues(FRONTIER_STATE.put(state));
  }

  /** Stores the history of a URI's fetches (CRAWL-18.4). */
  putHistory(key: string, history: Uint8Array): this {
    return this.#change(this.#tables.histories.put(key, history));
  }

  deleteHistory(key: string): this {
    return this.#change(this.#tables.histories.delete(key));
  }

  /** Stores the cookies of a site in place of the former ones; see `GathererStore.cookies`. */
  putCookies(site: string, cookies: Uint8Array): this {
    return this.#change(this.#tables.cookies.put(site, cookies));
  }

  /** Adds the rows of `LevelFilter.takeChanges`, so that "seen" and "queued" are one fact. */
  putSeen(changes: readonly RowChange[]): this {
    for (const change of changes) this.#changeQueues(change);
    return this;
  }

  /** Leaves a URI to the process that has its queue. */
  putInbox(place: InboxPlace, text: string): this {
    return this.#change(this.#tables.inbox.put(place, { ...place, text }));
  }

  deleteInbox(place: InboxPlace): this {
    return this.#change(this.#tables.inbox.delete(place));
  }

  putMeta(key: string, value: MetaValue): this {
    return this.#change(this.#tables.meta.put(key, value));
  }

  deleteMeta(key: string): this {
    return this.#change(this.#tables.meta.delete(key));
  }

  commit(options: CommitOptions = {}): Promise<void> {
    const lease = this.#partition?.lease;
    const content = { summaries: this.#summaries, references: this.#references, rows: this.#rows, lease };
    return this.#commit(content, { sync: options.sync ?? false, lazy: options.lazy ?? false });
  }

  #changeQueues(change: RowChange): this {
    const partition = this.#partition;
    return this.#change(partition === undefined ? change : { ...change, key: partition.keyOf(change.key) });
  }

  #change(change: RowChange): this {
    this.#rows.push(change);
    return this;
  }
}

function requireNumbers({ time, checkTime, length }: Omit<GatheredReferences, 'links'>): void {
  requireInteger(time, 'time');
  requireInteger(checkTime, 'checkTime');
  requireInteger(length, 'length');
}
