import { constants, inflateSync } from 'node:zlib';
import { errorCode } from '../../../../protocols/errors.js';
import { bufferOf } from '../../bytes.js';
import type { SourceDocument, Summary } from '../../document.js';
import type { UnnestLimits } from '../../model.js';
import { joinHyphenated, oneLine, present, summarizeExtracted, unreadable } from '../extracted.js';
import { summarizeUnrecognized } from '../text.js';
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
  const hasLinks = document.outlinks !== undefined;
  for (let index = 0; index < pages && (length < maxObjectBytes || hasLinks); index++) {
    if (document.isOutOfTime()) return;
    using page = pdf.page(index);
    if (page === undefined) {
      document.warn(`page ${index + 1} is damaged`);
      continue;
    }
    // The links of an archive are those of all pages.
    if (length < maxObjectBytes) {
      const text = textOf(page);
      texts.push(text);
      document.keep({ text });
      length += text.length;
    }
    if (!hasLinks) continue;
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

// Refuses PDF files whose streams expand beyond the limits of E-45, before the library decodes them: it keeps a
// decoded stream in memory, whatever its size. What this check cannot see (other filters first, encrypted
// files) meets the limit of the reader process.

/** Bytes before `stream` in which its dictionary is looked for. */
const DICTIONARY_BYTES = 1024;
/** The most that deflate expands one byte to. */
const MAX_DEFLATE_RATIO = 1032;

/**
 * Returns a clause about the first limit that the streams of a PDF file exceed; undefined if all are within the
 * limits. Only streams that could exceed a limit are decoded: nested filters, and large streams that are not
 * pictures, which are not decoded for their text.
 *
 * @param isOutOfTime - the streams that follow are not checked then
 */
function excessiveExpansion(
  body: Uint8Array,
  limits: UnnestLimits,
  isOutOfTime: () => boolean,
): string | undefined {
  const bytes = bufferOf(body);
  const { maxComponentBytes, maxRatio, ratioFloorBytes } = limits;
  const ceiling = Math.max(ratioFloorBytes, maxComponentBytes, body.length * maxRatio);
  let total = 0;
  for (let at = bytes.indexOf('stream'); at >= 0; at = bytes.indexOf('stream', at + 6)) {
    const begin = startOfData(bytes, at + 6);
    if (begin === undefined) continue;
    const dictionary = dictionaryBefore(bytes, at);
    const layers = leadingFlateLayers(dictionary);
    if (layers === 0 || (layers === 1 && /\/Subtype\s*\/Image\b/.test(dictionary))) continue;
    const end = bytes.indexOf('endstream', begin);
    let data: Buffer = bytes.subarray(begin, end < 0 ? bytes.length : end);
    if (isOutOfTime()) return undefined;
    if (layers === 1 && data.length * MAX_DEFLATE_RATIO <= maxComponentBytes) continue;
    for (let layer = 0; layer < layers; layer++) {
      const inflated = inflateUpTo(data, maxComponentBytes);
      if (inflated === 'too large') return `a stream expands to more than ${maxComponentBytes} bytes`;
      if (inflated === undefined) break;
      data = inflated;
      total += data.length;
      if (total > ceiling) return `its streams expand to more than ${maxRatio} times its size`;
    }
  }
  return undefined;
}

/** The data begin after the line end; undefined if this is not the keyword of a stream. */
function startOfData(bytes: Buffer, offset: number): number | undefined {
  if (bytes[offset] === 0x0a) return offset + 1;
  if (bytes[offset] !== 0x0d) return undefined;
  return bytes[offset + 1] === 0x0a ? offset + 2 : offset + 1;
}

function dictionaryBefore(bytes: Buffer, end: number): string {
  const text = bytes.toString('latin1', Math.max(0, end - DICTIONARY_BYTES), end);
  return text.slice(Math.max(0, text.lastIndexOf('obj')));
}

/** The number of FlateDecode filters at the start of the list. */
function leadingFlateLayers(dictionary: string): number {
  const list = /\/(?:Filter|F)\s*(?:\[\s*)?((?:\/[A-Za-z0-9#]+\s*)+)/.exec(dictionary)?.[1];
  if (list === undefined) return 0;
  const names = list.split('/').map((name) => name.trim());
  const other = names.findIndex((name, index) => index > 0 && name !== 'FlateDecode' && name !== 'Fl');
  return (other < 0 ? names.length : other) - 1;
}

/** Undefined for data that are not deflated: the library reports them. */
function inflateUpTo(data: Buffer, limit: number): Buffer | 'too large' | undefined {
  try {
    // A stream without its end is decoded as far as it goes, as the library does.
    return inflateSync(data, { maxOutputLength: limit, finishFlush: constants.Z_SYNC_FLUSH });
  } catch (error) {
    return errorCode(error) === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : undefined;
  }
}
