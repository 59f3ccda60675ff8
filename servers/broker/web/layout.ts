import { type Content, type Html, html } from './html.js';

/** The pages every page links to. */
export interface SiteLinks {
  readonly brokerName: string;
  readonly home: string;
  readonly help: string;
  readonly stats: string;
  readonly stylesheet: string;
  readonly icon: string;
}

/** One page. */
export interface Page {
  readonly title: string;
  readonly content: Content;
  /** Search engines are to leave it alone: results and summaries are not documents. */
  readonly noindex?: boolean;
  /** Which of the site's pages it is, if any. */
  readonly current?: 'home' | 'help' | 'stats';
}

/** A whole HTML document: skip link, header with navigation, main, footer. */
export function layout(site: SiteLinks, page: Page): Html {
  const item = (key: Page['current'], href: string, text: string) =>
    html`<li><a href="${href}"${page.current === key ? html` aria-current="page"` : ''}>${text}</a></li>`;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${page.noindex === true ? html`<meta name="robots" content="noindex, nofollow">\n` : ''}<title>${page.title}</title>
<link rel="stylesheet" href="${site.stylesheet}">
<link rel="icon" type="image/svg+xml" href="${site.icon}">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="site"><a href="${site.home}">${site.brokerName}</a></p>
<nav aria-label="This broker">
<ul>
${item('home', site.home, 'Search')}
${item('help', site.help, 'Help')}
${item('stats', site.stats, 'Statistics')}
</ul>
</nav>
</header>
<main id="main" tabindex="-1">
${page.content}
</main>
<footer>
<p>A Harvest broker: it holds summaries of documents, the documents themselves stay where they are.</p>
</footer>
</body>
</html>
`;
}
