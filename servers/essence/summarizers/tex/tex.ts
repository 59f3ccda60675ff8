import type { SourceDocument, Summary } from '../../document.js';
import { boundedSource, present, summarizeExtracted } from '../extracted.js';
import { isTexinfo, summarizeTexinfo } from '../texinfo.js';
import { TexReader } from './tex-reader.js';

/**
 * TeX: the Text rule on the text without its commands; a title if there is one (6.2). Texinfo of type TeX is
 * summarized as Texinfo.
 */
export function summarizeTex(document: SourceDocument): Summary {
  if (isTexinfo(document.text)) return summarizeTexinfo(document);
  const reader = new TexReader(boundedSource(document, 'TeX source'));
  const text = withoutGaps(reader.read());
  const { title, author, date } = reader.fields;
  const summary = summarizeExtracted({
    attributes: present([
      ['Title', title[0]],
      ['Author', author],
      ['Date', date[0]],
    ]),
    text,
  });
  return withLinks(summary, reader.inclusions.names);
}

/** LaTeX: the fields that the document marks (6.2); its text is for `--full-text`. */
export function summarizeLatex(document: SourceDocument): Summary {
  const reader = new TexReader(boundedSource(document, 'TeX source'));
  const text = withoutGaps(reader.read());
  const { title, author, date, abstract, headings, references, keywords } = reader.fields;
  const included = reader.inclusions.names;
  const attributes = present([
    ['Title', title[0]],
    ['Author', author],
    ['Date', date[0]],
    ['Abstract', abstract],
    ['Headings', headings],
    ['References', new Set([...references, ...included])],
    ['Keywords', new Set(keywords)],
  ]);
  const summary = summarizeExtracted({ attributes, text });
  // A chapter or a style file marks no fields; its text is used instead.
  const isMarked = attributes.some(([name]) => name !== 'References');
  return withLinks(
    { ...summary, attributes: isMarked ? attributes : [...summary.attributes, ...attributes] },
    included,
  );
}

/** Adds the included files, which the crawl follows as the links of a page. */
function withLinks(summary: Summary, names: readonly string[]): Summary {
  const linkedUrls = names.map((name) => name.split('/').map(encodeURIComponent).join('/'));
  return linkedUrls.length === 0 ? summary : { ...summary, linkedUrls };
}

/** Removes the blanks that commands leave. */
function withoutGaps(text: string): string {
  return text.replace(/ {2,}/g, ' ').replace(/^ /gm, '');
}
