import type { FetchResult } from '../../../clients/fetch/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import {
  type CaptureRecords,
  captureRecords,
  metadataRecord,
  type RequestHead,
  type Revisit,
  type WarcFiles,
  type WarcPlace,
} from '../warc/index.js';

/** Knows earlier captures, and is told of new ones: a fetch history (CRAWL-18.2), a history of digests (CRAWL-18.5). */
export interface RevisitSource {
  /** The capture that this one repeats; undefined: it is new. */
  revisitOf(uri: CrawlUri): Revisit | undefined;
  /** A record with the whole payload was written. */
  captured(uri: CrawlUri, place: WarcPlace, payloadDigest: string): void;
}

export interface WarcWriterOptions {
  readonly files: Pick<WarcFiles, 'write'>;
  /** CRAWL-18.6: no record at all for an identical payload, instead of a revisit record. Default false. */
  readonly skipIdenticalDigests?: boolean;
  /** The first one that knows an earlier capture decides. */
  readonly revisits?: readonly RevisitSource[];
  /** What was sent, where somebody knows it; then a request record is written too. */
  readonly requestHead?: (uri: CrawlUri) => RequestHead | undefined;
}

/** The record with the capture, for its metadata. */
interface Written {
  readonly id: string;
}

/**
 * CRAWL-18.6: writes what was fetched into WARC files. It has to stand before Essence, which gives the body away to a worker
 * thread; {@link metadata} stands at the end of the post-process chain, where the links are known, and there sees to what jumped
 * over this one: redirects and error pages are captures too.
 */
export class WarcWriter implements Processor {
  readonly name = 'WarcWriter';
  /** Writes the metadata record. */
  readonly metadata: Processor = { name: 'WarcMetadata', process: (uri) => this.#describe(uri) };
  /** Of URIs that are on their way: undefined when there was nothing to write. */
  readonly #written = new WeakMap<CrawlUri, Written | undefined>();

  constructor(readonly options: WarcWriterOptions) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { fetched } = uri;
    if (fetched === undefined || !uri.succeeded || this.#written.has(uri)) return 'proceed';
    const refusal = unwritable(uri, fetched);
    if (refusal === undefined) this.#written.set(uri, await this.#capture(uri, fetched));
    else {
      this.#written.set(uri, undefined);
      uri.annotations.push(`unwritten:${refusal}`);
    }
    return 'proceed';
  }

  /** Writes a capture that goes through no chain, e.g. of a robots.txt. */
  async record(fetched: FetchResult, signal?: AbortSignal): Promise<void> {
    const { records } = captureRecords(fetched, {});
    await this.options.files.write(records, signal);
  }

  async #capture(uri: CrawlUri, fetched: FetchResult): Promise<Written | undefined> {
    const { files, skipIdenticalDigests, revisits = [], requestHead } = this.options;
    let revisit: Revisit | undefined;
    for (const source of revisits) revisit ??= source.revisitOf(uri);
    const capture = captureRecords(fetched, { revisit, request: requestHead?.(uri) });
    if (skipIdenticalDigests === true && capture.kind === 'identical-payload-digest') {
      uri.annotations.push('unwritten:identicalDigest');
      return undefined;
    }
    const [place] = await files.write(capture.records, uri.signal);
    this.#note(uri, capture, place!);
    return { id: capture.id };
  }

  /** CRAWL-16.2. */
  #note(uri: CrawlUri, { kind, payloadDigest }: CaptureRecords, place: WarcPlace): void {
    if (kind === 'identical-payload-digest') uri.annotations.push('warcRevisit:digest');
    else if (kind === 'server-not-modified') uri.annotations.push('warcRevisit:notModified');
    else for (const source of this.options.revisits ?? []) source.captured(uri, place, payloadDigest);
  }

  async #describe(uri: CrawlUri): Promise<ProcessResult> {
    await this.process(uri);
    const written = this.#written.get(uri);
    const { fetched } = uri;
    if (written === undefined || fetched === undefined) return 'proceed';
    this.#written.set(uri, undefined);
    const record = metadataRecord({
      url: uri.url,
      date: fetched.beginTime,
      concurrentTo: written.id,
      via: uri.entry.uri.via,
      hopsFromSeed: uri.entry.uri.pathFromSeed,
      sourceTag: uri.sourceTag,
      fetchTimeMs: fetched.endTime - fetched.beginTime,
      outLinks: uri.outLinks,
    });
    await this.options.files.write([record], uri.signal);
    return 'proceed';
  }
}

/** Why there is nothing that could be archived (CRAWL-16.2 `unwritten:`). */
function unwritable(uri: CrawlUri, fetched: FetchResult): string | undefined {
  // Its time would be a lie: nobody was asked.
  if (fetched.cached === true) return 'cached';
  // A listing that is not a document has no bytes of its own.
  if (!/^https?:/.test(fetched.url) && fetched.body.length === 0) return 'empty';
  // Somebody has given the body away.
  if (fetched.body.length < uri.size) return 'body';
  return undefined;
}
