// All references of a document, by its type (CRAWL-11.2, chain 3).
import type { UrlForm } from '../../../protocols/urls/index.js';
import { fileNameOf } from '../document.js';
import { OutlinkCollector } from './collector.js';
import { scanJson } from './json.js';
import { scanMarkup } from './markup.js';
import { scanScript } from './script.js';
import { scanStyle } from './style.js';

/** A document whose references are extracted. */
export interface OutlinkSource {
  readonly url: string;
  /** Of the references. Default: canonical. */
  readonly form?: UrlForm | undefined;
  /** URL of the page that led to it; empty if unknown. */
  readonly via: string;
  /** Media type without parameters; undefined if unknown. */
  readonly contentType: string | undefined;
  /** Whether Essence recognizes a page. */
  readonly isHtml: boolean;
  /** The decoded text; read only if the type has an extractor. */
  readonly text: () => string;
}

type Format = 'html' | 'xml' | 'style' | 'script' | 'json';

const BY_MEDIA_TYPE: readonly (readonly [RegExp, Format])[] = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^text\/css$/, 'style'],
  [/(?:java|ecma|j|live)script$/, 'script'],
  [/(?:^|[/+])(?:json|manifest\+json|ld\+json)$/, 'json'],
  [/(?:^|[/+])xml$/, 'xml'],
];
/** For servers that send no type, or one that says nothing. */
const BY_EXTENSION: Readonly<Record<string, Format>> = {
  css: 'style',
  js: 'script',
  mjs: 'script',
  json: 'json',
  webmanifest: 'json',
  svg: 'xml',
  rss: 'xml',
  atom: 'xml',
};
const SAYS_NOTHING = /^(?:text\/plain|application\/octet-stream|binary\/octet-stream)?$/;

/**
 * Extracts what a document embeds and links to: pages, style sheets, scripts, SVG, feeds, JSON. The summarizers
 * of other types may have found links, too.
 *
 * @param linked - URLs to which a document of another type links
 * @param maxLinks - number of URLs that are kept (G-173)
 * @returns the links, and the number of those beyond the limit; undefined if the type has no extractor and its
 *   summarizer found no link
 */
export function outlinksOf(
  source: OutlinkSource,
  linked: readonly string[],
  maxLinks: number,
): Pick<OutlinkCollector, 'links' | 'dropped'> | undefined {
  const format = formatOf(source);
  if (format === undefined && linked.length === 0) return undefined;
  const scriptBase = format === 'script' && source.via !== '' ? source.via : undefined;
  const collector = new OutlinkCollector(source.url, maxLinks, source.form, scriptBase);
  const { add } = collector;
  for (const url of linked) add(url, 'L');
  if (format === undefined) return collector;
  const text = source.text();
  if (format === 'html' || format === 'xml') scanMarkup(text, format === 'xml', collector);
  else if (format === 'style') scanStyle(text, (reference) => add(reference, 'E'));
  else if (format === 'script') scanScript(text, (reference) => add(reference, 'X'));
  else scanJson(text, add);
  return collector;
}

function formatOf({ contentType = '', isHtml, url }: OutlinkSource): Format | undefined {
  const type = contentType.trim().toLowerCase();
  const found = BY_MEDIA_TYPE.find(([pattern]) => pattern.test(type))?.[1];
  if (found !== undefined) return found;
  if (isHtml) return 'html';
  if (!SAYS_NOTHING.test(type)) return undefined;
  const extension = /\.(\w+)$/.exec(fileNameOf(url))?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
}
