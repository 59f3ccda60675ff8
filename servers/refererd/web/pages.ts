import type { ReferencesCounts } from '../../../storage/references/index.js';
import { type Content, type Html, html, link } from '../../web/html.js';
import { renderPage } from '../../web/page-shell.js';
import type { LinksView, ViewName } from './links-view.js';

const TITLES: Readonly<Record<ViewName, string>> = {
  to: 'Links to this document',
  from: 'Links from this document',
  'site-to': 'Links to this site from outside',
  'site-from': 'Links from this site to outside',
};

/** The form, and the counts of the collection. */
export function homePage(counts: ReferencesCounts | undefined): Html {
  const said =
    counts === undefined
      ? 'No links were published yet.'
      : `${counts.links.toLocaleString('en')} links between ${counts.documents.toLocaleString('en')} documents of ${counts.servers.toLocaleString('en')} servers.`;
  return page(
    'Who links to whom',
    html`<div class="home">
<h1>Who links to whom</h1>
${form('')}
<p class="count">${said}</p>
</div>`,
  );
}

/** The page for a query that names no document and no site. */
export function nothingPage(query: string): Html {
  return page(
    'Not known here',
    html`${form(query)}
<h1>Not known here</h1>
<p>There is no document and no site <q>${query}</q> in this collection. A full URL, a server such as <code>www.example.org</code> or
<code>www.example.org:8080</code>, or the number of a document can be given.</p>`,
  );
}

/** One page of links. */
export function linksPage(view: LinksView): Html {
  const { query, subject, results, found, start } = view;
  const name = subject.document?.url ?? serverText(view) ?? query;
  const last = start + results.length;
  const range = results.length === 0 ? '' : `, ${start + 1} to ${last} shown here`;
  return page(
    `${TITLES[view.view]}: ${name}`,
    html`${form(query)}
<h1>${TITLES[view.view]}</h1>
${about(view)}
${tabs(view)}
<p class="count">${found === 1 ? '1 document' : `${found.toLocaleString('en')} documents`}${range}.
<a href="${urlOf(view, { start, json: true })}">JSON</a></p>
${
  results.length === 0
    ? html`<p>None${start > 0 && found > 0 ? ' from here on' : ' are known'}.</p>`
    : html`<ol start="${start + 1}">
${results.map((result) => resultItem(result))}</ol>`
}
${pager(view)}`,
  );
}

function resultItem({ id, url }: LinksView['results'][number]): Html {
  const here = html`<a href="/?q=${encodeURIComponent(url ?? String(id))}">${url ?? `document ${id}, whose URL is not known`}</a>`;
  return html`<li>${here}${url === undefined ? '' : html` <span class="about">${link(url, html`open<span class="aside"> ${url}</span>`)}</span>`}</li>\n`;
}

function about({ subject }: LinksView): Html {
  const { document, id, server } = subject;
  const rows: readonly (readonly [string, Content])[] = [
    ...(document === undefined ? [] : [['URL', link(document.url, document.url)] as const]),
    ...(id === undefined ? [] : [['Number', id] as const]),
    ...(server === undefined ? [] : [['Site', siteLink(server.name, server.port)] as const]),
    ...(document === undefined || document.length === 0 ? [] : [['Bytes', document.length] as const]),
    ...(document === undefined || document.time === 0 ? [] : [['Changed', day(document.time)] as const]),
    ...(document === undefined || document.checkTime === 0
      ? []
      : [['Checked', day(document.checkTime)] as const]),
  ];
  return html`<dl>
${rows.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

function siteLink(name: string, port: number): Html {
  const site = `${name}:${port}`;
  return html`<a href="/?q=${encodeURIComponent(site)}&amp;view=site-to">${site}</a>`;
}

function serverText({ subject }: LinksView): string | undefined {
  return subject.server && `${subject.server.name}:${subject.server.port}`;
}

function tabs(view: LinksView): Html {
  const items = [...view.totals].map(([name, total]) => {
    const text = html`${TITLES[name]} <span class="number">${total.toLocaleString('en')}</span>`;
    return name === view.view
      ? html`<li><span aria-current="page">${text}</span></li>\n`
      : html`<li><a href="${urlOf({ ...view, view: name }, { start: 0 })}">${text}</a></li>\n`;
  });
  return html`<nav aria-label="Lists of links"><ul class="chips">
${items}</ul></nav>`;
}

function pager(view: LinksView): Html | string {
  const { start, found, pageSize } = view;
  if (start === 0 && found <= pageSize) return '';
  const before = Math.max(0, Math.min(start, found) - pageSize);
  return html`<nav class="pager" aria-label="Pages"><ul class="tools">
${start > 0 ? html`<li><a rel="prev" href="${urlOf(view, { start: before })}">Previous</a></li>\n` : ''}${
  start + pageSize < found
    ? html`<li><a rel="next" href="${urlOf(view, { start: start + pageSize })}">Next</a></li>\n`
    : ''
}</ul></nav>`;
}

function urlOf(view: LinksView, { start, json = false }: { start: number; json?: boolean }): string {
  const words = new URLSearchParams({ q: view.query, view: view.view });
  if (start > 0) words.set('start', String(start));
  if (json) words.set('format', 'json');
  return `/?${words}`;
}

function form(query: string): Html {
  return html`<form class="search" role="search" action="/" method="get">
<div class="line">
<label for="q">Document or site</label>
<input type="search" id="q" name="q" value="${query}" autocomplete="off" autocapitalize="none" spellcheck="false" enterkeyhint="search" maxlength="4096">
<button type="submit">Show links</button>
</div>
<p class="hint">A URL, a site such as <code>www.example.org:8080</code>, or the number of a document.</p>
</form>`;
}

function page(title: string, content: Content): Html {
  return renderPage(
    {
      title,
      noindex: true,
      styles: ['/style.css'],
      icon: '/icon.svg',
      site: { name: 'References', href: '/' },
      footer: html`<p>A references server: it knows which documents link to one another, the documents themselves stay where they are.</p>`,
    },
    content,
  );
}

function day(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}
