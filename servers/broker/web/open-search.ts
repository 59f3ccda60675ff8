// The description by which browsers add this broker to their search engines (OpenSearch 1.1).
import { escapeHtml } from '../../web/html.js';
import { DEFAULT_FORM, writeForm } from './form.js';

/** Type of the description. */
export const OPEN_SEARCH_TYPE = 'application/opensearchdescription+xml';

/** What the description names. */
export interface OpenSearchSource {
  readonly brokerName: string;
  /** Scheme, host and port before the paths. */
  readonly origin: string;
  /** Path of the query program. */
  readonly action: string;
  /** Path of the suggestions. */
  readonly suggestions: string;
  readonly icon: string;
}

/** Longest short name, in characters. */
const MAX_NAME = 16;

/** Writes the description: results as page, feed and data, and suggestions. */
export function openSearchDescription(source: OpenSearchSource): string {
  const { brokerName, origin, action, suggestions, icon } = source;
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
