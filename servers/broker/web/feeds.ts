// Formats results as JSON and RSS.
import { hrefOfUrl, textOfUrl, urlFields } from '../../../protocols/soif/index.js';
import { escapeHtml, isLinkable } from '../../web/html.js';
import { DEFAULT_FORM, writeForm } from './form.js';
import type { SiteLinks } from './layout.js';
import type { ShownHit, ShownResult } from './results.js';

/** Content of a result in a format for programs. */
export interface FeedSource extends ShownResult {
  readonly brokerName: string;
  /** Scheme, host and port before the paths of this site. */
  readonly origin: string;
  /** The message line that the broker received. */
  readonly message: string;
}

/**
 * Formats a result as JSON: counts, messages, and the objects in their order. Times are ISO 8601, sizes are in
 * bytes. `query` is the text of the form, `asked` the message that the Broker received for it. An object's
 * `soif` is the URL of its SOIF object, `summary` that of the page that shows it.
 */
export function jsonResult(source: FeedSource): string {
  const { form, results, counts, origin } = source;
  const objects = results.hits.map((hit) => ({
    ...urlFields(hit.url),
    title: hit.title,
    description: hit.description,
    type: hit.type,
    bytes: numberOf(hit.size),
    modified: timeOf(hit.modified)?.toISOString(),
    summary: summaryUrl(source, hit),
    soif: hit.objectUrl,
    matchedLines: hit.lines.map(({ attribute, text }) => ({ attribute, text })),
    matchedLineCount: hit.lineCount,
    linkedFrom: source.linkedFrom.get(hit.url),
  }));
  const facets = counts?.facets.map(({ kind, values, others }) => [kind, { values, others }] as const);
  const value = {
    query: form.query,
    asked: source.message,
    narrow: form.narrow,
    page: `${origin}${source.action}?${writeForm({ ...form, format: 'html' })}`,
    listed: objects.length,
    truncated: results.truncated,
    found: counts?.objects,
    foundIsExact: counts?.complete,
    facets: facets === undefined ? undefined : Object.fromEntries(facets),
    messages: results.messages,
    errors: results.errors,
    failure: results.failure,
    objects,
  };
  return `${JSON.stringify(value, undefined, 1)}\n`;
}

/** Formats a result as RSS 2.0. */
export function rssResult(source: FeedSource): string {
  const { form, results, origin } = source;
  const page = `${origin}${source.action}?${writeForm({ ...form, format: 'html' })}`;
  const self = `${origin}${source.action}?${writeForm({ ...form, format: 'rss' })}`;
  const title = `${form.query} – ${source.brokerName}`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${xml(title)}</title>
<link>${xml(page)}</link>
<atom:link href="${xml(self)}" rel="self" type="application/rss+xml"/>
<description>${xml(`What the Harvest broker ${source.brokerName} finds for: ${form.query}`)}</description>
${results.hits.map((hit) => rssItem(source, hit)).join('')}</channel>
</rss>
`;
}

function rssItem(source: FeedSource, hit: ShownHit): string {
  const summary = summaryUrl(source, hit);
  const href = hrefOfUrl(hit.url);
  const link = isLinkable(href) ? href : summary;
  const time = timeOf(hit.modified);
  const lines = hit.lines.map(({ text }) => text).join('\n');
  return `<item>
<title>${xml(hit.title ?? textOfUrl(hit.url))}</title>
${link === undefined ? '' : `<link>${xml(link)}</link>\n`}<guid isPermaLink="false">${xml(href)}</guid>
${time === undefined ? '' : `<pubDate>${time.toUTCString()}</pubDate>\n`}${hit.type === undefined ? '' : `<category>${xml(hit.type)}</category>\n`}<description>${xml(escapeHtml(hit.description ?? lines))}</description>
</item>
`;
}

function summaryUrl(source: FeedSource, hit: ShownHit): string | undefined {
  const path = hit.objectUrl === undefined ? undefined : source.summaryPath(hit.objectUrl);
  return path === undefined ? hit.objectUrl : `${source.origin}${path}`;
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}

function timeOf(text: string | undefined): Date | undefined {
  return text !== undefined && /^[0-9]{1,11}$/.test(text) ? new Date(Number(text) * 1000) : undefined;
}

/**
 * Escapes text for XML 1.0, and replaces characters that it does not allow: lone surrogates and the two
 * noncharacters.
 */
function xml(text: string): string {
  return escapeHtml(text.replace(/[\p{Cs}\ufffe\uffff]/gu, '\ufffd'));
}

/** Type of the description. */
export const OPEN_SEARCH_TYPE = 'application/opensearchdescription+xml';

/** Longest short name, in characters. */
const MAX_NAME = 16;

/**
 * The description by which browsers add this broker to their search engines (OpenSearch 1.1): results as page,
 * feed and data, and suggestions.
 *
 * @param origin scheme, host and port before the paths
 */
export function openSearchDescription(site: SiteLinks, origin: string): string {
  const { brokerName, action, suggestions, icon } = site;
  const template = (format: 'html' | 'rss' | 'json') =>
    `${origin}${action}?${writeForm({ ...DEFAULT_FORM, query: '', format })}`.replace(
      'query=',
      'query={searchTerms}',
    );
  const url = (type: string, href: string) =>
    `<Url type="${type}" method="get" template="${escapeHtml(href)}"/>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${escapeHtml(Array.from(brokerName).slice(0, MAX_NAME).join(''))}</ShortName>
<Description>${escapeHtml(`Search the Harvest broker ${brokerName}`.slice(0, 1024))}</Description>
<InputEncoding>UTF-8</InputEncoding>
<Image width="16" height="16" type="image/svg+xml">${escapeHtml(`${origin}${icon}`)}</Image>
${url('text/html', template('html'))}${url('application/rss+xml', template('rss'))}${url('application/json', template('json'))}${url(
  'application/x-suggestions+json',
  `${origin}${suggestions}?query={searchTerms}`,
)}</OpenSearchDescription>
`;
}
