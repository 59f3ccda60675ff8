import WordExtractor from 'word-extractor';
import type { SourceDocument } from '../../document.js';
import { isBinary } from '../../magic.js';
import type { Summary } from '../../summary.js';
import { summarizeExtracted, unreadable } from '../extracted.js';
import { summarizeRtf } from '../rtf/rtf.js';
import { summarizeText } from '../text.js';
import { CompoundFile } from './compound-file.js';
import { summarizeOffice } from './office.js';
import { propertiesOf } from './properties.js';

/**
 * Word: title and author of the summary information, then as Text (6.2). The content decides, because texts, RTF and newer documents
 * have the suffix `.doc` too.
 */
export async function summarizeWord(document: SourceDocument): Promise<Summary> {
  const body = Buffer.from(document.body.buffer, document.body.byteOffset, document.body.byteLength);
  if (body.subarray(0, 5).toString('latin1') === '{\\rtf') return summarizeRtf(document);
  if (body.subarray(0, 2).toString('latin1') === 'PK') return summarizeOffice(document);
  if (!isBinary(body)) return { ...summarizeText(document), text: document.text };
  let attributes: readonly (readonly [string, string])[] = [];
  let text = '';
  try {
    attributes = propertiesOf(new CompoundFile(body));
    const word = await new WordExtractor().extract(body);
    text = [word.getBody(), word.getFootnotes(), word.getEndnotes(), word.getHeaders()].join('\n');
  } catch (error) {
    document.warn(unreadable('Word', error));
  }
  return summarizeExtracted({ attributes, text });
}
