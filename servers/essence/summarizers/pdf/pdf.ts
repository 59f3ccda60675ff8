import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { joinHyphenated, oneLine, present, summarizeExtracted, unreadable } from '../extracted.js';
import { summarizeUnrecognized } from '../text.js';
import { excessiveExpansion } from './expansion.js';
import { ARBITRARY_FONT, discardInstance, PdfDocument, type PdfPage } from './pdfium.js';
import { fieldText, mayHaveTexFonts, texEncodings, withTexFonts } from './tex-fonts.js';

/** Maximum number of pages of one document that are read. */
const MAX_PAGES = 5000;

/** What a PDF file says. */
export interface PdfContent {
  /** Of the information dictionary, as attributes. */
  readonly attributes: readonly (readonly [string, string])[];
  readonly text: string;
  /** URLs of links; only if all references are wanted. */
  readonly linkedUrls: readonly string[];
}

/**
 * Pdf: title, author, subject and keywords of the information dictionary, then as Text (6.2). PDFium reads page
 * by page; reading stops when the text fills the object or the time is over.
 */
export async function summarizePdf(document: SourceDocument): Promise<Summary> {
  const content = await readPdf(document, document.body);
  if (content === undefined) return summarizeUnrecognized(document);
  const summary = summarizeExtracted(content);
  return content.linkedUrls.length === 0 ? summary : { ...summary, linkedUrls: content.linkedUrls };
}

/**
 * Reads a PDF file.
 *
 * @param body - the file; another format may contain it
 * @param hasArbitraryFonts - whether fonts may be named {@link ARBITRARY_FONT}. Their characters are left out
 * @returns undefined if the file exceeds a limit of E-45, with a warning of the document
 */
export async function readPdf(
  document: SourceDocument,
  body: Uint8Array,
  hasArbitraryFonts = false,
): Promise<PdfContent | undefined> {
  const excess = excessiveExpansion(body, document.settings.unnest, document.isOutOfTime);
  if (excess !== undefined) {
    document.warn(`the Pdf document is summarized by its name (E-45): ${excess}`);
    return undefined;
  }
  const texts: string[] = [];
  const linkedUrls = new Set<string>();
  let attributes: (readonly [string, string])[] = [];
  try {
    using pdf = await PdfDocument.open(body);
    attributes = informationOf(pdf);
    document.keep({ attributes });
    addPages(document, pdf, hasArbitraryFonts ? readableTextOf : textOf, texts, linkedUrls);
  } catch (error) {
    if (error instanceof Error && error.name === 'RuntimeError') discardInstance();
    document.warn(unreadable('Pdf', error));
  }
  return { attributes, text: joinHyphenated(texts.join('\n\n')), linkedUrls: [...linkedUrls] };
}

/** Adds the texts of the pages until they fill the object, and the URLs of their links. */
function addPages(
  document: SourceDocument,
  pdf: PdfDocument,
  textOf: (page: PdfPage) => string,
  texts: string[],
  linkedUrls: Set<string>,
): void {
  const { maxObjectBytes, maxLinks } = document.settings;
  let length = 0;
  const pages = Math.min(pdf.pages, MAX_PAGES);
  for (let index = 0; index < pages && length < maxObjectBytes; index++) {
    if (document.isOutOfTime()) return;
    using page = pdf.page(index);
    if (page === undefined) {
      document.warn(`page ${index + 1} is damaged`);
      continue;
    }
    const text = textOf(page);
    texts.push(text);
    document.keep({ text });
    length += text.length;
    if (document.outlinks === undefined) continue;
    for (const url of page.links()) {
      if (linkedUrls.size >= maxLinks) break;
      linkedUrls.add(url);
    }
  }
}

/** The text of a page; without the characters of fonts whose codes are arbitrary, if there are any. */
function readableTextOf(page: PdfPage): string {
  const arbitrary = new Set<number>();
  const fonts = new Set<number>();
  for (const { font } of page.characters()) {
    if (fonts.has(font)) continue;
    fonts.add(font);
    if (page.isNamed(font, ARBITRARY_FONT)) arbitrary.add(font);
  }
  if (arbitrary.size === 0) return textOf(page);
  let text = '';
  for (const { code, font } of page.characters())
    if (code > 0 && code <= 0x10ffff && !arbitrary.has(font)) text += String.fromCodePoint(code);
  return plainText(text);
}

function textOf(page: PdfPage): string {
  const text = page.text();
  const encodings = mayHaveTexFonts(text) ? texEncodings(page.characters()) : undefined;
  const readable =
    encodings === undefined || encodings.size === 0 ? text : withTexFonts(page.characters(), encodings);
  return plainText(readable);
}

/** A hyphen at the end of a line that PDFium has found belongs to no word. */
function plainText(text: string): string {
  return text
    .replace(/[\x02\ufffe](?:\r?\n)?/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[ \t]+$/gm, '');
}

function informationOf(pdf: PdfDocument): (readonly [string, string])[] {
  const field = (name: string): string | undefined => oneLine(fieldText(pdf.field(name)));
  return present([
    ['Title', field('Title')],
    ['Author', field('Author')],
    ['Subject', field('Subject')],
    ['Keywords', field('Keywords')],
    ['Date', dateOf(field('CreationDate'))],
  ]);
}

/** Converts `D:20261121190000Z` to the day, 2026-11-21. */
function dateOf(value: string | undefined): string | undefined {
  const found = /^D:(\d{4})(\d\d)(\d\d)/.exec(value ?? '');
  return found === null ? undefined : `${found[1]}-${found[2]}-${found[3]}`;
}
