import { isPayloadWhole } from '../../../clients/fetch/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import { payloadDigestOf, type Revisit } from '../warc/captures.js';
import type { WarcPosition } from '../warc/warc-files.js';
import { type JsonTable, jsonTable } from './fetch-history.js';
import type { ProcessorDescriptor, RevisitSource } from './parts.js';

/** The first archived record of a body, whatever its URI (CRAWL-18.5). */
export interface DigestRecord {
  readonly url: string;
  /** WARC-Date, milliseconds since 1970. */
  readonly date: number;
  readonly recordId: string;
  readonly file: string;
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Fetches with this body. */
  readonly count: number;
}

/** CRAWL-18.5: the table `contentDigestHistory`. Keys are digests, `sha1:` and base32, as no SURT begins. */
export type DigestStore = JsonTable<DigestRecord>;

/** A body that is processed. */
interface Entry {
  /** Of its payload, as it is written; a stripped digest (CRAWL-18.7) does not identify a body. */
  readonly digest: string;
  readonly found: DigestRecord | undefined;
  captured?: DigestRecord;
}

/**
 * CRAWL-18.5, with the setting `warc.digestHistory`: the URL-agnostic history, which finds a body in the
 * archive under any URI. This processor runs after `ContentDigest` and before `WarcWriter`; {@link keeper} runs
 * in the post-process chain. If two URIs with the same body are fetched at the same time, both bodies are
 * written.
 */
export class DigestHistory implements Processor, RevisitSource {
  readonly #store: DigestStore;
  readonly name = 'DigestHistory';
  readonly keeper: Processor = { name: 'DigestHistoryKeeper', process: (uri) => this.#keep(uri) };
  readonly #entries = new WeakMap<CrawlUri, Entry>();

  constructor(store: DigestStore) {
    this.#store = store;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.fetched === undefined || uri.size === 0 || this.#entries.has(uri)) return 'proceed';
    // CRAWL-18.9: the beginning of a document is neither looked up nor stored.
    if (!isPayloadWhole(uri.fetched)) return 'proceed';
    const digest = payloadDigestOf(uri.fetched);
    const found = await this.#store.get(digest);
    this.#entries.set(uri, { digest, found });
    if (found === undefined) return 'proceed';
    // CRAWL-18.2: the FetchHistory may have found the same.
    if (!uri.annotations.some((annotation) => annotation.startsWith('duplicate:')))
      uri.annotations.push('duplicate:digest');
    return 'proceed';
  }

  revisitOf(uri: CrawlUri): Revisit | undefined {
    const entry = this.#entries.get(uri);
    if (entry?.found === undefined) return undefined;
    const { url, date, recordId } = entry.found;
    return { kind: 'identical-payload-digest', url, date, recordId, payloadDigest: entry.digest };
  }

  captured(uri: CrawlUri, { recordId, file, offset }: WarcPosition): void {
    const entry = this.#entries.get(uri);
    if (entry === undefined) return;
    const date = uri.fetched?.beginTime ?? 0;
    entry.captured = { url: uri.url, date, recordId, file, offset, count: 1 };
  }

  #keep(uri: CrawlUri): ProcessResult {
    const entry = this.#entries.get(uri);
    if (entry === undefined) return 'proceed';
    const { digest, found, captured } = entry;
    const record = captured ?? (found === undefined ? undefined : { ...found, count: found.count + 1 });
    if (record !== undefined) this.#store.put(digest, record, uri.batch);
    this.#entries.delete(uri);
    return 'proceed';
  }
}

export const DIGEST_HISTORY: ProcessorDescriptor<DigestHistory> = {
  name: 'DigestHistory',
  chain: 'fetch',
  text: 'finds an equal body under another URI',
  rule: 'CRAWL-18.5',
  requires: ['DigestHistoryKeeper', 'ContentDigest', 'WarcWriter'],
  after: ['Fetch', 'ContentDigest', 'FetchHistory'],
  with: 'warc.digestHistory',
  formerNames: ['ContentDigestHistoryLoader'],
  create: ({ parts, has }) => (has('DigestHistory') ? new DigestHistory(jsonTable(parts.store)) : undefined),
};

export const DIGEST_HISTORY_KEEPER: ProcessorDescriptor = {
  name: 'DigestHistoryKeeper',
  chain: 'post-process',
  text: 'stores the digest for DigestHistory',
  rule: 'CRAWL-18.5',
  requires: ['DigestHistory'],
  after: ['WarcMetadata'],
  with: 'warc.digestHistory',
  formerNames: ['ContentDigestHistoryStorer'],
  create: ({ of }) => of(DIGEST_HISTORY)?.keeper,
};
