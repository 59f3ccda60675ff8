// Renders the list of results.
import { hrefOfUrl, textOfUrl } from '../../../protocols/soif/index.js';
import { type Content, type Html, html, link } from '../../web/html.js';
import { byteSize, date, plural } from '../../web/values.js';
import { hostOfUrl } from '../admin/name-counter.js';
import { renderFacets, renderNarrowings } from './facet-list.js';
import type { FacetCounts } from './facets.js';
import { type QueryForm, writeForm } from './form.js';
import type { Passage, Passages } from './passages.js';
import type { Results, ShownHit, ShownResult } from './results.js';
import type { Variables } from './templates.js';

/** Objects on one page of results. */
export const PAGE_OBJECTS = 20;

/** More objects than any broker lists. */
const ALL_OBJECTS = 1_000_000;

/** A page of a result, and its further parts. */
export interface ResultsView extends ShownResult {
  readonly part: ResultPage;
  readonly highlight: (text: string) => Content;
  /** The page that lists the documents that link to one. */
  readonly linksPage?: (url: string) => string | undefined;
  /** The shown part of the text of each object. */
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
export function resultVariables(view: ResultsView): Variables {
  const { form, results, part, action, counts } = view;
  const begin = part.hits.length === 0 ? '' : html`<ol class="results" start="${part.first + 1}">\n`;
  const lines = results.hits.reduce((sum, hit) => sum + hit.lineCount, 0);
  return {
    nobjects: String(results.hits.length),
    nopaquelines: String(lines),
    results_begin: html`${renderHead(view, lines)}${begin}`,
    results_end: part.hits.length === 0 ? '' : html`</ol>`,
    pager: part.pages > 1 ? renderPager(view) : '',
    facets: counts === undefined ? '' : renderFacets(form, counts, action),
    more_url: `${action}?${writeForm({ ...form, maxObjects: ALL_OBJECTS, page: 1 })}`,
  };
}

function renderHead(view: ResultsView, lines: number): Html {
  const { form, results, part, action, counts, help } = view;
  const { hits } = results;
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
    ? renderNothingFound(help)
    : html`<p class="count">For <q>${form.query}</q>${form.matchedLines ? `, ${plural(lines, 'matched line')}` : ''}${range}.</p>
<ul class="tools">
<li>${renderChoice('Best first', form.sort === 'by-rank', url({ sort: 'by-rank' }))}</li>
<li>${renderChoice('Most matched lines first', form.sort === 'by-NML', url({ sort: 'by-NML' }))}</li>
<li>${renderChoice('Newest first', form.sort === 'by-date', url({ sort: 'by-date' }))}</li>
<li><a href="${url({ format: 'rss' })}">RSS</a></li>
<li><a href="${url({ format: 'json' })}">JSON</a></li>
${counts === undefined ? '' : html`<li class="phone"><a href="#narrow">Narrow</a></li>\n`}</ul>
${help}`
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
export function renderResultItem(hit: ShownHit, view: ResultsView): Html {
  const { form, highlight } = view;
  const passages = view.passages.get(hit)?.passages ?? [];
  const lines = renderMatchedLines(hit, form, highlight);
  const url = textOfUrl(hit.url);
  const title = hit.title ?? url;
  const summary = hit.objectUrl === undefined ? undefined : view.summaryPath(hit.objectUrl);
  return html`<li>
<h2>${link(hrefOfUrl(hit.url), highlight(title))}</h2>
<p class="url">${url}</p>
${passages.length > 0 ? html`<p class="description">${renderPassages(passages, highlight)}</p>\n` : renderDescription(hit, highlight)}${passages.length > 0 ? renderFoldedLines(hit, lines) : lines}<p class="about">${form.verbose ? renderFacts(hit) : ''}${renderLinkedFrom(hit, view)}${
    summary === undefined ? '' : html`<a href="${summary}">Summary<span class="aside"> of ${title}</span></a>`
  }</p>
${renderFoldedHost(hit, view)}</li>`;
}

function renderDescription({ description }: ShownHit, highlight: ResultsView['highlight']): Content {
  return description === undefined ? '' : html`<p class="description">${highlight(description)}</p>\n`;
}

function renderPassages(passages: readonly Passage[], highlight: ResultsView['highlight']): Content {
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

function renderFoldedHost(hit: ShownHit, { form, part, action }: ResultsView): Content {
  const folded = part.folded.get(hit);
  if (folded === undefined) return '';
  const { host, objects } = folded;
  const narrow = [...form.narrow, { kind: 'host', value: host } as const];
  return html`<p class="more"><a href="${action}?${writeForm({ ...form, page: 1, narrow })}">${objects.toLocaleString('en')} more from ${host}</a></p>
`;
}

function renderLinkedFrom({ url }: ShownHit, { linkedFrom, linksPage }: ResultsView): Content {
  const count = linkedFrom.get(url);
  const page = linksPage?.(url);
  if (count === undefined || page === undefined) return '';
  return html`<a href="${page}" rel="noreferrer">Linked from ${plural(count, 'document')}</a> `;
}

function renderMatchedLines(hit: ShownHit, form: QueryForm, highlight: ResultsView['highlight']): Content {
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

function renderPager({ form, part: { page, pages }, action }: ResultsView): Html {
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

/** Objects of one host that are listed. */
const LISTED = 2;

/** A folded list. */
interface FoldedHits {
  readonly hits: readonly ShownHit[];
  /** The last listed object of a host with more, and how many are not listed. */
  readonly folded: ReadonlyMap<ShownHit, { readonly host: string; readonly objects: number }>;
}

/** Lists the first two objects of each host. A result from one host is not folded. */
function foldHosts(hits: readonly ShownHit[]): FoldedHits {
  const hosts = new Map<string, { last: ShownHit; objects: number }>();
  const listed: ShownHit[] = [];
  for (const hit of hits) {
    const host = hostOfUrl(hit.url);
    const known = hosts.get(host) ?? { last: hit, objects: 0 };
    hosts.set(host, known);
    known.objects += 1;
    if (known.objects > LISTED) continue;
    known.last = hit;
    listed.push(hit);
  }
  if (hosts.size < 2) return { hits, folded: new Map() };
  const more = [...hosts].filter(([, { objects }]) => objects > LISTED);
  const folded = new Map(
    more.map(([host, { last, objects }]) => [last, { host, objects: objects - LISTED }]),
  );
  return { hits: listed, folded };
}
