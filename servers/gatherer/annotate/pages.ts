import { textOfUrl } from '../../../protocols/soif/index.js';
import { type Content, type Html, html } from '../../web/html.js';
import { renderPage } from '../../web/page-shell.js';
import { type Annotation, shownUrl } from './annotation-file.js';
import type { ObjectPage } from './objects.js';

/** Maximum number of annotations on one page of the list. */
export const PAGE_ANNOTATIONS = 100;
/** Empty rows of a form, for new attributes. */
const SPARE_ROWS = 3;

/** Suggested names: the attributes that users add most often (G-141). */
const SUGGESTED_NAMES = ['Title', 'Author', 'Description', 'Abstract', 'Keywords'];

/**
 * Renders the list with a search field.
 *
 * @param number the page, from 1
 * @param others a page of the Gatherer's objects without an annotation
 */
export function listPage(
  file: string,
  found: readonly Annotation[],
  q: string,
  number: number,
  others: ObjectPage = { objects: [], hasMore: false },
): Html {
  const shown = found.slice((number - 1) * PAGE_ANNOTATIONS, number * PAGE_ANNOTATIONS);
  const pageLink = (number: number, text: string): Content =>
    html`<a href="${`/?q=${encodeURIComponent(q)}&page=${number}`}">${text}</a> `;
  return document(
    'Annotations',
    html`<p>${file}: ${found.length} ${q === '' ? 'annotated documents' : 'of them match'}.</p>
<form action="/" method="get" role="search"><p><label for="q">Search</label>
<input id="q" name="q" type="search" value="${q}"> <button>Search</button></p></form>
<form action="/edit" method="get"><p><label for="url">Annotate the document with the URL</label>
<input type="text" id="url" name="url" size="60" required> <button>Annotate</button></p></form>
<ul>
${shown.map(
  ({
    url,
    attributes,
  }) => html`<li><a href="${`/edit?url=${encodeURIComponent(shownUrl(url))}`}">${textOfUrl(url)}</a><br>
${attributes.map(([name, value], i) => html`${i > 0 ? ', ' : ''}${name}: ${value.slice(0, 120)}`)}</li>
`,
)}</ul>
${
  others.objects.length > 0 &&
  html`<h2>Objects of the Gatherer without an annotation</h2>
<ul>
${others.objects.map(
  ({
    url,
    title,
  }) => html`<li><a href="${`/edit?url=${encodeURIComponent(shownUrl(url))}`}">${textOfUrl(url)}</a>
${title !== '' && html`<br>Title: ${title.slice(0, 120)}`}</li>
`,
)}</ul>`
}<p>${number > 1 && pageLink(number - 1, 'Back')}${(others.hasMore || found.length > number * PAGE_ANNOTATIONS) && pageLink(number + 1, 'Next')}</p>`,
  );
}

/** Renders the form of one document. */
export function editPage({ url, attributes }: Annotation, version: string): Html {
  const rows = [...attributes, ...Array.from({ length: SPARE_ROWS }, () => ['', ''] as const)];
  return document(
    'Annotate a document',
    html`<form action="/edit" method="post">
<input type="hidden" name="version" value="${version}">
<p><label for="url">URL</label> <input type="text" id="url" name="url" size="80" value="${shownUrl(url)}" required></p>
<table><caption>Attributes; one without a value is removed</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Value, one line</th></tr></thead>
<tbody>
${rows.map(
  (
    [name, value],
    i,
  ) => html`<tr><td><input type="text" name="name" list="names" size="20" value="${name}" aria-label="${`Name ${i + 1}`}"></td>
<td><input type="text" name="value" size="80" value="${value}" aria-label="${`Value ${i + 1}`}"></td></tr>
`,
)}</tbody></table>
<datalist id="names">${SUGGESTED_NAMES.map((name) => html`<option value="${name}">`)}</datalist>
<p><button name="save">Save</button> <button name="more">Save, and add more</button>
<button name="delete">Remove the annotation</button> <a href="/">Back</a></p>
</form>`,
  );
}

/** Renders a page with one sentence. */
export function messagePage(text: string): Html {
  return document('Annotations', html`<p role="alert">${text}</p><p><a href="/">Back to the list</a></p>`);
}

function document(title: string, content: Content): Html {
  return renderPage({ title, styles: ['/style.css'] }, html`<h1>${title}</h1>\n${content}`);
}
