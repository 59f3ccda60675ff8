// Renders the pages of links.
// Links are relative, so that a proxy may serve the pages below any path.
import type { ReferencesCounts } from '../../../storage/references/contract.js';
import { type Content, type Html, html, link } from '../../web/html.js';
import { renderPage } from '../../web/page-shell.js';
import type { LinksView, ViewName } from './links-view.js';

const TITLES: Readonly<Record<ViewName, string>> = {
  to: 'Links to this document',
  from: 'Links from this document',
  'site-to': 'Links to this site from outside',
  'site-from': 'Links from this site to outside',
};

/** Renders the start page: the form, and the counts of the collection. */
export function renderHomePage(counts: ReferencesCounts | undefined): Html {
  const summary =
    counts === undefined
      ? 'No links are published yet.'
      : `${counts.links.toLocaleString('en')} links between ${counts.documents.toLocaleString('en')} documents of ${counts.servers.toLocaleString('en')} servers.`;
  return renderShell(
    'Who links to whom',
    html`<div class="home">
<h1>Who links to whom</h1>
${renderForm('')}
${renderRandom(counts)}
<p class="count">${summary}</p>
</div>`,
  );
}

/** Renders the link to a random document; nothing without documents. */
function renderRandom(counts: ReferencesCounts | undefined): Html | string {
  const isEmpty = counts === undefined || (counts.documents === 0 && counts.links === 0);
  return isEmpty ? '' : html`<ul class="tools"><li><a href="./?random=1">A random document</a></li></ul>`;
}

/** Renders the page for a query that names no known document or site. */
export function renderUnknownPage(query: string): Html {
  return renderShell(
    'Not known here',
    html`${renderForm(query)}
<h1>Not known here</h1>
<p>There is no document and no site <q>${query}</q> in this collection. Enter a full URL, a server such as <code>www.example.org</code> or
<code>www.example.org:8080</code>, or the number of a document.</p>`,
  );
}

/** Renders the question whether a browser may do what the address says, with the token of the answer. */
export function renderConfirmPage(path: string, token: string): Html {
  const action = path === '/clean' ? 'Clear the statistics' : 'Read the configuration again';
  return renderShell(
    action,
    html`<h1>${action}?</h1>
<p>Nothing is changed yet: the request does not show whether it comes from you or from a page of another site.</p>
<form action="${`.${path}?token=${token}`}" method="post"><p><button type="submit">${action}</button></p></form>`,
  );
}

/** Renders one page of links. */
export function renderLinksPage(view: LinksView): Html {
  const { query, subject, results, found, start } = view;
  const name = subject.document?.url ?? serverText(view) ?? query;
  const last = start + results.length;
  const range = results.length === 0 ? '' : `, ${start + 1} to ${last} shown here`;
  return renderShell(
    `${TITLES[view.view]}: ${name}`,
    html`${renderForm(query)}
<h1>${TITLES[view.view]}</h1>
${renderFacts(view)}
${renderTabs(view)}
<p class="count">${found === 1 ? '1 document' : `${found.toLocaleString('en')} documents`}${range}.
<a href="${viewUrl(view, { start, json: true })}">JSON</a></p>
${
  results.length === 0
    ? html`<p>None${start > 0 && found > 0 ? ' from here on' : ' are known'}.</p>`
    : html`<ol start="${start + 1}">
${results.map((result) => renderResult(result))}</ol>`
}
${renderPager(view)}`,
  );
}

function renderResult({ id, url }: LinksView['results'][number]): Html {
  const here = html`<a href="./?q=${encodeURIComponent(url ?? String(id))}">${url ?? `document ${id}, whose URL is not known`}</a>`;
  return html`<li>${here}${url === undefined ? '' : html` <span class="about">${link(url, html`open<span class="aside"> ${url}</span>`)}</span>`}</li>\n`;
}

function renderFacts({ subject }: LinksView): Html {
  const { document, id, server } = subject;
  const rows: readonly (readonly [string, Content])[] = [
    ['URL', document && link(document.url, document.url)],
    ['Number', id],
    ['Site', server && renderSiteLink(server.name, server.port)],
    ['Bytes', document?.length],
    ['Changed', formatDay(document?.time)],
    ['Checked', formatDay(document?.checkTime)],
  ];
  const known = rows.filter(([, value]) => value !== undefined && value !== 0);
  return html`<dl>
${known.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

function renderSiteLink(name: string, port: number): Html {
  const site = `${name}:${port}`;
  return html`<a href="./?q=${encodeURIComponent(site)}&amp;view=site-to">${site}</a>`;
}

function serverText({ subject }: LinksView): string | undefined {
  return subject.server && `${subject.server.name}:${subject.server.port}`;
}

function renderTabs(view: LinksView): Html {
  const items = [...view.totals].map(([name, total]) => {
    const text = html`${TITLES[name]} <span class="number">${total.toLocaleString('en')}</span>`;
    return name === view.view
      ? html`<li><span aria-current="page">${text}</span></li>\n`
      : html`<li><a href="${viewUrl({ ...view, view: name }, { start: 0 })}">${text}</a></li>\n`;
  });
  return html`<nav aria-label="Lists of links"><ul class="chips">
${items}</ul></nav>`;
}

function renderPager(view: LinksView): Html | string {
  const { start, found, pageSize } = view;
  if (start === 0 && found <= pageSize) return '';
  const before = Math.max(0, Math.min(start, found) - pageSize);
  return html`<nav class="pager" aria-label="Pages"><ul class="tools">
${start > 0 ? html`<li><a rel="prev" href="${viewUrl(view, { start: before })}">Previous</a></li>\n` : ''}${
  start + pageSize < found
    ? html`<li><a rel="next" href="${viewUrl(view, { start: start + pageSize })}">Next</a></li>\n`
    : ''
}</ul></nav>`;
}

function viewUrl(view: LinksView, { start, json = false }: { start: number; json?: boolean }): string {
  const parameters = new URLSearchParams({ q: view.query, view: view.view });
  if (start > 0) parameters.set('start', String(start));
  if (json) parameters.set('format', 'json');
  return `./?${parameters}`;
}

function renderForm(query: string): Html {
  return html`<form class="search" role="search" action="./" method="get">
<div class="line">
<label for="q">URL, site or number</label>
<input type="search" id="q" name="q" value="${query}" autocomplete="off" autocapitalize="none" spellcheck="false" enterkeyhint="search" maxlength="4096">
<button type="submit">Show links</button>
</div>
<p class="hint">The URL of a document, such as <code>http://www.example.org/page.html</code>; a site, such as <code>www.example.org:8080</code>; or the number of a document.</p>
</form>`;
}

function renderShell(title: string, content: Content): Html {
  return renderPage(
    {
      title,
      noindex: true,
      styles: ['./style.css'],
      icon: './icon.svg',
      site: { name: 'References', href: './' },
      footer: html`<p>A references server: it knows which documents link to one another, the documents themselves stay where they are.</p>`,
    },
    content,
  );
}

function formatDay(seconds = 0): string | undefined {
  return seconds === 0 ? undefined : new Date(seconds * 1000).toISOString().slice(0, 10);
}
