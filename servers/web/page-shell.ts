// The document around a page's content.
import { type Content, Html, html } from './html.js';

/** The same page in another format, for programs. */
export interface Alternate {
  readonly type: string;
  readonly title: string;
  readonly href: string;
}

/** The parts of a page around its content. */
export interface PageShell {
  readonly title: string;
  /** Tells search engines not to index the page. */
  readonly noindex?: boolean;
  /** URLs of style sheets, or the text of one for a page that needs no other file. */
  readonly styles: readonly string[] | { readonly text: string };
  readonly icon?: string;
  readonly alternates?: readonly Alternate[];
  /** The address of the page, if it has several. */
  readonly canonical?: string | undefined;
  readonly script?: string;
  /** An OpenSearch description, by which browsers add the site to their search engines. */
  readonly search?: { readonly title: string; readonly href: string };
  /** Name and first page of the site, at the top of each page. */
  readonly site?: { readonly name: string; readonly href: string };
  /** The navigation landmark: its label and a list of links. */
  readonly navigation?: { readonly label: string; readonly content: Content };
  readonly footer?: Content;
}

/** A whole HTML document: skip link, header with navigation, main content, footer. */
export function renderPage(shell: PageShell, content: Content): Html {
  return html`${beginPage(shell)}
${content}
${endPage(shell)}
`;
}

/** A document up to the beginning of its content. */
export function beginPage(shell: PageShell): Html {
  const { title, styles, icon, script, search, canonical } = shell;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${shell.noindex === true && html`<meta name="robots" content="noindex, nofollow">\n`}<title>${title}</title>
${'text' in styles ? html`<style>\n${new Html(styles.text)}\n</style>\n` : styles.map((href) => html`<link rel="stylesheet" href="${href}">\n`)}${
  icon !== undefined && html`<link rel="icon" type="image/svg+xml" href="${icon}">\n`
}${canonical !== undefined && html`<link rel="canonical" href="${canonical}">\n`}${(shell.alternates ?? []).map(({ type, title, href }) => html`<link rel="alternate" type="${type}" title="${title}" href="${href}">\n`)}${
  search !== undefined &&
  html`<link rel="search" type="application/opensearchdescription+xml" title="${search.title}" href="${search.href}">\n`
}${script !== undefined && html`<script src="${script}" defer></script>\n`}</head>
<body>
${header(shell)}<main id="main" tabindex="-1">`;
}

/** A document from the end of its content. */
export function endPage({ footer }: PageShell): Html {
  return html`</main>
${footer !== undefined && html`<footer>\n${footer}\n</footer>\n`}</body>
</html>`;
}

function header({ site, icon, navigation }: PageShell): Html | false {
  if (site === undefined) return false;
  const { name, href } = site;
  const image = icon !== undefined && html`<img src="${icon}" alt="" width="28" height="28">`;
  const landmark =
    navigation !== undefined && html`<nav aria-label="${navigation.label}">\n${navigation.content}\n</nav>\n`;
  return html`<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="site"><a href="${href}">${image}${name}</a></p>
${landmark}</header>
`;
}
