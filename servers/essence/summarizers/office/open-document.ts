import type { MarkupAttributes } from '../../html/markup-stream.js';
import { wordPairs, wordSet } from '../../word-tables.js';
import { type OfficeContent, Paragraphs } from './office-content.js';
import type { XmlMembers } from './xml-members.js';

type Kind = 'heading' | 'text';

/** Deleted text, comments of reviewers, readings above characters, numbers of notes, pictures, scripts. */
const SKIP = wordSet(
  'text:tracked-changes office:annotation text:ruby-text text:note-citation office:binary-data office:scripts ' +
    // Page headers and the like of flat documents.
    'office:master-styles',
);

/** Attributes by the elements of `office:meta`. */
const META: ReadonlyMap<string, string> = wordPairs(`
  dc:title Title meta:initial-creator Author dc:creator Editor dc:subject Subject
  dc:description Abstract meta:keyword Keywords dc:language Language meta:creation-date Date
`);

/** Properties that users add, in lower case. */
const USER_DEFINED: ReadonlyMap<string, string> = new Map([
  ['abstract', 'Abstract'],
  ['keywords', 'Keywords'],
  ['language', 'Language'],
]);

/** OpenDocument in a package: `meta.xml` and `content.xml`. */
export async function readOpenDocument(xml: XmlMembers, content: OfficeContent): Promise<void> {
  const events = new OpenDocumentEvents(content);
  await xml.read('meta.xml', events);
  events.endMeta();
  await xml.read('content.xml', events, { skip: SKIP, isFull: content.isFull });
}

export { SKIP as OPEN_DOCUMENT_SKIP };

/**
 * Collects properties and text of OpenDocument 1.3, in a package or as one file: `text:h` and titles of slides
 * are headings, as are names of sheets; values of cells as shown, formulas with `=` after them; foot- and
 * endnotes; links.
 */
export class OpenDocumentEvents {
  readonly #content: OfficeContent;
  readonly #paragraphs = new Paragraphs<Kind>();
  #field: string | undefined;
  #value = '';
  #author = '';
  #editor = '';
  #isTitleFrame = false;
  #isSpreadsheet = false;
  #formula = '';

  constructor(content: OfficeContent) {
    this.#content = content;
  }

  open(tag: string, attributes: MarkupAttributes): void {
    const field =
      tag === 'meta:user-defined'
        ? USER_DEFINED.get(attributes['meta:name']?.toLowerCase() ?? '')
        : this.#paragraphs.isOpen
          ? undefined
          : META.get(tag);
    if (field !== undefined) [this.#field, this.#value] = [field, ''];
    else if (tag === 'text:p') this.#paragraphs.begin(this.#isTitleFrame ? 'heading' : 'text');
    else if (tag === 'text:h') this.#paragraphs.begin('heading');
    else if (tag === 'text:tab') this.#paragraphs.add('\t');
    else if (tag === 'text:s') this.#paragraphs.add(' ');
    else if (tag === 'text:line-break') this.#paragraphs.add('\n');
    else if (tag === 'text:a' || tag === 'draw:a') this.#content.reference(attributes['xlink:href']);
    else if (tag === 'draw:frame') this.#isTitleFrame = attributes['presentation:class'] === 'title';
    else if (tag === 'office:spreadsheet') this.#isSpreadsheet = true;
    else if (tag === 'table:table' && this.#isSpreadsheet)
      this.#content.heading(attributes['table:name'] ?? '');
    else if (tag === 'table:table-cell') this.#formula = formulaText(attributes['table:formula'] ?? '');
  }

  text(text: string): void {
    if (this.#paragraphs.isOpen) this.#paragraphs.add(text);
    else if (this.#field !== undefined && this.#value.length < 10_000) this.#value += text;
  }

  close(tag: string): void {
    if (tag === 'text:p' || tag === 'text:h') {
      const paragraph = this.#paragraphs.end();
      if (paragraph === undefined) return;
      if (paragraph.kind === 'heading') {
        this.#content.heading(paragraph.text);
        this.#content.shownTitle(paragraph.text);
      }
      // Cells of a sheet are on one line.
      const end = this.#isSpreadsheet ? '\t' : '\n';
      if (!this.#isSpreadsheet || paragraph.text !== '') this.#content.text(`${paragraph.text}${end}`);
    } else if (tag === 'table:table-cell') {
      if (this.#formula !== '') this.#content.text(`${this.#formula}\t`);
      this.#formula = '';
    } else if (tag === 'table:table-row' || tag === 'draw:page') this.#content.text('\n');
    else if (tag === 'draw:frame') this.#isTitleFrame = false;
    else if (tag === 'office:spreadsheet') this.#isSpreadsheet = false;
    else if (tag === 'office:meta') this.endMeta();
    else if (this.#field !== undefined && (META.has(tag) || tag === 'meta:user-defined')) this.#endField();
  }

  /** The author is who began the document; who changed it last, if that is all it states. */
  endMeta(): void {
    const author = this.#author || this.#editor;
    this.#content.property('Author', author);
    this.#author = '';
    this.#editor = '';
    this.#field = undefined;
  }

  #endField(): void {
    const field = this.#field ?? '';
    if (field === 'Author') this.#author = this.#value;
    else if (field === 'Editor') this.#editor = this.#value;
    else this.#content.property(field, this.#value);
    this.#field = undefined;
  }
}

/** `of:=SUM([.A1:.A2])` as it is shown: `=SUM(A1:A2)`. */
function formulaText(formula: string): string {
  return formula
    .slice(0, 10_000)
    .replace(/^\w{1,10}:(?==)/, '')
    .replace(/\[([^[\]]*)\]/g, (_, range: string) => range.replace(/(^|:)\./g, '$1'));
}
