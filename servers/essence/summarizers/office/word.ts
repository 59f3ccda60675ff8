import WordExtractor from 'word-extractor';
import { isBinary } from '../../charset/index.js';
import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { summarizeExtracted, unreadable } from '../extracted.js';
import { summarizeRtf } from '../rtf/rtf.js';
import { summarizeText } from '../text.js';
import { CompoundFile } from './compound-file.js';
import { summarizeOffice } from './office.js';
import { propertiesOf } from './properties.js';
import { assertPieces, tableOf } from './word-pieces.js';
import { writeCompoundFile } from './write-compound-file.js';

/**
 * Word: title and author of the summary information, then as Text (6.2). The content decides, because texts,
 * RTF and newer documents have the suffix `.doc` too.
 */
export async function summarizeWord(document: SourceDocument): Promise<Summary> {
  const body = Buffer.from(document.body.buffer, document.body.byteOffset, document.body.byteLength);
  if (body.subarray(0, 5).toString('latin1') === '{\\rtf') return summarizeRtf(document);
  if (body.subarray(0, 2).toString('latin1') === 'PK') return summarizeOffice(document);
  if (!isBinary(body)) return { ...summarizeText(document), text: document.text };
  let attributes: readonly (readonly [string, string])[] = [];
  let text = '';
  try {
    const file = new CompoundFile(body);
    attributes = propertiesOf(file);
    document.keep({ attributes });
    const word = await new WordExtractor().extract(Buffer.from(soundCopyOf(file).buffer));
    text = [word.getBody(), word.getFootnotes(), word.getEndnotes(), word.getHeaders()].join('\n');
  } catch (error) {
    document.warn(unreadable('Word', error));
  }
  return summarizeExtracted({ attributes, text });
}

/** The streams that hold the text, in a file whose tables of sectors and of pieces the library can believe. */
function soundCopyOf(file: CompoundFile): Uint8Array {
  const text = file.stream('WordDocument');
  if (text === undefined) throw new Error('the stream WordDocument is missing');
  const streams = new Map([['WordDocument', text]]);
  for (const name of ['0Table', '1Table']) {
    const stream = file.stream(name);
    if (stream !== undefined) streams.set(name, stream);
  }
  assertPieces(text, streams.get(tableOf(text)) ?? new Uint8Array());
  return writeCompoundFile(streams);
}
