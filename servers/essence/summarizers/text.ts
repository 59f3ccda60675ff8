import { fileNameOf, type SourceDocument, type Summary } from '../document.js';

/** E-73: number of lines at the start of a text that are kept whole. */
const WHOLE_LINES = 100;

/** Maximum length of a derived description, in characters (E-141). */
export const DESCRIPTION_LENGTH = 200;

/** Text: the first 100 lines, then the first sentence of every paragraph that begins later (E-73). */
export function summarizeText(document: SourceDocument): Summary {
  const text = withLineFeeds(document.text);
  return { attributes: [['Partial-Text', partialText(text)]], description: firstParagraph(text) };
}

/** README, FAQ, FullText: the whole text; the first line that is not blank is the title. */
export function summarizeFullText(document: SourceDocument): Summary {
  const text = withLineFeeds(document.text);
  const title = /\S[^\n]*/.exec(text)?.[0].trim() ?? '';
  return {
    attributes: [
      ['Title', title.slice(0, DESCRIPTION_LENGTH)],
      ['Full-Text', text],
    ],
    description: firstParagraph(text),
  };
}

/** A document that is not read: its name, and its owner and creation if the access method tells them (E-14, E-76). */
export function summarizeFile(document: SourceDocument): Summary {
  const { owner, creationTime } = document;
  const attributes = [...summarizeUnrecognized(document).attributes];
  if (owner !== undefined) attributes.push(['Owner', owner]);
  if (creationTime > 0)
    attributes.push(['Creation-Date', new Date(creationTime * 1000).toISOString().replace('.000', '')]);
  return { attributes };
}

/** The name of a document of which nothing else could be read. */
export function summarizeUnrecognized(document: { readonly url: string }): Summary {
  return { attributes: [['Title', fileNameOf(document.url)]] };
}

/** Returns the fields of a document, after the name of its file (E-14) if none of them is a title. */
export function titledFields(document: SourceDocument, fields: Summary['attributes']): Summary['attributes'] {
  const isTitled = fields.some(([name]) => name === 'Title');
  return isTitled ? fields : [...summarizeUnrecognized(document).attributes, ...fields];
}

/** Replaces the line ends of other systems by `\n`. */
export function withLineFeeds(text: string): string {
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

/** Abbreviations whose full stop does not end a sentence (E-73). */
const ABBREVIATIONS = new Set(
  'al approx apr aug bzw ca cf ch co corp dec dept dr ed eds e.g eg engl est etc feb fig figs gen i.e ie inc jan jr jul jun ltd mar messrs mr mrs ms mt nov no nr oct op p pp prof resp rev sec sen sep sept sr st usw vgl viz vol vs z.b'.split(
    ' ',
  ),
);

/**
 * Returns the index after the first sentence of `text` that ends at or after `from`: at `.`, `!` or `?` before
 * white space or the end, but not after a single capital letter or a known abbreviation (E-73). Returns the
 * length if no sentence ends.
 */
export function sentenceEnd(text: string, from = 0): number {
  for (let i = from; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c !== 0x2e && c !== 0x21 && c !== 0x3f) continue;
    if (i + 1 < text.length && !/\s/.test(text[i + 1]!)) continue;
    if (c === 0x2e && isAbbreviated(text, i)) continue;
    return i + 1;
  }
  return text.length;
}

function isAbbreviated(text: string, dot: number): boolean {
  let start = dot;
  while (start > 0 && dot - start < 12 && /[\p{L}.]/u.test(text[start - 1]!)) start--;
  const word = text.slice(start, dot);
  return /^\p{Lu}$/u.test(word) || ABBREVIATIONS.has(word.toLowerCase());
}

/**
 * Returns the first sentences of `text` up to `limit` characters; a longer first sentence is cut at a word.
 * Collapses white space.
 */
export function openingSentences(text: string, limit: number): string {
  const line = text
    .slice(0, limit * 5)
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= limit) return line;
  let end = 0;
  for (let next = sentenceEnd(line); next <= limit; next = sentenceEnd(line, next)) end = next;
  if (end > 0) return line.slice(0, end);
  const blank = line.lastIndexOf(' ', limit - 3);
  return `${line.slice(0, blank > limit / 2 ? blank : limit - 3)}...`;
}
