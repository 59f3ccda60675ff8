import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { guarded, oneLine, openingText, present, tidyText } from '../extracted.js';
import { RtfReader } from './reader.js';

/**
 * RTF: as HTML (6.2): emphasized words become keywords, paragraphs of heading styles headings, the text `body`;
 * title and author are those of the information group.
 */
export function summarizeRtf(document: SourceDocument): Summary {
  const reader = new RtfReader(document.body, document.settings.maxObjectBytes);
  guarded(document, 'RTF', undefined, () => reader.read(document.isOutOfTime));
  const text = tidyText(reader.text);
  const lines = (values: readonly string[]) =>
    [...new Set(values.map(oneLine))].filter((line) => line !== '').join('\n');
  const linkedUrls = document.outlinks === undefined ? [] : [...new Set(reader.links)];
  return {
    ...(linkedUrls.length === 0 ? {} : { linkedUrls }),
    attributes: present([
      ['Title', reader.information('title')],
      ['Author', reader.information('author')],
      ['Subject', reader.information('subject')],
      ['keywords', reader.information('keywords')],
      ['keywords', lines(reader.emphasized)],
      ['headings', lines(reader.headings)],
      ['url-references', lines(reader.links)],
      ['body', text],
    ]),
    description: openingText(text),
    text,
  };
}
