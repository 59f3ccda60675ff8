import {
  canonicalUrl,
  isEnumerable,
  UrlResolver,
  withoutUserInfo,
} from '../../../../protocols/urls/index.js';
import type { SourceDocument, Summary } from '../../document.js';
import { LinkTexts } from '../../link-texts.js';
import { boundedSource, oneLine, present, summarizeExtracted } from '../extracted.js';
import { firstParagraph } from '../text.js';

/** Maximum number of headings, authors and keywords of one document. */
const MAX_VALUES = 5000;
/** Maximum length of one of them, and of a link, in characters. */
const MAX_VALUE = 1000;

/** The fields that a document states about itself, by attribute. */
export type MarkupField = 'Title' | 'Author' | 'Date' | 'Description' | 'Keywords';

/** Summarizes a source from the results of the reader of its language. */
export function summarizeOutline(
  document: SourceDocument,
  language: string,
  read: (source: string, outline: Outline) => void,
): Summary {
  const outline = new Outline(document.settings.maxObjectBytes);
  read(boundedSource(document, `${language} source`).replace(/^\ufeff/, ''), outline);
  return outline.summary(document);
}

/** The results of a reader of a markup language: fields, headings, links, running text without markup. */
export class Outline {
  readonly #fields = new Map<MarkupField, string[]>();
  readonly #headings: string[] = [];
  readonly #links = new Set<string>();
  /** References with the texts of the links. */
  readonly #linkTexts: (readonly [reference: string, text: string])[] = [];
  readonly #images = new Set<string>();
  readonly #blocks: string[] = [];
  readonly #limit: number;
  #length = 0;
  #firstHeading: string | undefined;
  #topHeading: string | undefined;
  #opening: string | undefined;

  /** @param limit characters of text that are kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether the text fills the object. */
  get isFull(): boolean {
    return this.#length >= this.#limit;
  }

  /** Adds a value of a field; empty values and repetitions are ignored. */
  field(name: MarkupField, value: string): void {
    const line = oneLine(value.slice(0, MAX_VALUE));
    if (line === '') return;
    const values = this.#fields.get(name);
    if (values === undefined) this.#fields.set(name, [line]);
    else if (values.length < MAX_VALUES && !values.slice(0, 100).includes(line)) values.push(line);
  }

  /** Whether the document has stated the field. */
  has(name: MarkupField): boolean {
    return this.#fields.has(name);
  }

  /**
   * @param level 1 for the title of the document or of a part; the first such heading is the title of a
   *   document that states none
   */
  heading(text: string, level: number): void {
    const line = oneLine(text.slice(0, MAX_VALUE));
    if (line === '') return;
    this.#firstHeading ??= line;
    if (level <= 1) this.#topHeading ??= line;
    if (this.#headings.length < MAX_VALUES) this.#headings.push(line);
  }

  /**
   * @param reference as written
   * @param text the text of the link, if it has one
   */
  link(reference: string, text = ''): void {
    addTo(this.#links, reference);
    const isKept = text !== '' && reference.length <= MAX_VALUE && this.#linkTexts.length < MAX_VALUES;
    if (isKept) this.#linkTexts.push([reference, text.slice(0, MAX_VALUE)]);
  }

  /** The reference of a picture, as written. */
  image(reference: string): void {
    addTo(this.#images, reference);
  }

  /** Adds running text. */
  text(block: string): void {
    if (block.trim() === '' || this.isFull) return;
    this.#blocks.push(block);
    this.#length += block.length + 2;
  }

  /** Adds a paragraph of prose, from which the description may come (E-141). */
  paragraph(block: string): void {
    this.#opening ??= firstParagraph(block) || undefined;
    this.text(block);
  }

  /**
   * The summary: fields, headings, absolute links, and the Text rule (E-73) on the running text. The crawl
   * follows the links.
   *
   * @param document is resolved against and limits the number of links (G-173)
   */
  summary(document: SourceDocument): Summary {
    const title = this.#lines('Title')[0] ?? this.#topHeading ?? this.#firstHeading;
    const links = [...this.#links].slice(0, document.settings.maxLinks);
    const summary = summarizeExtracted({
      attributes: present([
        ['Title', title],
        ['Author', this.#lines('Author')],
        ['Date', this.#lines('Date')[0]],
        ['Description', this.#lines('Description')[0]],
        ['Keywords', this.#lines('Keywords')],
        ['Headings', this.#headings],
        ['url-references', absoluteReferences(links, document)],
        ['Link-Text', this.#linkText(document)],
      ]),
      text: this.#blocks.join('\n\n'),
    });
    const linkedUrls = document.outlinks === undefined ? links : [...links, ...this.#images];
    return {
      ...summary,
      ...(this.#opening === undefined ? {} : { description: this.#opening }),
      ...(linkedUrls.length === 0 ? {} : { linkedUrls }),
    };
  }

  #linkText({ url, settings }: SourceDocument): string {
    if (!settings.linkText) return '';
    const resolver = new UrlResolver(url);
    const lines = new LinkTexts(settings.maxAttributeLength);
    const own = canonicalUrl(url);
    for (const [reference, text] of this.#linkTexts) {
      const absolute = resolver.resolve(reference.trim());
      if (absolute !== undefined && absolute !== own && isEnumerable(absolute))
        lines.add(withoutUserInfo(absolute), text);
    }
    return lines.text;
  }

  #lines(name: MarkupField): readonly string[] {
    return this.#fields.get(name) ?? [];
  }
}

function addTo(references: Set<string>, reference: string): void {
  const written = reference.trim();
  if (written === '' || written.startsWith('#') || written.length > MAX_VALUE) return;
  if (references.size < MAX_VALUES * 4) references.add(written);
}

/** E-99: the references as `url-references` shows them, without logins (G-81). */
function absoluteReferences(references: readonly string[], { url, settings }: SourceDocument): string[] {
  if (settings.rawReferences) return [...references];
  const resolver = new UrlResolver(url);
  const found = new Set<string>();
  for (const reference of references) {
    const absolute = resolver.resolve(reference);
    if (absolute !== undefined) found.add(withoutUserInfo(absolute));
  }
  return [...found];
}

/** Maximum number of open marks of one kind. */
const MAX_OPEN = 1000;

/**
 * Removes the marks of emphasis that occur in pairs, in linear time: a mark opens before a character that is
 * not blank and after one that is no letter or digit, and closes the other way round. All other marks are text.
 *
 * @param marks a global expression that matches one mark
 */
export function withoutEmphasis(text: string, marks: RegExp): string {
  const open = new Map<string, number[]>();
  const removed = new Map<number, number>();
  for (const found of text.matchAll(marks)) {
    const mark = found[0];
    const { index } = found;
    const before = text[index - 1] ?? ' ';
    const after = text[index + mark.length] ?? ' ';
    const stack = open.get(mark) ?? [];
    const opener = isBlank(before) || isWord(after) ? undefined : stack.pop();
    if (opener !== undefined) {
      removed.set(opener, mark.length);
      removed.set(index, mark.length);
    } else if (!isBlank(after) && !isWord(before) && stack.length < MAX_OPEN) {
      stack.push(index);
    }
    open.set(mark, stack);
  }
  if (removed.size === 0) return text;
  const parts: string[] = [];
  let last = 0;
  for (const [index, length] of [...removed].sort(([a], [b]) => a - b)) {
    parts.push(text.slice(last, index));
    last = index + length;
  }
  parts.push(text.slice(last));
  return parts.join('');
}

export function isBlank(character: string): boolean {
  return /\s/.test(character);
}

export function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

/**
 * Removes the punctuation after a URL in running text; a closing parenthesis stays if the URL has an opening
 * one.
 */
export function bareUrl(written: string): string {
  let end = written.length;
  while (end > 0) {
    const last = written[end - 1]!;
    const isEnd = last === ')' ? !written.slice(0, end).includes('(') : '.,;:!?\'"*_~`|]}>'.includes(last);
    if (!isEnd) break;
    end--;
  }
  return written.slice(0, end);
}
