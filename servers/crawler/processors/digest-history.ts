import type { GathererBatch } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import type { Revisit, WarcPosition } from '../warc/index.js';
import type { RevisitSource } from './warc-writer.js';

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

/** CRAWL-18.5: the table `contentDigestHistory`. Keys are digests, `sha1:` and base32. */
export interface DigestStore {
  get(digest: string): Promise<DigestRecord | undefined>;
  put(digest: string, record: DigestRecord, batch: GathererBatch): void;
}

/**
 * CRAWL-18.5, with the setting `warc.digestHistory`: the URL-agnostic history, which finds a body in the archive under any URI. This
 * processor runs after `ContentDigest` and before `WarcWriter`; {@link keeper} runs in the post-process chain. If two URIs with the same body
 * are fetched at the same time, both bodies are written.
 */
export class DigestHistory implements Processor, RevisitSource {
  readonly name = 'DigestHistory';
  readonly keeper: Processor = { name: 'DigestHistoryKeeper', process: (uri) => this.#keep(uri) };
  readonly #found = new WeakMap<CrawlUri, DigestRecord>();
  readonly #captured = new WeakMap<CrawlUri, DigestRecord>();

  constructor(readonly store: DigestStore) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.digest === '' || uri.size === 0 || this.#found.has(uri)) return 'proceed';
    const record = await this.store.get(uri.digest);
    if (record === undefined) return 'proceed';
    this.#found.set(uri, record);
    // CRAWL-18.2: the FetchHistory may have found the same.
    if (!uri.annotations.some((annotation) => annotation.startsWith('duplicate:')))
      uri.annotations.push('duplicate:digest');
    return 'proceed';
  }

  revisitOf(uri: CrawlUri): Revisit | undefined {
    const found = this.#found.get(uri);
    if (found === undefined) return undefined;
    const { url, date, recordId } = found;
    return { kind: 'identical-payload-digest', url, date, recordId, payloadDigest: uri.digest };
  }

  captured(uri: CrawlUri, { recordId, file, offset }: WarcPosition, payloadDigest: string): void {
    // A stripped digest (CRAWL-18.7) does not identify a body.
    if (payloadDigest !== uri.digest || uri.size === 0) return;
    const date = uri.fetched?.beginTime ?? 0;
    this.#captured.set(uri, { url: uri.url, date, recordId, file, offset, count: 1 });
  }

  #keep(uri: CrawlUri): ProcessResult {
    const found = this.#found.get(uri);
    const captured = this.#captured.get(uri);
    const record = captured ?? (found === undefined ? undefined : { ...found, count: found.count + 1 });
    if (record !== undefined && uri.digest !== '') this.store.put(uri.digest, record, uri.batch);
    this.#found.delete(uri);
    this.#captured.delete(uri);
    return 'proceed';
  }
}
