// The frame of every page: navigation and footer.
import { type Content, type Html, html, link } from '../../web/html.js';
import { type Alternate, type PageShell, renderPage } from '../../web/page-shell.js';

/** URLs that every page links to. */
export interface SiteLinks {
  readonly brokerName: string;
  readonly home: string;
  readonly advanced: string;
  readonly help: string;
  readonly stats: string;
  readonly admin: string;
  readonly soifHelp: string;
  /** The query program, to which the search form is sent, and the completions of a text. */
  readonly action: string;
  readonly suggestions: string;
  /** The state of the server as JSON. */
  readonly health: string;
  /** The program of the administration page, and its help. */
  readonly adminAction: string;
  readonly adminHelp: string;
  readonly stylesheet: string;
  readonly script: string;
  readonly icon: string;
  /** The OpenSearch description. */
  readonly openSearch: string;
}

/** The content of a page and the facts that its frame shows. */
export interface Page {
  readonly title: string;
  readonly content: Content;
  /** Asks search engines not to index the page; set for results and summaries, which are not documents. */
  readonly noindex?: boolean;
  /** The entry of the navigation that stands for this page. */
  readonly current?: 'home' | 'advanced' | 'help' | 'stats' | 'admin';
  readonly alternates?: readonly Alternate[];
  /** The address of the page, if it has several. */
  readonly canonical?: string;
  /** `HarvestUrl` (BRK-9.11). */
  readonly harvestUrl?: string | undefined;
}

/** Renders a page as a whole HTML document. */
export function renderBrokerPage(site: SiteLinks, page: Page): Html {
  return renderPage(pageShell(site, page), page.content);
}

/** Returns the shell around the content of a page. */
export function pageShell(site: SiteLinks, page: Omit<Page, 'content'>): PageShell {
  const current = (key: Page['current']) => page.current === key && html` aria-current="page"`;
  const item = (key: Page['current'], href: string, text: string) =>
    html`<li><a href="${href}"${current(key)}>${text}</a></li>`;
  const { harvestUrl = '' } = page;
  return {
    title: page.title,
    noindex: page.noindex === true,
    styles: [site.stylesheet],
    icon: site.icon,
    alternates: page.alternates ?? [],
    canonical: page.canonical,
    script: site.script,
    search: { title: site.brokerName, href: site.openSearch },
    site: { name: site.brokerName, href: site.home },
    navigation: {
      label: 'This broker',
      content: html`<ul>
${item('home', site.home, 'Search')}
${item('advanced', site.advanced, 'Advanced')}
${item('stats', site.stats, 'Statistics')}
${item('help', site.help, 'Help')}
</ul>`,
    },
    footer: html`<p>A Harvest broker stores summaries of documents; the documents themselves stay where they are.</p>
<ul>
<li><a href="${site.soifHelp}">About summaries</a></li>
<li><a href="${site.admin}"${current('admin')}>Administration</a></li>
${harvestUrl !== '' && html`<li>${link(harvestUrl, 'About Harvest')}</li>\n`}</ul>`,
  };
}
