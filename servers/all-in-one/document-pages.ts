// The documents as pages for browsers.
import { Html, html } from '../web/html.js';
import { renderPage } from '../web/page-shell.js';
import type { OwnDocument } from './own-documents.js';

/** A documentation's name and the sections of its first page. */
export interface Contents {
  readonly name: string;
  readonly sections: readonly { readonly title: string; readonly documents: readonly OwnDocument[] }[];
}

/** The URL of the style sheet. */
export const STYLE = '/style.css';

/** The first page: links to all documents. It is gathered like any other document. */
export function contentsPage({ name, sections }: Contents): Html {
  return renderPage(
    { title: name, styles: [STYLE], site: { name, href: '/' } },
    html`<h1>${name}</h1>
${sections.map(
  ({ title, documents }) => html`<section>
<h2>${title}</h2>
<ul>
${documents.map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>\n`)}</ul>
</section>
`,
)}`,
  );
}

/** A document as a page. Its Markdown is this package's own, so HTML in it is not escaped. */
export async function documentPage({ name }: Contents, { title, markdown }: OwnDocument): Promise<Html> {
  // Loaded at the first page that a browser asks for.
  const { marked } = await import('marked');
  const content = marked.parse(markdown, { async: false, gfm: true });
  return renderPage(
    { title: `${title} - ${name}`, styles: [STYLE], site: { name, href: '/' } },
    html`<article class="document">\n${new Html(content)}</article>`,
  );
}

/** The page of a path that has no document. */
export function missingPage({ name }: Contents): Html {
  return renderPage(
    { title: `Not found - ${name}`, styles: [STYLE], site: { name, href: '/' } },
    html`<h1>Not found</h1>
<p>There is no document with this address. <a href="/">All documents</a></p>`,
  );
}
