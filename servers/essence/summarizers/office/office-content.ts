import type { SourceDocument } from '../../document.js';
import { oneLine, present } from '../extracted.js';

/** Maximum number of headings, of references, and of values of one property. */
const MAX_VALUES = 2000;
/** Maximum length of one of them, in characters. */
const MAX_VALUE = 10_000;
/** Length of the text that is kept at a time, in characters. */
const KEPT_TEXT = 16 * 1024;

/**
 * The results of the readers of office documents and books: properties, headings, references and the running
 * text.
 */
export class OfficeContent {
  readonly #document: SourceDocument;
  readonly #parts: string[] = [];
  readonly #properties = new Map<string, Set<string>>();
  readonly #headings: string[] = [];
  readonly #references = new Set<string>();
  #length = 0;
  /** Parts and characters that the document keeps for the case that it is not read to its end. */
  #keptParts = 0;
  #kept = 0;
  #title: string | undefined;

  constructor(document: SourceDocument) {
    this.#document = document;
  }

  /** Whether the text fills the object, or the time for it is over. */
  readonly isFull = (): boolean =>
    this.#length >= this.#document.settings.maxObjectBytes || this.#document.isOutOfTime();

  /** Adds running text as written. */
  text(text: string): void {
    if (text === '' || this.#length >= this.#document.settings.maxObjectBytes) return;
    this.#parts.push(text);
    this.#length += text.length;
    if (this.#length - this.#kept < KEPT_TEXT) return;
    this.#document.keep({ text: this.#parts.slice(this.#keptParts).join('') });
    this.#keptParts = this.#parts.length;
    this.#kept = this.#length;
  }

  heading(text: string): void {
    const line = oneLine(text.slice(0, MAX_VALUE));
    if (line !== '' && this.#headings.length < MAX_VALUES) this.#headings.push(line);
  }

  /** The title that the text shows, for a document whose properties have none. */
  shownTitle(text: string): void {
    this.#title ??= oneLine(text.slice(0, MAX_VALUE)) || undefined;
  }

  /** Adds a reference as written; those to the document itself are omitted. */
  reference(target: string | undefined): void {
    const line = target?.trim() ?? '';
    if (line === '' || line.startsWith('#') || line.length > MAX_VALUE) return;
    if (this.#references.size < MAX_VALUES) this.#references.add(line);
  }

  /** Adds a value of a property; of a date its day. */
  property(name: string, value: string): void {
    const text = oneLine(value.slice(0, MAX_VALUE));
    const line = name === 'Date' ? text.replace(/^(\d{4}-\d\d-\d\d)T.*$/, '$1') : text;
    if (line === '') return;
    const values = this.#properties.get(name) ?? new Set();
    if (values.size >= MAX_VALUES || values.has(line)) return;
    this.#properties.set(name, values.add(line));
    this.#document.keep({ attributes: [[name, line]] });
  }

  /** The targets of its links, as written. */
  get references(): readonly string[] {
    return [...this.#references];
  }

  /** The attributes and the text of the summary. */
  result(): { attributes: (readonly [string, string])[]; text: string } {
    const title = this.#properties.has('Title') ? undefined : this.#title;
    return {
      attributes: present([
        ['Title', title],
        ...this.#properties,
        ['Headings', this.#headings],
        ['References', this.#references],
      ]),
      text: this.#parts.join(''),
    };
  }
}

/**
 * Runs of text that are collected until their paragraph ends; paragraphs of boxes and notes are within others.
 */
export class Paragraphs<Kind> {
  readonly #open: { readonly runs: string[]; kind: Kind }[] = [];
  #length = 0;

  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  begin(kind: Kind): void {
    this.#open.push({ runs: [], kind });
    this.#length = 0;
  }

  /** Adds text to the innermost paragraph. */
  add(text: string): void {
    const runs = this.#open.at(-1)?.runs;
    if (runs === undefined || this.#length > 1024 * 1024) return;
    runs.push(text);
    this.#length += text.length;
  }

  /** States what the innermost paragraph is. */
  mark(kind: Kind): void {
    const paragraph = this.#open.at(-1);
    if (paragraph !== undefined) paragraph.kind = kind;
  }

  /** Ends the innermost paragraph. */
  end(): { readonly text: string; readonly kind: Kind } | undefined {
    const paragraph = this.#open.pop();
    return paragraph && { text: paragraph.runs.join(''), kind: paragraph.kind };
  }
}
