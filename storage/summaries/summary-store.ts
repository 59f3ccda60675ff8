import type { UnixSeconds } from '../../protocols/time.js';
import {
  type KeyRange,
  keyOrder,
  keyText,
  orderedKey,
  requireInteger,
  TABLE,
  textKey,
} from '../level/keys.js';
import type { Level, Row } from '../level/level.js';
import {
  type GathererCounters,
  gathererCountersCodec,
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
      const bytes = await this.#level.get(summaryKey(updateTime, url));
      if (bytes !== undefined) return summaryOf(url, updateTime, bytes);
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
      yield page.map(([key, value]) => summaryOf(keyText(key, 9), keyOrder(key), value));
    }
  }

  /** The bytes of the objects with `Update-Time >= since`, in the same order. */
  async *exportSince(
    since: UnixSeconds,
    options: ExportOptions = {},
  ): AsyncGenerator<ExportChunk, void, undefined> {
    for await (const page of this.#pages(since, options)) {
      const objects = page.map(([, value]) => summaryCodec.decode(value).soif);
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

function exportRanges(since: UnixSeconds): KeyRange[] {
  const end = Uint8Array.of(TABLE.summaries + 1);
  if (since === 0) return [{ gte: orderedKey(TABLE.summaries, 0), lt: end }];
  return [
    { gte: orderedKey(TABLE.summaries, 0), lt: orderedKey(TABLE.summaries, 1) },
    { gte: orderedKey(TABLE.summaries, since), lt: end },
  ];
}

function summaryOf(url: string, updateTime: UnixSeconds, bytes: Uint8Array): Required<Summary> {
  const { timeToLive, soif, contentTime } = summaryCodec.decode(bytes);
  return { url, updateTime, timeToLive, soif, contentTime: contentTime || updateTime };
}

export function summaryKey(updateTime: UnixSeconds, url: string): Uint8Array {
  return orderedKey(TABLE.summaries, updateTime, url);
}

export function identityKey(url: string): Uint8Array {
  return textKey(TABLE.identities, url);
}

/** Key of the store's {@link GathererCounters}. */
export const COUNTERS_KEY = textKey(TABLE.system, 'counters');

/** Reads the counters of a store or generation. */
export async function readCounters(level: Level): Promise<GathererCounters> {
  const bytes = await level.get(COUNTERS_KEY);
  return bytes === undefined ? { summaries: 0, tombstones: 0 } : gathererCountersCodec.decode(bytes);
}
