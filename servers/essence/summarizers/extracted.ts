import { messageOf } from '../../../protocols/errors.js';
import type { SourceDocument, Summary } from '../document.js';
import { wordPairs } from '../word-tables.js';
import { DESCRIPTION_LENGTH, firstParagraph, openingSentences, partialText, withLineFeeds } from './text.js';

/** The result of reading a format. */
export interface Extracted {
  /** The running text: lines, paragraphs separated by blank lines. */
  readonly text: string;
  /** Attributes in addition to the text, in the order of the object. */
  readonly attributes: readonly (readonly [name: string, value: string])[];
}

/** "As Text" in the table of 6.2: the attributes, then the Text rule (E-73) on the extracted text. */
export function summarizeExtracted({ text, attributes }: Extracted): Summary {
  const tidy = tidyText(text);
  return {
    attributes: [...attributes, ['Partial-Text', partialText(tidy)]],
    description: firstParagraph(tidy),
    text: tidy,
  };
}

/**
 * Like {@link summarizeExtracted}, for formats whose fields suffice: their text is for `--full-text` only
 * (E-117).
 */
export function summarizeFields({ text, attributes }: Extracted): Summary {
  const tidy = tidyText(text);
  return { attributes, description: openingText(tidy), text: tidy };
}

/** Returns the first sentences as a description (E-141). */
export function openingText(text: string): string {
  return openingSentences(text, DESCRIPTION_LENGTH);
}

/**
 * Runs a reader. If it throws, warns and returns `partial`, so that no file content makes a summarizer throw.
 */
export function guarded<T>(document: SourceDocument, format: string, partial: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    document.warn(unreadable(format, error));
    return partial;
  }
}

/** Returns the warning for a document that could not be read completely. */
export function unreadable(format: string, error: unknown): string {
  const reason = messageOf(error);
  return `${format} could not be read to its end: ${reason.slice(0, 200)}`;
}

/**
 * Ligatures and other presentation forms. They are replaced by plain letters so that searches match the words.
 */
const PRESENTATION_FORMS = /[\ufb00-\ufb06\u00ad\u200b\u2060\ufeff]/g;
const LIGATURES = wordPairs('\ufb00 ff \ufb01 fi \ufb02 fl \ufb03 ffi \ufb04 ffl \ufb05 st \ufb06 st');

/** Replaces ligatures, removes control characters and white space at line ends, collapses blank lines. */
export function tidyText(text: string): string {
  return (
    text
      .replace(/\r\n?|\f/g, '\n')
      .replace(PRESENTATION_FORMS, (c) => LIGATURES.get(c) ?? '')
      .replace(CONTROLS, '')
      // Matches only at the start of a run of blanks: otherwise the cost is quadratic in its length.
      .replace(/(?<![ \t])[ \t]+(?=\n)/g, '')
      .replace(/\n{3,}/g, '\n\n')
      .replace(/^\n+/, '')
  );
}

/** Control characters other than tab and newline. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Joins words that a formatter hyphenated at a line end: `retrie-` `val`. */
export function joinHyphenated(text: string): string {
  return text.replace(/(\p{Ll})-\n[ \t]*(\p{Ll}+\S*)[ \t]*\n?/gu, '$1$2\n');
}

/** Collapses white space, for titles and names. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns the pairs whose value is not empty; several values become lines. */
export function present(
  pairs: readonly (readonly [name: string, value: string | Iterable<string> | undefined])[],
): (readonly [string, string])[] {
  return pairs.flatMap(([name, value = '']) => {
    const text = typeof value === 'string' ? value : [...value].join('\n');
    return text === '' ? [] : [[name, text] as const];
  });
}

// The text of a document whose markup costs more than the text itself, up to a limit (E-45).

/**
 * Characters of a typesetting source that are read: its text fills an object long before. A longer program is
 * data, and each of its comments takes memory.
 */
const MAX_SOURCE_CHARACTERS = 2 * 1024 * 1024;

/**
 * Returns the document's text with `\n` as its line end, cut at `limit` characters with a warning. A longer
 * source is data, and each request or comment in it takes memory.
 *
 * @param what - a noun for the warning, e.g. `program`.
 */
export function boundedSource(document: SourceDocument, what: string, limit = MAX_SOURCE_CHARACTERS): string {
  const { text } = document;
  if (text.length > limit) document.warn(`the ${what} beyond ${limit} characters is not read (E-45)`);
  return withLineFeeds(text.length > limit ? text.slice(0, limit) : text);
}
