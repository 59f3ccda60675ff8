import { crc32 } from 'node:zlib';
import { StorageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { adviceFor } from '../files/advice.js';
import {
  type KeyRange,
  keyOrder,
  keyUrl,
  orderedKey,
  orderedUrlKey,
  requireInteger,
  TABLE,
  textKey,
  urlKey,
} from '../level/keys.js';
import type { Level, Row } from '../level/level.js';
import {
  type GathererCounters,
  gathererCountersCodec,
  type SummaryRecord,
  summaryCodec,
  summaryIdentityCodec,
} from '../records/records.js';

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
   * Update-Time since which the content is unchanged: a later `updateTime` means that the object was refreshed (GATHERD-4.4). Default:
   * `updateTime`.
   */
  readonly contentTime?: UnixSeconds;
}

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
 * The summaries of a working store or of a generation. The key of a row is (Update-Time, URL), the order of an export (GATHERD-4.6),
 * so that an export reads neighboring rows. A second, small row holds the Update-Time of a URL.
 */
export class SummaryStore {
  readonly #level: Level;
  readonly #count: () => number;

  constructor(level: Level, count: () => number) {
    this.#level = level;
    this.#count = count;
  }

  /** Number of summaries. The batches that change it write it, so it is exact after a crash too. */
  get count(): number {
    return this.#count();
  }

  async get(url: string): Promise<Required<Summary> | undefined> {
    // Between the two reads a batch may move the row to another Update-Time; the identity row has the new one.
    for (;;) {
      const updateTime = await this.updateTimeOf(url);
      if (updateTime === undefined) return undefined;
      const key = summaryKey(updateTime, url);
      const bytes = await this.#level.get(key);
      if (bytes !== undefined) return summaryOf(this.#level.directory, [key, bytes]);
      if ((await this.updateTimeOf(url)) === updateTime)
        throw damagedSummary(this.#level.directory, url, 'is missing');
    }
  }

  /** The Update-Time of a URL's summary; undefined if it has none. */
  async updateTimeOf(url: string): Promise<UnixSeconds | undefined> {
    const [updateTime] = await this.updateTimesOf([url]);
    return updateTime;
  }

  async updateTimesOf(urls: readonly string[]): Promise<(UnixSeconds | undefined)[]> {
    const rows = await this.#level.getMany(urls.map(identityKey));
    return rows.map((bytes) => bytes && summaryIdentityCodec.decode(bytes).updateTime);
  }

  /** All summaries with `Update-Time >= since`, ascending by (Update-Time, URL), in pages. */
  async *iterate(options: ExportOptions & { since?: UnixSeconds } = {}): AsyncGenerator<Required<Summary>[]> {
    for await (const page of this.#pages(options.since ?? 0, options)) {
      yield page.map((row) => summaryOf(this.#level.directory, row));
    }
  }

  /** The bytes of the objects with `Update-Time >= since`, in the same order. */
  async *exportSince(
    since: UnixSeconds,
    options: ExportOptions = {},
  ): AsyncGenerator<ExportChunk, void, undefined> {
    for await (const page of this.#pages(since, options)) {
      const objects = page.map(([key, value]) => checkedSummary(this.#level.directory, key, value).soif);
      yield { bytes: Buffer.concat(objects), objects: objects.length, updateTime: keyOrder(page.at(-1)![0]) };
    }
  }

  async *#pages(since: UnixSeconds, options: ExportOptions): AsyncGenerator<Row[], void, undefined> {
    requireInteger(since, 'since');
    for (const range of exportRanges(since)) {
      for await (const page of this.#level.pages(range, { bytes: PAGE_BYTES, limit: PAGE_ROWS })) {
        options.signal?.throwIfAborted();
        yield page;
      }
    }
  }
}

function damagedSummary(directory: string, url: string, problem: string, cause?: unknown): StorageError {
  return new StorageError(
    `the store in ${directory} is damaged: the summary of ${url} ${problem}; ${adviceFor(directory)}`,
    { cause },
  );
}

function exportRanges(since: UnixSeconds): KeyRange[] {
  const end = Uint8Array.of(TABLE.summaries + 1);
  if (since === 0) return [{ gte: orderedKey(TABLE.summaries, 0), lt: end }];
  return [
    { gte: orderedKey(TABLE.summaries, 0), lt: orderedKey(TABLE.summaries, 1) },
    { gte: orderedKey(TABLE.summaries, since), lt: end },
  ];
}

function summaryOf(directory: string, [key, value]: Row): Required<Summary> {
  const { timeToLive, soif, contentTime } = checkedSummary(directory, key, value);
  const updateTime = keyOrder(key);
  return { url: keyUrl(key, 9), updateTime, timeToLive, soif, contentTime: contentTime || updateTime };
}

/** The checksum of a summary's object. It begins with the Update-Time, so that the bytes of another version do not pass. */
export function summaryCrc(updateTime: UnixSeconds, soif: Uint8Array): number {
  return crc32(soif, updateTime >>> 0);
}

/**
 * Decodes a row of the table of summaries. A row of an earlier version has no checksum and is not verified.
 *
 * @throws StorageError if the object is not the one that was stored
 */
export function checkedSummary(
  directory: string,
  key: Uint8Array,
  value: Uint8Array,
): Required<SummaryRecord> {
  let record: Required<SummaryRecord>;
  try {
    record = summaryCodec.decode(value);
  } catch (cause) {
    throw damagedSummary(directory, keyUrl(key, 9), 'cannot be read', cause);
  }
  if (record.crc !== 0 && summaryCrc(keyOrder(key), record.soif) !== record.crc)
    throw damagedSummary(directory, keyUrl(key, 9), 'has another checksum than when it was stored');
  return record;
}

export function summaryKey(updateTime: UnixSeconds, url: string): Uint8Array {
  return orderedUrlKey(TABLE.summaries, updateTime, url);
}

export function identityKey(url: string): Uint8Array {
  return urlKey(TABLE.identities, url);
}

/** Key of the store's {@link GathererCounters}. */
export const COUNTERS_KEY = textKey(TABLE.system, 'counters');

/** Reads the counters of a store or generation. */
export async function readCounters(level: Level): Promise<GathererCounters> {
  const bytes = await level.get(COUNTERS_KEY);
  return bytes === undefined ? { summaries: 0, tombstones: 0 } : gathererCountersCodec.decode(bytes);
}
