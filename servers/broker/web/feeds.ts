// Formats results as JSON and RSS.

import { type Passages, passageText } from '../../../clients/broker/passages.js';
import { hrefOfUrl, textOfUrl, urlFields } from '../../../protocols/soif/index.js';
import { escapeHtml, isLinkable } from '../../web/html.js';
import { DEFAULT_FORM, type QueryForm, subjectOf, writeForm } from './form.js';
import type { Gathering } from './gathering.js';
import type { SiteLinks } from './layout.js';
import type { ShownHit, ShownResult } from './results.js';
import type { RouteContext } from './route-context.js';

/** Content of a result in a format for programs. */
export interface FeedSource extends ShownResult {
  readonly brokerName: string;
  /** Scheme, host and port before the paths of this site. */
  readonly origin: string;
  /** The passages of each object that show why it was found. */
  readonly passages: ReadonlyMap<ShownHit, Passages>;
  /** How the query was read, if not as it stands. */
  readonly reading?: string | undefined;
  /** The message line that the broker received. */
  readonly message: string;
  readonly gathering: Gathering | undefined;
  readonly addressOf: RouteContext['addressOf'];
}

/**
 * Formats a page of a result as JSON: counts, messages, and the objects in their order. Times are ISO 8601, sizes
 * are in bytes. `total` counts the whole result, listed or not; `first` is the number of the first object of this
 * page in it, from 1; `next` is the URL of the next page; `limit` is the number of objects of all pages if they
 * do not list everything. `query` is the text of the form, `reading` a sentence that says how it was read, `asked` the message that the Broker received for it. An object's
 * `without` are the words of the query that it lacks, its `soif` is the URL of its SOIF object, `summary` that of the page that shows it.
 */
export function jsonResult(source: FeedSource): string {
  const { form, results, counts, part } = source;
  const objects = part.hits.map((hit) => ({
    ...urlFields(hit.url),
    title: hit.title,
    without: hit.lacks,
    passage: passageOf(source, hit),
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
    reading: source.reading,
    asked: source.message,
    narrow: form.narrow,
    html: pageUrl(source, { format: 'html' }),
    total: part.total,
    totalIsExact: part.isExact,
    first: objects.length === 0 ? undefined : part.first + 1,
    listed: objects.length,
    page: part.page,
    pages: part.pages,
    next: part.page < part.pages ? pageUrl(source, { page: part.page + 1 }) : undefined,
    previous: part.page > 1 ? pageUrl(source, { page: part.page - 1 }) : undefined,
    limit: part.limit,
    facets: facets === undefined ? undefined : Object.fromEntries(facets),
    messages: results.messages,
    errors: results.errors,
    failure: results.failure,
    gathering: source.gathering,
    objects,
  };
  return `${JSON.stringify(value, undefined, 1)}\n`;
}

/** Formats a result as RSS 2.0. */
export function rssResult(source: FeedSource): string {
  const { form, part } = source;
  const page = pageUrl(source, { format: 'html' });
  const related = (relation: string, change: Partial<QueryForm>) =>
    `<atom:link href="${xml(pageUrl(source, change))}" rel="${relation}" type="application/rss+xml"/>\n`;
  const title = `${subjectOf(form)} – ${source.brokerName}`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
<channel>
<title>${xml(title)}</title>
<link>${xml(page)}</link>
${related('self', {})}${part.page > 1 ? related('previous', { page: part.page - 1 }) : ''}${part.page < part.pages ? related('next', { page: part.page + 1 }) : ''}<description>${xml(`What the Harvest broker ${source.brokerName} finds for: ${subjectOf(form)}`)}</description>
<opensearch:totalResults>${part.total}</opensearch:totalResults>
<opensearch:startIndex>${part.first + 1}</opensearch:startIndex>
<opensearch:itemsPerPage>${part.hits.length}</opensearch:itemsPerPage>
${part.hits.map((hit) => rssItem(source, hit)).join('')}</channel>
</rss>
`;
}

function rssItem(source: FeedSource, hit: ShownHit): string {
  const summary = summaryUrl(source, hit);
  const href = hrefOfUrl(hit.url);
  const address = source.addressOf?.(hit.url) ?? href;
  const link = isLinkable(address) ? address : summary;
  const time = timeOf(hit.modified);
  const lines = hit.lines.map(({ text }) => text).join('\n');
  return `<item>
<title>${xml(hit.title ?? textOfUrl(hit.url))}</title>
${link === undefined ? '' : `<link>${xml(link)}</link>\n`}<guid isPermaLink="false">${xml(href)}</guid>
${time === undefined ? '' : `<pubDate>${time.toUTCString()}</pubDate>\n`}${hit.type === undefined ? '' : `<category>${xml(hit.type)}</category>\n`}<description>${xml(escapeHtml(passageOf(source, hit) ?? lines))}</description>
</item>
`;
}

function pageUrl({ origin, action, form }: FeedSource, change: Partial<QueryForm>): string {
  return `${origin}${action}?${writeForm({ ...form, ...change })}`;
}

function passageOf({ passages }: FeedSource, hit: ShownHit): string | undefined {
  const found = passages.get(hit);
  return found === undefined ? hit.description : passageText(found.passages);
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
