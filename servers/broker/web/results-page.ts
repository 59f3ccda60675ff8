import { type BrokerHit, parseMatchedLine } from '../../../protocols/broker/index.js';
import { decodeText } from '../../../protocols/soif/index.js';
import { type QueryForm, writeForm } from './form.js';
import { type Content, type Html, html, link } from './html.js';
import { byteSize, date } from './values.js';

/** Objects on one page of results. */
export const PAGE_OBJECTS = 20;

/** Attributes the page asks for beside what every result has. */
export const SHOWN_ATTRIBUTES = [
  'title',
  'type',
  'file-size',
  'last-modification-time',
  'update-time',
] as const;

/** Longest description shown, characters. */
const MAX_DESCRIPTION = 600;

/** Longest matched line shown, characters. */
const MAX_LINE = 400;

/** Longest attribute shown (title, type), characters. */
const MAX_ATTRIBUTE = 200;

/** Matched lines of one object shown; all are counted. */
const MAX_LINES = 100;

/** What is kept of a hit: bounded, whatever the broker sends. */
export interface ShownHit {
  readonly url: string;
  readonly objectUrl?: string;
  readonly title?: string;
  readonly description?: string;
  readonly lines: readonly { readonly attribute?: string; readonly text: string }[];
  /** Matched lines in all. */
  readonly lineCount: number;
  readonly type?: string;
  readonly size?: string;
  readonly modified?: string;
}

/** What a search gave. */
export interface Results {
  readonly hits: readonly ShownHit[];
  /** There are more objects than were asked for (BRK-4.16). */
  readonly truncated: boolean;
  /** The broker's messages (`101`) and errors (`103`). */
  readonly messages: readonly string[];
  readonly errors: readonly string[];
  /** Why the results ended early (`111`, or the connection broke), if they did. */
  readonly failure?: string;
}

/** How results are shown. */
export interface ResultsOptions {
  readonly action: string;
  readonly highlight: (text: string) => Content;
  /** Path of the readable view of an object, from the URL in its `125`; undefined if that is not ours. */
  readonly summaryPath: (objectUrl: string) => string | undefined;
}

/** The part of the page below the form (BRK-9.8: set begin, objects, set end). */
export function resultsPart(form: QueryForm, results: Results, options: ResultsOptions): Html {
  const { hits } = results;
  const lines = hits.reduce((sum, hit) => sum + hit.lineCount, 0);
  const pages = Math.max(1, Math.ceil(hits.length / PAGE_OBJECTS));
  const page = Math.min(form.page, pages);
  const first = (page - 1) * PAGE_OBJECTS;
  const shown = hits.slice(first, first + PAGE_OBJECTS);
  const count = `${results.truncated ? 'More than ' : ''}${plural(hits.length, 'object')}`;
  const range = pages > 1 ? `, ${first + 1} to ${first + shown.length} shown here` : '';
  return html`<section aria-labelledby="results">
<h1 id="results">${hits.length === 0 ? 'Nothing found' : `${count} found`}</h1>
${results.failure === undefined ? '' : notice('error', 'The results are incomplete.', results.failure)}
${results.errors.map((text) => notice('error', 'The broker reports:', text))}
${results.messages.map((text) => notice('note', '', text))}
${results.truncated ? notice('note', '', `Only the first ${hits.length} objects are listed. Ask for more objects in the settings, or make the query narrower.`) : ''}
${hits.length === 0 ? nothingFound() : html`<p class="count">For <q>${form.query}</q>${form.matchedLines ? `, ${plural(lines, 'matched line')}` : ''}${range}.</p>`}
${shown.length === 0 ? '' : html`<ol class="results" start="${first + 1}">\n${shown.map((hit) => result(hit, form, options))}</ol>`}
${pages > 1 ? pager(form, page, pages, options.action) : ''}
</section>`;
}

/** A box with a message. */
export function notice(kind: 'error' | 'note', lead: string, text: string): Html {
  return html`<p class="${kind}"${kind === 'error' ? html` role="alert"` : ''}>${lead === '' ? '' : html`<strong>${lead}</strong> `}${text}</p>`;
}

/** "1 object", "2 objects". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function nothingFound(): Html {
  return html`<p>Try fewer words, allow a spelling error, or match parts of words: these are under <em>Settings</em>.</p>`;
}

/** What of a hit the page shows. */
export function shownHit(hit: BrokerHit): ShownHit {
  const modified = attributeText(hit, 'last-modification-time');
  const optional = {
    objectUrl: hit.objectUrl,
    title: attributeText(hit, 'title'),
    description: hit.description === undefined ? undefined : cut(hit.description.trim(), MAX_DESCRIPTION),
    type: attributeText(hit, 'type'),
    size: attributeText(hit, 'file-size'),
    modified: modified !== undefined && modified !== '0' ? modified : attributeText(hit, 'update-time'),
  };
  return {
    url: hit.url,
    lines: hit.matchedLines.slice(0, MAX_LINES).map((line) => {
      const parsed = parseMatchedLine(line);
      const text = cut((parsed?.text ?? line).trim(), MAX_LINE);
      return parsed === undefined ? { text } : { attribute: parsed.attribute, text };
    }),
    lineCount: hit.matchedLines.length,
    ...Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== undefined && value !== ''),
    ),
  };
}

function attributeText(hit: BrokerHit, name: string): string | undefined {
  const value = hit.attributes.get(name);
  return value === undefined ? undefined : cut(decodeText(value).replace(/\s+/g, ' ').trim(), MAX_ATTRIBUTE);
}

function cut(value: string, most: number): string {
  return value.length <= most ? value : `${value.slice(0, most).trimEnd()}…`;
}

function result(hit: ShownHit, form: QueryForm, options: ResultsOptions): Html {
  const { highlight } = options;
  const title = hit.title ?? hit.url;
  const summary = hit.objectUrl === undefined ? undefined : options.summaryPath(hit.objectUrl);
  return html`<li>
<h2>${link(hit.url, highlight(title))}</h2>
<p class="url">${hit.url}</p>
${hit.description === undefined ? '' : html`<p class="description">${highlight(hit.description)}</p>\n`}${matchedLines(hit, highlight)}<p class="about">${form.verbose ? facts(hit) : ''}${
    summary === undefined ? '' : html`<a href="${summary}">Summary<span class="aside"> of ${title}</span></a>`
  }</p>
</li>
`;
}

function matchedLines(hit: ShownHit, highlight: ResultsOptions['highlight']): Content {
  // What the result shows anyway is not said twice; it is counted all the same.
  const visible = hit.lines.filter(({ attribute }) => {
    const name = attribute?.toLowerCase();
    return name !== 'url' && name !== 'title' && (name !== 'description' || hit.description === undefined);
  });
  if (visible.length === 0) return '';
  const items = visible.map(
    ({ attribute, text }) =>
      html`<li>${attribute === undefined ? '' : html`<span class="name">${attribute}</span> `}${highlight(text)}</li>\n`,
  );
  return html`<ul class="lines">\n${items}</ul>\n`;
}

function facts({ type, size, modified }: ShownHit): Content {
  return [
    type === undefined ? '' : html`<span>${type}</span> `,
    size === undefined || !/^[0-9]+$/.test(size) ? '' : html`<span>${byteSize(Number(size))}</span> `,
    modified === undefined ? '' : html`<span>${date(modified)}</span> `,
  ];
}

function pager(form: QueryForm, page: number, pages: number, action: string): Html {
  const to = (n: number) => `${action}?${writeForm({ ...form, page: n })}`;
  const numbers = Array.from({ length: pages }, (_, i) => i + 1).filter(
    (n) => n === 1 || n === pages || Math.abs(n - page) <= 2,
  );
  return html`<nav class="pager" aria-label="Pages of results">
<ul>
${page > 1 ? html`<li><a href="${to(page - 1)}" rel="prev">Previous</a></li>\n` : ''}${numbers.map((n, i) => [
  i > 0 && n - (numbers[i - 1] ?? n) > 1 ? html`<li aria-hidden="true">…</li>\n` : '',
  n === page
    ? html`<li><span aria-current="page">${n}</span></li>\n`
    : html`<li><a href="${to(n)}">${n}</a></li>\n`,
])}${page < pages ? html`<li><a href="${to(page + 1)}" rel="next">Next</a></li>\n` : ''}</ul>
</nav>`;
}
