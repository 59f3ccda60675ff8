import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { guarded, summarizeExtracted } from '../extracted.js';
import { CompoundFile } from './compound-file.js';
import { OfficeContent } from './office-content.js';
import { PresentationRecords, type SlideText } from './power-point-records.js';
import { propertiesOf } from './properties.js';

/** Values of TextHeaderAtom that are titles: Title, and CenterTitle of a first slide. */
const TITLES: ReadonlySet<number> = new Set([0, 6]);

/**
 * PowerPoint 97 to 2003: properties, titles of the slides as headings, then the slides in order with their
 * notes as Text.
 */
export function summarizePowerPoint(document: SourceDocument): Summary {
  const content = new OfficeContent(document);
  guarded(document, 'PowerPoint', undefined, () => {
    const file = new CompoundFile(document.body);
    for (const [name, value] of propertiesOf(file)) content.property(name, value);
    const stream = file.stream('PowerPoint Document');
    if (stream === undefined) throw new Error('there is no stream with the name PowerPoint Document');
    const records = new PresentationRecords(stream, file.stream('Current User'));
    for (const slide of records.slides()) {
      if (content.isFull()) return;
      addSlide(content, slide);
    }
  });
  return summarizeExtracted(content.result());
}

function addSlide(content: OfficeContent, texts: readonly SlideText[]): void {
  for (const { kind, text } of texts) {
    // Paragraphs end with a carriage return; a vertical tab breaks a line, also in titles.
    const lines = text.replace(/[\r\v]/g, '\n');
    if (TITLES.has(kind)) {
      content.heading(lines);
      content.shownTitle(lines);
    }
    content.text(`${lines}\n`);
  }
  content.text('\n');
}
