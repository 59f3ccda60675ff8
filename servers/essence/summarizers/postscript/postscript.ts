import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { guarded, joinHyphenated, present, summarizeExtracted } from '../extracted.js';
import { PsMachine } from './machine.js';
import { OPERATORS } from './operators.js';
import { ShownText } from './shown-text.js';

/** PostScript: the document structuring comments, then the Text rule on the text that the program shows (6.2). */
export function summarizePostScript(document: SourceDocument): Summary {
  const shown = new ShownText();
  guarded(document, 'PostScript', undefined, () => {
    const machine = new PsMachine(
      programOf(document.body),
      OPERATORS,
      shown,
      document.settings.maxObjectBytes,
    );
    machine.run();
    if (machine.failure !== undefined)
      document.warn(`PostScript: ${machine.failure}; the text may be incomplete`);
  });
  const comment = (name: string): string | undefined => {
    const value = shown.comments.get(name);
    return value === undefined || value === '(atend)' ? undefined : unquote(value);
  };
  return summarizeExtracted({
    attributes: present([
      ['Title', comment('Title')],
      ['Author', comment('For')],
      ['Author', comment('Creator')],
      ['Date', comment('CreationDate')],
    ]),
    text: joinHyphenated(shown.text.finish()),
  });
}

/** Returns the program: a DOS EPS file has a header of 30 bytes with its offset; some files begin with printer commands. */
function programOf(body: Uint8Array): Uint8Array {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  if (body.length > 30 && view.getUint32(0) === 0xc5d0d3c6) {
    const start = view.getUint32(4, true);
    return body.subarray(start, start + view.getUint32(8, true));
  }
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 4096)).indexOf('%!');
  return start > 0 ? body.subarray(start) : body;
}

/** Decodes a PostScript string `(text)`. */
function unquote(value: string): string {
  return value
    .replace(/^\((.*)\)$/s, '$1')
    .replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    .replace(/\\(.)/g, '$1')
    .trim();
}
