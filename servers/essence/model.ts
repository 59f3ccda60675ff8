// The public types of Essence: its options, one document as input, and the summary and links as output.
import type { UnixSeconds } from '../../protocols/time.js';
import type { UrlForm } from '../../protocols/urls/index.js';
import type { ProgramSettings } from './external/limits.js';
import type { OutlinkHop } from './outlinks/attributes.js';

/** How documents are summarized. Plain data, because it is posted to worker threads. */
export interface EssenceOptions {
  /** Identity written into every object (E-110). */
  readonly gathererName: string;
  readonly gathererHost: string;
  readonly gathererVersion: string;
  /** Seconds (G-100). */
  readonly refreshRate: number;
  /** Seconds (G-100). */
  readonly timeToLive: number;
  /** Directory whose files replace the shipped ones one by one (G-21). */
  readonly libDirectory?: string | undefined;
  /**
   * E-22: name of another stop list; relative names are looked up like the other files. Default `stoplist.cf`.
   */
  readonly stoplist?: string | undefined;
  /** E-22: name of a list of the only types to index. Default none. */
  readonly allowlist?: string | undefined;
  /** E-99: keep references as written instead of absolute and canonical. Default false. */
  readonly rawReferences?: boolean;
  /** E-68: values of summarizers end with a newline that is counted. Default true. */
  readonly trailingNewline?: boolean;
  /** E-106: generate `Keywords`. Default true. */
  readonly keywords?: boolean;
  /** E-141: derive a `Description` if the document has none. Default true. */
  readonly description?: boolean;
  /**
   * E-117: write the text that was extracted from every document as `Full-Text`, instead of a summary. Default
   * false.
   */
  readonly fullText?: boolean;
  /** E-141: guess the `Language` of texts that do not state it. Default false. */
  readonly language?: boolean;
  /**
   * Write the main text of pages, without navigation and the like, as `Main-Text`, in addition to `body`.
   * Default false.
   */
  readonly mainText?: boolean;
  /** Keep the text in CODE elements of pages, which the table of 1996 drops (E-98). Default false. */
  readonly code?: boolean;
  /**
   * Write the text of each link of a page, after its URL, as `Link-Text`: Brokers rank with it. Default false.
   */
  readonly linkText?: boolean;
  /**
   * Write the text of a page's navigation as `navigation`, apart from its text, keywords and description.
   * Default false.
   */
  readonly navigation?: boolean;
  /**
   * E-117: write every document as it is, markup included, as `Full-Text`, as the original does. It precedes
   * {@link fullText}. Default false.
   */
  readonly rawText?: boolean;
  /** E-118: false uses the URL and the name only, without reading contents. Default true. */
  readonly access?: boolean;
  /** E-116: only the types are determined; objects have no summary. Default false. */
  readonly typeOnly?: boolean;
  /** E-85: the messages of the SGML parser become warnings about the document. Default false. */
  readonly syntaxCheck?: boolean;
  /**
   * G-111: MD5 for objects from Exploders: documents that are lists of ready summaries (E-46). Default false.
   */
  readonly fakeMd5s?: boolean;
  /** E-27: omit components that were generated from another component of the same archive. Default false. */
  readonly grouping?: boolean;
  /** E-45: limits of unpacking nested files. */
  readonly unnest?: Partial<UnnestLimits>;
  /**
   * E-61, E-46: directories and limits of the user's `TypeName.sum` and `TypeName.unnest`. Default: no
   * programs.
   */
  readonly programs?: ProgramSettings;
  /**
   * Schemes besides the built-in ones, with their default ports (0 for none): links to their URLs are followed.
   * Default: none.
   */
  readonly schemes?: Readonly<Record<string, number>>;
  /**
   * E-121: file with post-summarizing rules; a relative name is looked up like the other files. Default none.
   */
  readonly postSummarizing?: string | undefined;
  /** E-113: as few bookkeeping attributes as possible. Default false. */
  readonly minimalBookkeeping?: boolean;
  /** Bytes of an object; the running text of a larger one is cut. Default 2 MiB. */
  readonly maxObjectBytes?: number;
  /** Bytes of `Keywords` (E-108). Default 8 KiB. */
  readonly maxKeywordBytes?: number;
  /** Characters of any attribute that is not a document's running text. Default 64 Ki. */
  readonly maxAttributeLength?: number;
  /**
   * Different attributes of one object or component that are not bookkeeping; further ones are omitted. Default
   * 4096.
   */
  readonly maxAttributes?: number;
  /** Links of one page (G-173). Default 10 000. */
  readonly maxLinks?: number;
  /**
   * Depth of open HTML elements at which reading stops: the cost of ever deeper tags is quadratic. Default 10
   * 000.
   */
  readonly maxHtmlDepth?: number;
  /**
   * Milliseconds of processor time that the program of one PostScript document may take (E-45). A program is
   * not looked at before its first million steps. Less than the time limits of a document, so that the text
   * before it is kept. Default 9000.
   */
  readonly maxProgramMs?: number;
}

/** The defaults of {@link EssenceOptions}. */
export const DEFAULT_OPTIONS = {
  rawReferences: false,
  trailingNewline: true,
  keywords: true,
  description: true,
  fullText: false,
  rawText: false,
  access: true,
  typeOnly: false,
  fakeMd5s: false,
  grouping: false,
  language: false,
  mainText: false,
  code: false,
  linkText: false,
  navigation: false,
  minimalBookkeeping: false,
  maxObjectBytes: 2 * 1024 * 1024,
  maxKeywordBytes: 8 * 1024,
  maxAttributeLength: 64 * 1024,
  maxAttributes: 4096,
  maxLinks: 10_000,
  maxHtmlDepth: 10_000,
  maxProgramMs: 9000,
};

/** {@link EssenceOptions} with every default filled in. */
export type EssenceSettings = EssenceOptions &
  Required<Pick<EssenceOptions, keyof typeof DEFAULT_OPTIONS>> & { readonly unnest: UnnestLimits };

/** One document as it was gathered. */
export interface EssenceInput {
  /** Canonical URL. */
  readonly url: string;
  /** The gathered bytes; a pool may transfer their buffer. */
  readonly body: Uint8Array;
  /** MIME type without parameters, if the access method provided one (E-15). */
  readonly contentType?: string | undefined;
  /** Character set that the access method provided (E-77). */
  readonly charset?: string | undefined;
  /**
   * Character set of other documents of the server; a document that does not declare one and has few words is
   * read in it. Set by the pool.
   */
  readonly likelyCharset?: string;
  /** Target of a local symbolic link, if the link itself is summarized (E-14). */
  readonly linkTarget?: string | undefined;
  /** E-76: name of the owner of a local file. Default unknown. */
  readonly owner?: string | undefined;
  /** E-76: when a local file was created; default 0, unknown. */
  readonly creationTime?: UnixSeconds | undefined;
  /** CRAWL-13.6: whether META elements for robots have no effect. Default false (G-63). */
  readonly ignoreRobots?: boolean;
  /** CRAWL-11.2: extracts all references, not only the links of pages (G-60). Default: only those. */
  readonly outlinks?: OutlinkRequest;
  /** 0 if unknown. */
  readonly lastModificationTime: UnixSeconds;
  /** Time of this summary. */
  readonly updateTime: UnixSeconds;
}

/** What the extraction of all references needs to know. */
export interface OutlinkRequest {
  /**
   * URL of the page that led to the document; empty if it is a seed. Speculative references of a script are
   * relative to it.
   */
  readonly via: string;
  /** Of the URLs that are found. Default: canonical. */
  readonly form?: UrlForm;
}

/** A link found in a document. */
export interface EssenceLink {
  readonly url: string;
  readonly hop: OutlinkHop;
}

/** An object that was found in an Exploder, a document that lists ready summaries (E-46, E-47). */
export interface ExplodedObject {
  readonly url: string;
  /** The complete object as it goes over the wire. */
  readonly soif: Uint8Array;
}

/** The result of {@link summarizeDocument}. */
export interface EssenceOutput {
  /** The recognized type (E-12). */
  readonly type: string;
  /**
   * True if it has no object: its type is not indexed (E-25), the page has noindex (G-63), a rule deleted it
   * (E-128), or it is exploded.
   */
  readonly rejected: boolean;
  /** The complete object as it goes over the wire; absent if rejected. */
  readonly soif?: Uint8Array;
  /** E-130, E-134: the object's URL if a rule changed it; the object is stored under it. */
  readonly url?: string;
  /** E-47: the objects of an Exploder, each to be stored under its own URL. */
  readonly exploded?: readonly ExplodedObject[];
  /**
   * Character set in which the text was read; absent for ASCII, Unicode, documents without a text, and a guess
   * by a few words (E-77).
   */
  readonly charset?: string | undefined;
  /** MD5 of the gathered bytes, 32 lower-case hexadecimal digits (E-111). */
  readonly md5: string;
  /** Lines of the post-summarizing rules that applied (E-136); absent if none did. */
  readonly rules?: readonly number[];
  /** Absolute, canonical, without repetitions (G-60); empty if the page has nofollow. */
  readonly links: readonly EssenceLink[];
  /**
   * Links of a page that are not URLs, as they are written, at most 100; absent if the page has no such link.
   */
  readonly malformedLinks?: readonly string[];
  /** Number of links beyond the limit of one document (G-173); absent if all are in {@link links}. */
  readonly droppedLinks?: number;
  /** Messages for the log: what was cut, ignored or not understood. */
  readonly warnings: readonly string[];
}

// The limits of unnesting and their defaults. They are part of a document's settings; `unnest/meter.ts`
// enforces them.

/** Limits of unnesting one gathered document (E-45). */
export interface UnnestLimits {
  /** Nested layers; each archive and each compression counts as one. Default 10. */
  readonly maxDepth: number;
  /** Components that are read. Default 10 000. */
  readonly maxComponents: number;
  /** Bytes of output of all decoders and decompressors. Default 1 GiB. */
  readonly maxUnpackedBytes: number;
  /** Unpacked bytes per gathered byte. Default 200. */
  readonly maxRatio: number;
  /** Bytes that are unpacked regardless of the ratio: small texts compress very well. Default 4 MiB. */
  readonly ratioFloorBytes: number;
  /** Bytes of one component passed to its summarizer; a longer component is truncated. Default 32 MiB. */
  readonly maxComponentBytes: number;
  /** Bytes of an archive or message that can only be read as a whole: zip, MIME. Default 128 MiB. */
  readonly maxArchiveBytes: number;
  /**
   * Bytes of the window or dictionary that a compressed file may claim; zstd's own limit is the same. Default
   * 128 MiB.
   */
  readonly maxWindowBytes: number;
  /**
   * Milliseconds of processor time for one document, and ten times as many by the clock; less than the pool's
   * limit, so that the components found so far are kept. Default 20 000.
   */
  readonly timeLimitMs: number;
}

/** The defaults of all limits. */
export const DEFAULT_UNNEST_LIMITS: UnnestLimits = {
  maxDepth: 10,
  maxComponents: 10_000,
  maxUnpackedBytes: 1024 * 1024 * 1024,
  maxRatio: 200,
  ratioFloorBytes: 4 * 1024 * 1024,
  maxComponentBytes: 32 * 1024 * 1024,
  maxArchiveBytes: 128 * 1024 * 1024,
  maxWindowBytes: 128 * 1024 * 1024,
  timeLimitMs: 20_000,
};
