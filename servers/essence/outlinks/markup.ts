// References in HTML, SVG and other XML.
import { type MarkupAttributes, readMarkup } from '../html/markup-stream.js';
import {
  hopOfRelation,
  isMediaName,
  MEDIA_PARAMETER,
  meaningOf,
  type ReferenceSink,
  refreshTarget,
  scanSrcset,
} from './attributes.js';
import { isLikelyUrl, scanJson, scanScript } from './script-and-json.js';
import { scanStyle } from './style.js';

/** Receives the contents of a page. */
export interface MarkupSink {
  readonly add: ReferenceSink;
  /** The first BASE, which applies to the whole page, or the codebase of an object, for its own attributes. */
  base(reference: string): void;
}

/** Characters of a script, a style element or a text that are read. */
const MAX_TEXT = 4 * 1024 * 1024;
/** Pages within pages: `srcdoc`, and conditional comments. */
const MAX_NESTING = 2;

const CONDITIONAL_COMMENT = /^\[if\b[^\]]*\]>([\s\S]*?)<!\[endif\]$/i;
const JSON_TYPE = /json|^(?:importmap|speculationrules)$/i;
const SCRIPT_TYPE = /script|^(?:module)?$/i;
/** Elements of feeds and site maps whose text is a URL. */
const URL_ELEMENTS = new Set(['link', 'url', 'loc', 'comments', 'guid', 'id', 'icon', 'logo', 'docs']);

/**
 * Calls back with each reference of a page as it is read: attributes, style sheets and scripts within it,
 * linked data, META elements, conditional comments. It reads a stream of tags, so nesting costs nothing.
 *
 * @param xml - whether the document is XML but not XHTML: SVG, feeds
 */
export function scanMarkup(text: string, xml: boolean, sink: MarkupSink, nesting = 0): void {
  const reader = new ReferenceReader(xml, sink, nesting);
  readMarkup(text, reader, { dialect: xml ? 'xml' : 'xhtml' });
  reader.end();
}

/** Calls back with the references of a page, by the events of its markup. */
export class ReferenceReader {
  readonly #xml: boolean;
  readonly #sink: MarkupSink;
  readonly #nesting: number;
  /** Reads the text of the open element. */
  #readText: ((text: string) => void) | undefined;
  #text = '';

  constructor(xml: boolean, sink: MarkupSink, nesting: number) {
    this.#xml = xml;
    this.#sink = sink;
    this.#nesting = nesting;
  }

  open(tag: string, given: MarkupAttributes): void {
    // A script of an HTML page ends at its own tag, but within SVG other elements may stand in it.
    this.#finishText();
    const element = this.#xml ? (tag.toLowerCase().split(':').at(-1) ?? '') : tag;
    const attributes = this.#xml ? lowerCased(given) : given;
    this.#readText = this.#readerOf(element, attributes);
    switch (element) {
      case 'base':
        if (attributes.href !== undefined) this.#sink.base(attributes.href);
        return;
      case 'link':
        this.#link(attributes);
        return;
      case 'meta':
        this.#meta(attributes);
        return;
      case 'form':
        // A form that is posted is no document.
        if (attributes.action !== undefined && !/^post$/i.test(attributes.method?.trim() ?? ''))
          this.#sink.add(attributes.action, 'L');
        break;
      case 'param':
        if (MEDIA_PARAMETER.test(attributes.name ?? '')) this.#sink.add(attributes.value ?? '', 'E');
        break;
    }
    for (const [name, value] of Object.entries(attributes)) this.#attribute(element, name, value, attributes);
  }

  text(text: string): void {
    if (this.#readText !== undefined && this.#text.length < MAX_TEXT) this.#text += text;
  }

  close(): void {
    this.#finishText();
  }

  comment(text: string): void {
    const shown = this.#xml ? undefined : CONDITIONAL_COMMENT.exec(text)?.[1];
    if (shown !== undefined) this.#nested(shown);
  }

  instruction(text: string): void {
    const reference = /^\??xml-stylesheet\s[^>]*?href\s*=\s*["']([^"']+)/i.exec(text)?.[1];
    if (reference !== undefined) this.#sink.add(reference, 'E');
  }

  end(): void {
    this.#finishText();
  }

  #finishText(): void {
    const read = this.#readText;
    this.#readText = undefined;
    if (read !== undefined && this.#text !== '') read(this.#text);
    this.#text = '';
  }

  #readerOf(
    element: string,
    { type = '', rel, href }: MarkupAttributes,
  ): ((text: string) => void) | undefined {
    const { add } = this.#sink;
    if (element === 'style') return (text) => scanStyle(text, (reference) => add(reference, 'E'));
    if (element === 'script') {
      if (JSON_TYPE.test(type)) return (text) => scanJson(text, add);
      // The templates of some libraries are markup.
      if (!SCRIPT_TYPE.test(type) && /html|template/i.test(type)) return (text) => this.#nested(text);
      return (text) => scanScript(text, (reference) => add(reference, 'X'));
    }
    if (!this.#xml || !URL_ELEMENTS.has(element) || rel !== undefined || href !== undefined) return undefined;
    return (text) => {
      if (/^https?:\/\/\S+$/i.test(text.trim())) add(text.trim(), 'L');
    };
  }

  #attribute(element: string, name: string, value: string, attributes: MarkupAttributes): void {
    const { add } = this.#sink;
    const meaning = meaningOf(element, name);
    if (meaning === undefined) {
      // CRAWL-11.2: a value that looks like a URL, as in forms and attributes that scripts read.
      if ((name === 'value' || name.startsWith('data-')) && isLikelyUrl(value.trim())) add(value.trim(), 'X');
      return;
    }
    const { kind, hop } = meaning;
    if (kind === 'srcset') scanSrcset(value, (reference) => add(reference, hop));
    else if (kind === 'style') scanStyle(value, (reference) => add(reference, hop));
    else if (kind === 'script') scanScript(value, (reference) => add(reference, hop));
    else if (kind === 'markup') this.#nested(value);
    else if (/^\s*javascript:/i.test(value)) scanScript(value, (reference) => add(reference, 'X'));
    else {
      const codebase = element === 'object' || element === 'applet' ? attributes.codebase : undefined;
      for (const reference of kind === 'urls' ? value.split(/[\s,]+/) : [value])
        if (reference.trim() !== '') add(withCodebase(reference, codebase), hop);
    }
  }

  #link({ rel = '', href = '', imagesrcset }: MarkupAttributes): void {
    const hop = hopOfRelation(rel);
    if (hop === undefined) return;
    if (href.trim() !== '') this.#sink.add(href, hop);
    if (imagesrcset !== undefined) scanSrcset(imagesrcset, (reference) => this.#sink.add(reference, 'E'));
  }

  #meta({ content, name, property, itemprop, 'http-equiv': equivalent = '' }: MarkupAttributes): void {
    if (content === undefined || content.trim() === '') return;
    const { add } = this.#sink;
    if (equivalent.trim().toLowerCase() === 'refresh') {
      const target = refreshTarget(content);
      if (target !== undefined) add(target, 'R');
      return;
    }
    const named = name ?? property ?? itemprop ?? '';
    const text = content.trim();
    if (isMediaName(named) && /[./]/.test(text) && !/\s/.test(text)) add(text, 'E');
    else if (isLikelyUrl(text) && /^(?:https?:)?\/\//i.test(text)) add(text, 'X');
  }

  #nested(text: string): void {
    if (this.#nesting >= MAX_NESTING) return;
    // BASE of the page applies; one within is ignored.
    scanMarkup(text, false, { add: this.#sink.add, base: () => undefined }, this.#nesting + 1);
  }
}

/** The codebase of an object is a directory; URLs that are absolute stay as they are. */
function withCodebase(reference: string, codebase: string | undefined): string {
  if (codebase === undefined || /^(?:[a-z][a-z\d+.-]*:|\/)/i.test(reference.trim())) return reference;
  return `${codebase.trim().replace(/\/?$/, '/')}${reference.trim()}`;
}

function lowerCased(attributes: MarkupAttributes): MarkupAttributes {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name.toLowerCase(), value]));
}
