/** What a summarizer says about a document: SOIF attributes without bookkeeping. Repeated names add lines (E-95). */
export interface Summary {
  readonly attributes: readonly (readonly [name: string, value: string])[];
  /** Text that may serve as `Description` when no attribute of that name was found (E-141). */
  readonly description?: string;
  /** The extracted text of a document that is not text itself: what `--full-text` indexes (E-117). */
  readonly text?: string;
  /** Components that the summarizer itself took out of the document; they follow as `Embed<n>` (E-52). */
  readonly embedded?: readonly EmbeddedSummary[];
}

/** What a summarizer says about a component of its document (E-54). */
export interface EmbeddedSummary {
  /** Path inside the document; `Nested-Filename`. */
  readonly name: string;
  readonly type: string;
  /** `File-Size` and `MD5`, when all of the component's bytes were read. */
  readonly whole?: { readonly size: number; readonly md5: string };
  readonly summary: Summary;
}
