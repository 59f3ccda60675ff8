import type { ExtractionTable } from './sgml/table.js';

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

/** What a summarizer may use besides the document: a part of the compiled configuration. */
export interface SummarizerContext {
  /** E-82: the table for pages. */
  readonly htmlTable: ExtractionTable;
  /** E-64: the lines of quick-sum.cf by type. */
  readonly quick: ReadonlyMap<string, unknown>;
  /** Describes first bytes as file(1) does (E-16). */
  describe(bytes: Uint8Array): string;
}
