import { isDiskFull } from '../../../protocols/errors.js';
import { resolveUrl } from '../../../protocols/urls/index.js';
import { PageParts, type PagePartsOptions } from '../browser/page-parts.js';
import { PartCache } from '../browser/part-cache.js';
import { PageError, type PageLoader } from '../browser/types.js';
import type { Processor, ProcessorChains, ProcessResult } from '../chains.js';
import type { CrawlUri, OutLink } from '../crawl-uri.js';
import { announce } from '../events.js';
import type { ProcessorDescriptor } from './parts.js';
import { WARC_WRITER, type WarcWriter } from './warc-writer.js';

interface BrowserOptions extends Omit<PagePartsOptions, 'before' | 'after'> {
  readonly loader: PageLoader;
  /** The chains of the crawl: the requests of a page pass some of their processors. */
  readonly chains: () => ProcessorChains;
  /** Gets a record of the document that the scripts of a page made; undefined: it is not archived. */
  readonly archive: Pick<WarcWriter, 'writeConversion'> | undefined;
}

/** The processors for the requests of a page. */
const BEFORE = new Set(['Blocker', 'QuotaEnforcer', 'PreconditionEnforcer']);
const AFTER = new Set([
  'ContentDigest',
  'DigestHistory',
  'WarcWriter',
  'WarcMetadata',
  'DigestHistoryKeeper',
]);

/**
 * With `fetcher: browser`, loads a page that was fetched in a browser, with the response that the crawl got,
 * and runs its scripts. Summary and links come from the document that they make. A page that cannot be loaded
 * is read as it was fetched.
 */
class BrowserProcessor implements Processor {
  readonly #options: BrowserOptions;
  readonly name = 'Browser';
  /** It archives what pages request. */
  readonly stores = true;
  /** The browser did not start; reported once. */
  #told = false;

  constructor(options: BrowserOptions) {
    this.#options = options;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { fetched, settings } = uri;
    if (settings.fetcher !== 'browser' || !isPage(uri) || fetched === undefined) return 'proceed';
    const parts = new PageParts(uri, {
      ...this.#options,
      before: this.#processors('pre-fetch', BEFORE),
      after: [...this.#processors('fetch', AFTER), ...this.#processors('post-process', AFTER)],
    });
    let diskFull: unknown;
    try {
      const { status, headers, body, url } = fetched;
      const loaded = await this.#options.loader.load({
        url,
        response: { status, headers, body, url },
        timeoutMs: settings.browserMaxSeconds * 1000,
        scroll: settings.browserScroll,
        maxLength: this.#options.limits.maxBytes,
        signal: uri.signal,
        fetch: (request, signal) =>
          parts.fetch(request, signal).catch((error: unknown) => {
            if (isDiskFull(error)) diskFull = error;
            throw error;
          }),
      });
      if (diskFull !== undefined) throw diskFull;
      const links = navigationLinks(loaded.navigations, uri);
      uri.rendered = { body: new TextEncoder().encode(loaded.html), links };
      uri.annotations.push(loaded.timedOut ? 'browser:timeTrunc' : 'browser');
      await this.#options.archive?.writeConversion(uri, uri.rendered.body);
    } catch (error) {
      uri.signal.throwIfAborted();
      if (diskFull !== undefined) throw diskFull;
      if (!(error instanceof PageError)) throw error;
      uri.annotations.push(`browser:${error.kind}`);
      if (error.kind === 'start') this.#tell(error);
    } finally {
      await parts.settled();
      uri.parts = parts.fetched;
      if (parts.refused > 0) uri.annotations.push(`browser:refused:${parts.refused}`);
    }
    return 'proceed';
  }

  #processors(chain: keyof ProcessorChains, names: ReadonlySet<string>): Processor[] {
    return this.#options.chains()[chain].filter(({ name }) => names.has(name));
  }

  #tell({ message }: PageError): void {
    if (this.#told) return;
    this.#told = true;
    announce(`${message}; pages are read as they are fetched`);
  }
}

/** Whether the document is a page that was fetched now. */
function isPage({ fetched, disposition, url }: CrawlUri): boolean {
  if (fetched === undefined || fetched.local || disposition === 'kept' || disposition === 'unchanged')
    return false;
  const isHtml = fetched.contentType === 'text/html' || fetched.contentType === 'application/xhtml+xml';
  return isHtml && fetched.status === 200 && /^https?:/.test(url);
}

function navigationLinks(urls: readonly string[], { settings }: CrawlUri): OutLink[] {
  return urls.flatMap((each) => {
    const url = resolveUrl(each, undefined, settings.urlForm);
    return url === undefined ? [] : [{ url, hop: 'L' as const }];
  });
}

export const BROWSER: ProcessorDescriptor = {
  name: 'Browser',
  chain: 'extract',
  text: 'with fetcher browser: loads pages in Chromium, for what their scripts make',
  rule: 'CRAWL-22.12',
  after: ['ChangeEvaluator'],
  settings: [
    'fetcher',
    'browserMaxSeconds',
    'browserMaxRequests',
    'browserMaxMegabytes',
    'browserDelayMs',
    'browserScroll',
  ],
  create: ({ parts: { browser, fetcher, servers, scope, limits }, of, chains }) => {
    if (browser === undefined) return undefined;
    const { maxCacheMiB, keepDocuments, loader, prepare, settingsFor } = browser;
    const cache = new PartCache(maxCacheMiB * 2 ** 20);
    const archive = keepDocuments ? of(WARC_WRITER) : undefined;
    const opened = { loader, prepare, settingsFor, cache, archive };
    return new BrowserProcessor({ ...opened, fetcher, servers, scope, limits, chains });
  },
};
