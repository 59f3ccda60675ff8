import { type FetchResult, isPayloadWhole } from '../../../clients/fetch/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import {
  type CaptureRecords,
  captureRecords,
  conversionRecord,
  metadataRecord,
  type Revisit,
} from '../warc/captures.js';
import type { ArchiveFormat } from '../warc/record-compression.js';
import type { WarcFiles, WarcPosition } from '../warc/warc-files.js';
import { DIGEST_HISTORY } from './digest-history.js';
import { FETCH_HISTORY } from './fetch-history.js';
import type { ProcessorDescriptor, RevisitSource } from './parts.js';

export interface WarcWriterOptions {
  readonly files: Pick<WarcFiles, 'write'>;
  /**
   * The format of the files; default `warc`. ARC has no revisit records: a body that was written before is
   * written again.
   */
  readonly format?: ArchiveFormat;
  /** CRAWL-18.6: writes no record for an identical payload, instead of a revisit record. Default false. */
  readonly skipIdenticalDigests?: boolean;
  /** The first source with an earlier capture is used. */
  readonly revisits?: readonly RevisitSource[];
}

/** The record of a capture, to which its metadata record refers. */
interface Written {
  readonly id: string;
}

/**
 * CRAWL-18.6: writes fetched documents into WARC files. It must run before Essence, which transfers the body to
 * a worker thread. {@link metadata} runs at the end of the post-process chain, where the links are known. It
 * also writes the captures of URIs that skipped this processor.
 */
export class WarcWriter implements Processor {
  readonly #options: WarcWriterOptions;
  readonly name = 'WarcWriter';
  readonly stores = true;
  /** Writes the metadata record. */
  readonly metadata: Processor = {
    name: 'WarcMetadata',
    stores: true,
    process: (uri) => this.#writeMetadata(uri),
  };
  /** Keyed by the URI in process; undefined if no record was written. */
  readonly #written = new WeakMap<CrawlUri, Written | undefined>();

  constructor(options: WarcWriterOptions) {
    this.#options = options;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { fetched } = uri;
    if (fetched === undefined || !uri.succeeded || this.#written.has(uri)) return 'proceed';
    const obstacle = obstacleOf(uri, fetched);
    if (obstacle === undefined) this.#written.set(uri, await this.#capture(uri, fetched));
    else {
      this.#written.set(uri, undefined);
      uri.annotations.push(`unwritten:${obstacle}`);
    }
    return 'proceed';
  }

  /** Writes the document that the scripts of a page made; ARC has no such records. */
  async writeConversion(uri: CrawlUri, html: Uint8Array): Promise<void> {
    if (this.#options.format === 'arc') return;
    const record = conversionRecord(uri.url, html, Date.now(), this.#written.get(uri)?.id);
    await this.#options.files.write([record], uri.signal);
  }

  async #capture(uri: CrawlUri, fetched: FetchResult): Promise<Written | undefined> {
    const { files, format, skipIdenticalDigests, revisits = [] } = this.#options;
    let revisit: Revisit | undefined;
    for (const source of revisits) revisit ??= source.revisitOf(uri);
    const capture = captureRecords(fetched, revisit);
    if (skipIdenticalDigests === true && capture.kind === 'identical-payload-digest') {
      uri.annotations.push('unwritten:identicalDigest');
      return undefined;
    }
    if (format === 'arc') {
      const [position] = await files.write(captureRecords(fetched).records, uri.signal);
      // The answer 304 has no body.
      if (capture.kind !== 'server-not-modified') this.#captured(uri, capture, position!);
      return undefined;
    }
    const [position] = await files.write(capture.records, uri.signal);
    this.#annotate(uri, capture, position!);
    return { id: capture.id };
  }

  /** Adds the annotation of a revisit (CRAWL-16.2), or passes a new capture to the sources. */
  #annotate(uri: CrawlUri, capture: CaptureRecords, position: WarcPosition): void {
    if (capture.kind === 'identical-payload-digest') uri.annotations.push('warcRevisit:digest');
    else if (capture.kind === 'server-not-modified') uri.annotations.push('warcRevisit:notModified');
    else this.#captured(uri, capture, position);
  }

  #captured(uri: CrawlUri, { payloadDigest }: CaptureRecords, position: WarcPosition): void {
    // CRAWL-18.9: no later fetch may be a revisit of the beginning of a document.
    if (uri.fetched === undefined || !isPayloadWhole(uri.fetched)) return;
    for (const source of this.#options.revisits ?? []) source.captured(uri, position, payloadDigest);
  }

  async #writeMetadata(uri: CrawlUri): Promise<ProcessResult> {
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
    await this.#options.files.write([record], uri.signal);
    return 'proceed';
  }
}

/** Returns why the document cannot be archived (CRAWL-16.2 `unwritten:`); undefined if it can. */
function obstacleOf(uri: CrawlUri, fetched: FetchResult): string | undefined {
  // No server was contacted, so the time of the record would be wrong.
  if (fetched.cached === true) return 'cached';
  // A listing is assembled by the fetcher and has no body.
  if (!/^https?:/.test(fetched.url) && fetched.body.length === 0) return 'empty';
  // The body was transferred to a worker thread, which gets none that is not whole.
  if (fetched.wire === undefined && !fetched.truncated && fetched.body.length < uri.size) return 'body';
  return undefined;
}

export const WARC_WRITER: ProcessorDescriptor<WarcWriter> = {
  name: 'WarcWriter',
  chain: 'fetch',
  text: 'writes WARC records',
  rule: 'CRAWL-18.6',
  after: ['Fetch', 'ContentDigest', 'FetchHistory', 'DigestHistory'],
  warc: [
    'directory',
    'format',
    'maxFileBytes',
    'poolMaxActive',
    'compress',
    'compression',
    'transferCoding',
    'index',
    'skipIdenticalDigests',
    'prefix',
  ],
  with: 'warc.directory',
  classes: ['WARCWriterProcessor', 'ExperimentalWARCWriterProcessor', 'ARCWriterProcessor'],
  create: ({ parts: { warc }, of }) =>
    warc === undefined
      ? undefined
      : new WarcWriter({
          ...warc,
          revisits: [of(FETCH_HISTORY), of(DIGEST_HISTORY)].filter((source) => source !== undefined),
        }),
};

export const WARC_METADATA: ProcessorDescriptor = {
  name: 'WarcMetadata',
  chain: 'post-process',
  text: 'writes the WARC metadata record, with the links',
  rule: 'CRAWL-18.6',
  requires: ['WarcWriter'],
  with: 'warc.directory',
  create: ({ of }) => of(WARC_WRITER)?.metadata,
};
