import type { ChainName } from '../chains.js';
import type { CrawlSettings } from './settings.js';

/** A processor of this project that an order can name. */
export interface BuiltInProcessor {
  readonly name: string;
  readonly chain: ChainName;
  /** What it does, for operators. */
  readonly text: string;
  /** The rules that define it. */
  readonly rule: string;
  /** The crawl cannot do without it. */
  readonly required?: true;
  /** Processors without which it has no purpose, in any chain. */
  readonly requires?: readonly string[];
  /** Processors of its chain that must precede it, if they are there. */
  readonly after?: readonly string[];
  /** The settings of URIs that it reads; its entry in a chain may give them. */
  readonly settings?: readonly (keyof CrawlSettings)[];
  /** The options of `warc` that it reads; its entry may give them. */
  readonly warc?: readonly WarcOption[];
  /** The default chains have it only with this option. */
  readonly with?: 'warc.directory' | 'warc.digestHistory' | 'mapper.crawlers';
}

type WarcOption =
  | 'directory'
  | 'format'
  | 'maxFileBytes'
  | 'poolMaxActive'
  | 'compress'
  | 'compression'
  | 'transferCoding'
  | 'index'
  | 'skipIdenticalDigests'
  | 'digestHistory'
  | 'prefix';

const PROCESSORS = [
  {
    name: 'Preselector',
    chain: 'pre-fetch',
    text: 'rejects URIs whose URL shows a type of the stop list',
    rule: 'E-28',
  },
  {
    name: 'CrawlMapper',
    chain: 'pre-fetch',
    text: 'passes URIs of other crawlers on',
    rule: 'CRAWL-9.8',
    with: 'mapper.crawlers',
  },
  {
    name: 'RuntimeLimit',
    chain: 'pre-fetch',
    text: 'pauses, ends or blocks the crawl after runtimeSeconds',
    rule: 'CRAWL-11.3',
    settings: ['runtimeSeconds', 'runtimeOperation'],
  },
  {
    name: 'Blocker',
    chain: 'pre-fetch',
    text: 'rejects URIs by blockAll, allowPattern, blockPattern',
    rule: 'CRAWL-11.2',
    settings: ['blockAll', 'blockPattern', 'allowPattern'],
  },
  {
    name: 'QuotaEnforcer',
    chain: 'pre-fetch',
    text: 'fetches nothing more from a server, host or queue that has reached a quota',
    rule: 'CRAWL-11.3',
    settings: ['quotas', 'quotaForceRetire'],
  },
  {
    name: 'FetchHistoryLoader',
    chain: 'pre-fetch',
    text: 'loads the last fetches of the URI, for FetchHistory',
    rule: 'CRAWL-18.4',
  },
  {
    name: 'History',
    chain: 'pre-fetch',
    text: 'keeps a document that is not due yet; loads the record that makes requests conditional',
    rule: 'G-108',
    required: true,
  },
  {
    name: 'LocalMapping',
    chain: 'pre-fetch',
    text: 'reads a document from the local file system by Local-Mapping',
    rule: 'G-71',
    after: ['History'],
  },
  {
    name: 'PreconditionEnforcer',
    chain: 'pre-fetch',
    text: 'gets robots.txt before any other document of a server, and obeys it',
    rule: 'CRAWL-12.4',
    required: true,
    after: ['History', 'LocalMapping'],
    settings: ['robotsValiditySeconds', 'calculateRobotsOnly'],
  },
  {
    name: 'FormLogin',
    chain: 'pre-fetch',
    text: 'sends the forms of credentials before the documents that need their login',
    rule: 'CRAWL-12.4',
    after: ['History', 'LocalMapping', 'PreconditionEnforcer'],
  },
  {
    name: 'Fetch',
    chain: 'fetch',
    text: 'fetches the document',
    rule: 'CRAWL-11.2',
    required: true,
    settings: ['fetchSeconds', 'lenientHttp'],
  },
  {
    name: 'ContentDigest',
    chain: 'fetch',
    text: 'the digest of the body, without what digestStripPattern matches',
    rule: 'CRAWL-18.7',
    after: ['Fetch'],
    settings: ['digestStripPattern', 'digestStripMaxKB'],
  },
  {
    name: 'FetchHistory',
    chain: 'fetch',
    text: 'compares the fetch with the last ones of the URI',
    rule: 'CRAWL-18.2',
    requires: ['FetchHistoryLoader', 'FetchHistoryKeeper', 'ContentDigest'],
    after: ['Fetch', 'ContentDigest'],
  },
  {
    name: 'DigestHistory',
    chain: 'fetch',
    text: 'finds an equal body under another URI',
    rule: 'CRAWL-18.5',
    requires: ['DigestHistoryKeeper', 'ContentDigest', 'WarcWriter'],
    after: ['Fetch', 'ContentDigest', 'FetchHistory'],
    with: 'warc.digestHistory',
  },
  {
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
  },
  {
    name: 'ResponseClassifier',
    chain: 'fetch',
    text: 'redirects, listings and failures skip the chains extract and write',
    rule: 'CRAWL-8',
    required: true,
    after: ['Fetch', 'ContentDigest', 'FetchHistory', 'DigestHistory', 'WarcWriter'],
    settings: ['maxRedirects'],
  },
  {
    name: 'ChangeEvaluator',
    chain: 'extract',
    text: 'with skipUnchanged: an unchanged document is not read again',
    rule: 'CRAWL-18.8',
    requires: ['FetchHistory'],
    settings: ['skipUnchanged'],
  },
  {
    name: 'Browser',
    chain: 'extract',
    text: 'with fetcher browser: loads pages in Chromium, for what their scripts make',
    rule: 'CRAWL-11.2',
    after: ['ChangeEvaluator'],
    settings: [
      'fetcher',
      'browserMaxSeconds',
      'browserMaxRequests',
      'browserMaxMegabytes',
      'browserDelayMs',
      'browserScroll',
    ],
  },
  {
    name: 'ListingExtractor',
    chain: 'extract',
    text: 'the URLs of sitemaps and feeds',
    rule: 'G-172',
  },
  {
    name: 'Essence',
    chain: 'extract',
    text: 'links and summary of the document; later processors of the chain do not get its body',
    rule: 'CRAWL-11.2',
    required: true,
    after: ['ChangeEvaluator', 'Browser', 'ListingExtractor'],
  },
  {
    name: 'Writer',
    chain: 'write',
    text: 'stores the object and the record of the document',
    rule: 'CRAWL-11.2',
    required: true,
  },
  {
    name: 'ReferencesWriter',
    chain: 'post-process',
    text: 'stores the links of the document',
    rule: 'R-8',
  },
  {
    name: 'LinksScoper',
    chain: 'post-process',
    text: 'queues the links that are in scope',
    rule: 'CRAWL-11.2',
    after: ['ReferencesWriter'],
    settings: ['maxOutlinks'],
  },
  {
    name: 'LinksMapper',
    chain: 'post-process',
    text: 'takes links to URIs of other crawlers off the page',
    rule: 'CRAWL-9.8',
    with: 'mapper.crawlers',
    after: ['LinksScoper'],
  },
  {
    name: 'WarcMetadata',
    chain: 'post-process',
    text: 'writes the WARC metadata record, with the links',
    rule: 'CRAWL-18.6',
    requires: ['WarcWriter'],
    with: 'warc.directory',
  },
  {
    name: 'FetchHistoryKeeper',
    chain: 'post-process',
    text: 'stores the fetch for FetchHistory',
    rule: 'CRAWL-18.4',
    requires: ['FetchHistory'],
    after: ['WarcMetadata'],
  },
  {
    name: 'DigestHistoryKeeper',
    chain: 'post-process',
    text: 'stores the digest for DigestHistory',
    rule: 'CRAWL-18.5',
    requires: ['DigestHistory'],
    after: ['WarcMetadata'],
    with: 'warc.digestHistory',
  },
] as const satisfies readonly BuiltInProcessor[];

export type ProcessorName = (typeof PROCESSORS)[number]['name'];

/** The processors in the order of the default chains (CRAWL-11.2). */
export const BUILT_IN_PROCESSORS: readonly BuiltInProcessor[] = PROCESSORS;
