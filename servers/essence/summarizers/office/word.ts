import WordExtractor from 'word-extractor';
import { bufferOf, viewOf } from '../../bytes.js';
import { isBinary } from '../../charset/marks.js';
import type { SourceDocument, Summary } from '../../document.js';
import { summarizeExtracted, unreadable } from '../extracted.js';
import { summarizeRtf } from '../rtf/rtf.js';
import { summarizeText } from '../text.js';
import { CompoundFile, propertiesOf, writeCompoundFile } from './compound-file.js';
import { summarizeOffice } from './office.js';

/**
 * Word: title and author of the summary information, then as Text (6.2). The content decides, because texts,
 * RTF and newer documents have the suffix `.doc` too.
 */
export async function summarizeWord(document: SourceDocument): Promise<Summary> {
  const body = bufferOf(document.body);
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

// What a Word file claims about the pieces of its text, checked before a library copies every piece.

/** Offsets in the header of the stream WordDocument. */
const FLAGS = 0x0a;
const PIECES = 0x01a2;
const SECOND_TABLE = 0x0200;
const COMPRESSED = 0x40000000;
const PROPERTIES = 1;
const TABLE = 2;
/**
 * Bytes that pieces may have beyond twice the text, so that the rest of a short document that was cut off is
 * read.
 */
const FORGIVEN = 1 << 20;

/** Returns the name of the stream with the table of pieces. */
function tableOf(text: Uint8Array): '0Table' | '1Table' {
  if (text.length < FLAGS + 2) throw new Error('the stream WordDocument is too short');
  return (viewOf(text).getUint16(FLAGS, true) & SECOND_TABLE) === 0 ? '0Table' : '1Table';
}

/**
 * Checks that the pieces do not repeat the text: a table of some kilobytes could name the whole text a thousand
 * times. Pieces of a file that was cut off may end after it.
 *
 * @param text the stream WordDocument
 * @param table the stream with the table of pieces
 * @throws Error that names the first wrong claim, with the offset in the table
 */
function assertPieces(text: Uint8Array, table: Uint8Array): void {
  const view = viewOf(table);
  const need = (at: number, bytes: number): number => {
    if (at + bytes > table.length) throw new Error(`the table of pieces ends at offset ${table.length}`);
    return at;
  };
  let at = text.length < PIECES + 4 ? table.length : viewOf(text).getUint32(PIECES, true);
  while (view.getUint8(need(at, 1)) === PROPERTIES) at += 3 + view.getUint16(need(at + 1, 2), true);
  if (view.getUint8(at) !== TABLE) throw new Error(`no table of pieces at offset ${at}`);
  const count = Math.floor((view.getUint32(need(at + 1, 4), true) - 4) / 12);
  at = need(at + 5, 12 * count + 4);
  let bytes = 0;
  for (let i = 0; i < count; i++) {
    const characters = view.getUint32(at + 4 * i + 4, true) - view.getUint32(at + 4 * i, true);
    const place = view.getUint32(at + 4 * (count + 1) + 8 * i + 2, true);
    const size = (place & COMPRESSED) !== 0 ? characters : 2 * characters;
    if (size < 0) throw new Error(`piece ${i} ends before it begins (offset ${at + 4 * i})`);
    bytes += size;
    if (bytes > 2 * text.length + FORGIVEN)
      throw new Error(`the pieces are larger than the text (offset ${at + 4 * i})`);
  }
}
