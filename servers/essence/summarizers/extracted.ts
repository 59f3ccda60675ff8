import { messageOf } from '../../../protocols/errors.js';
import type { SourceDocument } from '../document.js';
import type { Summary } from '../summary.js';
import { openingSentences } from './sentences.js';
import { DESCRIPTION_LENGTH, firstParagraph, partialText } from './text.js';

/** What a reader of a format understood of a document. */
export interface Extracted {
  /** The running text: lines, paragraphs separated by blank lines. */
  readonly text: string;
  /** Attributes beside the text, in the order they are to be written. */
  readonly attributes: readonly (readonly [name: string, value: string])[];
}

/** "As Text" of the table in 6.2: the attributes, then the Text rule (E-73) on the extracted text. */
export function summarizeExtracted({ text, attributes }: Extracted): Summary {
  const tidy = tidyText(text);
  return {
    attributes: [...attributes, ['Partial-Text', partialText(tidy)]],
    description: firstParagraph(tidy),
    text: tidy,
  };
}

/** As {@link summarizeExtracted}, for formats whose fields say enough: their text serves `--full-text` only (E-117). */
export function summarizeFields({ text, attributes }: Extracted): Summary {
  const tidy = tidyText(text);
  return { attributes, description: openingText(tidy), text: tidy };
}

/** The first sentences, as a description (E-141). */
export function openingText(text: string): string {
  return openingSentences(text, DESCRIPTION_LENGTH);
}

/**
 * What a document's own readers run under: nothing a file holds makes a summarizer throw. A reader that fails leaves
 * what it had (`partial`) and a warning.
 */
export function guarded<T>(document: SourceDocument, format: string, partial: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    document.warn(unreadable(format, error));
    return partial;
  }
}

/** The sentence of a warning about a document that its reader could not read to its end. */
export function unreadable(format: string, error: unknown): string {
  const reason = messageOf(error);
  return `${format} could not be read to its end: ${reason.slice(0, 200)}`;
}

/** Ligatures and other presentation forms: words are searched by their letters. */
const PRESENTATION_FORMS = /[\ufb00-\ufb06\u00ad\u200b\u2060\ufeff]/g;
const LIGATURES: ReadonlyMap<string, string> = new Map([
  ['\ufb00', 'ff'],
  ['\ufb01', 'fi'],
  ['\ufb02', 'fl'],
  ['\ufb03', 'ffi'],
  ['\ufb04', 'ffl'],
  ['\ufb05', 'st'],
  ['\ufb06', 'st'],
]);

/** Letters for ligatures, no control characters, no white space at line ends, at most one blank line in a row. */
export function tidyText(text: string): string {
  return (
    text
      .replace(/\r\n?|\f/g, '\n')
      .replace(PRESENTATION_FORMS, (c) => LIGATURES.get(c) ?? '')
      .replace(CONTROLS, '')
      // Tried only where a run of blanks begins: else a long one costs the square of its length.
      .replace(/(?<![ \t])[ \t]+(?=\n)/g, '')
      .replace(/\n{3,}/g, '\n\n')
      .replace(/^\n+/, '')
  );
}

/** Control characters other than tab and newline. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** A word that a formatter divided at the end of a line is one word: `retrie-` `val`. */
export function joinHyphenated(text: string): string {
  return text.replace(/(\p{Ll})-\n[ \t]*(\p{Ll}+\S*)[ \t]*\n?/gu, '$1$2\n');
}

/** One line, as titles and names are written. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Pairs whose value is not empty. */
export function present(
  pairs: readonly (readonly [name: string, value: string | undefined])[],
): (readonly [string, string])[] {
  return pairs.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  );
}
