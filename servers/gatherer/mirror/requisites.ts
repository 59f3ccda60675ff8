// The documents that a page or a style sheet embeds.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { canonicalUrl, MAX_URL_LENGTH } from '../../../protocols/urls/index.js';
import { type MarkupAttributes, MarkupStream } from '../../essence/html/markup-stream.js';
import { scanSrcset } from '../../essence/outlinks/attributes.js';
import { scanStyle } from '../../essence/outlinks/style.js';

/** Maximum number of URLs of one document, against traps (G-173). */
const MAX_REQUISITES = 10_000;
/** References that are parsed; most of a hostile document's may be no URLs. */
const MAX_EXAMINED = 20_000;
/** Characters of a style element, and of a `srcset`. */
const MAX_STYLE = 1024 * 1024;
/** Characters of a page that are parsed before other tasks run. */
const SLICE_LENGTH = 64 * 1024;

/** Attributes with the URLs of embedded documents, by element. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  img: ['src'],
  script: ['src'],
  input: ['src'],
  embed: ['src'],
  audio: ['src'],
  video: ['src', 'poster'],
  source: ['src'],
  track: ['src'],
  object: ['data'],
  body: ['background'],
  table: ['background'],
  td: ['background'],
};

/** `<link>` with one of these relations is part of the page. */
const PART_OF_PAGE = /(?:^|\s)(?:stylesheet|icon|apple-touch-icon|manifest|preload|modulepreload)(?:\s|$)/i;

/**
 * Returns the images, style sheets, scripts and sounds of a page or a style sheet, which a Gatherer does not
 * follow (G-60) and a mirror needs (G-8). It reads a stream of tags, so that deep nesting does no harm, and
 * lets other tasks run between pieces of a large page.
 *
 * @param contentType media type without parameters
 * @returns canonical URLs of http and https, each once
 */
export async function requisitesOf(body: Uint8Array, contentType: string, url: string): Promise<string[]> {
  const requisites = new Requisites(url);
  // References are ASCII, so the charset does not matter.
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  if (contentType === 'text/css') requisites.addStyle(text);
  else if (contentType === 'text/html' || contentType === 'application/xhtml+xml') {
    const stream = new MarkupStream(requisites, { dialect: 'html', isFull: () => requisites.full });
    for (
      let at = 0;
      at < text.length && stream.write(text.slice(at, at + SLICE_LENGTH));
      at += SLICE_LENGTH
    ) {
      if (text.length > SLICE_LENGTH) await nextTurn();
    }
    stream.end();
  }
  return [...requisites.found];
}

/** Collects the references of one document. */
class Requisites {
  readonly #url: string;
  readonly found = new Set<string>();
  /** References that were examined against the present base. */
  readonly #examined = new Set<string>();
  #count = 0;
  #base: string;
  /** The text of a style element that is open. */
  #style: string | undefined;

  constructor(url: string) {
    this.#url = url;
    this.#base = url;
  }

  /** Whether no further reference is examined. */
  get full(): boolean {
    return this.#count >= MAX_EXAMINED || this.found.size >= MAX_REQUISITES;
  }

  addStyle(text: string): void {
    scanStyle(text, (reference) => this.#add(reference));
  }

  text(part: string): void {
    if (this.#style !== undefined && this.#style.length < MAX_STYLE) this.#style += part;
  }

  close(): void {
    if (this.#style !== undefined) this.addStyle(this.#style);
    this.#style = undefined;
  }

  open(name: string, attributes: MarkupAttributes): void {
    this.#style = name === 'style' ? '' : undefined;
    if (name === 'base' && !this.full && URL.canParse(attributes.href ?? '', this.#url)) {
      this.#count += 1;
      this.#base = new URL(attributes.href ?? '', this.#url).href;
      this.#examined.clear();
    }
    for (const attribute of SOURCES[name] ?? []) this.#add(attributes[attribute]);
    scanSrcset(attributes.srcset?.slice(0, MAX_STYLE) ?? '', (reference) => this.#add(reference));
    if (name === 'link' && PART_OF_PAGE.test(attributes.rel ?? '')) this.#add(attributes.href);
    if (attributes.style !== undefined) this.addStyle(attributes.style);
  }

  #add(reference: string | undefined): void {
    if (reference === undefined || reference.length > MAX_URL_LENGTH || this.full) return;
    if (this.#examined.has(reference)) return;
    this.#examined.add(reference);
    this.#count += 1;
    if (!URL.canParse(reference.trim(), this.#base)) return;
    const absolute = canonicalUrl(new URL(reference.trim(), this.#base).href);
    if (absolute !== undefined && /^https?:/.test(absolute) && absolute !== this.#url) {
      this.found.add(absolute);
    }
  }
}
