import type { SourceDocument, Summary } from '../../document.js';
import { type MarkupAttributes, MarkupStream } from '../../html/markup-stream.js';
import { wordPairs } from '../../word-tables.js';
import { oneLine, present, summarizeExtracted } from '../extracted.js';
import { titledFields } from '../text.js';

/** Characters of one value, and of all text. */
const MAX_FIELD = 2000;
const MAX_TEXT = 256 * 1024;
/** Open elements at which reading stops. */
const MAX_DEPTH = 1000;

/** Elements of the metadata (Dublin Core in RDF) by their local name. */
const METADATA: ReadonlyMap<string, string> = wordPairs(`
  dc:title Title dc:creator Author dc:description Description dc:date Date dc:subject Keywords
  dc:rights Copyright dc:publisher Publisher dc:language Language
`);

/** Whether the text is an SVG document. */
export function isSvg(head: string): boolean {
  return /^\ufeff?\s{0,200}<(?:\?xml|!--|!DOCTYPE\s+svg|svg[\s>])/i.test(head) && /<svg[\s>:]/i.test(head);
}

/** SVG: title, description, Dublin Core metadata, and the text that the picture shows. */
export function summarizeSvg(document: SourceDocument): Summary {
  const reader = new SvgReader();
  const stream = new MarkupStream(reader, { isFull: () => reader.isFull });
  stream.write(document.text);
  if (!reader.isFull) stream.end();
  const { fields, size, shown } = reader;
  const attributes = [...titledFields(document, fields), ...present([['Description', size]])];
  return shown === '' ? { attributes, text: '' } : summarizeExtracted({ attributes, text: shown });
}

class SvgReader {
  readonly #open: string[] = [];
  readonly #fields = new Map<string, Set<string>>();
  readonly #texts: string[] = [];
  #length = 0;
  /** What the open element collects: an attribute, or the shown text. */
  #target = '';
  #targetDepth = 0;
  #value = '';
  size: string | undefined;

  get isFull(): boolean {
    return this.#length > MAX_TEXT || this.#open.length > MAX_DEPTH;
  }

  get fields(): (readonly [string, string])[] {
    return present([...this.#fields]);
  }

  get shown(): string {
    return this.#texts.join('\n');
  }

  open(name: string, attributes: MarkupAttributes): void {
    this.#open.push(name);
    if (this.#open.length === 1) this.#root(attributes);
    if (this.#target === '') {
      this.#target = this.#targetOf(name);
      this.#targetDepth = this.#open.length;
      this.#value = '';
    } else if (name === 'tspan' || name === 'rdf:li') this.#value += ' ';
  }

  text(data: string): void {
    if (this.#target === '' || this.#value.length > MAX_FIELD) return;
    this.#value += data;
    this.#length += data.length;
  }

  close(): void {
    if (this.#target !== '' && this.#open.length === this.#targetDepth) {
      const value = oneLine(this.#value).slice(0, MAX_FIELD);
      if (value !== '' && this.#target === 'text') this.#texts.push(value);
      else if (value !== '') {
        const values = this.#fields.get(this.#target) ?? new Set();
        this.#fields.set(this.#target, values.add(value));
      }
      this.#target = '';
    }
    this.#open.pop();
  }

  /**
   * The title and description of the document are children of the root; those of its parts are text that a
   * reader is shown.
   */
  #targetOf(name: string): string {
    const isOfDocument = this.#open.length === 2;
    if (name === 'title') return isOfDocument ? 'Title' : 'text';
    if (name === 'desc') return isOfDocument ? 'Description' : 'text';
    if (name === 'text') return 'text';
    const target = METADATA.get(name);
    return target !== undefined && this.#open.includes('metadata') ? target : '';
  }

  #root({ width, height, viewBox }: MarkupAttributes): void {
    const [, , w, h] = viewBox?.trim().split(/[\s,]+/) ?? [];
    const pixels = (value: string | undefined) =>
      value === undefined ? undefined : /^\s*(\d+(?:\.\d+)?)(?:\s*px)?\s*$/.exec(value)?.[1];
    const across = pixels(width) ?? pixels(w);
    const down = pixels(height) ?? pixels(h);
    this.size =
      across === undefined || down === undefined ? 'SVG image' : `SVG image, ${across} x ${down} pixels`;
  }
}
