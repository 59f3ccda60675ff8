// The parts of a run that its processors use, and the descriptor that each processor has in its file.
// `table.ts` lists the descriptors.
import type { BodyFile, Fetcher, FetchRequest } from '../../../clients/fetch/index.js';
import type { DocumentRecord, GathererBatch, GathererStore, QueuedUri } from '../../../storage/index.js';
import type { PageLoader } from '../browser/types.js';
import type { ChainName, Processor, ProcessorChains } from '../chains.js';
import type { CrawlUri } from '../crawl-uri.js';
import type { Candidate, CrawlFrontier, Prepared } from '../frontier/contract.js';
import type { MapperOptions } from '../mapper/diversions.js';
import type { FormCredential } from '../order/credentials.js';
import type { CrawlSettings } from '../order/settings.js';
import type { warcSchema } from '../order/warc.js';
import type { CookieJars } from '../requests/cookie-jars.js';
import type { Scope } from '../scope.js';
import type { ServerCache } from '../servers/server-cache.js';
import type { Revisit } from '../warc/captures.js';
import type { ArchiveFormat } from '../warc/record-compression.js';
import type { WarcFiles, WarcPosition } from '../warc/warc-files.js';

/** Limits and options of requests, for every access method. */
export interface FetchLimits {
  /** Bytes of a document that are read in memory (G-86); only an archive can have more of it ({@link openBody}). */
  readonly maxBytes: number;
  /** A read fails after this many milliseconds without a byte (G-85). */
  readonly timeoutMs: number;
  /**
   * Whether the request for a known document carries If-None-Match and If-Modified-Since (G-106, G-110).
   * Default: always.
   */
  readonly conditional?: (known: DocumentRecord) => boolean;
  /** G-81: the login that the configuration's URLs have for a document ({@link FetchRequest.login}). */
  readonly loginFor?: ((url: string) => string | undefined) | undefined;
  /** User names and passwords of the configuration, which are hidden in error texts (G-81). */
  readonly logins?: readonly string[];
  /** The cookies of the crawl; absent: none are kept. */
  readonly cookies?: CookieJars | undefined;
  /** Whether results have the bytes of the HTTP messages, for archives. */
  readonly keepWire?: FetchRequest['keepWire'];
  /**
   * Opens a file for a body that is too long for memory: an archive has it as a whole, up to
   * `maxLengthBytes`. Default: an archive has what is in memory.
   */
  readonly openBody?: (() => Promise<BodyFile>) | undefined;
  /**
   * Finds the links of a document that is archived as a whole, but too long to be summarized. Default: it has none.
   * @returns undefined if its type has none
   */
  readonly linksOfLarge?:
    | ((uri: CrawlUri) => Promise<Pick<CrawlUri, 'outLinks' | 'droppedLinks' | 'hasUnreadLinks'> | undefined>)
    | undefined;
  /**
   * G-174: whether the request for a queued URI must not reach private addresses. Default: every address is
   * allowed.
   */
  readonly mustBePublic?: (uri: QueuedUri) => boolean;
}

/** A form of the order, with the values that are in the environment. */
export interface LoginForm extends Pick<FormCredential, 'loginUrl' | 'method'> {
  /** Documents at and below this URL need the login. */
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
  /** Values that no text may show. */
  readonly secrets: readonly string[];
}

/**
 * Finds earlier captures and records new ones: a fetch history (CRAWL-18.2), a history of digests (CRAWL-18.5).
 */
export interface RevisitSource {
  /** Returns the capture that this one repeats; undefined if it is new. */
  revisitOf(uri: CrawlUri): Revisit | undefined;
  /** Called after a record with the complete payload was written (CRAWL-18.9). */
  captured(uri: CrawlUri, position: WarcPosition, payloadDigest: string): void;
}

/** The stores, services and settings of a run that its processors use. */
export interface ProcessorParts {
  readonly store: GathererStore;
  readonly fetcher: Fetcher;
  readonly frontier: CrawlFrontier<GathererBatch>;
  readonly scope: Scope;
  readonly servers: ServerCache;
  readonly limits: FetchLimits;
  readonly forms: readonly LoginForm[];
  /** Of a crawl that shares the web with others. */
  readonly mapper: MapperOptions | undefined;
  /** Undefined if nothing is archived. */
  readonly warc:
    | {
        readonly files: WarcFiles;
        readonly format: ArchiveFormat;
        readonly skipIdenticalDigests: boolean;
      }
    | undefined;
  readonly runtime: {
    /** Seconds of crawling, without pauses. */
    readonly elapsed: () => number;
    readonly pause: () => void;
    readonly terminate: () => void;
  };
  /** The browser of `settings.fetcher`; undefined if no page is loaded in one. */
  readonly browser:
    | {
        readonly loader: PageLoader;
        readonly maxCacheMiB: number;
        readonly keepDocuments: boolean;
        readonly prepare: (candidate: Candidate) => Prepared;
        readonly settingsFor: (uri: QueuedUri) => CrawlSettings;
      }
    | undefined;
}

/** The chains that are being put together, as a processor of theirs sees them. */
export interface Assembly {
  readonly parts: ProcessorParts;
  /** Whether a chain has the processor of this name. */
  readonly has: (name: string) => boolean;
  /** The processor of another descriptor: one for all chains. Undefined if the run lacks what it needs. */
  readonly of: <P extends Processor>(descriptor: ProcessorDescriptor<P>) => P | undefined;
  /** The finished chains; they are complete when the crawl runs. */
  readonly chains: () => ProcessorChains;
}

/** A processor of this project that an order can name. */
export interface ProcessorDescriptor<P extends Processor = Processor> {
  readonly name: string;
  readonly chain: ChainName;
  /** Its effect, for operators. */
  readonly text: string;
  /** The rules that define it. */
  readonly rule: string;
  /** The crawl cannot do without it. */
  readonly required?: true;
  /** Only a crawl whose configuration names an order has it. */
  readonly ordered?: true;
  /** Processors without which it has no purpose, in any chain. */
  readonly requires?: readonly string[];
  /** Processors of its chain that must precede it, if they are there. */
  readonly after?: readonly string[];
  /** The settings of URIs that it reads; its entry in a chain may give them. */
  readonly settings?: readonly (keyof CrawlSettings)[];
  /** The options of `warc` that it reads; its entry may give them. */
  readonly warc?: readonly (keyof typeof warcSchema.shape)[];
  /** The default chains have it only with this option. */
  readonly with?: 'warc.directory' | 'warc.digestHistory' | 'mapper.crawlers';
  /** Classes of a 1.x order that it stands for: they can be left out, moved or get rules (CRAWL-11.2, 11.3). */
  readonly classes?: readonly string[];
  /** Further names that Heritrix has for it. */
  readonly formerNames?: readonly string[];
  /** Returns the processor, or undefined without what it needs. Absent: the crawl's owner makes it. */
  readonly create?: (assembly: Assembly) => P | undefined;
}
