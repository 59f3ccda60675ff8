import { fileNameOf, type SourceDocument } from '../document.js';
import type { Summary } from '../summary.js';
import { openingSentences, sentenceEnd } from './sentences.js';

/** E-73: number of lines at the start of a text that are kept whole. */
const WHOLE_LINES = 100;

/** Maximum length of a derived description, in characters (E-141). */
export const DESCRIPTION_LENGTH = 200;

/** Text: the first 100 lines, then the first sentence of every paragraph that begins later (E-73). */
export function summarizeText(document: SourceDocument): Summary {
  const text = normalizeLines(document.text);
  return { attributes: [['Partial-Text', partialText(text)]], description: firstParagraph(text) };
}

/** README, FAQ, FullText: the whole text; the first line that is not blank is the title. */
export function summarizeFullText(document: SourceDocument): Summary {
  const text = normalizeLines(document.text);
  const title = /\S[^\n]*/.exec(text)?.[0].trim() ?? '';
  return {
    attributes: [
      ['Title', title.slice(0, DESCRIPTION_LENGTH)],
      ['Full-Text', text],
    ],
    description: firstParagraph(text),
  };
}

/** Only the name is known (E-14); owner and dates need an access method that provides them (E-76). */
export function summarizeUnrecognized(document: { readonly url: string }): Summary {
  return { attributes: [['Title', fileNameOf(document.url)]] };
}

/** Returns the title of a document whose fields have none: the name of its file (E-14). */
export function titleByName(document: SourceDocument, fields: Summary['attributes']): Summary['attributes'] {
  return fields.some(([name]) => name === 'Title') ? [] : summarizeUnrecognized(document).attributes;
}

function normalizeLines(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/**
 * Applies the Text rule (E-73). A paragraph is a run of nonblank lines; one that is cut at line 100 adds no
 * sentence.
 */
export function partialText(text: string): string {
  let index = 0;
  let inParagraph = false;
  for (let line = 0; line < WHOLE_LINES && index < text.length; line++) {
    const end = lineEnd(text, index);
    inParagraph = !isBlank(text, index, end);
    index = end + 1;
  }
  if (index >= text.length) return text;
  const parts = [text.slice(0, index)];
  while (index < text.length) {
    const end = lineEnd(text, index);
    if (isBlank(text, index, end)) {
      inParagraph = false;
      index = end + 1;
      continue;
    }
    const start = index;
    while (index < text.length) {
      const next = lineEnd(text, index);
      if (isBlank(text, index, next)) break;
      index = next + 1;
    }
    if (!inParagraph) {
      const paragraph = text.slice(start, index);
      parts.push(`${paragraph.slice(0, sentenceEnd(paragraph)).trim()}\n`);
    }
    inParagraph = true;
  }
  return parts.join('');
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

function isBlank(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const c = text.charCodeAt(i);
    if (c !== 0x20 && c !== 0x09 && c !== 0x0d && c !== 0x0c) return false;
  }
  return true;
}

/** Returns the first paragraph with words as a description (E-141). */
export function firstParagraph(text: string): string {
  for (const paragraph of text.slice(0, 8192).split(/\n\s*\n/)) {
    if (/\p{L}{3}/u.test(paragraph)) return openingSentences(paragraph, DESCRIPTION_LENGTH);
  }
  return '';
}
