// The columns of a word index: which words of an object are apart from the others.
import { decodeText, type SoifObject } from '../../../protocols/soif/index.js';
import { fileNameOf, isContent } from '../query/scope.js';
import { ColumnText } from './column-text.js';

/**
 * Columns of the word index. Attributes that are common in queries have separate columns. A word in a column of
 * larger weight gives a higher score. The words of the URLs that a page links to say nothing about it, nor does what
 * programs keep about an object; `name` is the file name in its URL, which requests for content search.
 */
const COLUMNS = [
  { name: 'title', weight: 20, attributes: ['title'] },
  { name: 'keywords', weight: 1, attributes: ['keywords'] },
  { name: 'description', weight: 4, attributes: ['description'] },
  { name: 'url', weight: 8, attributes: ['url'] },
  { name: 'author', weight: 3, attributes: ['author'] },
  { name: 'headings', weight: 5, attributes: ['headings'] },
  { name: 'body', weight: 1, attributes: ['body', 'full-text', 'partial-text', 'abstract', 'navigation'] },
  { name: 'links', weight: 0, attributes: ['url-references'] },
  { name: 'linktexts', weight: 0, attributes: ['link-text'] },
  { name: 'bookkeeping', weight: 0, attributes: [] },
  { name: 'name', weight: 0, attributes: [] },
  { name: 'rest', weight: 1, attributes: [] },
] as const;
/** The columns in their order, with the weights of their words. */
export const COLUMN_WEIGHTS: readonly { readonly name: string; readonly weight: number }[] = COLUMNS;
const REST = COLUMNS.length - 1;
const NAME = REST - 1;
const BOOKKEEPING = NAME - 1;
const COLUMN_OF = new Map<string, number>(
  COLUMNS.flatMap((c, i) => c.attributes.map((name) => [name, i] as const)),
);

/** Columns that requests for content do not search. */
const NO_CONTENT: ReadonlySet<string> = new Set(['url', 'links', 'linktexts', 'bookkeeping']);

/** Whether requests for content (`scope.ts`) search a column. */
export function isContentColumn(name: string): boolean {
  return !NO_CONTENT.has(name);
}

/** The column with an attribute's words, and whether no other attribute shares it. */
export function columnOf(attributeKey: string): { readonly name: string; readonly hasOneAttribute: boolean } {
  const column = COLUMNS[columnIndexOf(attributeKey)]!;
  return { name: column.name, hasOneAttribute: column.attributes.length === 1 };
}

function columnIndexOf(attributeKey: string): number {
  return COLUMN_OF.get(attributeKey) ?? (isContent(attributeKey) ? REST : BOOKKEEPING);
}

/** The text of each column for one object. */
export function columnTexts(object: SoifObject): string[] {
  const texts = COLUMNS.map(({ name }) => new ColumnText(isContentColumn(name)));
  texts[columnIndexOf('url')]!.add(object.urlBytes); // BRK-2.18
  texts[NAME]!.add(Buffer.from(fileNameOf(decodeText(object.urlBytes))));
  for (let i = 0; i < object.size; i++)
    texts[columnIndexOf(object.nameAt(i).toLowerCase())]!.add(object.valueAt(i));
  return texts.map((text) => text.take());
}
