import type { UnixSeconds } from '../../protocols/time.js';
import { requireInteger, TABLE, textKey } from '../level/keys.js';
import type { RowChange } from '../level/level.js';
import {
  type DocumentRecord,
  documentCodec,
  type FrontierState,
  frontierStateCodec,
  type QueueRecord,
  queuedUriCodec,
  queueRecordCodec,
} from '../records/records.js';
import type { SummaryChange } from '../summaries/summary-changes.js';
import type { Summary } from '../summaries/summary-store.js';
import { documentKey } from './documents.js';
import { encodeMeta, type MetaValue, metaKey } from './meta.js';
import { FRONTIER_KEY, type InactivePlace, inactiveKey, queueRecordKey } from './queue-records.js';
import { type QueueEntry, type QueuePlace, queueKey } from './queues.js';

/** A document that was fetched, as the link databases see it. */
export interface GatheredReferences {
  /** In the Gatherer's canonical form. */
  readonly url: string;
  /** Last modification; 0 = unknown. */
  readonly time: UnixSeconds;
  /** When it was fetched. */
  readonly checkTime: UnixSeconds;
  /** Bytes. */
  readonly length: number;
  /** What it links to, in the order found, in the Gatherer's canonical form. */
  readonly links: readonly string[];
}

/** A change of the links: which rows it touches depends on which IDs are allotted. */
export type ReferenceChange =
  | { readonly kind: 'put'; readonly document: GatheredReferences }
  | { readonly kind: 'drop'; readonly url: string };

export interface CommitOptions {
  /** Wait until the disk has it (default false): a killed process loses nothing either way, a power cut may. */
  readonly sync?: boolean;
  /** It may wait a few milliseconds for others to be written with (default false). */
  readonly lazy?: boolean;
}

/** What one batch changes. */
export interface BatchContent {
  readonly summaries: readonly SummaryChange[];
  readonly references: readonly ReferenceChange[];
  readonly rows: readonly RowChange[];
}

export type CommitBatch = (content: BatchContent, options: Required<CommitOptions>) => Promise<void>;

/**
 * Collects what belongs together, e.g. everything about one document, and writes all of it or nothing.
 * A batch is used once. The bytes given to it must not change until `commit` has resolved.
 */
export class GathererBatch {
  readonly #commit: CommitBatch;
  readonly #summaries: SummaryChange[] = [];
  readonly #references: ReferenceChange[] = [];
  readonly #rows: RowChange[] = [];

  constructor(commit: CommitBatch) {
    this.#commit = commit;
  }

  /** Changes collected so far. */
  get size(): number {
    return this.#summaries.length + this.#references.length + this.#rows.length;
  }

  /**
   * Stores a summary in place of the URL's former one.
   *
   * @param previousUpdateTime the former one's Update-Time, trusted because the caller keeps it in the document's record,
   *   which changes in the same batch; null says that there is none. Left out or 0, the store looks (one read for all that a
   *   commit has to look up).
   */
  putSummary(summary: Summary, previousUpdateTime?: UnixSeconds | null): this {
    requireInteger(summary.updateTime, 'updateTime');
    requireInteger(summary.timeToLive, 'timeToLive');
    requireInteger(summary.contentTime ?? 0, 'contentTime');
    this.#summaries.push({ kind: 'put', summary, previous: previousUpdateTime });
    return this;
  }

  /**
   * Deletes the URL's summary.
   *
   * @param updateTime under which it is stored, trusted as above. Left out or 0, the store looks, and a URL without a
   *   summary is left alone.
   * @param options `deletedAt` leaves a tombstone, so that Brokers can be told (GATHERD-4.9); without it nobody is, which is
   *   right for an object that has expired.
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

  /** Drops the tombstone of a deletion, if that is the URL's. */
  forgetDeletion(url: string, deletionTime: UnixSeconds): this {
    this.#summaries.push({ kind: 'forget', url, deletionTime });
    return this;
  }

  putDocument(document: DocumentRecord): this {
    return this.#put(documentKey(document.url), documentCodec.encode(document));
  }

  deleteDocument(url: string): this {
    return this.#delete(documentKey(url));
  }

  /**
   * Gives the document and what it links to their IDs, those they have or new ones, and stores the list of its links in place of
   * a former one. URLs that the link databases have no name for are left out ({@link referenceUrl}).
   */
  putReferences(document: GatheredReferences): this {
    requireInteger(document.time, 'time');
    requireInteger(document.checkTime, 'checkTime');
    requireInteger(document.length, 'length');
    this.#references.push({ kind: 'put', document });
    return this;
  }

  /** The document is gone: it links to nothing any more. Its ID stays, and so do links to it. */
  dropReferences(url: string): this {
    this.#references.push({ kind: 'drop', url });
    return this;
  }

  /** An entry at the same place is rewritten (CRAWL-5.2.3). */
  enqueue(entry: QueueEntry): this {
    return this.#put(queueKey(entry), queuedUriCodec.encode(entry.uri));
  }

  dequeue(place: QueuePlace): this {
    return this.#delete(queueKey(place));
  }

  /** Where a queue stands; replaces its former record. */
  putQueue(record: QueueRecord): this {
    return this.#put(queueRecordKey(record.classKey), queueRecordCodec.encode(record));
  }

  /** The queue joins the line of the inactive ones. */
  putInactive(place: InactivePlace): this {
    return this.#put(inactiveKey(place), Buffer.from(place.classKey));
  }

  deleteInactive(place: InactivePlace): this {
    return this.#delete(inactiveKey(place));
  }

  putFrontierState(state: FrontierState): this {
    return this.#put(FRONTIER_KEY, frontierStateCodec.encode(state));
  }

  /** What earlier fetches of a URI brought (CRAWL-18.4). */
  putHistory(key: string, history: Uint8Array): this {
    return this.#put(textKey(TABLE.histories, key), history);
  }

  /** What a seen filter took in since the last time (LevelFilter.takeChanges): seen and queued become one fact. */
  putSeen(changes: readonly RowChange[]): this {
    for (const change of changes) this.#rows.push(change);
    return this;
  }

  putMeta(key: string, value: MetaValue): this {
    return this.#put(metaKey(key), encodeMeta(value));
  }

  deleteMeta(key: string): this {
    return this.#delete(metaKey(key));
  }

  commit(options: CommitOptions = {}): Promise<void> {
    const content = { summaries: this.#summaries, references: this.#references, rows: this.#rows };
    return this.#commit(content, { sync: options.sync ?? false, lazy: options.lazy ?? false });
  }

  #put(key: Uint8Array, value: Uint8Array): this {
    this.#rows.push({ key, value });
    return this;
  }

  #delete(key: Uint8Array): this {
    this.#rows.push({ key });
    return this;
  }
}
