import { type FetchRequest, isPayloadWhole } from '../../../clients/fetch/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { surt } from '../../../protocols/urls/index.js';
import type { GathererBatch, GathererStore } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import type { Revisit } from '../warc/captures.js';
import type { WarcPosition } from '../warc/warc-files.js';
import type { ProcessorDescriptor, RevisitSource } from './parts.js';

/** One fetch of a URI (CRAWL-18.2). */
export interface FetchRecord {
  /** CRAWL-8.1. */
  readonly status: number;
  /** When it began, milliseconds since 1970. */
  readonly begin: number;
  /** `sha1:` and base32; empty if absent. A 304 keeps the previous digest. */
  readonly digest: string;
  /** Empty if absent. */
  readonly etag: string;
  /** 0 if unknown. */
  readonly lastModified: UnixSeconds;
  /** Bytes of the body. */
  readonly length: number;
  /**
   * The WARC record with this body: its own, or that of the fetch that it repeats; absent if no record was
   * written.
   */
  readonly capture?: FetchCapture;
}

/** The archived record of a fetch. */
interface FetchCapture {
  readonly recordId: string;
  /** WARC-Date, milliseconds since 1970. */
  readonly date: number;
  readonly payloadDigest: string;
}

/**
 * CRAWL-18.4: the table `uri_history`, with keys of {@link historyKey}; the records of a URI, the newest first.
 */
export type HistoryStore = JsonTable<readonly FetchRecord[]>;

/** Fetches per URI in the history (CRAWL-18.2). */
const HISTORY_LENGTH = 2;

/** Returns the key of a URI in the history: its SURT with the case preserved (CRAWL-18.4). */
export function historyKey(url: string): string {
  return surt(url, { preserveCase: true });
}

/** History of a URI in process. */
interface Entry {
  readonly earlier: readonly FetchRecord[];
  current?: FetchRecord;
  /** The fetch that this one repeats. */
  repeats?: { readonly kind: Revisit['kind']; readonly fetch: FetchRecord };
  capture?: FetchCapture;
}

/**
 * CRAWL-18.2 to 18.4: the history of the last fetches of a URI, in three steps: {@link loader} in the pre-fetch
 * chain, this processor after `ContentDigest`, {@link keeper} in the post-process chain.
 */
export class FetchHistory implements Processor, RevisitSource {
  readonly #store: HistoryStore;
  readonly name = 'FetchHistory';
  readonly loader: Processor = { name: 'FetchHistoryLoader', process: (uri) => this.#load(uri) };
  readonly keeper: Processor = { name: 'FetchHistoryKeeper', process: (uri) => this.#keep(uri) };
  readonly #entries = new WeakMap<CrawlUri, Entry>();

  constructor(store: HistoryStore) {
    this.#store = store;
  }

  /** Returns the earlier fetches of the URI, the newest first. */
  earlier(uri: CrawlUri): readonly FetchRecord[] {
    return this.#entries.get(uri)?.earlier ?? [];
  }

  /** Returns the headers of a conditional request (CRAWL-18.3); empty if the last fetch failed. */
  conditionalHeaders(uri: CrawlUri): NonNullable<FetchRequest['headers']> {
    const last = this.earlier(uri)[0];
    if (last === undefined || last.status <= 0) return {};
    return {
      ...(last.etag !== '' ? { etag: last.etag } : {}),
      // One later than the fetch is that of a wrong clock, by which every later version would seem older.
      ...(last.lastModified > 0 && last.lastModified * 1000 <= last.begin
        ? { lastModified: last.lastModified }
        : {}),
    };
  }

  /** CRAWL-18.2: compares this fetch with the earlier ones. */
  process(uri: CrawlUri): ProcessResult {
    const { fetched } = uri;
    // CRAWL-18.9: a body that is not complete leaves no history, and its ETag must not prevent the next fetch.
    if (fetched === undefined || !uri.succeeded || !isPayloadWhole(fetched)) return 'proceed';
    const entry = this.#entry(uri);
    if (entry.current !== undefined) return 'proceed';
    const notModified = fetched.status === 304;
    const last = entry.earlier[0];
    // A failed fetch has no digest; the digest of the page is in an earlier record.
    const known = notModified ? entry.earlier.find(({ digest }) => digest !== '') : last;
    const { status, beginTime: begin, etag, lastModified } = fetched;
    if (notModified) {
      entry.current = {
        status,
        begin,
        digest: known?.digest ?? '',
        etag: etag || (known?.etag ?? ''),
        lastModified: lastModified || (known?.lastModified ?? 0),
        length: known?.length ?? 0,
      };
      uri.digest = entry.current.digest;
      uri.annotations.push('duplicate:server-not-modified');
      if (known !== undefined) entry.repeats = { kind: 'server-not-modified', fetch: known };
      return 'proceed';
    }
    entry.current = { status, begin, digest: uri.digest, etag, lastModified, length: uri.size };
    if (known !== undefined && uri.digest !== '' && known.digest === uri.digest) {
      uri.annotations.push('duplicate:digest');
      entry.repeats = { kind: 'identical-payload-digest', fetch: known };
    }
    return 'proceed';
  }

  /** Returns whether the body equals that of the last fetch, by its digest or by a 304. */
  isUnchanged(uri: CrawlUri): boolean {
    return this.#entries.get(uri)?.repeats !== undefined;
  }

  revisitOf(uri: CrawlUri): Revisit | undefined {
    this.process(uri);
    const entry = this.#entries.get(uri);
    if (entry?.repeats === undefined) return undefined;
    const { kind, fetch } = entry.repeats;
    return {
      kind,
      url: uri.url,
      date: fetch.capture?.date ?? fetch.begin,
      recordId: fetch.capture?.recordId ?? '',
      payloadDigest: fetch.capture?.payloadDigest ?? '',
    };
  }

  captured(uri: CrawlUri, { recordId }: WarcPosition, payloadDigest: string): void {
    const date = uri.fetched?.beginTime ?? 0;
    this.#entry(uri).capture = { recordId, date, payloadDigest };
  }

  #entry(uri: CrawlUri): Entry {
    let entry = this.#entries.get(uri);
    if (entry === undefined) {
      entry = { earlier: [] };
      this.#entries.set(uri, entry);
    }
    return entry;
  }

  /** CRAWL-18.4: loads the history, once. */
  async #load(uri: CrawlUri): Promise<ProcessResult> {
    if (!this.#entries.has(uri) && isKept(uri.url)) {
      this.#entries.set(uri, { earlier: (await this.#store.get(historyKey(uri.redactedUrl))) ?? [] });
    }
    return 'proceed';
  }

  /** CRAWL-18.4: stores successes whose body was written or is known to be identical. */
  #keep(uri: CrawlUri): ProcessResult {
    this.process(uri);
    const entry = this.#entries.get(uri);
    // A URI that is retried is not finished: the record of a 503 would hide the ETag of the page.
    if (entry?.current === undefined || uri.disposition === 'retry' || !isKept(uri.url)) return 'proceed';
    if (uri.annotations.some((text) => text.startsWith('unwritten:') && text !== 'unwritten:identicalDigest'))
      return 'proceed';
    const capture = entry.capture ?? entry.repeats?.fetch.capture;
    const current = capture === undefined ? entry.current : { ...entry.current, capture };
    const history = [current, ...entry.earlier].slice(0, HISTORY_LENGTH);
    this.#store.put(historyKey(uri.redactedUrl), history, uri.batch);
    return 'proceed';
  }
}

/** Returns whether URIs of this scheme have a history (CRAWL-18.4). */
function isKept(url: string): boolean {
  return /^(?:https?|s?ftp):/.test(url);
}

export const FETCH_HISTORY_LOADER: ProcessorDescriptor = {
  name: 'FetchHistoryLoader',
  chain: 'pre-fetch',
  text: 'loads the last fetches of the URI, for FetchHistory',
  rule: 'CRAWL-18.4',
  ordered: true,
  formerNames: ['PersistLoadProcessor'],
  create: ({ of }) => of(FETCH_HISTORY)?.loader,
};

export const FETCH_HISTORY: ProcessorDescriptor<FetchHistory> = {
  name: 'FetchHistory',
  chain: 'fetch',
  text: 'compares the fetch with the last ones of the URI',
  rule: 'CRAWL-18.2',
  requires: ['FetchHistoryLoader', 'FetchHistoryKeeper', 'ContentDigest'],
  after: ['Fetch', 'ContentDigest'],
  ordered: true,
  formerNames: ['FetchHistoryProcessor'],
  create: ({ parts, has }) => (has('FetchHistory') ? new FetchHistory(jsonTable(parts.store)) : undefined),
};

export const FETCH_HISTORY_KEEPER: ProcessorDescriptor = {
  name: 'FetchHistoryKeeper',
  chain: 'post-process',
  text: 'stores the fetch for FetchHistory',
  rule: 'CRAWL-18.4',
  requires: ['FetchHistory'],
  after: ['WarcMetadata'],
  ordered: true,
  formerNames: ['PersistStoreProcessor'],
  create: ({ of }) => of(FETCH_HISTORY)?.keeper,
};

/** A table of values, put in the batch of a page. */
export interface JsonTable<T> {
  get(key: string): Promise<T | undefined>;
  put(key: string, value: T, batch: GathererBatch): void;
}

/** CRAWL-18.4, 18.5: stores values as JSON in the table `histories` of the working store. */
export function jsonTable<T>(store: GathererStore): JsonTable<T> {
  return {
    async get(key) {
      const bytes = await store.histories.get(key);
      return bytes === undefined ? undefined : (JSON.parse(Buffer.from(bytes).toString()) as T);
    },
    put: (key, value, batch) => batch.putHistory(key, Buffer.from(JSON.stringify(value))),
  };
}
