// All references of a document, by its type (CRAWL-11.2, chain 3).
import type { UrlForm } from '../../../protocols/urls/index.js';
import { fileNameOf } from '../document.js';
import { namesByWord } from '../word-tables.js';
import { hopOfRelation, refreshTarget } from './attributes.js';
import { type Outlink, OutlinkCollector } from './collector.js';
import { scanMarkup } from './markup.js';
import { scanJson, scanScript } from './script-and-json.js';
import { scanStyle } from './style.js';
import { scanText, type TextKind } from './text-links.js';

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

export type Format = 'html' | 'xml' | 'style' | 'script' | 'json' | TextKind;

const BY_MEDIA_TYPE: readonly (readonly [RegExp, Format])[] = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^text\/css$/, 'style'],
  [/(?:java|ecma|j|live)script$/, 'script'],
  [/(?:^|[/+])(?:json|manifest\+json|ld\+json)$/, 'json'],
  [/(?:^|[/+])xml$/, 'xml'],
  [/^text\/(?:x-)?markdown$/, 'markdown'],
  [/^text\/(?:x-)?asciidoc$/, 'asciidoc'],
  [/^text\/(?:x-)?org$/, 'org'],
  [/^(?:text|application)\/x-(?:la)?tex$/, 'tex'],
  [/^text\/(?!plain$)|^application\/(?:rtf|x-subrip)$/, 'text'],
];
/** For servers that send no type, or one that says nothing. */
const BY_EXTENSION: ReadonlyMap<string, Format> = namesByWord({
  style: 'css',
  script: 'js mjs',
  json: 'json webmanifest',
  xml: 'svg rss atom',
  markdown: 'md markdown',
  asciidoc: 'adoc asciidoc',
  org: 'org',
  tex: 'tex ltx latex',
  text: 'txt text log csv tsv rst rtf srt vtt nfo',
});
const SAYS_NOTHING = /^(?:text\/plain|application\/octet-stream|binary\/octet-stream)?$/;

/**
 * Extracts what a document embeds and links to: pages, style sheets, scripts, SVG, feeds, JSON, the URLs of texts. The
 * summarizers of other types may have found links, too.
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
  else if (format === 'json') scanJson(text, add);
  // Markup is read by its summarizer.
  else scanText('text', text, (reference) => add(reference, 'L'));
  return collector;
}

/** Returns the format whose references are extracted; undefined if the type has no extractor. */
export function formatOf({
  contentType = '',
  isHtml,
  url,
}: Pick<OutlinkSource, 'contentType' | 'isHtml' | 'url'>): Format | undefined {
  const type = contentType.trim().toLowerCase();
  const found = BY_MEDIA_TYPE.find(([pattern]) => pattern.test(type))?.[1];
  if (found !== undefined) return found;
  if (isHtml) return 'html';
  if (!SAYS_NOTHING.test(type)) return undefined;
  const extension = /\.(\w+)$/.exec(fileNameOf(url))?.[1]?.toLowerCase() ?? '';
  return BY_EXTENSION.get(extension) ?? (type === 'text/plain' ? 'text' : undefined);
}

// References in the header of an HTTP response (CRAWL-11.2, ExtractorHTTP).

/** Members of the list of a Link field that are examined. */
const MAX_MEMBERS = 1000;

/** One member: `<target>; rel="..."; ...`, up to a comma that is not quoted. */
const MEMBER = /\s*<([^>]*)>((?:[^",]|"(?:[^"\\]|\\.)*"?)*)/gy;
const RELATION = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;

/**
 * Extracts the targets of the fields Link (RFC 8288), Refresh and Content-Location. A redirect's Location is
 * not among them.
 *
 * @param headers - names in lower case; several fields of one name are joined by commas
 */
export function headerOutlinks(
  headers: Readonly<Record<string, string | undefined>>,
  url: string,
  maxLinks: number,
  form: UrlForm = 'canonical',
): readonly Outlink[] {
  const collector = new OutlinkCollector(url, maxLinks, form);
  for (const [target, parameters] of members(headers.link ?? '')) {
    const relation = RELATION.exec(parameters);
    const hop = hopOfRelation(relation?.[1] ?? relation?.[2] ?? '');
    if (hop !== undefined) collector.add(target, hop);
  }
  const refresh = refreshTarget(headers.refresh ?? '');
  if (refresh !== undefined) collector.add(refresh, 'R');
  const location = headers['content-location']?.trim();
  if (location !== undefined) collector.add(location, 'R');
  return collector.links.filter((link) => link.url !== url);
}

function* members(field: string): Generator<readonly [target: string, parameters: string]> {
  MEMBER.lastIndex = 0;
  for (let count = 0; count < MAX_MEMBERS; count++) {
    const start = MEMBER.lastIndex;
    const [, target = '', parameters = ''] = MEMBER.exec(field) ?? [];
    // What is no member is skipped up to the next comma.
    const end = MEMBER.lastIndex > start ? MEMBER.lastIndex : field.indexOf(',', start);
    if (target !== '') yield [target, parameters];
    if (end < 0 || end >= field.length) return;
    MEMBER.lastIndex = field[end] === ',' ? end + 1 : end;
    if (MEMBER.lastIndex === start) return;
  }
}
