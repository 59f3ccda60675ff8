import { getDocumentProxy } from 'unpdf';
import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { joinHyphenated, oneLine, present, summarizeExtracted, unreadable } from '../extracted.js';
import { PageText, type PositionedText } from '../page-text.js';

/** Maximum number of pages of one document that are read. */
const MAX_PAGES = 5000;

/**
 * Pdf: title, author, subject and keywords of the information dictionary, then as Text (6.2). unpdf, a build of pdf.js, reads page by
 * page; reading stops when the text fills the object.
 */
export async function summarizePdf(document: SourceDocument): Promise<Summary> {
  const texts: string[] = [];
  let attributes: (readonly [string, string])[] = [];
  try {
    // A copy, because the library transfers the bytes. Fonts are not drawn, so nothing is evaluated or fetched.
    const pdf = await getDocumentProxy(new Uint8Array(document.body), {
      verbosity: 0,
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      maxImageSize: 1,
      stopAtErrors: false,
    });
    try {
      attributes = await informationOf(pdf);
      let length = 0;
      const pages = Math.min(pdf.numPages, MAX_PAGES);
      for (let number = 1; number <= pages && length < document.settings.maxObjectBytes; number++) {
        try {
          const page = await pdf.getPage(number);
          const { items } = await page.getTextContent({ disableNormalization: true });
          const text = new PageText();
          for (const item of items) {
            if (!('str' in item)) continue;
            text.add(positioned(item));
            if (item.hasEOL) text.newline();
          }
          texts.push(text.finish());
          length += texts[texts.length - 1]!.length;
          page.cleanup();
        } catch (error) {
          document.warn(unreadable(`page ${number}`, error));
        }
      }
    } finally {
      await pdf.loadingTask.destroy();
    }
  } catch (error) {
    document.warn(unreadable('Pdf', error));
  }
  return summarizeExtracted({ attributes, text: joinHyphenated(texts.join('\n\n')) });
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

type Information = Awaited<ReturnType<typeof getDocumentProxy>>;

async function informationOf(pdf: Pick<Information, 'getMetadata'>): Promise<(readonly [string, string])[]> {
  const { info } = await pdf.getMetadata();
  const field = (name: string): string | undefined => {
    const value: unknown = Reflect.get(info, name);
    return typeof value === 'string' ? oneLine(value) : undefined;
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
