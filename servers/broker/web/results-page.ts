// Renders the list of results.

import type { Passage, Passages } from '../../../clients/broker/passages.js';
import { hrefOfUrl, textOfUrl } from '../../../protocols/soif/index.js';
import { type Content, type Html, html, link } from '../../web/html.js';
import { byteSize, date, plural } from '../../web/values.js';
import { renderFacets, renderNarrowings } from './facet-list.js';
import { LISTED_OF_HOST } from './facets.js';
import { type QueryForm, writeForm } from './form.js';
import type { ResultPage, ShownHit, ShownResult } from './results.js';
import type { RouteContext } from './route-context.js';
import type { Variables } from './templates.js';

/** A page of a result, and its further parts. */
export interface ResultsView extends ShownResult {
  /** `Max-Results`. */
  readonly maxResults: number;
  readonly highlight: (text: string) => Content;
  /** The page that lists the documents that link to one. */
  readonly linksPage?: (url: string) => string | undefined;
  /** The shown part of the text of each object. */
  readonly passages: ReadonlyMap<ShownHit, Passages>;
  /** What to try if nothing or little was found, and how the query was understood. */
  readonly help: Content;
  readonly addressOf: RouteContext['addressOf'];
  /** The line of progress of a run that gathers; empty while nothing is gathered. */
  readonly gathering: Content;
}

/** Returns the variables of the definitions around the objects. Our own variables are fragments of HTML. */
export function resultVariables(view: ResultsView): Variables {
  const { form, results, part, action, counts } = view;
  const begin = part.hits.length === 0 ? '' : html`<ol class="results" start="${part.first + 1}">\n`;
  const lines = results.hits.reduce((sum, hit) => sum + hit.lineCount, 0);
  return {
    nobjects: String(part.listed),
    nopaquelines: String(lines),
    results_begin: html`${renderHead(view)}${begin}`,
    results_end: part.hits.length === 0 ? '' : html`</ol>`,
    pager: part.pages > 1 ? renderPager(view) : '',
    facets: counts === undefined ? '' : renderFacets(form, counts, action),
    more_url: moreUrl(view),
    limit: renderLimit(view),
  };
}

/** The same query without a number of objects. */
function moreUrl({ form, action }: ResultsView): string {
  const { maxObjects: _, ...rest } = form;
  return `${action}?${writeForm({ ...rest, page: 1 })}`;
}

/** Says that not all objects are listed. */
function renderLimit(view: ResultsView): Content {
  const { form, part, maxResults } = view;
  if (part.limit === undefined) return '';
  const of = part.isExact ? ` of ${part.total.toLocaleString('en')}` : '';
  const isOfForm = form.maxObjects !== undefined && form.maxObjects < maxResults;
  const more = isOfForm
    ? html`<a href="${moreUrl(view)}">List as many as this broker returns</a>, or make`
    : 'Make';
  return html`<p class="note">Only the first ${part.limit.toLocaleString('en')}${of} objects are listed. ${more} the query narrower.</p>`;
}

function renderHead(view: ResultsView): Html {
  const { form, results, part, action, home, counts, help } = view;
  const { hits } = results;
  const url = (change: Partial<QueryForm>) => `${action}?${writeForm({ ...form, page: 1, ...change })}`;
  return html`<section aria-labelledby="results">
<h1 id="results">${formatHeading(part)}</h1>
${view.gathering}${results.failure === undefined ? '' : renderNotice('error', 'The results are incomplete.', results.failure)}
${results.errors.map((text) => renderNotice('error', 'The broker reports:', text))}
${results.messages.map((text) => renderNotice('note', '', text))}
${renderNarrowings(form, action, home)}${
  hits.length === 0
    ? renderNothingFound(view)
    : html`<p class="count">${formatRange(part)}${form.query === '' ? '' : html` for <q>${form.query}</q>`}.</p>
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

/** Formats the number of found objects, listed or not. */
function formatHeading({ hits, total, isExact }: ResultPage): string {
  if (hits.length === 0) return 'Nothing found';
  return `${isExact ? '' : 'More than '}${plural(total, 'object')} found`;
}

/** Formats which objects a page shows, such as `1 to 20 of 172`. */
function formatRange({ first, hits, listed, total, isExact, limit, folded }: ResultPage): string {
  const number = (n: number) => n.toLocaleString('en');
  const range = `${number(first + 1)} to ${number(first + hits.length)} of`;
  const all = `${isExact ? '' : 'more than '}${number(total)}`;
  if (folded.size > 0) return `${range} ${number(listed)} with at most ${LISTED_OF_HOST} of each host`;
  return limit === undefined ? `${range} ${all}` : `${range} the first ${number(limit)} of ${all}`;
}

function renderChoice(text: string, chosen: boolean, href: string): Html {
  return chosen ? html`<span aria-current="true">${text}</span>` : html`<a href="${href}">${text}</a>`;
}

/** Renders a box with a message. */
export function renderNotice(kind: 'error' | 'note', lead: string, text: Content): Html {
  return html`<p class="${kind}"${kind === 'error' ? html` role="alert"` : ''}>${lead === '' ? '' : html`<strong>${lead}</strong> `}${text}</p>`;
}

function renderNothingFound({ help, gathering }: ResultsView): Html {
  const later =
    gathering === ''
      ? ''
      : html`<p>What you look for may not have been gathered yet: search again in a moment.</p>\n`;
  return html`${later}${help}<p>Try fewer words, allow a spelling error, or match parts of words: these are under <em>Settings</em>.</p>`;
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
<h2>${link(view.addressOf?.(hit.url) ?? hrefOfUrl(hit.url), highlight(title))}</h2>
${title === url ? '' : html`<p class="url">${url}</p>\n`}${passages.length > 0 ? html`<p class="description">${renderPassages(passages, highlight)}</p>\n` : renderDescription(hit, highlight)}${passages.length > 0 ? renderFoldedLines(hit, lines) : lines}<p class="about">${renderLacks(hit)}${form.verbose ? renderFacts(hit) : ''}${renderLinkedFrom(hit, view)}${
    summary === undefined ? '' : html`<a href="${summary}">Summary<span class="aside"> of ${title}</span></a>`
  }</p>
${renderFoldedHost(hit, view)}</li>`;
}

function renderLacks({ lacks }: ShownHit): Content {
  if (lacks === undefined) return '';
  return html`<span class="without">Without: ${lacks.map((word, i) => [i === 0 ? '' : ', ', html`<s>${word}</s>`])}</span> `;
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
  return html`<p class="more"><a href="${action}?${writeForm({ ...form, page: 1, narrow })}">${objects === undefined ? 'More' : `${objects.toLocaleString('en')} more`} from ${host}</a></p>
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
