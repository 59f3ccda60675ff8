// URIs in flight, for tests of processors: before a fetch and after it.
import type { FetchResult } from '../../../clients/fetch/index.js';
import { CrawlUri } from '../../../servers/crawler/crawl-uri.js';
import { type CrawlSettingsInput, crawlSettingsSchema } from '../../../servers/crawler/order/settings.js';
import { gathererFormats } from '../../../storage/gatherer/tables.js';
import { GathererBatch, type QueuedUri } from '../../../storage/index.js';

const NO_SEAL = {
  seal: (text: string) => text,
  open: (text: string) => text,
  sealUri: (uri: QueuedUri) => uri,
  openUri: (uri: QueuedUri) => uri,
};
/** 2026-11-21T21:50:04.123Z, in milliseconds. */
export const BEGIN = Date.UTC(2026, 10, 21, 21, 50, 4, 123);

/** Returns a URI in its state before the fetch. */
export function crawlUri(url = 'http://example.org/a', settings: CrawlSettingsInput = {}): CrawlUri {
  const uri = {
    url,
    via: 'http://example.org/',
    pathFromSeed: 'L',
    root: 0,
    depth: 1,
    attempts: 0,
    network: 0,
    forceFetch: false,
    isLeaf: false,
    cost: 1,
    sourceTag: '',
  };
  const entry = { classKey: 'example.org', directive: 3, precedence: 1, ordinal: 1, uri };
  return new CrawlUri(
    entry,
    new GathererBatch(async () => {}, gathererFormats(NO_SEAL)),
    new AbortController().signal,
    crawlSettingsSchema.parse(settings),
  );
}

/** Returns a URI in its state after the fetch. */
export function fetchedUri(
  body: string,
  extra: Partial<FetchResult> = {},
  url?: string,
  settings?: CrawlSettingsInput,
): CrawlUri {
  const uri = crawlUri(url, settings);
  uri.fetched = {
    url: uri.url,
    status: 200,
    headers: {},
    contentType: 'text/html',
    lastModified: 0,
    etag: '',
    body: Buffer.from(body),
    truncated: false,
    local: false,
    beginTime: BEGIN,
    endTime: BEGIN + 42,
    ...extra,
  };
  uri.status = uri.fetched.status;
  uri.size = uri.fetched.body.length;
  uri.disposition = 'summarized';
  return uri;
}
