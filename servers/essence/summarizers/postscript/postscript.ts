import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { guarded, joinHyphenated, present, summarizeExtracted } from '../extracted.js';
import { CONTROL_OPERATORS } from './control.js';
import { CONVERSION_OPERATORS } from './conversion.js';
import { DATA_OPERATORS } from './data.js';
import { DocumentComments } from './document-comments.js';
import { type OperatorBody, PsMachine } from './machine.js';
import { PAINT_OPERATORS } from './paint.js';
import { PICTURE_OPERATORS } from './pictures.js';
import { pdfOfPs2write } from './ps2write.js';
import { ShownText } from './shown-text.js';
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
  const head = Buffer.from(program.buffer, program.byteOffset, Math.min(program.length, HEAD_BYTES));
  for (const line of head.toString('latin1').split(/\r\n?|\n/)) if (line.startsWith('%')) comments.add(line);
  const { readPdf } = await import('../pdf/pdf.js');
  return (await readPdf(document, pdf, true))?.text ?? '';
}

/**
 * Returns the program: a DOS EPS file has a header of 30 bytes with its offset; some files begin with printer
 * commands.
 */
function programOf(body: Uint8Array): Uint8Array {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  if (body.length > 30 && view.getUint32(0) === 0xc5d0d3c6) {
    const start = view.getUint32(4, true);
    return body.subarray(start, start + view.getUint32(8, true));
  }
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 4096)).indexOf('%!');
  return start > 0 ? body.subarray(start) : body;
}
