import { bufferOf, viewOf } from '../../bytes.js';
import type { SourceDocument, Summary } from '../../document.js';
import { guarded, joinHyphenated, present, summarizeExtracted } from '../extracted.js';
import { ARBITRARY_FONT } from '../pdf/pdfium.js';
import { CONTROL_OPERATORS } from './control.js';
import { CONVERSION_OPERATORS } from './conversion.js';
import { DATA_OPERATORS } from './data.js';
import { type OperatorBody, PsMachine } from './machine.js';
import { PAINT_OPERATORS, PICTURE_OPERATORS } from './paint.js';
import { DocumentComments, ShownText } from './shown-text.js';
import { TYPE_OPERATORS } from './type.js';

/** Every supported operator, by name. */
export const OPERATORS: ReadonlyMap<string, OperatorBody> = new Map(
  Object.entries({
    ...DATA_OPERATORS,
    ...CONVERSION_OPERATORS,
    ...CONTROL_OPERATORS,
    ...PAINT_OPERATORS,
    ...TYPE_OPERATORS,
    ...PICTURE_OPERATORS,
  }),
);

/** Bytes of a program that are searched for its comments if it is not run. */
const HEAD_BYTES = 16_384;

/**
 * PostScript: the document structuring comments, then the Text rule on the text that the program shows (6.2).
 */
export async function summarizePostScript(document: SourceDocument): Promise<Summary> {
  const program = programOf(document.body);
  const pdf = pdfOfPs2write(program);
  const comments = new DocumentComments();
  const text =
    pdf === undefined
      ? shownBy(document, program, comments)
      : await textOfPdf(document, program, pdf, comments);
  return summarizeExtracted({
    attributes: present([
      ['Title', comments.value('Title')],
      ['Author', comments.value('For')],
      ['Date', comments.value('CreationDate')],
    ]),
    text,
  });
}

/** Runs the program. */
function shownBy(document: SourceDocument, program: Uint8Array, comments: DocumentComments): string {
  const shown = new ShownText(comments);
  guarded(document, 'PostScript', undefined, () => {
    const { maxObjectBytes, maxProgramMs } = document.settings;
    const machine = new PsMachine(program, OPERATORS, shown, {
      maxTextLength: maxObjectBytes,
      maxProcessorMs: maxProgramMs,
    });
    machine.run();
    if (machine.failure !== undefined)
      document.warn(`PostScript: ${machine.failure}; the text may be incomplete`);
  });
  return joinHyphenated(shown.text.finish());
}

/** Reads the PDF file that a program contains. */
async function textOfPdf(
  document: SourceDocument,
  program: Uint8Array,
  pdf: Uint8Array,
  comments: DocumentComments,
): Promise<string> {
  const head = bufferOf(program, HEAD_BYTES);
  for (const line of head.toString('latin1').split(/\r\n?|\n/)) if (line.startsWith('%')) comments.add(line);
  const { readPdf } = await import('../pdf/pdf.js');
  return (await readPdf(document, pdf, true))?.text ?? '';
}

/**
 * Returns the program: a DOS EPS file has a header of 30 bytes with its offset; some files begin with printer
 * commands.
 */
function programOf(body: Uint8Array): Uint8Array {
  const view = viewOf(body);
  if (body.length > 30 && view.getUint32(0) === 0xc5d0d3c6) {
    const start = view.getUint32(4, true);
    return body.subarray(start, start + view.getUint32(8, true));
  }
  const start = bufferOf(body, 4096).indexOf('%!');
  return start > 0 ? body.subarray(start) : body;
}

// Ghostscript's devices ps2write and eps2write (pdf2ps uses them) write the objects of a PDF file and, before
// them, a program that shows PDF. The objects make a PDF file again.

/** Bytes in which the program names itself. */
const NAME_WINDOW_BYTES = 4096;
/** Maximum number of pages that the page tree lists. */
const MAX_PAGES = 10_000;
/** Number of the first object that is added; Ghostscript counts from 1. */
const FIRST_ADDED = 9_000_000;

/**
 * Returns the PDF file that a program of ps2write contains; undefined for other programs. The file has no
 * cross-reference table: a reader of PDF makes one, as for a damaged file.
 */
function pdfOfPs2write(program: Uint8Array): Uint8Array | undefined {
  const bytes = bufferOf(program);
  const head = bytes.toString('latin1', 0, NAME_WINDOW_BYTES);
  if (!/DSC_OPDFREAD|opdfread|^%%Creator:[^\r\n]*\(e?ps2write\)/m.test(head)) return undefined;
  const first = firstObject(bytes);
  if (first === undefined) return undefined;
  const objects = markArbitraryFonts(bytes.subarray(first));
  const pages = pagesOf(objects);
  const kids = pages.map((number) => `${number} 0 R`).join(' ');
  const tree =
    `\n${FIRST_ADDED} 0 obj\n<</Type/Catalog/Pages ${FIRST_ADDED + 1} 0 R>>\nendobj\n` +
    `${FIRST_ADDED + 1} 0 obj\n<</Type/Pages/Count ${pages.length}/Kids[${kids}]>>\nendobj\n` +
    `trailer\n<</Root ${FIRST_ADDED} 0 R/Size ${FIRST_ADDED + 2}>>\n%%EOF\n`;
  return Buffer.concat([Buffer.from('%PDF-1.4\n'), objects, Buffer.from(tree)]);
}

/** A font of pictures whose last key is its kind, as Ghostscript writes it. */
const PICTURE_FONT = /\/CharProcs ?<<([^<>]{0,20000})>>[^>]{0,10000}?\/Subtype ?\/Type3(?=\s*>>)/g;

/** The first numbers: fonts of TeX have rare letters or accents there. */
const FIRST_NUMBERS = ['a0', 'a1', 'a2'];

/**
 * Ghostscript makes fonts of pictures of those with a large character set (CID fonts) and numbers the glyphs of
 * a document as they occur: a0, a1, a2 and so on. Such numbers are no text; the fonts are marked by a name, see
 * {@link ARBITRARY_FONT}.
 */
function markArbitraryFonts(objects: Buffer): Buffer {
  const text = objects.toString('latin1');
  const fonts = [...text.matchAll(PICTURE_FONT)].map(([, pictures = '']) => glyphNames(pictures));
  if (!fonts.some((names) => areNumbers(names) && FIRST_NUMBERS.every((name) => names.includes(name))))
    return objects;
  const marked = text.replace(PICTURE_FONT, (font: string, pictures: string) =>
    areNumbers(glyphNames(pictures)) ? `${font}/BaseFont/${ARBITRARY_FONT}` : font,
  );
  return Buffer.from(marked, 'latin1');
}

function glyphNames(pictures: string): readonly string[] {
  return [...pictures.matchAll(/\/(\S+) \d+ 0 R/g)].map(([, name = '']) => name);
}

function areNumbers(names: readonly string[]): boolean {
  return names.every((name) => /^a\d{1,3}$/.test(name));
}

/** Offset of the first line that begins an object. */
function firstObject(bytes: Buffer): number | undefined {
  for (let at = bytes.indexOf(' 0 obj'); at >= 0; at = bytes.indexOf(' 0 obj', at + 6)) {
    let start = at;
    while (start > 0 && bytes[start - 1]! >= 0x30 && bytes[start - 1]! <= 0x39) start--;
    if (start < at && (bytes[start - 1] === 0x0a || bytes[start - 1] === 0x0d)) return start;
  }
  return undefined;
}

/** Numbers of the objects that are pages, in the order of the file. */
function pagesOf(objects: Buffer): readonly string[] {
  const pages: string[] = [];
  for (let at = objects.indexOf('/Page'); at >= 0; at = objects.indexOf('/Page', at + 5)) {
    const object = objects.toString('latin1', Math.max(0, at - 60), at + 6);
    const number = /(?:^|[\r\n])(\d{1,7}) 0 obj\s*<<\s*\/Type\s*\/Page[^A-Za-z]$/.exec(object)?.[1];
    if (number !== undefined && pages.length < MAX_PAGES) pages.push(number);
  }
  return pages;
}
