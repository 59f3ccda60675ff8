import type { UnixSeconds } from '../../protocols/time.js';
import { decodeText } from './charset/decode.js';
import type { EssenceInput, EssenceSettings, OutlinkRequest } from './model.js';
import type { ExtractionTable } from './sgml/table.js';
import { callingThreadMs, TimeBudget } from './time-budget.js';

/** The result of a summarizer: SOIF attributes without bookkeeping. Repeated names add lines (E-95). */
export interface Summary {
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** Text for the `Description` if there is no attribute of that name (E-141). */
  readonly description?: string | undefined;
  /** The extracted text of a document that is not text itself, which `--full-text` indexes (E-117). */
  readonly text?: string;
  /** Components that the summarizer itself extracted; they become `Embed<n>` (E-52). */
  readonly embedded?: readonly EmbeddedSummary[];
  /** References of a document that is no page, absolute or relative to it: the crawl follows them. */
  readonly linkedUrls?: readonly string[];
}

/** The summary of a component of a document (E-54). */
export interface EmbeddedSummary {
  /** Path inside the document; `Nested-Filename`. */
  readonly name: string;
  readonly type: string;
  /** `File-Size` and `MD5`, if all bytes of the component were read. */
  readonly whole?: { readonly size: number; readonly md5: string } | undefined;
  readonly summary: Summary;
}

/**
 * A piece of a document, sent as soon as it is read: it is kept if the reader does not come to the end (E-45).
 */
export interface DraftPiece {
  /** The component that the piece belongs to, if it is not the document itself. */
  readonly part?: Pick<EmbeddedSummary, 'name' | 'type'>;
  /** Attributes of the summary. */
  readonly attributes?: Summary['attributes'];
  /** The next page or paragraph of the running text. */
  readonly text?: string;
  /** Components that were read to their end, the last one in place of the pieces of it. */
  readonly components?: readonly EmbeddedSummary[];
}

/** The part of the compiled configuration that a summarizer may use. */
export interface SummarizerContext {
  /** E-82: the table for pages. */
  readonly htmlTable: ExtractionTable;
  /** E-64: the lines of quick-sum.cf by type. */
  readonly quick: ReadonlyMap<string, unknown>;
  /** Describes first bytes as file(1) does (E-16). */
  describe(bytes: Uint8Array): string;
}

/** Messages for the log about one document. */
const MAX_WARNINGS = 100;

/** The time for reading a document, and the receiver of its parts. */
export interface Reading {
  readonly time: TimeBudget;
  /** Receives each piece at once, for the case that the reader does not come to the end. */
  readonly keep: (piece: DraftPiece) => void;
}

/** Without a limit of time. */
const UNLIMITED: Reading = {
  time: new TimeBudget(Number.POSITIVE_INFINITY, { processorMs: callingThreadMs }),
  keep: () => undefined,
};

/** A gathered document as the summarizers see it. Its text is decoded at the first access. */
export class SourceDocument {
  readonly url: string;
  readonly body: Uint8Array;
  readonly settings: EssenceSettings;
  /** Whether Essence recognizes a page. */
  readonly isHtml: boolean;
  /** CRAWL-13.6: whether META elements for robots have no effect. */
  readonly ignoreRobots: boolean;
  /** CRAWL-11.2: present if all references are wanted. */
  readonly outlinks: OutlinkRequest | undefined;
  /** Media type without parameters; undefined if the access method provided no type (E-15). */
  readonly contentType: string | undefined;
  /** Time for the document. */
  readonly time: TimeBudget;
  /** Keeps a piece of the document for the case that the reader never comes to its end. */
  readonly keep: Reading['keep'];
  readonly warnings: string[] = [];
  /** Links of the page that are not URLs, as they are written. */
  malformedLinks: readonly string[] = [];
  /** Number of links beyond the limit (G-173). */
  droppedLinks = 0;
  /** Why the document was not read to its end, if its time was not enough: a clause. */
  unfinished: string | undefined;
  readonly #input: EssenceInput;
  #text: string | undefined;
  #charset: string | undefined;

  constructor(input: EssenceInput, settings: EssenceSettings, isHtml: boolean, reading: Reading = UNLIMITED) {
    this.time = reading.time;
    this.keep = reading.keep;
    this.url = input.url;
    this.body = input.body;
    this.settings = settings;
    this.#input = input;
    this.isHtml = isHtml;
    this.ignoreRobots = input.ignoreRobots ?? false;
    this.outlinks = input.outlinks;
    this.contentType = input.contentType;
  }

  /** Target of the symbolic link, if the link itself is summarized (E-14). */
  get linkTarget(): string | undefined {
    return this.#input.linkTarget;
  }

  /** E-76: the owner of the file; undefined if unknown. */
  get owner(): string | undefined {
    return this.#input.owner;
  }

  /** E-76: when the file was created, seconds since 1970; 0 if unknown. */
  get creationTime(): UnixSeconds {
    return this.#input.creationTime ?? 0;
  }

  get text(): string {
    if (this.#text !== undefined) return this.#text;
    const { charset, likelyCharset } = this.#input;
    const decoded = decodeText(this.body, {
      html: this.isHtml,
      declared: charset,
      likely: likelyCharset === undefined ? undefined : [likelyCharset],
      warn: (message) => this.warn(message),
    });
    this.#charset = decoded.charset;
    this.#text = decoded.text;
    return this.#text;
  }

  /**
   * Character set of {@link text}, once it was decoded, if it tells something about other texts of the server
   * (E-77).
   */
  get charset(): string | undefined {
    return this.#charset;
  }

  /** Last component of the URL's path (E-10). */
  get fileName(): string {
    return fileNameOf(this.url);
  }

  /** Whether the time for the document is over: a reader then stops, and what it has read is the summary. */
  readonly isOutOfTime = (): boolean => {
    const clause = this.time.exceeded();
    if (clause === undefined) return false;
    this.unfinished = `reading it takes ${clause} (E-70)`;
    return true;
  };

  /**
   * Adds a message for the log. A document that causes more than {@link MAX_WARNINGS} does not fill the log
   * with them.
   */
  warn(message: string): void {
    if (this.warnings.length < MAX_WARNINGS) this.warnings.push(message);
    else if (this.warnings.length === MAX_WARNINGS) this.warnings.push('further messages are omitted');
  }
}

/** Returns the last path component of a URL, unescaped, without query; empty for a directory (E-10). */
export function fileNameOf(url: string): string {
  let end = url.indexOf('?');
  if (end < 0) end = url.length;
  const start = url.lastIndexOf('/', end - 1) + 1;
  // `http://host` has no path: what follows the second slash is the host.
  if (start >= 2 && url.charCodeAt(start - 2) === 0x2f && url.charCodeAt(start - 3) === 0x3a) return '';
  const name = url.slice(start, end);
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
}
