import { type Content, type Html, html, link } from '../../web/html.js';

/** The pages every page links to. */
export interface SiteLinks {
  readonly brokerName: string;
  readonly home: string;
  readonly advanced: string;
  readonly help: string;
  readonly stats: string;
  readonly admin: string;
  readonly soifHelp: string;
  readonly stylesheet: string;
  readonly script: string;
  readonly icon: string;
}

/** A form of a page for programs. */
export interface Alternate {
  readonly type: string;
  readonly title: string;
  readonly href: string;
}

/** One page. */
export interface Page {
  readonly title: string;
  readonly content: Content;
  /** Search engines are to leave it alone: results and summaries are not documents. */
  readonly noindex?: boolean;
  /** Which of the site's pages it is, if any. */
  readonly current?: 'home' | 'advanced' | 'help' | 'stats' | 'admin';
  readonly alternates?: readonly Alternate[];
  /** `HarvestUrl` (BRK-9.11). */
  readonly harvestUrl?: string;
}

/** A whole HTML document: skip link, header with navigation, main, footer. */
export function layout(site: SiteLinks, page: Page): Html {
  return html`${pageBegin(site, page)}
${page.content}
${pageEnd(site, page)}
`;
}

/** A document up to the beginning of its content. */
export function pageBegin(site: SiteLinks, page: Omit<Page, 'content'>): Html {
  const item = (key: Page['current'], href: string, text: string) =>
    html`<li><a href="${href}"${page.current === key ? html` aria-current="page"` : ''}>${text}</a></li>`;
  const alternates = (page.alternates ?? []).map(
    ({ type, title, href }) => html`<link rel="alternate" type="${type}" title="${title}" href="${href}">\n`,
  );
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${page.noindex === true ? html`<meta name="robots" content="noindex, nofollow">\n` : ''}<title>${page.title}</title>
<link rel="stylesheet" href="${site.stylesheet}">
<link rel="icon" type="image/svg+xml" href="${site.icon}">
${alternates}<script src="${site.script}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="site"><a href="${site.home}"><img src="${site.icon}" alt="" width="28" height="28">${site.brokerName}</a></p>
<nav aria-label="This broker">
<ul>
${item('home', site.home, 'Search')}
${item('advanced', site.advanced, 'Advanced')}
${item('stats', site.stats, 'Statistics')}
${item('help', site.help, 'Help')}
</ul>
</nav>
</header>
<main id="main" tabindex="-1">`;
}

/** A document from the end of its content. */
export function pageEnd(site: SiteLinks, page: Pick<Page, 'harvestUrl' | 'current'>): Html {
  const here = page.current === 'admin' ? html` aria-current="page"` : '';
  return html`</main>
<footer>
<p>A Harvest broker: it holds summaries of documents, the documents themselves stay where they are.</p>
<ul>
<li><a href="${site.soifHelp}">About summaries</a></li>
<li><a href="${site.admin}"${here}>Administration</a></li>
${page.harvestUrl === undefined || page.harvestUrl === '' ? '' : html`<li>${link(page.harvestUrl, 'About Harvest')}</li>\n`}</ul>
</footer>
</body>
</html>`;
}
