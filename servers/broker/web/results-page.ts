// Renders the list of results.
import { hrefOfUrl, textOfUrl } from '../../../protocols/soif/index.js';
import { type Content, type Html, html, link } from '../../web/html.js';
import { byteSize, date, plural } from '../../web/values.js';
import { renderFacets, renderNarrowings } from './facet-list.js';
import type { FacetCounts } from './facets.js';
import { type FoldedHits, foldHosts } from './fold-hosts.js';
import { type QueryForm, writeForm } from './form.js';
import type { Passage, Passages } from './passages.js';
import type { Results, ShownHit } from './results.js';
import type { Variables } from './templates.js';

/** Objects on one page of results. */
export const PAGE_OBJECTS = 20;

/** More objects than any broker lists. */
const ALL_OBJECTS = 1_000_000;

/** Options for showing results. */
export interface ResultsOptions {
  /** Path of the query program. */
  readonly action: string;
  readonly highlight: (text: string) => Content;
  /**
   * Path of the readable view of an object, from the URL in its `125`; undefined for objects of other brokers.
   */
  readonly summaryPath: (objectUrl: string) => string | undefined;
  /** Counts of the whole result. */
  readonly counts?: FacetCounts | undefined;
  /** Objects of one page. */
  readonly pageObjects: number;
  /** Number of documents that link to the object's document, by its URL, and the page that lists them. */
  readonly linkedFrom?: ReadonlyMap<string, number>;
  readonly linksPage?: (url: string) => string | undefined;
  /** What is shown of the text of each object. */
  readonly passages: ReadonlyMap<ShownHit, Passages>;
  /** What to try if nothing or little was found, and how the query was understood. */
  readonly help: Content;
}

/** The objects of one page of a result. */
export interface ResultPage {
  readonly hits: readonly ShownHit[];
  /** Index of the first of them in the result. */
  readonly first: number;
  readonly page: number;
  readonly pages: number;
  /** Number of objects that all pages list. */
  readonly listed: number;
  readonly folded: FoldedHits['folded'];
}

/** Returns the page of the result that the form requests, or the last page. */
export function selectPage(form: QueryForm, results: Results, pageObjects: number): ResultPage {
  const { hits, folded } = form.fold ? foldHosts(results.hits) : { hits: results.hits, folded: NOT_FOLDED };
  const pages = Math.max(1, Math.ceil(hits.length / pageObjects));
  const page = Math.min(form.page, pages);
  const first = (page - 1) * pageObjects;
  return { hits: hits.slice(first, first + pageObjects), first, page, pages, listed: hits.length, folded };
}

const NOT_FOLDED: FoldedHits['folded'] = new Map();

/** Returns the variables of the definitions around the objects. Our own variables are fragments of HTML. */
export function resultVariables(
  form: QueryForm,
  results: Results,
  part: ResultPage,
  options: ResultsOptions,
): Variables {
  const { action, counts } = options;
  const begin = part.hits.length === 0 ? '' : html`<ol class="results" start="${part.first + 1}">\n`;
  const lines = results.hits.reduce((sum, hit) => sum + hit.lineCount, 0);
  return {
    nobjects: String(results.hits.length),
    nopaquelines: String(lines),
    results_begin: html`${renderHead(form, results, part, options)}${begin}`,
    results_end: part.hits.length === 0 ? '' : html`</ol>`,
    pager: part.pages > 1 ? renderPager(form, part, action) : '',
    facets: counts === undefined ? '' : renderFacets(form, counts, action),
    more_url: `${action}?${writeForm({ ...form, maxObjects: ALL_OBJECTS, page: 1 })}`,
  };
}

function renderHead(form: QueryForm, results: Results, part: ResultPage, options: ResultsOptions): Html {
  const { hits } = results;
  const { action, counts } = options;
  const lines = hits.reduce((sum, hit) => sum + hit.lineCount, 0);
  const shownTo = part.first + part.hits.length;
  const range = part.pages > 1 ? `, ${part.first + 1} to ${shownTo} of ${part.listed} shown here` : '';
  const url = (change: Partial<QueryForm>) => `${action}?${writeForm({ ...form, page: 1, ...change })}`;
  return html`<section aria-labelledby="results">
<h1 id="results">${formatHeading(results, counts)}</h1>
${results.failure === undefined ? '' : renderNotice('error', 'The results are incomplete.', results.failure)}
${results.errors.map((text) => renderNotice('error', 'The broker reports:', text))}
${results.messages.map((text) => renderNotice('note', '', text))}
${renderNarrowings(form, action)}${
  hits.length === 0
    ? renderNothingFound(options.help)
    : html`<p class="count">For <q>${form.query}</q>${form.matchedLines ? `, ${plural(lines, 'matched line')}` : ''}${range}.</p>
<ul class="tools">
<li>${renderChoice('Best first', form.sort === 'by-rank', url({ sort: 'by-rank' }))}</li>
<li>${renderChoice('Most matched lines first', form.sort === 'by-NML', url({ sort: 'by-NML' }))}</li>
<li>${renderChoice('Newest first', form.sort === 'by-date', url({ sort: 'by-date' }))}</li>
<li><a href="${url({ format: 'rss' })}">RSS</a></li>
<li><a href="${url({ format: 'json' })}">JSON</a></li>
${counts === undefined ? '' : html`<li class="phone"><a href="#narrow">Narrow</a></li>\n`}</ul>
${options.help}`
}`;
}

/** Formats the number of found objects, of the whole result if it was counted. */
function formatHeading({ hits, truncated }: Results, counts: FacetCounts | undefined): string {
  if (hits.length === 0) return 'Nothing found';
  if (counts !== undefined && counts.objects >= hits.length) {
    return `${counts.complete ? '' : 'More than '}${plural(counts.objects, 'object')} found`;
  }
  return `${truncated ? 'More than ' : ''}${plural(hits.length, 'object')} found`;
}

function renderChoice(text: string, chosen: boolean, href: string): Html {
  return chosen ? html`<span aria-current="true">${text}</span>` : html`<a href="${href}">${text}</a>`;
}

/** Renders a box with a message. */
export function renderNotice(kind: 'error' | 'note', lead: string, text: Content): Html {
  return html`<p class="${kind}"${kind === 'error' ? html` role="alert"` : ''}>${lead === '' ? '' : html`<strong>${lead}</strong> `}${text}</p>`;
}

function renderNothingFound(help: Content): Html {
  return html`${help}<p>Try fewer words, allow a spelling error, or match parts of words: these are under <em>Settings</em>.</p>`;
}

/** Renders one object of the list. */
export function renderResultItem(
  hit: ShownHit,
  form: QueryForm,
  part: ResultPage,
  options: ResultsOptions,
): Html {
  const { highlight } = options;
  const passages = options.passages.get(hit)?.passages ?? [];
  const lines = renderMatchedLines(hit, form, highlight);
  const url = textOfUrl(hit.url);
  const title = hit.title ?? url;
  const summary = hit.objectUrl === undefined ? undefined : options.summaryPath(hit.objectUrl);
  return html`<li>
<h2>${link(hrefOfUrl(hit.url), highlight(title))}</h2>
<p class="url">${url}</p>
${passages.length > 0 ? html`<p class="description">${renderPassages(passages, highlight)}</p>\n` : renderDescription(hit, highlight)}${passages.length > 0 ? renderFoldedLines(hit, lines) : lines}<p class="about">${form.verbose ? renderFacts(hit) : ''}${renderLinkedFrom(hit, options)}${
    summary === undefined ? '' : html`<a href="${summary}">Summary<span class="aside"> of ${title}</span></a>`
  }</p>
${renderFoldedHost(part.folded.get(hit), form, options.action)}</li>`;
}

function renderDescription({ description }: ShownHit, highlight: ResultsOptions['highlight']): Content {
  return description === undefined ? '' : html`<p class="description">${highlight(description)}</p>\n`;
}

function renderPassages(passages: readonly Passage[], highlight: ResultsOptions['highlight']): Content {
  return passages.map(({ text, cutBefore, cutAfter }, i) => [
    cutBefore && i === 0 ? '… ' : '',
    highlight(text),
    cutAfter ? ' … ' : ' ',
  ]);
}

/** The passages show why the object was found; the lines of the protocol are there for those who want them. */
function renderFoldedLines({ lineCount, url }: ShownHit, lines: Content): Content {
  if (lines === '') return '';
  return html`<details class="matched"><summary>${plural(lineCount, 'matched line')}<span class="aside"> of ${textOfUrl(url)}</span></summary>
${lines}</details>
`;
}

function renderFoldedHost(
  folded: { readonly host: string; readonly objects: number } | undefined,
  form: QueryForm,
  action: string,
): Content {
  if (folded === undefined) return '';
  const { host, objects } = folded;
  const narrow = [...form.narrow, { kind: 'host', value: host } as const];
  return html`<p class="more"><a href="${action}?${writeForm({ ...form, page: 1, narrow })}">${objects.toLocaleString('en')} more from ${host}</a></p>
`;
}

function renderLinkedFrom({ url }: ShownHit, { linkedFrom, linksPage }: ResultsOptions): Content {
  const count = linkedFrom?.get(url);
  const page = linksPage?.(url);
  if (count === undefined || page === undefined) return '';
  return html`<a href="${page}" rel="noreferrer">Linked from ${plural(count, 'document')}</a> `;
}

function renderMatchedLines(hit: ShownHit, form: QueryForm, highlight: ResultsOptions['highlight']): Content {
  // Leaves out attributes that the result shows in any case; the count includes them.
  const visible = hit.lines.filter(({ attribute }) => {
    const name = attribute?.toLowerCase();
    // Also attributes that the result is narrowed by: every object has such a line.
    if (name === 'type' || name === 'gatherer-name') {
      return !form.narrow.some(({ kind }) => name.startsWith(kind));
    }
    return name !== 'url' && name !== 'title' && (name !== 'description' || hit.description === undefined);
  });
  if (visible.length === 0) return '';
  const items = visible.map(
    ({ attribute, text }) =>
      html`<li>${attribute === undefined ? '' : html`<span class="name">${attribute}</span> `}${highlight(text)}</li>\n`,
  );
  return html`<ul class="lines">\n${items}</ul>\n`;
}

function renderFacts({ type, size, modified }: ShownHit): Content {
  return [
    type === undefined ? '' : html`<span class="type">${type}</span> `,
    size === undefined || !/^[0-9]+$/.test(size) ? '' : html`<span>${byteSize(Number(size))}</span> `,
    modified === undefined ? '' : html`<span>${date(modified)}</span> `,
  ];
}

function renderPager(form: QueryForm, { page, pages }: ResultPage, action: string): Html {
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
