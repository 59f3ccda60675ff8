// The text of a document whose markup costs more than the text itself, up to a limit (E-45).
import type { SourceDocument } from '../document.js';

/** Characters of a typesetting source that are read: its text fills an object long before. */
export const MAX_TYPESETTING_CHARACTERS = 2 * 1024 * 1024;

/**
 * Returns the document's text with `\n` as its line end, cut at `limit` characters with a warning. A longer
 * source is data, and each request or comment in it takes memory.
 *
 * @param what - a noun for the warning, e.g. `program`.
 */
export function boundedSource(document: SourceDocument, what: string, limit: number): string {
  const { text } = document;
  if (text.length > limit) document.warn(`the ${what} beyond ${limit} characters is not read (E-45)`);
  return (text.length > limit ? text.slice(0, limit) : text).replace(/\r\n?/g, '\n');
}
