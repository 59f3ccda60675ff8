import type { Complete } from '../../protocols/defined.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { Row, RowReader } from '../rows/contract.js';
import { type KeyRange, keyOrder, orderedKey, requireInteger, TABLE, tableRange } from '../rows/keys.js';
import { pagesOf } from '../rows/pages.js';
import { Table } from '../rows/table.js';
import {
  contentKey,
  damagedSummary,
  decodeSummaryRow,
  isObjectOf,
  objectOf,
  type SummaryRow,
  summaryKey,
} from './summary-rows.js';
import { IDENTITIES } from './tables.js';

/** A document's summary as the Gatherer stores and exports it. */
export interface Summary {
  readonly url: string;
  /** When the Gatherer made or refreshed it; 0 if the object has no Update-Time. */
  readonly updateTime: UnixSeconds;
  /** Seconds. */
  readonly timeToLive: number;
  /** The object's bytes as they go over the wire. */
  readonly soif: Uint8Array;
  /**
   * Update-Time since which the content is unchanged: a later `updateTime` means that the object was refreshed
   * (GATHERD-4.4). Default: `updateTime`.
   */
  readonly contentTime?: UnixSeconds | undefined;
}

/** Where a summary is stored. */
export type SummaryPlace = Pick<Summary, 'url' | 'updateTime'>;

export interface ExportOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Concatenated objects. */
export interface ExportChunk {
  readonly bytes: Uint8Array;
  /** Number of objects in `bytes`. */
  readonly objects: number;
  /** Update-Time of the last of them. */
  readonly updateTime: UnixSeconds;
}

const PAGE_BYTES = 256 * 1024;
/** Maximum rows of a page, for very small rows. */
const PAGE_ROWS = 4096;

/**
 * The summaries of a working store or of a generation. The key of a row is (Update-Time, URL), the order of an
 * export (GATHERD-4.6), so that an export reads neighboring rows; so are the rows with the objects, as far as
 * these were not refreshed in another order. A small row holds the Update-Time of a URL.
 */
export class SummaryStore {
  readonly #database: RowReader;
  /** The Update-Time of each URL's summary. */
  readonly updateTimes: Table<string, UnixSeconds>;
  readonly #count: () => number;

  constructor(database: RowReader, count: () => number) {
    this.#database = database;
    this.updateTimes = new Table(database, IDENTITIES);
    this.#count = count;
  }

  /** Number of summaries. The batches that change it write it, so it is exact after a crash too. */
  get count(): number {
    return this.#count();
  }

  /** @param likelyTime its Update-Time as far as the caller knows, which saves a read if it is right */
  async get(url: string, likelyTime?: UnixSeconds): Promise<Complete<Summary> | undefined> {
    const likely = likelyTime === undefined ? undefined : await this.#at(likelyTime, url);
    if (likely !== undefined) return likely;
    // Between the two reads a batch may move the row to another Update-Time; the identity row has the new one.
    for (;;) {
      const updateTime = await this.updateTimes.get(url);
      if (updateTime === undefined) return undefined;
      const summary = await this.#at(updateTime, url);
      if (summary !== undefined) return summary;
      if ((await this.updateTimes.get(url)) === updateTime)
        throw damagedSummary(this.#database.place, url, 'is missing');
    }
  }

  /** The largest Update-Time; 0 if no object has one. */
  async newest(): Promise<UnixSeconds> {
    const [key] = await this.#database.pageOfKeys(tableRange(TABLE.summaries), { limit: 1, reverse: true });
    return key === undefined ? 0 : keyOrder(key);
  }

  async #at(updateTime: UnixSeconds, url: string): Promise<Complete<Summary> | undefined> {
    const key = summaryKey(updateTime, url);
    const bytes = await this.#database.get(key);
    const [summary] = bytes === undefined ? [] : await this.#summaries([[key, bytes]]);
    return summary;
  }

  /** All summaries with `Update-Time >= since`, ascending by (Update-Time, URL), in pages. */
  async *iterate(options: ExportOptions & { since?: UnixSeconds } = {}): AsyncGenerator<Complete<Summary>[]> {
    const { since = 0, signal } = options;
    requireInteger(since, 'since');
    for (const range of exportRanges(since)) {
      for await (const page of pagesOf(this.#database, range, { bytes: PAGE_BYTES, limit: PAGE_ROWS })) {
        for (const part of this.#parts(page)) {
          signal?.throwIfAborted();
          const summaries = await this.#summaries(part);
          if (summaries.length > 0) yield summaries;
        }
      }
    }
  }

  /** The summaries of these URLs at these times; undefined if a summary is no longer there. */
  async at(keys: readonly SummaryPlace[]): Promise<(Complete<Summary> | undefined)[]> {
    const rowKeys = keys.map(({ updateTime, url }) => summaryKey(updateTime, url));
    const values = await this.#database.getMany(rowKeys);
    const rows = values.flatMap((value, i) => (value === undefined ? [] : [[rowKeys[i]!, value] as const]));
    const summaries = new Map<string, Complete<Summary>>();
    for (const part of this.#parts(rows))
      for (const summary of await this.#summaries(part)) summaries.set(summary.url, summary);
    return keys.map(({ url }) => summaries.get(url));
  }

  /** The bytes of the objects with `Update-Time >= since`, in the same order. */
  async *exportSince(
    since: UnixSeconds,
    options: ExportOptions = {},
  ): AsyncGenerator<ExportChunk, void, undefined> {
    for await (const page of this.iterate({ ...options, since })) {
      const objects = page.map(({ soif }) => soif);
      yield { bytes: Buffer.concat(objects), objects: objects.length, updateTime: page.at(-1)!.updateTime };
    }
  }

  /** Divides a page of rows by the lengths of their objects, which are rows of their own. */
  *#parts(page: readonly Row[]): Generator<readonly Row[]> {
    let from = 0;
    let bytes = 0;
    for (const [i, [key, value]] of page.entries()) {
      const { length, soif } = decodeSummaryRow(this.#database.place, key, value);
      bytes += Math.max(length, soif.length);
      if (bytes < PAGE_BYTES) continue;
      yield page.slice(from, i + 1);
      from = i + 1;
      bytes = 0;
    }
    if (from < page.length) yield page.slice(from);
  }

  /** The summaries of rows, without those that a batch has moved or deleted since they were read. */
  async #summaries(rows: readonly Row[]): Promise<Complete<Summary>[]> {
    const { place } = this.#database;
    const decoded = rows.map(([key, value]) => decodeSummaryRow(place, key, value));
    const contents = await this.#contents(decoded);
    const doubtful = rows.filter(
      (_, i) => decoded[i]!.soif.length === 0 && !isObjectOf(decoded[i]!, contents[i]),
    );
    const again = await this.#database.getMany(doubtful.map(([key]) => key));
    const later = new Map(doubtful.map(([key], i) => [key, again[i]] as const));
    const summaries: Complete<Summary>[] = [];
    for (const [i, [key, value]] of rows.entries()) {
      const current = later.has(key) ? later.get(key) : value;
      if (current === undefined) continue;
      if (current !== value && Buffer.compare(current, value) !== 0) {
        summaries.push(...(await this.#summaries([[key, current]])));
        continue;
      }
      const { url, updateTime, timeToLive, contentTime } = decoded[i]!;
      const soif = objectOf(place, decoded[i]!, contents[i]);
      summaries.push({ url, updateTime, timeToLive, contentTime, soif });
    }
    return summaries;
  }

  /** The bytes of the objects that are rows of their own; undefined for the others. */
  async #contents(rows: readonly SummaryRow[]): Promise<(Uint8Array | undefined)[]> {
    const keys = rows.map(contentKey);
    const found = await this.#database.getMany(keys.filter((key) => key !== undefined));
    let next = 0;
    return keys.map((key) => (key === undefined ? undefined : found[next++]));
  }
}

function exportRanges(since: UnixSeconds): KeyRange[] {
  const end = Uint8Array.of(TABLE.summaries + 1);
  if (since === 0) return [{ gte: orderedKey(TABLE.summaries, 0), lt: end }];
  return [
    { gte: orderedKey(TABLE.summaries, 0), lt: orderedKey(TABLE.summaries, 1) },
    { gte: orderedKey(TABLE.summaries, since), lt: end },
  ];
}
