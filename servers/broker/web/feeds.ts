// Formats results as JSON and RSS.
import { hrefOfUrl, textOfUrl, urlFields } from '../../../protocols/soif/index.js';
import { escapeHtml, isLinkable } from '../../web/html.js';
import type { FacetCounts } from './facets.js';
import { type QueryForm, writeForm } from './form.js';
import type { Results, ShownHit } from './results.js';

/** Content of a result in a format for programs. */
export interface FeedSource {
  readonly brokerName: string;
  /** Scheme, host and port before the paths of this site. */
  readonly origin: string;
  /** Path of the query program. */
  readonly action: string;
  readonly form: QueryForm;
  /** The message line that the broker received. */
  readonly message: string;
  readonly results: Results;
  readonly counts?: FacetCounts | undefined;
  /** Number of documents that link to the object's document, by its URL; absent if not known. */
  readonly linkedFrom: ReadonlyMap<string, number>;
  /** Path of the readable view of an object. */
  readonly summaryPath: (objectUrl: string) => string | undefined;
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
