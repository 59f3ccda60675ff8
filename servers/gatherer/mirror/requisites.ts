import { Parser } from 'htmlparser2';
import { canonicalUrl } from '../../../protocols/urls/index.js';

/** Maximum number of URLs of one document, against traps (G-173). */
const MAX_REQUISITES = 10_000;

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

/** `url(...)` and `@import "..."`. */
const IN_STYLE =
  /url\(\s*(?:"([^"\n]{1,2000})"|'([^'\n]{1,2000})'|([^\s"'()]{1,2000}))\s*\)|@import\s+(?:"([^"\n]{1,2000})"|'([^'\n]{1,2000})')/gi;

/**
 * Returns the images, style sheets, scripts and sounds of a page or a style sheet, which a Gatherer does not follow (G-60) and a mirror
 * needs (G-8). It reads a stream of tags, so that deep nesting does no harm.
 *
 * @param contentType media type without parameters
 * @returns canonical URLs of http and https, each once
 */
export function requisitesOf(body: Uint8Array, contentType: string, url: string): string[] {
  const found = new Set<string>();
  let base = url;
  const add = (reference: string | undefined): void => {
    if (reference === undefined || found.size >= MAX_REQUISITES || !URL.canParse(reference.trim(), base))
      return;
    const absolute = canonicalUrl(new URL(reference.trim(), base).href);
    if (absolute !== undefined && /^https?:/.test(absolute) && absolute !== url) found.add(absolute);
  };
  const addStyle = (text: string): void => {
    for (const match of text.matchAll(IN_STYLE)) add(match.slice(1).find((part) => part !== undefined));
  };
  // References are ASCII, so the charset does not matter.
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  if (contentType === 'text/css') addStyle(text);
  else if (contentType === 'text/html' || contentType === 'application/xhtml+xml') {
    let inStyle = false;
    const parser = new Parser({
      onopentag(name, attributes) {
        inStyle = name === 'style';
        if (name === 'base' && URL.canParse(attributes.href ?? '', url))
          base = new URL(attributes.href ?? '', url).href;
        for (const attribute of SOURCES[name] ?? []) add(attributes[attribute]);
        for (const candidate of attributes.srcset?.split(/,\s+/) ?? []) add(candidate.trim().split(/\s/)[0]);
        if (name === 'link' && PART_OF_PAGE.test(attributes.rel ?? '')) add(attributes.href);
        if (attributes.style !== undefined) addStyle(attributes.style);
      },
      ontext(part) {
        if (inStyle) addStyle(part);
      },
      onclosetag() {
        inStyle = false;
      },
    });
    parser.end(text);
  }
  return [...found];
}
