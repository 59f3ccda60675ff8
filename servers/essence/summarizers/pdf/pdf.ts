import { fileURLToPath } from 'node:url';
import { getDocumentProxy } from 'unpdf';
import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { joinHyphenated, oneLine, present, summarizeExtracted, unreadable } from '../extracted.js';
import { PageText, type PositionedText } from '../page-text.js';
import { summarizeUnrecognized } from '../text.js';
import { fieldText, textByFont } from './cyrillic.js';
import { excessiveExpansion } from './expansion.js';

/** Maximum number of pages of one document that are read. */
const MAX_PAGES = 5000;
/** Milliseconds for the text of a page. The library never answers for some damaged pages, although it has nothing to do. */
const ANSWER_LIMIT_MS = 5000;
const CLOSE_LIMIT_MS = 500;
/**
 * Directory of the predefined CMaps, which unpdf does not contain. Without them, a font with such an encoding and no ToUnicode map has no
 * text. The library reads the files by name from its own list of names, each when a font needs it.
 */
const CMAPS = fileURLToPath(new URL('cmaps/', import.meta.resolve('pdf.js-extract')));

/** What a PDF file says. */
export interface PdfContent {
  /** Of the information dictionary, as attributes. */
  readonly attributes: readonly (readonly [string, string])[];
  readonly text: string;
  /** URLs of links; only if all references are wanted. */
  readonly linkedUrls: readonly string[];
}

/**
 * Pdf: title, author, subject and keywords of the information dictionary, then as Text (6.2). unpdf, a build of pdf.js, reads page by
 * page; reading stops when the text fills the object.
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
 * @returns undefined if the file exceeds a limit of E-45, with a warning of the document
 */
export async function readPdf(document: SourceDocument, body: Uint8Array): Promise<PdfContent | undefined> {
  const excess = excessiveExpansion(body, document.settings.unnest);
  if (excess !== undefined) {
    document.warn(`the Pdf document is summarized by its name (E-45): ${excess}`);
    return undefined;
  }
  const texts: string[] = [];
  const linkedUrls = new Set<string>();
  let attributes: (readonly [string, string])[] = [];
  try {
    // A copy, because the library transfers the bytes. Fonts are not drawn, so nothing is evaluated or fetched.
    const pdf = await getDocumentProxy(new Uint8Array(body), {
      verbosity: 0,
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      maxImageSize: 1,
      stopAtErrors: false,
      cMapUrl: CMAPS,
      cMapPacked: true,
    });
    try {
      attributes = await informationOf(pdf);
      await addPages(document, pdf, texts, linkedUrls);
    } finally {
      // It waits for the page that is being read.
      await answered(pdf.loadingTask.destroy(), CLOSE_LIMIT_MS);
    }
  } catch (error) {
    document.warn(unreadable('Pdf', error));
  }
  return { attributes, text: joinHyphenated(texts.join('\n\n')), linkedUrls: [...linkedUrls] };
}

/** Adds the texts of the pages until they fill the object, and the URLs of their links. */
async function addPages(
  document: SourceDocument,
  pdf: Pdf,
  texts: string[],
  linkedUrls: Set<string>,
): Promise<void> {
  let length = 0;
  const pages = Math.min(pdf.numPages, MAX_PAGES);
  for (let number = 1; number <= pages && length < document.settings.maxObjectBytes; number++) {
    try {
      const page = await pdf.getPage(number);
      const content = await answered(page.getTextContent({ disableNormalization: true }), ANSWER_LIMIT_MS);
      if (content === undefined) {
        document.warn(`page ${number} and those after it are not read: the reader does not answer (E-45)`);
        return;
      }
      const { items } = content;
      const text = new PageText();
      const runs = items.filter((item) => 'str' in item);
      const textOf = textByFont(runs);
      for (const run of runs) {
        text.add(positioned({ ...run, str: textOf(run) }));
        if (run.hasEOL) text.newline();
      }
      texts.push(text.finish());
      length += texts[texts.length - 1]!.length;
      if (document.outlinks !== undefined) await addLinks(page, linkedUrls, document.settings.maxLinks);
      page.cleanup();
    } catch (error) {
      document.warn(unreadable(`page ${number}`, error));
    }
  }
}

/** Adds the URLs of the page's link annotations. */
async function addLinks(
  page: { getAnnotations(): Promise<unknown[]> },
  urls: Set<string>,
  maxLinks: number,
): Promise<void> {
  for (const annotation of (await answered(page.getAnnotations(), ANSWER_LIMIT_MS)) ?? []) {
    if (typeof annotation !== 'object' || annotation === null) continue;
    // The library's `url` is checked and encoded; `unsafeUrl` is as it stands in the file.
    const url: unknown = Reflect.get(annotation, 'url') ?? Reflect.get(annotation, 'unsafeUrl');
    if (typeof url === 'string' && urls.size < maxLinks) urls.add(url);
  }
}

/** The result of the promise; undefined if it is not settled in time. */
async function answered<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limitMs, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The last two numbers of `transform` are the position of the baseline, in points. */
function positioned(run: {
  str: string;
  transform: unknown[];
  width: number;
  height: number;
}): PositionedText {
  const numberAt = (index: number): number => {
    const value = run.transform[index];
    return typeof value === 'number' ? value : 0;
  };
  return {
    text: run.str,
    x: numberAt(4),
    y: numberAt(5),
    width: run.width,
    size: run.height || Math.abs(numberAt(3)),
  };
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

async function informationOf(pdf: Pick<Pdf, 'getMetadata'>): Promise<(readonly [string, string])[]> {
  const { info } = await pdf.getMetadata();
  const field = (name: string): string | undefined => {
    const value: unknown = Reflect.get(info, name);
    return typeof value === 'string' ? oneLine(fieldText(value)) : undefined;
  };
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
