// Ghostscript's devices ps2write and eps2write (pdf2ps uses them) write the objects of a PDF file and, before
// them, a program that shows PDF. The objects make a PDF file again.

import { ARBITRARY_FONT } from '../pdf/pdfium.js';

/** Bytes in which the program names itself. */
const HEAD_BYTES = 4096;
/** Maximum number of pages that the page tree lists. */
const MAX_PAGES = 10_000;
/** Number of the first object that is added; Ghostscript counts from 1. */
const FIRST_ADDED = 9_000_000;

/**
 * Returns the PDF file that a program of ps2write contains; undefined for other programs. The file has no
 * cross-reference table: a reader of PDF makes one, as for a damaged file.
 */
export function pdfOfPs2write(program: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(program.buffer, program.byteOffset, program.byteLength);
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
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
